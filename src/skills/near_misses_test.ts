import assert from "node:assert/strict";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { missesIn } from "../../tests/testing/report.ts";
import { isCaseBlind, join } from "../files/paths.ts";
import { readStart } from "../cli/unsearched.ts";

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

const FIELDS = "---\nlicense: MIT\nname: a\n---\n";

/** The name of a searched folder, and what each file in it is reported as. */
const looseFiles: [
  folder: string,
  file: string,
  text: string,
  rule?: string,
][] = [
  ["skills", "a.md", FIELDS, "loose-file"],
  ["skills", "a.markdown", FIELDS.replaceAll("\n", "\r\n"), "loose-file"],
  ["skills", "a.txt", FIELDS],
  ["skills", "a.md", "---\ntitle: a\n---\nname: b\n"],
  ["skills", "a.md", `---\n${"x: y\n".repeat(1_000_000)}name: a\n---\n`],
  ["skills", "skillful.md", ""],
  ["skills", "skill.json", ""],
  ["skills", "a.zip", "", "archive"],
  ["docs", "a.md", FIELDS],
  ["docs", "a.zip", ""],
  ["docs", "skills.md", FIELDS, "file-name"],
  ["docs", "SKILL copy (1).md", ""],
  ["docs", "SKILL.md.txt", "", "file-name"],
];

Deno.test("--list reports a file by its name, its folder, and its frontmatter", async () => {
  for (const [folder, file, text, rule] of looseFiles) {
    using place = new Place();
    place.file(`${folder}/${file}`, text);
    const misses = await missesIn(place, folder);
    const expected = rule === undefined ? [] : [`${rule} ${folder}/${file}`];
    assert.deepEqual(misses.map((line) => line.split(":")[0]), expected);
  }
});

Deno.test(
  "--list reports no file behind a link",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const secret = place.file("secret.md", FIELDS);
    place.link(secret, "skills/a.md");
    assert.deepEqual(await missesIn(place, "skills"), []);
    // A link takes the place of a file after it was listed.
    const path = join(place.path, "skills", "a.md");
    assert.equal(readStart(path), "");
    Deno.removeSync(path);
    Deno.copyFileSync(secret, path);
    assert.equal(readStart(path), FIELDS);
  },
);

Deno.test("--list reports archives in folders named as those of skills, in any case", async () => {
  using place = new Place();
  for (const folder of ["some/skills", "other/Skills", "code"]) {
    place.file(`${folder}/pdf.zip`, "");
    const rules = (await missesIn(place, folder))
      .map((line) => line.split(" ")[0]);
    assert.deepEqual(rules, folder === "code" ? [] : ["archive"]);
  }
});
