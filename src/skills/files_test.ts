import assert from "node:assert/strict";
import { SkillRegistry, type Viewer } from "../../mod.ts";
import { diskError, DiskSpy } from "../../tests/testing/fakes.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { openRegistry, root } from "../../tests/testing/registry.ts";
import { basename, isAtOrBelow, join } from "../fs/paths.ts";

const withLinks = needs("links");

const SKILLS = "home/.claude/skills";

const { NotCapable, PermissionDenied } = Deno.errors;

withLinks.test("a link in a hidden skill is hidden, even if its target is not", async () => {
  using place = new Place();
  place.skill(SKILLS, "outer");
  place.file(`${SKILLS}/outer/docs/notes.md`, "notes");
  place.skill(`${SKILLS}/outer`, "inner");
  place.link("../docs", `${SKILLS}/outer/inner/docs`);
  place.link("inner", `${SKILLS}/outer/alias`);
  const rules = [{ skill: "inner", state: "off" } as const];
  for (const recursive of [false, true]) {
    const skills = root(join(place.path, SKILLS), { recursive });
    using registry = new SkillRegistry([skills], { policy: { rules } });
    await registry.refresh();
    const skill = registry.find("outer")!;
    const { text } = await registry.readFile(skill, "docs/notes.md");
    assert.equal(text, "notes");
    for (const dir of ["inner", "alias"]) {
      const reading = registry.readFile(skill, `${dir}/docs/notes.md`);
      await assert.rejects(reading, /the skill serves no such file/);
    }
  }
});

Deno.test("the files of a nested skill are hidden while its SKILL.md cannot be read", async () => {
  using place = new Place();
  place.skill("skills", "outer");
  place.skill("skills/outer/group", "inner");
  place.file("skills/outer/group/inner/notes.md", "notes");
  using registry = new SkillRegistry([root(place.dir("skills"))]);
  await registry.refresh();
  const skill = registry.find("outer")!;
  const read = () => registry.readFile(skill, "group/inner/notes.md");
  {
    using _disk = new DiskSpy((path) =>
      path.endsWith(join("inner", "SKILL.md")) ? diskError() : undefined
    );
    await assert.rejects(read, /the skill serves no such file/);
  }
  assert.equal((await read()).text, "notes");
});

Deno.test("a policy hides a nested skill by its name, but not by a rule for the outer one, too", async () => {
  using place = new Place();
  place.skill("skills", "outer");
  place.skill("skills/outer", "template");
  place.skill("skills/outer", "secret");
  place.skill("skills/outer", "listed");
  const rules = [
    { state: "off" },
    { skill: ["outer", "listed"], state: "off" },
    { skill: "outer", state: "on" },
    { skill: "secret", state: "off" },
    { skill: "sekret", state: "off" },
  ] as const;
  const skills = root(place.dir("skills"));
  using registry = new SkillRegistry([skills], { policy: { rules } });
  await registry.refresh();
  const { files } = await registry.listFiles(registry.find("outer")!);
  const paths = files.map(({ path }) => path);
  assert.deepEqual(paths, ["SKILL.md", "template/SKILL.md"]);
  const reasons = registry.listUnusedRules().map(({ reason }) => reason);
  assert.deepEqual(reasons, ["rules[4] matches no skill"]);
});

withLinks.test("a link into a trusted folder leads to no hidden skill that no scan has read", async () => {
  using place = new Place();
  const flagged = withFlag("---\nname: hidden\ndescription: x\n");
  place.file("trusted/hidden/SKILL.md", flagged);
  place.file("trusted/hidden/notes.md", "notes");
  place.skill("skills", "outer");
  place.link("../../trusted/hidden", "skills/outer/link");
  using registry = new SkillRegistry([root(place.dir("skills"))], {
    trustedDirs: [join(place.path, "trusted")],
  });
  await registry.refresh();
  const skill = registry.find("outer")!;
  const read = (viewer: Viewer) =>
    registry.readFile(skill, "link/notes.md", { viewer });
  assert.equal((await read("host")).text, "notes");
  await assert.rejects(read("model"), /the skill serves no such file/);
  // Whether it is hidden is unknown.
  using _disk = new DiskSpy((path) =>
    path.endsWith(join("hidden", "SKILL.md")) ? new NotCapable() : undefined
  );
  await assert.rejects(read("host"), /the skill serves no such file/);
});

/** What cannot be read in a nested skill, how it fails, and whether a list names it. */
const UNREADABLE: readonly [
  isDenied: (name: string, operation: string) => boolean,
  error: new () => Error,
  state: "on" | "off",
  isNamed: boolean,
][] = [
  // Neither the folder nor anything in it.
  [(_, operation) => operation !== "statSync", PermissionDenied, "on", true],
  [(_, operation) => operation !== "statSync", PermissionDenied, "off", false],
  [(_, operation) => operation !== "statSync", NotCapable, "on", false],
  // Only the file that says who may see the folder.
  [(name) => name === "SKILL.md", PermissionDenied, "on", false],
  [(name) => name === "SKILL.md", NotCapable, "on", false],
];

Deno.test("a folder in a skill that nobody can read is named, unless something hides it", async () => {
  for (const [isDenied, DiskFailure, state, isNamed] of UNREADABLE) {
    using place = new Place();
    const refs = join(place.skill("skills", "git"), "refs");
    place.skill("skills/git", "refs");
    using registry = new SkillRegistry([root(place.dir("skills"))], {
      policy: { rules: [{ skill: "refs", state }] },
    });
    await registry.refresh();
    using _disk = new DiskSpy((path, operation) =>
      isAtOrBelow(path, refs) && isDenied(basename(path), operation)
        ? new DiskFailure()
        : undefined
    );
    const skill = registry.find("git")!;
    const { files, skipped } = await registry.listFiles(skill);
    assert.deepEqual(files.map(({ path }) => path), ["SKILL.md"]);
    const found = skipped.map(({ file, rule }) => [file, rule]);
    assert.deepEqual(found, isNamed ? [["refs/", "permission"]] : []);
  }
});

Deno.test("a flag in a nested SKILL.md hides its files at once", async () => {
  using place = new Place();
  place.skill("skills", "outer");
  const inner = place.skill("skills/outer/a/b/c/d/e/f/g", "inner");
  using registry = new SkillRegistry([root(place.dir("skills"))]);
  await registry.refresh();
  const skill = registry.find("outer")!;
  const list = async () => {
    const { files } = await registry.listFiles(skill, { viewer: "model" });
    return files.map(({ path }) => path);
  };
  const path = "a/b/c/d/e/f/g/inner/SKILL.md";
  assert.deepEqual(await list(), ["SKILL.md", path]);
  Deno.writeTextFileSync(
    join(inner, "SKILL.md"),
    withFlag("---\nname: inner\n"),
  );
  assert.deepEqual(await list(), ["SKILL.md"]);
});

const withFlag = (start: string) =>
  `${start}disable-model-invocation: true\n---\n`;

/** The `SKILL.md` of a nested skill, and whether the skill around it serves it. */
const NESTED: readonly [content: string | Uint8Array, isServed: boolean][] = [
  ["Only a file\n", true],
  ["---\nname: inner\n---\n", true],
  ["---\nname: {{name}}\ndescription: Use when: x\n---\n", true],
  [withFlag("---\nname: inner\nname: again\n"), false],
  [withFlag("---\nname: inner\n  description: x\n"), false],
  [withFlag(`---\n${"#".repeat(16 * 1024)}\n`), false],
  [new Uint8Array([0xff]), false],
];

Deno.test("a skill serves a nested SKILL.md unless it may have a flag", async () => {
  for (const [content, isServed] of NESTED) {
    using place = new Place();
    place.skill("skills", "outer");
    place.file("skills/outer/inner/SKILL.md", content);
    for (const recursive of [false, true]) {
      const skills = root(place.dir("skills"), { recursive });
      using registry = new SkillRegistry([skills], { log: () => {} });
      await registry.refresh();
      const { files } = await registry
        .listFiles(registry.find("outer")!, { viewer: "model" });
      const isListed = files.some(({ path }) => path === "inner/SKILL.md");
      assert.equal(isListed, isServed, String(content).slice(0, 40));
    }
  }
});

Deno.test("a skill.md is served as SKILL.md", async () => {
  using place = new Place();
  place.file("skills/a/skill.md", skillMd("a"));
  using registry = await openRegistry(join(place.path, "skills"));
  const a = registry.find("a")!;
  const { files } = await registry.listFiles(a);
  assert.deepEqual(files.map(({ path }) => path), ["SKILL.md"]);
  assert.equal((await registry.readFile(a, "SKILL.md")).text, skillMd("a"));
});
