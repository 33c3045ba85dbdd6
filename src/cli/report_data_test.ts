import assert from "node:assert/strict";
import { basename, join, resolve } from "jsr:@std/path@^1";
import { SkillFileError, SkillRegistry } from "../../mod.ts";
import { createReport, isError } from "./report_data.ts";
import { RULES } from "../skills/checks.ts";
import { settingsFor } from "../../tests/testing/command_line.ts";
import { REPOSITORY } from "../../tests/testing/environment.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { printedReport } from "../../tests/testing/report.ts";
import { runServer } from "../../tests/testing/server.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";

/** Creates a place with good skills beside broken ones, here and in the home folder. */
function targetPlace(): Place {
  const place = new Place();
  place.skill("project/skills", "pdf");
  place.skill("project/skills", "broken", "no frontmatter");
  place.skill("project/skills/pdf/examples", "nested", "no frontmatter");
  place.file("project/skills/pdf/examples/skill.txt", "");
  place.file("project/low/skill.md", skillMd("low"));
  place.skill("project/more", "git");
  place.file("project/docx/SKILL.markdown", "");
  place.folder("project/empty");
  place.skill("home/.agent/skills", "own", skillMd("other"));
  place.skill("project/.claude/skills", "own");
  return place;
}

/** What `--check` is given, the folder it runs in, and what it finds. */
const targets: [args: string[], folder: string, found: RegExp][] = [
  [["skills/pdf"], "project", /^Checked 1 skill: no problems$/],
  [["."], "project/skills/pdf", /^Checked 1 skill: no problems$/],
  [["skills/pdf/SKILL.md"], "project", /^Checked 1 skill: no problems$/],
  [["SKILL.md"], "project/skills/pdf", /^Checked 1 skill: no problems$/],
  [["low/skill.md"], "project", /^Checked 1 skill: no problems$/],
  [["skills/pdf", "more"], "project", /^Checked 2 skills: no problems$/],
  [["skills/broken"], "project", /^skills\/broken\/SKILL.md:1: error\[frontm/],
  [["docx"], "project", /^docx\/SKILL.markdown: error\[file-name\]/],
  [["own"], "project", /\[name-folder\][^]*\nChecked 2 skills: 1 error/],
  [["empty"], "project", /error\[no-skills\][^]*\nChecked 0 skills: 1 error/],
  [[], "project/empty", /^Checked 1 skill: 1 error/m],
  [
    ["typo"],
    "project",
    /^typo: error\[folder-missing\]: there is no such folder\n/,
  ],
  [["--skill-dir", "typo"], "project/empty", /^typo: error\[folder-missing\]/m],
];

Deno.test("--check checks what it is given, and fails if there is an error", async () => {
  using place = targetPlace();
  for (const [args, folder, found] of targets) {
    const folders = { project: join(place.path, folder), home: place.home };
    const { code, text } = await printedReport(folders, "--check", ...args);
    assert.match(text.trimEnd(), found);
    assert.equal(code, text.includes("error[") ? 1 : 0, text);
  }
});

Deno.test("--check reports a file that can be listed but not read, as an error that keeps the skill out of skills/list", async () => {
  using place = new Place();
  place.skill("skills", "locked");
  const key = place.file("skills/locked/key.md", "");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const readFile = registry.readFile.bind(registry);
  registry.readFile = (skill, path) => {
    if (path !== "key.md") return readFile(skill, path);
    throw new SkillFileError(path, {
      rule: "skipped",
      reason: "it is locked",
      hint: "unlock",
    });
  };
  const list = await createReport(registry, settingsFor("--list"));
  assert.deepEqual(list.skills.map(({ unlisted }) => unlisted), [undefined]);
  const report = await createReport(registry, settingsFor("--check"));
  const [skill] = report.skills;
  assert.equal(skill!.unlisted, "it is locked");
  assert.deepEqual(JSON.parse(JSON.stringify(report.problems)), [{
    rule: "unreadable",
    severity: "error",
    file: key,
    reason: "it is locked",
    hint: "unlock",
  }]);
});

Deno.test("--check takes linear time for any repeated text", async () => {
  const pieces = [
    ...["](", "[a](", "`", "<!--", "[a]: ", "~~~\n", "- ", "%", "((", " "],
    ...["](a)", "](<a ", "> ", "1. ", "``` ", "` `` ", '](a "', "\\", "[a]:\n"],
  ];
  for (const piece of pieces) {
    for (const [wrapping, end] of [["", ""], ["](<", ">)"], ["\n```", ""]]) {
      await assertLinearTime(async (length) => {
        using place = new Place();
        const text = piece.repeat(length / piece.length);
        const body = `${wrapping}${text}${end}`;
        place.skill("skills", "odd", skillMd("odd") + body);
        using registry = new SkillRegistry([root(join(place.path, "skills"))]);
        const report = await createReport(registry, settingsFor("--check"));
        assert.equal(report.skills.length, 1);
        assert.ok(!report.problems.some(isError));
      }, { length: 300_000, what: JSON.stringify(wrapping + piece) });
    }
  }
});

Deno.test("--check reports each skill in testdata/invalid", async () => {
  using place = new Place();
  const folder = resolve(REPOSITORY, "testdata", "invalid");
  const args = [folder, "--check", "--json"];
  const { code, stdout } = await runServer(place, { args });
  const { skills, problems } = JSON.parse(stdout);
  assert.deepEqual([code, skills], [1, []]);
  const faulty = problems.map(({ file }: { file: string }) =>
    basename(join(file, ".."))
  );
  assert.deepEqual(
    [...new Set(faulty)],
    [...Deno.readDirSync(folder)].map(({ name }) => name).sort(),
  );
});

Deno.test("docs/check.md describes each rule, with its severity and its effect on skills/list", () => {
  const path = resolve(REPOSITORY, "docs", "check.md");
  const rows = Deno.readTextFileSync(path).split("\n").map((line) =>
    line.split("|").map((cell) => cell.trim())
  );
  const documented = rows.flatMap(([, rule, severity, effect]) =>
    /^`[\w-]+`$/.test(rule ?? "") && /^(?:error|warning)$/.test(severity ?? "")
      ? [[rule!.slice(1, -1), severity, effect]]
      : []
  );
  const rules = Object.entries(RULES).flatMap(([effect, rules]) =>
    rules.map((rule) => [
      rule,
      effect === "warning" ? effect : "error",
      effect === "warning" || effect === "error" ? "" : effect,
    ])
  );
  assert.deepEqual(documented.sort(), rules.sort());
});
