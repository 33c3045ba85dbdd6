// Groups: folders directly in a folder of skills that only hold skills.
import assert from "node:assert/strict";
import { scanSkillRoots, SkillRegistry, type SkillRoot } from "../mod.ts";
import { join, relative } from "../src/files/paths.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";
import { Wire } from "./testing/server.ts";

/** Lists the skills in folders as `<name> <path>`. */
async function found(
  place: Place,
  ...roots: (string | SkillRoot)[]
): Promise<string[]> {
  const { skills } = await scanSkillRoots(
    roots.map((it) => typeof it === "string" ? root(join(place.path, it)) : it),
  );
  return Array.from(skills.values(), ({ name, directory }) => {
    const path = relative(place.path, directory).replaceAll("\\", "/");
    return `${name} ${path}`;
  });
}

Deno.test("skills in a group are skills, one level deep", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.skill("skills/eng", "tdd");
  place.skill("skills/eng", "review");
  place.skill("skills/eng/more", "deep");
  assert.deepEqual(await found(place, "skills"), [
    "git skills/git",
    "review skills/eng/review",
    "tdd skills/eng/tdd",
  ]);
});

Deno.test("no group is what is hidden, put aside, filled by tools, a skill, or a root", async () => {
  using place = new Place();
  const names = [".x", "_x", "disabled", "Archive", "backup", "old"];
  for (const name of [...names, "node_modules"]) {
    place.skill(`skills/${name}`, name.replace(/\W/, "dot-"));
  }
  place.skill("skills", "outer");
  place.skill("skills/outer", "inner");
  place.skill("skills/root", "one");
  const own = { ...root(join(place.path, "own")), includesItself: true };
  place.file("own/SKILL.md", skillMd("own"));
  place.skill("own/folder", "part");
  assert.deepEqual(await found(place, "skills", "skills/root", own), [
    "one skills/root/one",
    "outer skills/outer",
    "own own",
  ]);
  const confined = root(join(place.path, "skills"), { confinesLinks: true });
  assert.deepEqual(await found(place, confined), ["outer skills/outer"]);
});

Deno.test("of equal names, a skill directly in a root comes before those of groups, which go by path", async () => {
  using place = new Place();
  for (const group of ["b", "a"]) place.skill(`skills/${group}`, "git");
  assert.deepEqual(await found(place, "skills"), ["git skills/a/git"]);
  // In a folder of its own name, a skill in a group still comes after a copy in the root.
  place.skill("skills", "git copy", skillMd("git"));
  assert.deepEqual(await found(place, "skills"), ["git skills/git copy"]);
});

Deno.test(
  "links count in groups as they do in roots, and a group can be one",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("home/store/team", "git");
    place.skill("home/store", "single");
    place.link("../../store/team", "home/.claude/skills/team");
    place.link("../../../store/single", "home/.claude/skills/eng/single");
    place.link("nowhere", "home/.claude/skills/eng/gone");
    place.skill("secret/keys", "private");
    place.link("../../../secret/keys", "project/.claude/skills/keys");
    place.link(
      "../../../../secret/keys/private",
      "project/.claude/skills/group/private",
    );
    const roots = [
      root(join(place.home, ".claude", "skills")),
      root(join(place.project, ".claude", "skills"), { scope: "project" }),
    ];
    const { skills, problems } = await scanSkillRoots(roots, {
      workingDirectory: place.project,
    });
    assert.deepEqual([...skills.keys()], ["git", "single"]);
    assert.deepEqual(
      problems.map(({ rule, file }) => [rule, relative(place.project, file)]),
      [["link-outside", join(".claude", "skills", "group", "private")]],
    );
  },
);

Deno.test("rules and limits apply to skills in groups, and their folder names no more than the root's does", async () => {
  using place = new Place();
  place.skill("skills/eng", "tdd");
  place.skill("skills", "git");
  const folder = join(place.path, "skills");
  const states = async (policy: string) => {
    const { skills, off } = await scanSkillRoots([root(folder)], {
      policy: place.file("policy.yaml", policy),
      nameOnlyFolders: [folder],
    });
    return [...skills.values(), ...off]
      .map(({ name, state }) => `${name} ${state}`);
  };
  assert.deepEqual(await states("rules: []"), ["git name-only", "tdd on"]);
  const rule = "rules: [{ in: skills/eng, state: off }]";
  assert.deepEqual(await states(rule), ["git name-only", "tdd off"]);
});

Deno.test("a skill that is added to a group is noticed by watching", async () => {
  using place = new Place();
  place.skill("home/.claude/skills/eng", "tdd");
  await using wire = new Wire(place, { args: ["--refresh", "0"] });
  await wire.initialize();
  place.skill("home/.claude/skills/eng", "review");
  await wire.lines.take(
    (line) => line.includes("prompts/list_changed"),
    "a change",
  );
  const { result: { prompts } } = await wire.ask(1, "prompts/list");
  const names = prompts.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ["skill", "review", "tdd"]);
});

Deno.test("a folder that becomes a skill is a group no longer, and back", async () => {
  using place = new Place();
  place.skill("skills/eng", "tdd");
  const folder = root(join(place.path, "skills"));
  using registry = new SkillRegistry([folder], { log: () => {} });
  const keys = async () => [...(await registry.refresh()).skills.keys()];
  assert.deepEqual(await keys(), ["tdd"]);
  place.file("skills/eng/SKILL.md", skillMd("eng"));
  assert.deepEqual(await keys(), ["eng"]);
  place.remove("skills/eng/SKILL.md");
  assert.deepEqual(await keys(), ["tdd"]);
});
