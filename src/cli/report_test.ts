import assert from "node:assert/strict";
import { basename, join } from "jsr:@std/path@^1";
import type { Report } from "./report_data.ts";
import { reportAsText } from "./report.ts";
import { printedReport } from "../../tests/testing/report.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { runServer, serverCommand } from "../../tests/testing/server.ts";

/** Creates a place with one of everything that a report shows. */
function reportPlace(): Place {
  const place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills", "git-2", skillMd("git"));
  place.skill("home/.claude/skills", "pdf");
  place.file("home/.claude/skills/pdf/forms.md", "x".repeat(1_451));
  place.skill("home/.claude/skills", "Übersicht");
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  return place;
}

Deno.test("--list shows roots, skills, and problems with their fixes", async () => {
  using place = reportPlace();
  const { code, text } = await printedReport(place, "--list");
  assert.equal(code, 0);
  assert.equal(
    text,
    `Folders (4)
  missing  project            .agent/skills
  missing  global             ~/.agent/skills
  found    project  1 skill   .claude/skills
  found    global   4 skills  ~/.claude/skills

Skills (5)
  git        1 file   .claude/skills/git
  pdf        2 files  ~/.claude/skills/pdf
  Übersicht  1 file   ~/.claude/skills/Übersicht  not in skills/list: the name "Übersicht" does not consist of a-z, 0-9, and single hyphens between them
  git        1 file   ~/.claude/skills/git        after .claude/skills/git: load it as global:git
  git        1 file   ~/.claude/skills/git-2      after ~/.claude/skills/git: rename it to load it

~/.claude/skills/bad/SKILL.md:1: error[frontmatter-missing]: there is no frontmatter: the first line is not "---"
  fix: start the file, in UTF-8, with a line "---", followed by the lines "name: …", "description: …", and "---"

Found 5 skills: 1 error, 0 warnings.
`,
  );
});

Deno.test("--list and --check show the state of each skill, and the rule that applies", async () => {
  using place = reportPlace();
  place.skill("home/.claude/skills", "bad", skillMd("bad", "Use: this"));
  place.file("home/.claude/skills/pdf/SKILL.md", `${skillMd("pdf")}[a](a.md)`);
  place.file(
    "home/policy.yaml",
    `rules:
  - { skill: "*ber*", state: off }
  - { skill: pdf, state: pinned }
`,
  );
  const policy = ["--policy", "~/policy.yaml"];
  const list = await printedReport(place, "--list", ...policy);
  assert.match(
    list.text,
    /^ {2}git +on +1 file +\.claude\/skills\/git$/m,
  );
  assert.match(list.text, /^ {2}pdf +pinned +policy.yaml:3 +2 files/m);
  assert.match(list.text, /^ {2}Übersicht +off +policy.yaml:2 +~\//m);
  assert.match(list.text, /^Found 5 skills: 1 error, 0 warnings\.$/m);
  const { code, text } = await printedReport(place, "--check", ...policy);
  assert.equal(code, 1);
  assert.equal(
    text,
    `~/.claude/skills/bad/SKILL.md:3: error[yaml-repaired]: the value of "description" needs quotes
  fix: write this line instead:
  description: 'Use: this'
~/.claude/skills/git-2/SKILL.md:2: error[name-folder]: the name "git" differs from the folder name "git-2"
  fix: rename the folder to "git", or the skill
~/.claude/skills/pdf/SKILL.md:7: warning[broken-link]: the link "a.md" does not point to a served file
  fix: link to a file of the skill that is not hidden, or remove the link

Checked 5 skills: 2 errors, 1 warning
`,
  );
  // Neither nothing nor an error is left to report.
  place.file("home/policy.yaml", "rules: [{ state: off }]");
  const off = await printedReport(place, "--check", ...policy);
  assert.deepEqual(off, { code: 0, text: "Checked 0 skills: no problems\n" });
});

Deno.test("--list reports where to put skills if there are none", async () => {
  using place = new Place();
  const { text } = await printedReport(place, "--list");
  assert.match(
    text,
    /\nFound 0 skills: no problems\. To add one, create a folder with a SKILL\.md in one of the folders above\.\n$/,
  );
  const { text: typo } = await printedReport(place, "--list", "typo");
  assert.match(
    typo,
    /there is no such folder.*\nFound 0 skills: 1 error, 0 warnings\.\n$/s,
  );
});

Deno.test(
  "--list, --as, --json, and --print-config escape control characters for the terminal",
  { ignore: lacks("names") },
  async () => {
    using place = new Place();
    const odd = "a\u009b31m\u202eb\u007f";
    const name = JSON.stringify(odd).replace(
      /[^ -~]/g,
      (character) =>
        `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    place.skill("home/.claude/skills", odd, skillMd(name));
    const list = await runServer(place, { args: ["--list"] });
    const view = await runServer(place, { args: ["--list", "--as", "codex"] });
    const report = await runServer(place, { args: ["--list", "--json"] });
    const { skills } = JSON.parse(report.stdout);
    assert.equal(basename(skills[0].directory), odd);
    const codex = ["--print-config", "codex", "--skill-dir", odd];
    const config = await runServer(place, { args: codex });
    assert.match(config.stdout, /a\\u009b31m\\u202eb\\u007f/);
    for (const { stdout, stderr } of [list, view, report, config]) {
      assert.doesNotMatch(stdout + stderr, /[\u007f-\u009f\u202e]/);
    }
  },
);

Deno.test("--list cuts an enormous name, and does not pad cells to its length", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "long", skillMd("n".repeat(5_000)));
  place.skill("home/.claude/skills", "short");
  const { stdout } = await runServer(place, { args: ["--list"] });
  const row = stdout.split("\n").find((line) => line.startsWith("  short"));
  assert.ok(row!.length < 200, row);
  assert.match(stdout, /\bn{197}\.\.\. /);
});

Deno.test(
  "--list exits with 2 if it cannot write",
  { ignore: lacks("proc") },
  async () => {
    using place = new Place();
    const [command, options] = serverCommand(place, { args: ["--list"] });
    const { code, stderr } = await new Deno.Command("sh", {
      ...options,
      args: ["-c", '"$@" >/dev/full', "sh", command, ...options.args!],
      stdin: "null",
    }).output();
    assert.equal(code, 2);
    const text = new TextDecoder().decode(stderr);
    assert.match(text, /^skill-server: Cannot write the output: .*\n$/);
  },
);

Deno.test("--json prints the report as JSON", async () => {
  using place = reportPlace();
  const args = ["--check", "--json"];
  const { code, stdout } = await runServer(place, { args });
  const at = (path: string) => join(place.path, path);
  const { roots, skills, problems } = JSON.parse(stdout);
  assert.equal(code, 1);
  assert.deepEqual(roots[2], {
    path: at("project/.claude/skills"),
    scope: "project",
    recursive: false,
    status: "found",
    skills: 1,
  });
  assert.deepEqual(skills[3], {
    name: "git",
    description: "About git",
    scope: "global",
    directory: at("home/.claude/skills/git"),
    file: at("home/.claude/skills/git/SKILL.md"),
    state: "on",
    shadowedBy: at("project/.claude/skills/git/SKILL.md"),
    qualifiedName: "global:git",
    files: 1,
    size: 48,
  });
  assert.match(skills[2].unlisted, /^the name "Übersicht" does not/);
  assert.deepEqual(problems[0], {
    rule: "frontmatter-missing",
    severity: "error",
    file: at("home/.claude/skills/bad/SKILL.md"),
    line: 1,
    reason: 'there is no frontmatter: the first line is not "---"',
    hint:
      'start the file, in UTF-8, with a line "---", followed by the lines "name: …", "description: …", and "---"',
  });
});

Deno.test("reportAsText() prints annotations for GitHub Actions, one line each, and escapes them", () => {
  const problem = {
    rule: "yaml-repaired",
    severity: "error" as const,
    file: join("/p", "a,b:c", "SKILL.md"),
    line: 3,
    reason: "100% wrong\r::warning::x",
    hint: "write this line instead:\nname: a",
  };
  const warning = { ...problem, rule: "archive", severity: "warning" as const };
  const report: Report = {
    checked: 0,
    policy: undefined,
    roots: [],
    skills: [],
    problems: [problem, { ...warning, line: undefined }],
  };
  const style = { annotations: true, project: "/p" };
  const text = reportAsText(report, style).replaceAll("%5C", "/");
  const message =
    "100%25 wrong\\u000d::warning::x%0Afix: write this line instead:%0Aname: a";
  assert.equal(
    text.replaceAll("\\SKILL", "/SKILL"),
    `::error file=a%2Cb%3Ac/SKILL.md,line=3,title=yaml-repaired::${message}
::warning file=a%2Cb%3Ac/SKILL.md,title=archive::${message}

Checked 0 skills: 1 error, 1 warning
`,
  );
});

Deno.test("no text of a skill is a command of GitHub Actions", async () => {
  using place = new Place();
  const name = '"::stop-commands::x"';
  place.skill("home/.claude/skills", "a", skillMd(name, '"##[add-mask]x"'));
  const env = { GITHUB_ACTIONS: "true" };
  const { stdout } = await runServer(place, { args: ["--check"], env });
  assert.match(stdout, /^::error file=\S+SKILL\.md,line=2,title=name-char/);
  for (const args of [["--list"], ["--list", "--as", "cline"]]) {
    const { stdout } = await runServer(place, { args, env });
    const [, token, text, rest] =
      /^::stop-commands::(\S+)\n(.*)^::\1::\n(.*)$/ms.exec(stdout)!;
    assert.match(token!, /^[\da-f-]{36}$/);
    assert.match(text!, /::stop-commands::x/);
    assert.doesNotMatch(rest!, /stop-commands|##\[/);
    const json = [...args, "--json"];
    const { stdout: report } = await runServer(place, { args: json, env });
    assert.match(JSON.stringify(JSON.parse(report)), /##\[add-mask]x/);
    assert.doesNotMatch(report, /##\[/);
  }
});
