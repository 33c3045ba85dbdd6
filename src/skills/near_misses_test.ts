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
