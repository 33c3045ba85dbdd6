import assert from "node:assert/strict";
import { settingsFor } from "../../tests/testing/command_line.ts";
import { withVariables } from "../../tests/testing/fakes.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { printedReport, reportPlace } from "../../tests/testing/report.ts";
import type { Report } from "../check/report.ts";
import { join } from "../fs/paths.ts";
import { formatReport } from "./report_text.ts";

const withLinks = needs("links");

Deno.test("--list shows roots, skills, and problems with their fixes", async () => {
  using place = reportPlace();
  const dirs = [".claude/skills", "~/.claude/skills"];
  const { code, text } = await printedReport(place, "--list", ...dirs);
  assert.equal(code, 0);
  assert.equal(
    text,
    `.claude/skills (project): 1 skill
  git         1 file
~/.claude/skills (global): 4 skills
  pdf         2 files
  Übersicht   1 file
  global:git  1 file   the same files as .claude/skills/git; remove one
  git         1 file   in git-2; shadowed by .claude/skills/git: it is in no list, so change the name in the SKILL.md of one of the two

Problems (1)

~/.claude/skills/bad/SKILL.md:1: error[frontmatter-missing]: the file does not begin with a line "---", fields, and another line "---"
  fix: begin the file with a line "---", a line with "name:" and the name of the folder, a line with "description:" and what the skill is for, and another line "---"

Found 3 skills, and 2 shadowed ones: 1 error, 0 warnings. To check their contents, use --check.
`,
  );
});

Deno.test("--list NAME shows in full the skills that have the word in their texts", async () => {
  using place = reportPlace();
  const flags = "disable-model-invocation: true\nuser-invocable: false\n";
  place.skill("home/office/skills", "memo", skillMd("memo", "Write", flags));
  place.file("home/.claude/skills/memo.zip", "");
  const policy = place.file(
    "home/policy.yaml",
    "rules: [{ skill: pdf, state: manual }]",
  );
  const dirs = [".claude/skills", "~/.claude/skills", "~/office/skills"];
  const list = async (...words: string[]) => {
    const args = ["--policy", policy, ...dirs, ...words];
    return (await printedReport(place, "--list", ...args)).text;
  };
  assert.equal(
    await list("git", "PDF"),
    `git (project): About git
  folder: .claude/skills/git
  state: on
  loads as: git, project:git
  files: SKILL.md
pdf (global): About pdf
  folder: ~/.claude/skills/pdf
  state: manual (rules[0]); hidden from the model by the policy
  loads as: pdf, global:pdf
  files: SKILL.md, forms.md
git (global): About git
  folder: ~/.claude/skills/git
  state: on; the same files as .claude/skills/git; remove one
  loads as: global:git
  files: SKILL.md
git (global): Another
  folder: ~/.claude/skills/git-2
  state: on; in git-2; shadowed by .claude/skills/git: it is in no list, so change the name in the SKILL.md of one of the two
  loads as: git-2
  files: SKILL.md

Found 2 skills, and 2 shadowed ones
`,
  );
  const hidden =
    "hidden from the model by its SKILL.md; hidden from the user by its SKILL.md";
  assert.equal(
    await list("writ"),
    `memo (global): Write
  folder: ~/office/skills/memo
  state: on; ${hidden}
  loads as: memo, office:memo, global:memo, global:office:memo
  files: SKILL.md

Found 1 skill
`,
  );
  assert.match(await list("memo"), /^\S*memo\.zip: warning\[archive\]/m);
  const whole = await list();
  assert.match(whole, new RegExp(`^ {2}memo .* ${hidden}$`, "m"));
});

Deno.test("--list says how to add the first skill", async () => {
  using place = new Place();
  const { text } = await printedReport(place, "--list");
  assert.match(text, /^\.agent\/skills \(project\): does not exist$/m);
  const [, file, lines] =
    /\nFound 0 skills\. To add one, save these lines as (\S+):\n\n(.*)$/s
      .exec(text)!;
  assert.doesNotMatch(text, /no problems/);
  const base = file!.startsWith("~") ? "home" : "project";
  place.file(`${base}/${file!.replace("~", ".")}`, lines!);
  assert.deepEqual(await printedReport(place, "--check", "--strict"), {
    code: 0,
    text: "Checked 1 skill: no problems\n",
  });
  const { text: typo } = await printedReport(place, "--list", "typo");
  assert.match(
    typo,
    /^Found 0 skills\. No skill has "typo" in its name or description; --list alone shows all skills and problems.\n$/,
  );
});

Deno.test("--list proposes the last folder that exists for a skill, or else the last one", async () => {
  using place = new Place();
  place.dir("project/empty");
  const proposedIn = (text: string) =>
    /save these lines as (\S+)\/hello\/SKILL\.md:\n/.exec(text)?.[1];
  const proposed = async (...args: string[]) =>
    proposedIn((await printedReport(place, "--list", ...args)).text);
  const { text } = await printedReport(place, "--list", "--agents");
  const [, last] = /(\S+) \(\w+\): does not exist\n\n/.exec(text)!;
  assert.equal(proposedIn(text), last);
  // Its subdirectory `skills` would be searched, too.
  assert.equal(await proposed("empty"), "empty");
  assert.equal(await proposed("--agents", "--skill-dir=empty"), "empty");
  place.dir("project/.claude/skills");
  assert.equal(await proposed("--agents"), ".claude/skills");
});

const DIAGNOSTIC: Report["diagnostics"][number] = {
  rule: "yaml",
  severity: "error",
  file: join(Deno.cwd(), "a,b:c", "SKILL.md"),
  line: 3,
  reason: "100% wrong\r::warning::x",
  fix: "write this line instead:",
  copy: "name: a",
};

const EMPTY_REPORT: Report = {
  version: "1.0.0",
  checked: undefined,
  policy: undefined,
  errors: 1,
  warnings: 1,
  ignored: 0,
  roots: [],
  skills: [],
  diagnostics: [],
};

Deno.test("formatReport() prints an annotation for GitHub Actions on one line", () => {
  const warning = {
    ...DIAGNOSTIC,
    rule: "archive",
    severity: "warning",
  } as const;
  const report: Report = {
    ...EMPTY_REPORT,
    checked: 0,
    diagnostics: [DIAGNOSTIC, { ...warning, line: undefined }],
  };
  const text = withVariables(
    { GITHUB_ACTIONS: "true" },
    () => formatReport(report, settingsFor("--check")).join("\n"),
  );
  const dir = join(Deno.cwd(), "a,b:c").replaceAll(":", "%3A")
    .replaceAll(",", "%2C");
  assert.equal(
    text.replaceAll("\\SKILL", "/SKILL").replaceAll(dir, "FOLDER"),
    `::error file=FOLDER/SKILL.md,line=3,title=yaml::a,b:c/SKILL.md:3: 100%25 wrong\\u000d::warning::x%0Afix: write this line instead:%0Aname: a
::warning file=FOLDER/SKILL.md,title=archive::a,b:c/SKILL.md: 100%25 wrong\\u000d::warning::x%0Afix: write this line instead:%0Aname: a

Checked 0 skills: 1 error, 1 warning`,
  );
});

withLinks.test("--list counts the skills that an earlier folder lists, too", async () => {
  using place = new Place();
  const git = place.skill("home/.claude/skills", "git");
  place.skill("home/.agents/skills", "own");
  place.link(git, "home/.agents/skills/git");
  place.link(join(git, ".."), "project/.agents/skills");
  const args = ["--trust-links=~", "--agents"];
  const { text } = await printedReport(place, "--list", ...args);
  const listed = [
    "~/.claude/skills (global): 1 skill\n  git  1 file\n",
    "\n.agents/skills (global): 1 skill, all of them listed above\n",
    "~/.agents/skills (global): 2 skills, 1 of them listed above\n  own  1 file\n",
  ];
  for (const lines of listed) assert.ok(text.includes(lines), text);
});

Deno.test("--list names each given folder that does not exist", async () => {
  using place = new Place();
  for (const dir of ["~/.claude/skills", "~/none"]) {
    const { text } = await printedReport(place, "--list", dir);
    assert.ok(text.startsWith(`${dir} (global): does not exist\n`), text);
  }
});

withLinks.test("--list reports a default folder that is a link to itself", async () => {
  using place = new Place();
  place.link("skills", "home/.claude/skills");
  const { text } = await printedReport(place, "--list");
  assert.match(text, /^~\/\.claude\/skills \(global\): cannot be searched$/m);
  assert.match(text, /^~\/\.claude\/skills: error\[link-broken\]: /m);
});

Deno.test("--list does not pad cells to the length of a long name", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "long", skillMd("n".repeat(200)));
  place.skill("home/.claude/skills", "short");
  const { text } = await printedReport(place, "--list");
  assert.match(text, /^ {2}short {76,100}1 file$/m);
});
