import assert from "node:assert/strict";
import { createEntries } from "../../tests/testing/entries.ts";
import { DiskSpy } from "../../tests/testing/fakes.ts";
import { LocalServer } from "../../tests/testing/local_server.ts";
import { Place } from "../../tests/testing/place.ts";
import { openRegistry } from "../../tests/testing/registry.ts";
import { isAtOrBelow, join, relative } from "../fs/paths.ts";

/** Misplaced skills: the name, the entries, and what is found. */
const MISPLACED: [name: string, entries: string, found: string][] = [
  ["zip", "zip.zip", "zip.zip archive"],
  ["main", "main-2.0-main.zip", "main-2.0-main.zip archive"],
  ["inside", "inside/inside.zip", "inside/inside.zip archive"],
  ["txt", "txt/SKILL.md.txt=txt", "txt/SKILL.md.txt file-name"],
  [
    "twice",
    "twice/__MACOSX/._twice, twice/twice/SKILL.md.txt=twice",
    "twice/twice/SKILL.md.txt file-name",
  ],
  ["word", "word-1.0/SKILL.docx", "word-1.0/SKILL.docx file-name"],
  ["empty", "empty/=folder", "empty skill-md-missing"],
  ["deep", "repository/skills/deep/", "repository/skills/deep not-searched"],
  ["loose", "loose.md=loose", "loose.md loose-file"],
  ["unpacked", "SKILL.md=unpacked", "SKILL.md loose-file"],
  ["renamed", "renamed/renamed.md", "renamed skill-md-missing"],
  ["none", "", ""],
  ["x:", "", ""],
];

Deno.test("listNearMissesOf() finds what a name may mean, however it was unpacked", async () => {
  using place = new Place();
  for (const [, entries] of MISPLACED) {
    for (const entry of entries.split(", ").filter(Boolean)) {
      createEntries(`skills/${entry}`, place);
    }
  }
  const dir = place.dir("skills");
  using registry = await openRegistry(dir);
  for (const [name, , found] of MISPLACED) {
    const misses = (await registry.listNearMissesOf(name)).map((miss) => {
      const { file, rule } = miss.diagnostic;
      return `${relative(dir, file).replaceAll("\\", "/")} ${rule}`;
    });
    assert.equal(misses.join(), found, name);
  }
});

Deno.test("listNearMissesOf() forgets what a later scan no longer finds", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using registry = await openRegistry(join(place.path, "skills"));
  assert.deepEqual(await registry.listNearMissesOf("none"), []);
  place.remove("skills/git");
  await registry.refresh();
  assert.deepEqual(await registry.listNearMissesOf("git"), []);
});

Deno.test("a running server reads only its own folders", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills/clone", "deeper");
  place.file("home/.claude/skills/typo/SKILL.txt", "");
  place.skill("home/.agents/skills", "installed");
  place.skill("project/.agents/skills", "clone");
  using server = await LocalServer.open({ ...place, args: [] });
  const skills = join(place.home, ".claude", "skills");
  const others = new Set<string>();
  using _disk = new DiskSpy((path, operation) => {
    const isOther = operation === "readDirSync" &&
      !isAtOrBelow(path, skills);
    if (isOther || path.includes(".agents")) others.add(path);
    return undefined;
  });
  await server.registry.refresh();
  const call = { name: "skill", arguments: { name: "none" } };
  await server.ask(0, "tools/call", call);
  assert.deepEqual([...others], []);
});
