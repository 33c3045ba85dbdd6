import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { printedReport, problemsIn } from "../../tests/testing/report.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { isCaseBlind } from "../files/paths.ts";

/** Lists the problems with a folder as `<rule> <path>: <reason>; <hint>`. */
async function missesIn(
  place: Place,
  folder: string,
  ...args: string[]
): Promise<string[]> {
  const path = join(place.path, folder);
  const problems = await problemsIn(...args, "--list", path);
  return problems.map(({ rule, file, reason, hint }) => {
    const shown = file.slice(place.path.length + 1).replaceAll("\\", "/");
    return `${rule} ${shown}: ${reason}; ${hint}`
      .replaceAll(place.path, "").replaceAll("\\", "/");
  });
}

Deno.test("--list reports files that are almost named SKILL.md", async () => {
  const names = [
    ...["SKILL.md.txt", "SKILL.markdown", "SKILL.txt", "SKILL"],
    ...["SKILL.md.md", "SKILL (1).md", "SKILL copy.md", "skill.MARKDOWN"],
    "SKILL .md",
    ...isCaseBlind ? [] : ["Skill.md", "SKILL.MD"],
  ];
  for (const name of names) {
    using place = new Place();
    place.file(`skills/pdf/${name}`, skillMd("pdf"));
    place.skill("skills", "git");
    place.file(`skills/git/${name}`, "a part of the skill");
    assert.deepEqual(await missesIn(place, "skills"), [
      `file-name skills/pdf/${name}: the file of a skill must be named "SKILL.md"; rename it to "SKILL.md"`,
    ]);
  }
});

Deno.test("--list and --check report everything that is almost a skill, and the fix", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.file(`${skills}/SKILL.md`, skillMd("loose"));
  place.file(`${skills}/up/Skill.markdown`, skillMd("up"));
  place.skill(`${skills}/deep`, "one");
  for (const name of ["pdf.zip", "docx.skill", "README.md", "notes.md"]) {
    place.file(`${skills}/${name}`, "");
  }
  place.file(`${skills}/assets/logo.png`, "");
  place.file(`${skills}/guide/README.md`, "");
  place.skill(skills, "good");
  const { code, text } = await printedReport(place, "--check");
  assert.equal(code, 1);
  assert.equal(
    text.replaceAll(place.home.replaceAll("\\", "/"), "~"),
    `~/.claude/skills/SKILL.md: error[loose-file]: it is directly in a folder of skills
  fix: move it, and the files that it needs, into a folder of its own
~/.claude/skills/up/Skill.markdown: error[file-name]: the file of a skill must be named "SKILL.md"
  fix: rename it to "SKILL.md"
~/.claude/skills/deep/one: warning[nested-too-deep]: it is one level too deep to be found
  fix: move it to "~/.claude/skills", or add --skill-dir "~/.claude/skills"
~/.claude/skills/docx.skill: warning[archive]: it is an archive, where a folder was expected
  fix: unpack it into a folder of its own, and remove it
~/.claude/skills/pdf.zip: warning[archive]: it is an archive, where a folder was expected
  fix: unpack it into a folder of its own, and remove it

Checked 1 skill: 2 errors, 3 warnings
`,
  );
});

Deno.test("--list finds no near misses in skills, in what tools fill, and among the documents of a project", async () => {
  using place = new Place();
  place.skill("project/skills", "found");
  place.skill("project/skills/found/examples", "part-of-a-skill");
  place.skill("project/.hidden", "not-mine");
  place.skill("project/node_modules", "not-mine");
  place.file("project/docs/skills.md", "");
  place.file("project/docs/docs.md", "");
  place.file("project/release.zip", "");
  assert.deepEqual(await missesIn(place, "project"), []);
  const folder = place.folder("project");
  place.file("project/docs/SKILL.txt", "");
  place.skill("project/plugins", "found-too");
  const misses = await missesIn(place, "home", "--skill-dir", folder);
  assert.deepEqual(misses.map((line) => line.split(":")[0]), [
    "file-name project/docs/SKILL.txt",
  ]);
});

Deno.test("--list does not mention a broken skill that is off", async () => {
  using place = new Place();
  place.skill("skills", "broken", "no frontmatter");
  const policy = place.file("policy.yaml", "rules: [{ state: off }]");
  assert.deepEqual(await missesIn(place, "skills", "--policy", policy), []);
});

Deno.test("--list does not follow links to find near misses", {
  ignore: lacks("links"),
}, async () => {
  using place = new Place();
  place.file("secret/SKILL.txt", "");
  place.folder("home/.claude/skills");
  place.link("../../../secret", "home/.claude/skills/out");
  const { text } = await printedReport(place, "--list");
  assert.doesNotMatch(text, /SKILL\.txt/);
});
