// scanSkillRoots() in mod.ts: its result and its limits. Which skills it finds is
// a table in scans_test.ts.
import assert from "node:assert/strict";
import { scanSkillRoots, SkillRegistry } from "../mod.ts";
import { basename, join } from "../src/fs/paths.ts";
import { DiskSpy, Place, replaced, skillMd } from "./testing/folders.ts";
import { needs } from "./testing/needs.ts";
import { names, openRegistry, root } from "./testing/registry.ts";

const withLinks = needs("links");

Deno.test("scanSkillRoots() returns the skills directly in a root, sorted by name", async () => {
  using place = new Place();
  const dir = join(place.path, "skills");
  const directory = place.skill("skills", "zebra");
  place.skill("skills", "Ape");
  place.skill("skills", "folder-of-monkey", skillMd("monkey"));
  place.file("skills/README.md", "no skill");
  const { skills, diagnostics, shadowed, roots, revision } =
    await scanSkillRoots([root(dir)]);
  assert.deepEqual([...skills.keys()], ["ape", "monkey", "zebra"]);
  assert.deepEqual([diagnostics, shadowed, revision], [[], [], 1]);
  assert.deepEqual(roots, [
    {
      root: root(dir),
      scope: "global",
      status: "found",
      realPath: dir,
      projectPath: undefined,
      skills: 3,
      repeated: 0,
    },
  ]);
  const { fileVersion, ...zebra } = skills.get("zebra")!;
  assert.equal(typeof fileVersion, "string");
  assert.deepEqual(zebra, {
    name: "zebra",
    description: "About zebra",
    frontmatter: { name: "zebra", description: "About zebra" },
    excerpt: "\n\n# zebra\n",
    directory,
    realDirectory: directory,
    file: join(directory, "SKILL.md"),
    scope: "global",
    root: root(dir),
    state: "on",
    policyRule: undefined,
    isRepaired: false,
    hiddenFrom: "nobody",
    isHiddenFromUser: false,
    plugin: basename(place.path),
    prefix: undefined,
  });
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

withLinks.test("scanSkillRoots() reports at most 1,000 problems, the user's own first", async () => {
  using place = new Place();
  for (let i = 0; i < 1_000; i++) place.link("nowhere", `theirs/${i}`);
  const file = place.file("own/bad/SKILL.md", "no frontmatter");
  const { diagnostics } = await scanSkillRoots([
    root(join(place.path, "theirs"), { scope: "project" }),
    root(join(place.path, "own")),
  ], { workingDirectory: join(place.path, "theirs") });
  assert.equal(diagnostics.length, 1_000);
  assert.equal(diagnostics[0]!.file, file);
});

/** Makes a directory seem to contain broken links. */
function addLinks(dir: string, count: number): Disposable {
  const { readDirSync } = Deno;
  const entry = { isFile: false, isDirectory: false, isSymlink: true };
  const links = Array.from(
    { length: count },
    (_, index) => ({ ...entry, name: `l${index}` }),
  );
  return replaced(Deno, {
    readDirSync: (path: string | URL) =>
      [...readDirSync(path), ...path === dir ? links : []].values(),
  });
}

Deno.test("scanSkillRoots() sorts no names of files, because a clone can have 300,000 in a folder", async () => {
  using place = new Place();
  place.skill("skills", "a");
  const { readDirSync } = Deno;
  let names = 0;
  const file = {
    isFile: true,
    isDirectory: false,
    isSymlink: false,
    get name() {
      names++;
      return "x.md";
    },
  };
  using _ = replaced(Deno, {
    readDirSync: (path: string | URL) => [...readDirSync(path), file].values(),
  });
  const { skills } = await scanSkillRoots([root(place.dir("skills"))]);
  assert.deepEqual([[...skills.keys()], names], [["a"], 0]);
});

Deno.test("scanSkillRoots() searches the first 50,000 folders and links of a global root", async () => {
  using place = new Place();
  place.skill("skills", "a");
  place.skill("skills/group", "b");
  const path = place.dir("skills");
  using _ = addLinks(path, 50_000);
  const { skills, roots, diagnostics } = await scanSkillRoots([
    root(join(path, "group")),
    root(path, { recursive: true }),
  ]);
  assert.deepEqual([...skills.keys()], ["a", "b"]);
  assert.deepEqual(
    roots.map(({ status, skills }) => [status, skills]),
    [["found", 1], ["found", 1]],
  );
  assert.deepEqual(
    diagnostics.map(({ file, rule, reason }) => [file, rule, reason]),
    [[
      path,
      "too-many",
      "it has more than 50000 folders and links, and the scan skips the rest",
    ]],
  );
});

Deno.test("scanSkillRoots() searches the first 1,000 folders and links of a project's root", async () => {
  for (const recursive of [false, true]) {
    using place = new Place();
    const skills = place.dir("skills");
    place.skill("skills", "a");
    place.skill("skills", "m");
    place.skill("skills/a", "inner", skillMd("inner", "Flagged"));
    place.skill("skills/z", "y");
    using _ = addLinks(skills, 998);
    const roots = [root(skills, { scope: "project", recursive })];
    using registry = new SkillRegistry(roots, { log: () => {} });
    const { skills: found, diagnostics } = await registry.refresh();
    // The directory "a" comes first, and "m" is the last that is visited.
    assert.deepEqual([...found.keys()], ["a", "m"]);
    const { files } = await registry.listFiles(found.get("a")!);
    const paths = files.map(({ path }) => path);
    const inner = recursive ? [] : ["inner/SKILL.md"];
    assert.deepEqual(paths, ["SKILL.md", ...inner]);
    assert.deepEqual(
      diagnostics.filter(({ file }) => file === skills)
        .map(({ rule, reason, fix }) => `${rule}: ${reason}; ${fix}`),
      [
        "too-many: it has more than 1000 folders and links, and the scan skips the rest; pass it, or a folder closer to the skills, as one to search",
      ],
    );
  }
});

Deno.test("a scan reads the new skills of a project for two seconds, and the next the rest", async () => {
  using place = new Place();
  for (const index of [0, 1, 2, 3, 4]) {
    place.skill("project/skills", `p${index}`);
    place.skill("home/skills", `h${index}`);
  }
  let now = Date.now();
  using _clock = replaced(Date, { now: () => now });
  using _disk = new DiskSpy((_path, operation) => {
    if (operation === "openSync") now += 1_000;
    return undefined;
  });
  const project = root(join(place.project, "skills"), { scope: "project" });
  const roots = [project, root(join(place.home, "skills"))];
  using registry = new SkillRegistry(roots, { log: () => {} });
  const first = await registry.refresh();
  const mine = ["h0", "h1", "h2", "h3", "h4"];
  assert.deepEqual(names(first), [...mine, "p0", "p1", "p2"]);
  assert.deepEqual(
    first.diagnostics.map(({ file, rule }) => [file, rule]),
    [[project.path, "too-many"]],
  );
  const second = await registry.refresh();
  assert.deepEqual(names(second), [...mine, "p0", "p1", "p2", "p3", "p4"]);
  assert.deepEqual(second.diagnostics, []);
});

Deno.test("the roots of a project share its 1,000 folders, and other roots have their own", async () => {
  using place = new Place();
  const project = ["first", "second"].map((name) => {
    for (let i = 0; i < 600; i++) place.dir(`project/${name}/${i}`);
    place.skill(`project/${name}`, `${name}-a`);
    place.skill(`project/${name}`, `${name}-z`);
    return root(join(place.project, name), { scope: "project" });
  });
  place.skill("home/skills", "mine");
  const roots = [...project, root(join(place.home, "skills"))];
  const catalog = await scanSkillRoots(roots);
  assert.deepEqual(names(catalog), ["first-a", "first-z", "mine"]);
  assert.deepEqual(
    catalog.diagnostics.map(({ file, rule }) => [file, rule]),
    [[project[1]!.path, "too-many"]],
  );
});

Deno.test("a SKILL.md with a time in the future is not parsed again until its text changes", async () => {
  using place = new Place();
  place.skill("skills", "a");
  const file = place.file("skills/a/SKILL.md", skillMd("a"));
  const inAYear = Date.now() / 1_000 + 365 * 86_400;
  Deno.utimeSync(file, inAYear, inAYear);
  using registry = await openRegistry(place.dir("skills"));
  const first = registry.find("a")!;
  await registry.refresh();
  assert.equal(registry.find("a")!.frontmatter, first.frontmatter);
  // It has the same size and, where the times are coarse, the same version.
  place.file("skills/a/SKILL.md", skillMd("a", "about A"));
  Deno.utimeSync(file, inAYear, inAYear);
  await registry.refresh();
  assert.equal(registry.find("a")!.description, "about A");
});

Deno.test("a folder with more links than a call has arguments ends no scan and no list", async () => {
  using place = new Place();
  place.skill("skills", "a");
  const skills = place.dir("skills");
  using _ = addLinks(skills, 200_000);
  using _inSkill = addLinks(join(skills, "a"), 200_000);
  const roots = [root(skills, { scope: "project" })];
  using registry = new SkillRegistry(roots, { log: () => {} });
  const { skills: found, diagnostics } = await registry.refresh();
  assert.deepEqual([...found.keys()], ["a"]);
  assert.ok(diagnostics.length <= 1_000);
  const { files, entries } = await registry.listFiles(found.get("a")!);
  assert.deepEqual([files.map(({ path }) => path), entries], [
    ["SKILL.md"],
    20_001,
  ]);
});

Deno.test("scanSkillRoots() finds the same skills for any order of directory entries", async () => {
  using place = new Place();
  const dirs = ["b", "a", "copy of a", "c/x", "c/a", "_hidden/x", "broken"];
  for (const dir of dirs) {
    const name = dir.at(-1)!;
    place.skill("skills", dir, dir === "broken" ? "none" : skillMd(name));
  }
  const path = join(place.path, "skills");
  const scan = async () => {
    const roots = [root(path), root(path, { recursive: true })];
    const catalog = await scanSkillRoots(roots);
    const { skills, shadowed, diagnostics } = catalog;
    return [
      Array.from(skills.values(), ({ directory }) => directory),
      shadowed.map(({ skill, by }) => [skill.file, by.file]),
      diagnostics,
    ];
  };
  const { readDirSync } = Deno;
  const readBackwards = (path: string | URL) =>
    [...readDirSync(path)].toReversed().values();
  const expected = await scan();
  using _reversed = replaced(Deno, { readDirSync: readBackwards });
  assert.deepEqual(await scan(), expected);
});
