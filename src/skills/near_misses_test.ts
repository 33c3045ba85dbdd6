import assert from "node:assert/strict";
import { scanSkillRoots } from "../../mod.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { root } from "../../tests/testing/registry.ts";
import { diagnosticsIn } from "../../tests/testing/report.ts";
import { readStart } from "../cli/unsearched.ts";
import { basename, join, relative } from "../fs/paths.ts";
import { findNearMissFault, kindOfFile } from "./near_misses.ts";
import type { NearMiss } from "./types.ts";

/** The names of files of each kind. */
const KINDS: [kind: NearMiss["kind"] | undefined, names: string[]][] = [
  ["misnamed", ["SKILL.md.txt", "SKILL.markdown", "SKILL.txt", "SKILL"]],
  ["misnamed", ["SKILL.md.md", "SKILL (1).md", "SKILL copy.md", "SKILL .md"]],
  ["misnamed", ["skill.MARKDOWN", "SKILLS.md", "skills.md", "Skill.md"]],
  ["archive", ["a.zip", "a.SKILL", "SKILL.tgz"]],
  ["document", ["a.md", "a.markdown", "SKILL-1.md", "my SKILL.md"]],
  ["file", ["git", "skillset"]],
  [undefined, ["a.txt", "SKILL.md.bak", ".env"]],
];

Deno.test("kindOfFile() tells by its name what a file may be meant as", () => {
  for (const [kind, names] of KINDS) {
    for (const name of names) {
      assert.equal(kindOfFile(name, { isInRoot: true }), kind, name);
      const isInAny = kind === "misnamed" || kind === "archive";
      const inFolder = isInAny ? kind : undefined;
      assert.equal(kindOfFile(name, { isInRoot: false }), inFolder, name);
    }
  }
});

Deno.test("findNearMissFault() tells to move what lies directly among skills, and to rename what lies in a folder", () => {
  const ruleOf = (path: string, folder = "/home/me/skills") =>
    findNearMissFault(
      { kind: "misnamed", path: `${folder}/${path}` },
      root(folder),
      () => "",
    )?.rule;
  assert.equal(ruleOf("SKILL.txt"), "loose-file");
  assert.equal(ruleOf("SKILL.md"), "loose-file");
  assert.equal(ruleOf("SKILL.md", "/home/me/tools"), "loose-file");
  assert.equal(ruleOf("foo/SKILL.txt"), "file-name");
  assert.equal(ruleOf("foo/more/SKILL.txt"), undefined);
  assert.equal(ruleOf("foo/skills.md"), undefined);
});

Deno.test(
  "--list reports no file behind a link",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const text = skillMd("a");
    const secret = place.file("secret.md", text);
    place.link(secret, "skills/a.md");
    const folder = join(place.path, "skills");
    assert.deepEqual(await diagnosticsIn("--list", folder), []);
    // A link takes the place of a file after it was listed.
    const path = join(folder, "a.md");
    assert.equal(readStart(path), "");
    Deno.removeSync(path);
    Deno.copyFileSync(secret, path);
    assert.equal(readStart(path), text);
  },
);

/** Lists the near misses in a folder, searched deep or not, as `<kind> <path>`. */
async function notedIn(
  place: Place,
  recursive: boolean,
): Promise<string[]> {
  const folder = join(place.path, "skills");
  const { roots: [report] } = await scanSkillRoots([
    { ...root(folder), recursive, includesItself: false },
  ]);
  return report!.nearMisses!.map(({ kind, path, document = "" }) =>
    `${kind} ${relative(folder, path).replaceAll("\\", "/")} ${document}`.trim()
  ).sort();
}

Deno.test("a scan notes near misses by their names, in the folders that it lists", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/SKILL.txt", "");
  place.file("skills/git/more/a.zip", "");
  place.file("skills/README.md", "");
  place.file("skills/data.json", "");
  place.file("skills/a.zip", "");
  place.file("skills/up/SKILL.md.txt", "");
  place.file("skills/guide/guide.md", "");
  place.file("skills/two/a.md", "");
  place.file("skills/two/b.md", "");
  place.file("skills/packed/b.tgz", "");
  place.file("skills/_shared/a.md", "");
  place.file("skills/.git/config", "");
  place.folder("skills/empty");
  place.file("skills/group/deep/SKILL", "");
  place.file("skills/download/README.md", "");
  place.skill("skills/download/skills", "pdf");
  const inGroups = [
    "archive a.zip",
    "archive packed/b.tgz",
    "document README.md",
    "folder group",
    "folder guide guide.md",
    "folder two",
  ];
  assert.deepEqual(await notedIn(place, false), [
    ...inGroups.slice(0, 3),
    "folder download README.md",
    ...inGroups.slice(3),
    "misnamed up/SKILL.md.txt",
  ]);
  assert.deepEqual(await notedIn(place, true), [
    ...inGroups,
    "misnamed group/deep/SKILL",
    "misnamed up/SKILL.md.txt",
  ]);
});

Deno.test("a scan notes up to 1,000 near misses in a root", async () => {
  using place = new Place();
  for (let index = 0; index < 600; index++) {
    place.file(`skills/${index}.zip`, "");
    place.file(`skills/more/${index}.zip`, "");
  }
  assert.equal((await notedIn(place, true)).length, 1_000);
});

Deno.test(
  "a scan notes the near misses in a folder once",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.file("skills/up/SKILL.txt", "");
    place.link("up", "skills/link");
    const folder = join(place.path, "skills");
    const { roots } = await scanSkillRoots([
      { ...root(folder), recursive: true, includesItself: false },
      { ...root(join(folder, "up")), includesItself: true },
    ]);
    const paths = roots.flatMap(({ nearMisses = [] }) => nearMisses)
      .map(({ path }) => basename(path));
    assert.deepEqual(paths, ["SKILL.txt"]);
  },
);

Deno.test("a scan notes what a project's root and one of the user's have in common for the user's", async () => {
  using place = new Place();
  place.file("skills/up/SKILL.txt", "");
  const folder = join(place.path, "skills");
  const { roots } = await scanSkillRoots([
    root(folder, { scope: "project" }),
    root(folder),
  ]);
  const counts = roots.map(({ nearMisses = [] }) => nearMisses.length);
  assert.deepEqual(counts, [0, 1]);
});
