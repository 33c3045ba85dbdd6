import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { checkSkills, resolveSkillRoots } from "../../mod.ts";
import { parseLaunch, settingsFor } from "../../tests/testing/command_line.ts";
import { read } from "../../tests/testing/docs.ts";
import { REPOSITORY } from "../../tests/testing/environment.ts";
import { DiskSpy, replaced } from "../../tests/testing/fakes.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place, runSync, skillMd } from "../../tests/testing/place.ts";
import { root } from "../../tests/testing/registry.ts";
import {
  diagnosticsIn,
  openRegistry,
  printedReport,
  reportPlace,
} from "../../tests/testing/report.ts";
import {
  runScript,
  runServer,
  serverScript,
} from "../../tests/testing/server.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { basename, dirname, join, resolve } from "../fs/paths.ts";
import { createReport } from "./report.ts";

const withNames = needs("names");
const withShAndGit = needs("sh", "git");

Deno.test("--list and --check show what a policy does to each skill", async () => {
  using place = reportPlace();
  place.skill("home/.claude/skills", "bad", skillMd("bad", "Use: this"));
  place.file(
    "home/policy.yaml",
    `rules:
  - { skill: "*ber*", state: off }
  - { skill: pdf, state: pinned }
`,
  );
  const policy = ["--policy", "~/policy.yaml"];
  const args = [...policy, ".claude/skills", "~/.claude/skills"];
  const list = await printedReport(place, "--list", ...args);
  assert.match(list.text, /^\.claude\/skills .*\n {2}git +on +1 file$/m);
  assert.match(list.text, /^ {2}pdf +pinned +rules\[1\] +2 files/m);
  assert.match(list.text, /^ {2}Übersicht +off +rules\[0\]$/m);
  const first = join(place.path, "project/.claude/skills/git/SKILL.md")
    .replaceAll("\\", "/");
  assert.deepEqual(await printedReport(place, "--check", ...args), {
    code: 1,
    text:
      `~/.claude/skills/bad/SKILL.md:3: error[yaml]: the value of "description" needs quotes
  fix: write this line instead:
description: "Use: this"
~/.claude/skills/git-2/SKILL.md:2: error[name-folder]: the name "git" differs from the folder name "git-2"
  fix: write this line instead:
name: git-2
~/.claude/skills/git-2/SKILL.md: warning[name-twice]: "${first}" has the same name, "git"
  fix: rename one of the two skills, or remove it
~/.claude/skills/git/SKILL.md: warning[name-twice]: "${first}" has the same name, "git"
  fix: remove one of the two skills, because it is a copy

Checked 5 skills: 2 errors, 2 warnings
`,
  });
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
    "dead-link",
    "archive",
  ]);
  const [archive] = await checkSkills([join(dir, "pdf.zip")]);
  assert.equal(archive!.rule, "archive");
  const rules = [{ skill: ["git", "csv"], state: "off" as const }];
  const rest = await checkSkills([dir], {
    policy: { rules },
    trustedDirs: undefined,
  });
  assert.deepEqual(rest.map(({ rule }) => rule), ["archive"]);
});

Deno.test("--json prints the folders, their skills, and problems by file and line", async () => {
  using place = new Place();
  const links = "[a](a.md)\n[b](b.md)\n";
  place.skill("project/more", "csv", skillMd("csv") + links);
  place.skill("other", "csv");
  place.skill("other", "bad", "no frontmatter");
  const args = ["--check", "--json", "more", "../other"];
  const { code, stdout } = await runServer(place, { args });
  const { version, roots, skills, diagnostics, ...rest } = JSON.parse(stdout);
  const at = (...names: string[]) => join(place.path, ...names);
  assert.deepEqual([code, version], [1, config.version]);
  const counts = { errors: 1, warnings: 3, ignored: 0 };
  assert.deepEqual(rest, { checked: 3, ...counts });
  const root = { recursive: false, status: "found", skills: 1, repeated: 0 };
  assert.deepEqual(roots, [
    { path: at("project", "more"), scope: "project", ...root },
    { path: at("other"), scope: "global", ...root },
  ]);
  assert.deepEqual(skills[1], {
    name: "csv",
    loadedAs: "global:csv",
    description: "About csv",
    scope: "global",
    root: 1,
    directory: at("other", "csv"),
    file: at("other", "csv", "SKILL.md"),
    state: "on",
    hiddenFrom: "nobody",
    isHiddenFromUser: false,
    isCopy: false,
    shadowedBy: at("project", "more", "csv", "SKILL.md"),
    files: 1,
    size: 48,
  });
  const [{ reason: _reason, fix: _fix, ...first }, ...others] = diagnostics;
  assert.deepEqual(first, {
    rule: "frontmatter-missing",
    severity: "error",
    effect: "skipped",
    file: at("other", "bad", "SKILL.md"),
    line: 1,
  });
  const positions = others.map((
    { rule, relativePath, line }: Record<string, unknown>,
  ) => [rule, relativePath, line]);
  const relativePath = join("more", "csv", "SKILL.md");
  assert.deepEqual(positions, [
    ["name-twice", undefined, undefined],
    ["dead-link", relativePath, 7],
    ["dead-link", relativePath, 8],
  ]);
});

withNames.test("no name of a folder adds a line to what is printed", async () => {
  using place = new Place();
  const dir =
    "a\u001b[2J\u009b31m\u202e\u007f\n::error::x\nskill-server: y##vso[x]";
  const searched = join(place.home, ".claude/skills", dir);
  place.skill(`home/.claude/skills/${dir}`, "git", "no frontmatter");
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
      assert.doesNotMatch(printed, /^(?:::error::x|skill-server: y)|##vso/m);
      if (!print.includes("codex")) continue;
      assert.ok(parseLaunch(stdout).args.includes(searched), stdout);
    }
  }
});

/** Reports on a root as if it were one of a project. */
async function reportOnProject(dir: string): Promise<Diagnostic[]> {
  const roots = [root(dir, { isLimited: true })];
  const settings = { ...settingsFor("--check", dir), roots };
  return (await createReport(settings, openRegistry)).diagnostics;
}

function rulesOf(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ rule }) => rule);
}

Deno.test("--check reports at most 20 problems of a SKILL.md", async () => {
  using place = new Place();
  const repeated = "a:\n".repeat(1_000);
  const numbers = Array.from({ length: 1_000 }, (_, i) => `  a${i}: 1\n`);
  const metadata = `metadata:\n${numbers.join("")}`;
  place.skill("skills", "a", skillMd("a", "d", repeated));
  place.skill("skills", "b", skillMd("b", "d", metadata));
  const diagnostics = await diagnosticsIn("--check", place.dir("skills"));
  const rules = Map.groupBy(rulesOf(diagnostics), (rule) => rule);
  assert.equal(rules.get("yaml")!.length, 20);
  assert.equal(rules.get("metadata")!.length, 20);
});

Deno.test("--check reads the files of a project for a minute", async () => {
  using place = new Place();
  for (const name of ["a", "b", "c", "d"]) {
    place.skill("skills", name);
    place.file(`skills/${name}/notes.md`, "[x](none.md)");
  }
  let now = Date.now();
  using _clock = replaced(Date, { now: () => now });
  using _disk = new DiskSpy((path, operation) => {
    const isNotes = operation === "openSync" && path.endsWith("notes.md");
    if (isNotes) now += 31_000;
    return undefined;
  });
  const diagnostics = await reportOnProject(place.dir("skills"));
  const rules = ["too-many", "dead-link", "dead-link"];
  assert.deepEqual(rulesOf(diagnostics), rules);
});

Deno.test("--check and --list look at 20,000 files and folders of a project", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "a");
  const dir = place.dir("project/.claude/skills");
  const { readDirSync } = Deno;
  const entry = { isFile: true, isDirectory: false, isSymlink: false };
  const files = Array.from(
    { length: 50_000 },
    (_, index) => ({ ...entry, name: `${index}.zip` }),
  );
  using _ = replaced(Deno, {
    readDirSync: (path: string | URL) =>
      [...readDirSync(path), ...path === dir ? files : []].values(),
  });
  const roots = resolveSkillRoots({ workingDirectory: place.project });
  const settings = { ...settingsFor("--list"), roots };
  const { diagnostics } = await createReport(settings, openRegistry);
  const limited = diagnostics.filter(({ rule }) => rule === "too-many");
  assert.deepEqual(limited.map(({ file }) => file), [dir]);
  const archives = diagnostics.filter(({ rule }) => rule === "archive");
  assert.ok(archives.length > 19_000 && archives.length <= 20_000);
});

Deno.test("--check reports each skill in testdata/invalid", async () => {
  const dir = resolve(REPOSITORY, "testdata", "invalid");
  const diagnostics = await diagnosticsIn("--check", dir);
  const reported = diagnostics.map(({ file }) => basename(dirname(file)));
  const names = [...Deno.readDirSync(dir)].map(({ name }) => name);
  assert.deepEqual([...new Set(reported)], names.sort());
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

withShAndGit.test("the recipe in docs/check.md checks only what changed", async () => {
  const [recipe] = /^for skill in [^]*? --check "\$@"$/m.exec(CHECK_PAGE)!;
  using place = new Place();
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  const git = (...args: string[]) =>
    runSync("git", "-C", place.project, ...author, ...args);
  place.skill("project/skills", "same", "no frontmatter");
  place.skill("project/skills", "[a-z] b");
  place.file("project/skills/[a-z] b/notes.md", "Notes");
  place.skill("project/skills", "gone", "no frontmatter");
  git("init", "--initial-branch=main");
  git("add", ".");
  git("commit", "-m", "first");
  /** Changes since the main branch, the exit code, and what the recipe prints. */
  const changes: [change: () => void, code: number, text: RegExp][] = [
    [() => {}, 0, /^$/],
    [() => place.remove("project/skills/gone"), 0, /^$/],
    [
      () => place.file("project/skills/README.md", "About these skills"),
      0,
      /^Checked 0 skills\n$/,
    ],
    [
      () => place.skill("project/skills", "new"),
      0,
      /^Checked 1 skill: no problems\n$/,
    ],
    [
      () => place.file("project/skills/[a-z] b/more.md", "More"),
      1,
      /\nChecked 1 skill: 1 error, 0 warnings\n$/,
    ],
    [
      () => place.file("project/skills/loose.md", skillMd("loose")),
      1,
      /^skills\/loose\.md: error\[loose-file\]/,
    ],
    [
      () => place.remove("project/skills/[a-z] b/SKILL.md"),
      1,
      /b: error\[skill-md-missing\]: .* has no "SKILL\.md"/,
    ],
  ];
  for (const [change, code, text] of changes) {
    git("switch", "--force-create", "change", "main");
    change();
    git("add", ".");
    git("commit", "--allow-empty", "-m", "change");
    const checked = await runRecipe(place, recipe);
    assert.match(checked.stdout, text);
    assert.equal(checked.code, code);
  }
});
