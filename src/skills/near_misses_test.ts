import assert from "node:assert/strict";
import { scanSkillRoots } from "../../mod.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { root } from "../../tests/testing/registry.ts";
import { missesIn } from "../../tests/testing/report.ts";
import { readStart } from "../cli/unsearched.ts";
import { basename, isCaseBlind, join, relative } from "../files/paths.ts";

/** Names that are almost `SKILL.md`. */
const NAMES = [
  "SKILL.md.txt",
  "SKILL.markdown",
  "SKILL.txt",
  "SKILL",
  "SKILL.md.md",
  "SKILL (1).md",
  "SKILL copy.md",
  "skill.MARKDOWN",
  "SKILL .md",
  "SKILLS.md",
  "skills.md",
  ...isCaseBlind ? [] : ["Skill.md", "SKILL.MD", "skill.MD"],
];

/** Near misses in a folder of skills, and what is reported. Following it leads to `foo/SKILL.md`. */
const MISTAKES: [file: string, reported: RegExp][] = [
  ...["foo.md", "SKILL.md", "SKILL.txt"].map((name): [string, RegExp] => [
    name,
    /^loose-file .* into a folder of its own, as "SKILL\.md"$/,
  ]),
  ...NAMES.map((name): [string, RegExp] => [
    `foo/${name}`,
    /^file-name .* must be named "SKILL\.md"; rename it to "SKILL\.md", which must be plain text$/,
  ]),
];

Deno.test("--list and --check report each near miss, and following the hint makes it a skill", async () => {
  for (const [file, reported] of MISTAKES) {
    using place = new Place();
    place.file(`home/.claude/skills/${file}`, skillMd("foo"));
    place.skill("home/.claude/skills", "git");
    place.file("home/.claude/skills/git/SKILL.txt", "a part of the skill");
    for (const option of ["--list", "--check"]) {
      const [miss, ...others] = await missesIn(place, "home", option);
      assert.match(miss!, reported);
      assert.ok(miss!.includes(` home/.claude/skills/${file}: `), miss);
      assert.deepEqual(others, []);
    }
    place.remove(`home/.claude/skills/${file}`);
    place.file("home/.claude/skills/foo/SKILL.md", skillMd("foo"));
    assert.deepEqual(await missesIn(place, "home", "--check"), []);
  }
});

Deno.test(
  "--list reports no file behind a link",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const text = skillMd("a");
    const secret = place.file("secret.md", text);
    place.link(secret, "skills/a.md");
    assert.deepEqual(await missesIn(place, "skills"), []);
    // A link takes the place of a file after it was listed.
    const path = join(place.path, "skills", "a.md");
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
