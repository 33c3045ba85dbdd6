import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { printedReport, problemsIn } from "../../tests/testing/report.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { isCaseBlind, isWindows } from "../files/paths.ts";

/** Returns a path as it is printed as an argument. On Windows, it is always in quotes. */
function argument(path: string): string {
  return isWindows ? `"${path}"` : path;
}

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
    ...["SKILL.md.txt", "SKILL.markdown", "SKILL.txt", "SKILL", "pdf.md"],
    ...["SKILL.md.md", "SKILL (1).md", "SKILL copy.md", "skill.MARKDOWN"],
    "SKILL .md",
    ...isCaseBlind ? [] : ["Skill.md", "SKILL.MD", "PDF.md"],
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
  place.file(`${skills}/up/Skill.markdown`, skillMd("up"));
  place.skill(`${skills}/deep`, "one");
  place.skill(`${skills}/deep`, "two");
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
    `~/.claude/skills/up/Skill.markdown: error[file-name]: the file of a skill must be named "SKILL.md"
  fix: rename it to "SKILL.md"
~/.claude/skills: warning[nested-too-deep]: it contains 2 skills too deep to be found: "deep/one", "deep/two"
  fix: move each folder directly into this one, or search all subfolders:
  --skill-dir ${argument("~/.claude/skills")}
~/.claude/skills/docx.skill: warning[archive]: it is an archive, where a folder was expected
  fix: unpack it into a folder of its own, and remove it
~/.claude/skills/pdf.zip: warning[archive]: it is an archive, where a folder was expected
  fix: unpack it into a folder of its own, and remove it

Checked 1 skill: 1 error, 3 warnings
`,
  );
});

Deno.test("the option that --list prints for skills that are too deep finds them", async () => {
  using place = new Place();
  place.skill("project/my set/deep", "one");
  const list = await printedReport(place, "--list", "my set");
  const [, folder] = /--skill-dir ['"](.*)['"]\n/.exec(list.text)!;
  const args = ["--list", "--skill-dir", folder!];
  const { text: stdout } = await printedReport(place, ...args);
  assert.match(stdout, /^Skills \(1\)$/m);
});

Deno.test("--check says which skills of a monorepo it did not search, and with which option it would", async () => {
  using place = new Place();
  place.skill("project/skills", "found");
  place.skill("project/skills/found/examples", "part-of-a-skill");
  for (const name of ["a", "b"]) {
    place.skill(`project/plugins/${name}/skills`, name);
  }
  place.skill("project/packages/x/.claude/skills", "c");
  place.skill("project/node_modules/x", "not-mine");
  place.file("project/docs/skills.md", "");
  place.file("project/docs/docs.md", "");
  assert.deepEqual(await missesIn(place, "project"), [
    'nested-too-deep project: it contains 3 skills too deep to be found: "plugins/a/skills/a", "plugins/b/skills/b", "packages/x/.claude/skills/c"; move each folder directly into this one, or search all subfolders:\n--skill-dir ' +
    argument("/project"),
  ]);
  const args = ["--skill-dir", join(place.path, "project")];
  assert.deepEqual(await missesIn(place, "project", ...args), []);
});

Deno.test("--list does not mention a broken skill that is off", async () => {
  using place = new Place();
  place.skill("skills", "broken", "no frontmatter");
  const policy = place.file("policy.yaml", "rules: [{ state: off }]");
  assert.deepEqual(await missesIn(place, "skills", "--policy", policy), []);
});

Deno.test("--list warns that other programs do not find a skill.md", {
  ignore: lacks("case"),
}, async () => {
  using place = new Place();
  place.file("skills/pdf/skill.md", skillMd("pdf"));
  assert.deepEqual(await missesIn(place, "skills"), [
    'file-name-case skills/pdf/skill.md: most programs find only "SKILL.md", not "skill.md"; rename it to "SKILL.md"',
  ]);
});

Deno.test("--list reports misnamed files below --skill-dir, but not other folders", async () => {
  using place = new Place();
  const folder = place.folder("skills");
  place.file("skills/a/b/c/SKILL.txt", skillMd("c"));
  place.file("skills/a/README.md", "");
  place.file("skills/a/a.md", "");
  place.skill("skills/a/b", "good");
  place.file("skills/a/b/good/examples/SKILL.txt", "part of a skill");
  place.file("skills/node_modules/x/SKILL.txt", "");
  const empty = place.folder("empty");
  assert.deepEqual(await missesIn(place, "empty", "--skill-dir", folder), [
    'file-name skills/a/b/c/SKILL.txt: the file of a skill must be named "SKILL.md"; rename it to "SKILL.md"',
  ], empty);
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
