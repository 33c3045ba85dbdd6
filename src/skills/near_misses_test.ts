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
    return `${rule} ${shown}: ${reason}; ${hint}`;
  });
}

const fileNames = [
  ...["SKILL.md.txt", "SKILL.markdown", "SKILL.txt", "SKILL", "SKILLS.md"],
  ...["SKILL.md.md", "SKILL (1).md", "SKILL copy.md", "skill.MARKDOWN"],
  ...isCaseBlind ? [] : ["Skill.md", "SKILL.MD", "skill.MD"],
];

for (const name of fileNames) {
  Deno.test(`--list reports that ${name} must be named SKILL.md`, async () => {
    using place = new Place();
    place.file(`skills/pdf/${name}`, skillMd("pdf"));
    place.skill("skills", "git");
    assert.deepEqual(await missesIn(place, "skills"), [
      `file-name skills/pdf/${name}: the file of a skill must be named "SKILL.md"; rename it to "SKILL.md"`,
    ]);
  });
}

Deno.test("--list and --check report everything that is almost a skill, and the fix", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.file(`${skills}/up/Skill.markdown`, skillMd("up"));
  place.file(`${skills}/readme/README.md`, "# Readme");
  place.skill(`${skills}/deep`, "one");
  place.skill(`${skills}/deep`, "two");
  place.file(`${skills}/pdf.md`, skillMd("pdf"));
  place.file(`${skills}/README.md`, "# My skills");
  place.file(`${skills}/assets/logo.png`, "");
  place.skill(skills, "good");
  const { code, text: stdout } = await printedReport(place, "--check");
  assert.equal(code, 1);
  assert.match(
    stdout,
    /error\[file-name\]\n {4}~\/.claude\/skills\/up\/Skill.markdown: .*\n {4}fix: rename it to "SKILL.md"\n/,
  );
  assert.match(
    stdout,
    /warning\[nested-too-deep\]\n {4}~\/.claude\/skills\/deep: 2 skills \("one", "two"\) are one level too deep\n {4}fix: move them one folder up, or search this folder too:\n {6}--skill-dir "?\S+\/deep"?\n/,
  );
  assert.match(
    stdout,
    /warning\[no-skill-md\]\n {4}~\/.claude\/skills\/readme: it has a README.md, but no SKILL.md\n/,
  );
  assert.match(
    stdout,
    /warning\[loose-file\]\n {4}~\/.claude\/skills\/pdf.md: .*\n {4}fix: move it to "pdf\/SKILL.md"\n/,
  );
  assert.match(stdout, /\n\nChecked 1 skill: 1 error, 3 warnings\n$/);
});

Deno.test("the option that --list prints for skills one level too deep finds them", async () => {
  using place = new Place();
  place.skill("home/.claude/skills/my set", "one");
  const list = await printedReport(place, "--list");
  const [, folder] = /--skill-dir ['"](.*)['"]\n/.exec(list.text)!;
  const args = ["--list", "--skill-dir", folder!];
  const { text: stdout } = await printedReport(place, ...args);
  assert.match(stdout, /^Skills \(1\)$/m);
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
  place.file("skills/a/notes.md", "");
  place.skill("skills/a/b", "good");
  place.file("skills/a/b/good/examples/SKILL.txt", "part of a skill");
  place.file("skills/node_modules/x/SKILL.txt", "");
  const empty = place.folder("empty");
  assert.deepEqual(await missesIn(place, "empty", "--skill-dir", folder), [
    'file-name skills/a/b/c/SKILL.txt: the file of a skill must be named "SKILL.md"; rename it to "SKILL.md"',
  ], empty);
});

Deno.test("--list does not take the folders of a project for skills", async () => {
  using place = new Place();
  place.skill("project/skills", "pdf");
  place.file("project/docs/README.md", "");
  place.file("project/notes.md", "");
  place.file("project/packages/pdf/README.md", "");
  assert.deepEqual(await missesIn(place, "project"), []);
});

Deno.test("--list reports nothing in folders that the policy switches off", async () => {
  using place = new Place();
  place.file("home/.claude/skills/pdf/SKILL.txt", "");
  place.file("home/.claude/skills/git/SKILL.txt", "");
  place.skill("home/.claude/skills/group", "pdf");
  const rules = "rules:\n- { skill: pdf, state: off }\n";
  place.file("home/policy/rules.yaml", rules);
  const args = ["--list", "--policy", "~/policy/rules.yaml"];
  const { text: stdout } = await printedReport(place, ...args);
  assert.match(stdout, /git\/SKILL.txt/);
  assert.doesNotMatch(stdout, /pdf\/SKILL.txt|too-deep/);
});

Deno.test("--list does not follow a project's links to find near misses", {
  ignore: lacks("links"),
}, async () => {
  using place = new Place();
  place.file("secret/SKILL.txt", "");
  place.link(
    "../../../secret",
    `${
      place.folder("project/.claude/skills").slice(place.path.length + 1)
    }/out`,
  );
  const { text: stdout } = await printedReport(place, "--list");
  assert.doesNotMatch(stdout, /SKILL\.txt/);
  place.folder("home/.claude/skills");
  place.link("../../../secret", "home/.claude/skills/out");
  const { text: followed } = await printedReport(place, "--list");
  assert.match(followed, /skills\/out\/SKILL\.txt/);
});

Deno.test("--list looks at a bounded number of folders, and reports a bounded number", async () => {
  using place = new Place();
  for (let i = 0; i < 60; i++) place.file(`skills/s${i}/SKILL.txt`, "");
  const misses = await missesIn(place, "skills");
  assert.equal(misses.length, 51);
  assert.match(misses.at(-1)!, /more than 50 entries like these/);
});
