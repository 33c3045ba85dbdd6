import assert from "node:assert/strict";
import { checkSkills, SkillFileError } from "../../mod.ts";
import { basename, join, resolve } from "../fs/paths.ts";
import { createReport } from "./report.ts";
import type { Settings } from "../program/settings.ts";
import { settingsFor } from "../../tests/testing/command_line.ts";
import { REPOSITORY } from "../../tests/testing/environment.ts";
import {
  diagnosticsIn,
  openSkills,
  printedReport,
  reportPlace,
} from "../../tests/testing/report.ts";
import { Place, runSync, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { read } from "../../tests/testing/pages.ts";
import {
  runScript,
  runServer,
  serverScript,
} from "../../tests/testing/server.ts";

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
    /^\.claude\/skills .*\n {2}git +on +1 file$/m,
  );
  assert.match(list.text, /^ {2}pdf +pinned +rules\[1\] +2 files/m);
  assert.match(list.text, /^ {2}Übersicht +off +rules\[0\]$/m);
  assert.match(
    list.text,
    /^Found 3 skills, and 2 shadowed ones: 1 error, 0 warnings\. To look/m,
  );
  const first = join(place.path, "project/.claude/skills/git/SKILL.md")
    .replaceAll("\\", "/");
  const { code, text } = await printedReport(place, "--check", ...policy);
  assert.equal(code, 1);
  assert.equal(
    text,
    `~/.claude/skills/bad/SKILL.md:3: error[yaml-repaired]: the value of "description" needs quotes (hosts with the Skills extension do not list the skill)
  fix: write this line instead:
description: "Use: this"
~/.claude/skills/git-2/SKILL.md:2: error[name-folder]: the name "git" differs from the folder name "git-2"
  fix: write this line instead:
name: git-2
~/.claude/skills/git-2/SKILL.md: warning[name-twice]: "${first}" has the same name, "git"
  fix: rename one of the two skills, or remove it
~/.claude/skills/git/SKILL.md: warning[name-twice]: "${first}" has the same name, "git"
  fix: rename one of the two skills, or remove it
~/.claude/skills/pdf/SKILL.md:7: warning[broken-link]: the link "a.md" does not lead to a file that the skill serves
  fix: add the file, or write the path of one that is not hidden

Checked 5 skills: 2 errors, 3 warnings
`,
  );
  // Nothing is left to check.
  place.file("home/policy.yaml", "rules: [{ state: off }]");
  const off = await printedReport(place, "--check", ...policy);
  assert.equal(off.code, 1);
  assert.match(off.text, /error\[no-skills\][^]*\nChecked 0 skills: 1 error/);
});

Deno.test("--json has the version, problems by file and line, relative paths, and no folder that nobody named", async () => {
  using place = new Place();
  const broken = "[a](a.md)\n";
  for (const name of ["csv", "pdf"]) {
    const text = skillMd(name) + broken;
    place.file(`project/more/${name}/SKILL.md`, `${text}[b](b.md)\n`);
  }
  place.file("other/git/SKILL.md", skillMd("git") + broken);
  const dirs = [join(place.path, "other"), "more/pdf", "more/csv"];
  const args = ["--check", "--json", ...dirs];
  const { stdout } = await runServer(place, { args });
  const report = JSON.parse(stdout);
  assert.match(report.version, /^\d+\.\d+\.\d+$/);
  assert.deepEqual(
    report.roots.map(({ path }: { path: string }) => path),
    dirs.map((dir) => resolve(place.project, dir)),
  );
  const places = report.diagnostics.map((
    { relativePath, line }: { relativePath?: string; line: number },
  ) => [relativePath?.replaceAll("\\", "/"), line]);
  assert.deepEqual(places, [
    [undefined, 7],
    ["more/csv/SKILL.md", 7],
    ["more/csv/SKILL.md", 8],
    ["more/pdf/SKILL.md", 7],
    ["more/pdf/SKILL.md", 8],
  ]);
});

Deno.test("checkSkills() returns what --check prints, with the options of the library", async () => {
  using place = new Place();
  place.file("skills/git/SKILL.md", `${skillMd("git")}[a](a.md)\n`);
  place.file("skills/csv/SKILL.md", "no frontmatter");
  place.file("skills/pdf.zip", "");
  const dir = join(place.path, "skills");
  const diagnostics = await checkSkills([dir]);
  assert.deepEqual(diagnostics, await diagnosticsIn("--check", dir));
  assert.deepEqual(diagnostics.map(({ rule }) => rule), [
    "frontmatter-missing",
    "broken-link",
    "archive",
  ]);
  const [archive] = await checkSkills([join(dir, "pdf.zip")]);
  assert.equal(archive!.rule, "archive");
  const rules = [{ skill: ["git", "csv"], state: "off" as const }];
  const rest = await checkSkills([dir], {
    policy: { rules },
    trustLinks: undefined,
  });
  assert.deepEqual(rest.map(({ rule }) => rule), ["no-skills", "archive"]);
});

Deno.test("--json prints the report as JSON", async () => {
  using place = reportPlace();
  const args = ["--check", "--json"];
  const { code, stdout } = await runServer(place, { args });
  const at = (path: string) => join(place.path, path);
  const { roots, skills, diagnostics } = JSON.parse(stdout);
  assert.equal(code, 1);
  assert.deepEqual(roots[2], {
    path: at("project/.claude/skills"),
    scope: "project",
    recursive: false,
    status: "found",
    skills: 1,
    repeated: 0,
  });
  assert.deepEqual(skills[3], {
    name: "git",
    loadedAs: "global:git",
    description: "About git",
    scope: "global",
    root: at("home/.claude/skills"),
    directory: at("home/.claude/skills/git"),
    file: at("home/.claude/skills/git/SKILL.md"),
    state: "on",
    hiddenFrom: "nobody",
    shadowedBy: at("project/.claude/skills/git/SKILL.md"),
    files: 1,
    size: 48,
  });
  assert.deepEqual(diagnostics[0], {
    rule: "frontmatter-missing",
    severity: "error",
    effect: "skipped",
    file: at("home/.claude/skills/bad/SKILL.md"),
    line: 1,
    reason:
      'the file does not begin with a line "---", fields, and another line "---"',
    fix:
      'begin the file with a line "---", a line with "name:" and the name of the folder, a line with "description:" and what the skill is for, and another line "---"',
  });
});

Deno.test("no text of a skill is a command of GitHub Actions, or of Azure Pipelines", async () => {
  using place = new Place();
  const name = '"::stop-commands::x"';
  const description = '"##[add-mask]x ##vso[task.complete]y"';
  place.skill("home/.claude/skills", "a", skillMd(name, description));
  const env = { GITHUB_ACTIONS: "true" };
  const { stdout } = await runServer(place, { args: ["--check"], env });
  assert.match(stdout, /^::error file=\S+SKILL\.md,line=2,title=name-char/);
  for (const args of [["--list"], ["--list", "--as", "cline"]]) {
    const { stdout } = await runServer(place, { args, env });
    const [, token, text, rest] =
      /^::stop-commands::(\S+)\n(.*)^::\1::\n(.*)$/ms.exec(stdout)!;
    assert.match(token!, /^[\da-f-]{36}$/);
    assert.match(text!, /::stop-commands::x/);
    assert.doesNotMatch(rest!, /stop-commands/);
    assert.doesNotMatch(stdout, /##[a-z[]/);
    const json = [...args, "--json"];
    const { stdout: report } = await runServer(place, { args: json, env });
    const read = JSON.stringify(JSON.parse(report));
    assert.match(read, /##\[add-mask]x ##vso\[task.complete]y/);
    assert.doesNotMatch(report, /##[a-z[]/);
  }
});

Deno.test({
  name:
    "no name of a folder adds a line to what is printed, or controls the terminal",
  ignore: lacks("names"),
  fn: async () => {
    using place = new Place();
    const dir = "a\u001b[2J\u009b31m\u202e\u007f\n::error::x\nskill-server: y";
    const searched = join(place.home, ".claude/skills", dir);
    place.skill(`home/.claude/skills/${dir}`, "git", "no frontmatter");
    place.skill(`home/.claude/skills/${dir}`, "csv");
    place.skill(`home/.claude/skills/${dir}/more`, "pdf");
    const prints = [
      ["--list"],
      ["--check"],
      ["--list", "--json"],
      ["--list", "--as", "claude-desktop"],
      ["--print-config", "codex"],
    ];
    for (const print of prints) {
      for (const GITHUB_ACTIONS of ["true", "false"]) {
        const { stdout, stderr } = await runServer(place, {
          args: [searched, ...print],
          env: { GITHUB_ACTIONS },
        });
        const printed = stdout + stderr;
        assert.match(printed, /skills.a\\u001b\[2J\\u009b31m\\u202e\\u007f\\/);
        assert.doesNotMatch(printed, /[^\P{Cc}\n]|\u202e/u);
        assert.doesNotMatch(printed, /^(?:::error::x|skill-server: y)/m);
        if (!print.includes("--json")) continue;
        assert.equal(JSON.parse(stdout).roots[0].path, searched);
      }
    }
  },
});

Deno.test("--check reports a file that can be listed but not read, as an error that keeps the skill out of skills/list", async () => {
  using place = new Place();
  place.skill("skills", "locked");
  const key = place.file("skills/locked/key.md", "");
  const openLocked = (settings: Settings) => {
    const registry = openSkills(settings);
    const readFile = registry.readFile.bind(registry);
    registry.readFile = (skill, path) => {
      if (path !== "key.md") return readFile(skill, path);
      throw new SkillFileError(path, {
        rule: "inaccessible",
        reason: "it is locked",
        fix: "unlock",
      });
    };
    return registry;
  };
  const dir = join(place.path, "skills");
  const list = await createReport(settingsFor("--list", dir), openLocked);
  assert.deepEqual(list.diagnostics, []);
  const checking = settingsFor("--check", dir);
  const report = await createReport(checking, openLocked);
  assert.deepEqual(JSON.parse(JSON.stringify(report.diagnostics)), [{
    rule: "unreadable",
    severity: "error",
    effect: "unlisted",
    file: key,
    reason: "it is locked",
    fix: "unlock",
  }]);
});

Deno.test("--check reports each skill in testdata/invalid", async () => {
  using place = new Place();
  const dir = resolve(REPOSITORY, "testdata", "invalid");
  const args = [dir, "--check", "--json"];
  const { code, stdout } = await runServer(place, { args });
  const { skills, diagnostics } = JSON.parse(stdout);
  const names = skills.map(({ name }: { name: string }) => name);
  // It is repaired, and so served.
  assert.deepEqual([code, names], [1, ["123"]]);
  const faulty = diagnostics.map(({ file }: { file: string }) =>
    basename(join(file, ".."))
  );
  assert.deepEqual(
    [...new Set(faulty)],
    [...Deno.readDirSync(dir)].map(({ name }) => name).sort(),
  );
});

const CHECK_PAGE = read("docs/check.md");

/** Runs a command of docs/check.md with the server from this repository. */
function runRecipe(place: Place, recipe: string) {
  const script = recipe.replace(
    /skill-server --check/,
    serverScript(place, "--check"),
  ).replace("origin/main", "main");
  return runScript(place, script);
}

Deno.test(
  "the recipe in docs/check.md checks only the skills, and what is among them, that changed",
  { ignore: lacks("sh") || lacks("git") },
  async () => {
    const [recipe] = /^for skill in [^]*? --check "\$@"$/m.exec(CHECK_PAGE)!;
    using place = new Place();
    const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    const git = (...args: string[]) =>
      runSync("git", "-C", place.project, ...author, ...args);
    /** Commits changes to the main branch, and returns what the recipe says of them. */
    const checkAfter = async (change: () => void) => {
      git("switch", "--force-create", "change", "main");
      change();
      git("add", ".");
      git("commit", "--allow-empty", "-m", "change");
      const { code, stdout } = await runRecipe(place, recipe);
      return { code, text: stdout };
    };
    const clean = { code: 0, text: "Checked 1 skill: no problems\n" };
    place.skill("project/skills", "same", "no frontmatter");
    place.skill("project/skills", "[a-z] b");
    place.file("project/skills/[a-z] b/more.md", "More");
    place.skill("project/skills", "gone", "no frontmatter");
    place.file("project/skills/README.md", "About these skills");
    git("init", "--initial-branch=main");
    git("add", ".");
    git("commit", "-m", "first");

    const nothing = await checkAfter(() => {
      place.file("project/README.md", "About this project");
      place.file("project/skills/README.md", "More about these skills");
      place.remove("project/skills/gone");
    });
    assert.deepEqual(nothing, { code: 0, text: "Checked 0 skills\n" });
    assert.deepEqual(await checkAfter(() => {}), { code: 0, text: "" });
    const loose = await checkAfter(() => {
      place.file("project/skills/loose.md", skillMd("loose"));
      place.file("project/skills/pdf.zip", "");
    });
    assert.equal(loose.code, 1);
    assert.match(loose.text, /^skills\/loose\.md: error\[loose-file\]/m);
    assert.match(loose.text, /^skills\/pdf\.zip: warning\[archive\]/m);
    const other = await checkAfter(() =>
      place.file("project/skills/[a-z] b/more.md", "Even more")
    );
    assert.match(other.text, /^Checked 1 skill/m);
    const added = await checkAfter(() => place.skill("project/skills", "new"));
    assert.deepEqual(added, clean);
    const changed = await checkAfter(() =>
      place.skill("project/skills", "[a-z] b", "no frontmatter")
    );
    assert.equal(changed.code, 1);
    assert.match(changed.text, /SKILL\.md:1: error\[frontmatter-missing\]/);
    const deleted = await checkAfter(() =>
      place.remove("project/skills/[a-z] b/SKILL.md")
    );
    assert.equal(deleted.code, 1);
    assert.match(
      deleted.text,
      /b: error\[skill-md-missing\]: .* has no "SKILL\.md"/,
    );
  },
);

Deno.test(
  "the recipe in docs/check.md for a second checkout needs no registry of modules, and checks plugins",
  { ignore: lacks("sh") || lacks("links") },
  async () => {
    const [recipe] = /^npx -y deno\S+ run .*--check skills$/m.exec(
      CHECK_PAGE,
    )!;
    const [, plugins] = /end it with\s+`(--check .*)`/.exec(CHECK_PAGE)!;
    using place = new Place();
    place.link(REPOSITORY, "project/skill-server");
    place.skill("project/skills", "git");
    place.skill("project/plugins/a/skills", "pdf");
    place.skill("project/plugins/b/skills", "csv");
    const run = async (command: string) => {
      const script = command.replace(
        /^npx -y deno\S+/,
        `'${Deno.execPath()}'`,
      );
      return (await runScript(place, script)).stdout;
    };
    assert.equal(await run(recipe), "Checked 1 skill: no problems\n");
    assert.equal(
      await run(recipe.replace("--check skills", plugins!)),
      "Checked 2 skills: no problems\n",
    );
  },
);

Deno.test(
  "the recipe in docs/check.md turns problems into SARIF, with relative paths",
  { ignore: lacks("sh") || lacks("jq") },
  async () => {
    const [recipe] = /^skill-server --check --json skills \|\n[^]*?\.sarif$/m
      .exec(CHECK_PAGE)!;
    using place = new Place();
    place.file("project/skills/a b/SKILL.md", skillMd("a", "Use: a"));
    place.file("project/skills/pdf.zip", "archive");
    await runRecipe(place, recipe);
    const file = join(place.project, "skills.sarif");
    const { version, runs } = JSON.parse(Deno.readTextFileSync(file));
    assert.equal(version, "2.1.0");
    // deno-lint-ignore no-explicit-any -- a result as SARIF defines it
    const results = runs[0].results.map(({ ruleId, level, locations }: any) => {
      const { artifactLocation, region } = locations[0].physicalLocation;
      return [ruleId, level, artifactLocation.uri, region.startLine];
    });
    assert.deepEqual(results, [
      ["name-folder", "error", "skills/a%20b/SKILL.md", 2],
      ["yaml-repaired", "error", "skills/a%20b/SKILL.md", 3],
      ["archive", "warning", "skills/pdf.zip", 1],
    ]);
  },
);
