// What --check and --list print is what the rows of tests/golden/check.txt, about the text
// of a SKILL.md, and of tests/golden/check_folders.txt, about folders, say.
import assert from "node:assert/strict";
import { SkillRegistry } from "../mod.ts";
import {
  type Effect,
  type ReportedDiagnostic,
  type Rule,
  RULES,
} from "../src/diagnostics.ts";
import { EXTENSION_HANDLERS } from "../src/features/skills_extension.ts";
import { join } from "../src/fs/paths.ts";
import { validName } from "../src/skills/limits.ts";
import { createEntries } from "./testing/entries.ts";
import { REPOSITORY } from "./testing/environment.ts";
import { lacks } from "./testing/needs.ts";
import { Place } from "./testing/place.ts";
import { root } from "./testing/registry.ts";
import { diagnosticsIn, printedReport } from "./testing/report.ts";
import { runServer, type ServerDirs } from "./testing/server.ts";
import { readAllRows } from "./testing/tables.ts";
import { contextOf } from "./testing/tools.ts";

/** Asserts that texts are as a table has them, where "…" stands for any words. */
function assertPrinted(
  found: readonly string[],
  expected: readonly string[],
): void {
  const isSame = (text: string, index: number) => {
    const [start = "", end] = expected[index]!.split("…", 2);
    return end === undefined
      ? text === start
      : text.startsWith(start) && text.endsWith(end);
  };
  if (found.length === expected.length && found.every(isSame)) return;
  assert.deepEqual(found, expected);
}

/** Reads a text of the table, where "{x*3}" is short for "xxx". */
function decode(written: string): string {
  return written
    .replace(/\\(?:u[\da-f]{4}|[nrt\\])/g, (it) => JSON.parse(`"${it}"`))
    .replace(
      /\{([^{}]+|[[\]])\*(\d+)\}/gu,
      (_, piece, count) => piece.repeat(count),
    );
}

/** Reads a line of the table, unless it is about the other YAML parser. */
function readLine(line: string): string[] {
  const [, parser, text = ""] = /^(?:(npm|std): )?(.*)$/.exec(line)!;
  const other = lacks("std") ? "std" : "npm";
  return parser === other ? [] : [text];
}

/** A row about a text: the directory of the skill, and its `SKILL.md`. */
function readText(row: string): { dir: string; text: string } {
  const [, dir = "git", isFile, written] = /^(?:\[([^\]]+)\] )?(file: )?(.*)$/
    .exec(row)!;
  const text = decode(written!);
  return {
    dir: decode(dir),
    text: isFile ? text : `---\n${text}\n---\nDo it.\n`,
  };
}

/** Whether hosts get a skill in the directory `skills`. */
async function isListed(place: Place): Promise<boolean> {
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const context = contextOf(registry, { toolset: "skill" });
  const { skills } = await EXTENSION_HANDLERS["skills/list"]!({}, context);
  return (skills as unknown[]).length > 0;
}

/** Checks a skill with this text. Hosts get it unless a diagnostic says otherwise. */
async function checkText(
  dir: string,
  text: string,
): Promise<ReportedDiagnostic[]> {
  using place = new Place();
  place.skill("skills", dir, text);
  const diagnostics = await diagnosticsIn(
    "--check",
    join(place.path, "skills"),
  );
  const effects = diagnostics.map(({ rule }) => RULES[rule as Rule]);
  const mayBeListed = effects.every((it) => /^(?:error|warning)$/.test(it));
  assert.equal(await isListed(place), mayBeListed, text);
  // Users of the library print them as they are.
  for (const diagnostic of diagnostics) {
    assert.ok(
      !Object.values(diagnostic).includes(undefined),
      diagnostic.reason,
    );
  }
  return diagnostics;
}

/** Follows the fixes of a text, as a person does: writes a new line, or one in place of another. */
function followFixes(
  text: string,
  diagnostics: readonly ReportedDiagnostic[],
): string {
  const lines = text.split("\n");
  // From the last one up, since one line can take the place of several.
  for (const { fix, copy, line = 0 } of diagnostics.toReversed()) {
    const isNew = /^between the two lines "---", .*, such as:$/.test(fix);
    const [, first = line, last = line] = isNew
      ? [fix, 2, 1]
      : /^write this line instead(?: of lines (\d+) to (\d+))?:$/.exec(fix)!;
    const count = Number(last) - Number(first) + 1;
    lines.splice(Number(first) - 1, count, copy!);
  }
  return lines.join("\n");
}

/** Checks the text of a row, and that following the fixes solves its problems. */
async function checkTextRow(
  row: string,
  lines: readonly string[],
): Promise<void> {
  const { dir, text } = readText(row);
  const diagnostics = await checkText(dir, text);
  const found = diagnostics.map(({ line, reason, fix, copy, ...rest }) => {
    const advice = copy === undefined ? fix : `${fix} ${copy}`;
    return `${line ?? "-"} ${rest.severity}[${rest.rule}] ${reason}; ${advice}`;
  });
  assertPrinted(found, lines.flatMap(readLine));
  // Where both required fields are missing, one is left.
  const isFollowed = diagnostics.every(({ reason, copy }) =>
    copy !== undefined && !reason.startsWith("the fields")
  );
  if (!isFollowed) return;
  const fixed = followFixes(text, diagnostics);
  const left = (await checkText(dir, fixed)).map(({ rule }) => rule);
  // A directory whose name hosts refuse has to be renamed, too.
  const isValid = validName(dir) === dir;
  assert.deepEqual(left, isValid ? [] : ["name-folder"], fixed);
}

Deno.test("the fixes of --check solve each problem of a text", async (test) => {
  for (const { head, lines } of readAllRows("check.txt")) {
    await test.step(head, () => checkTextRow(head, lines));
  }
});

/** Reads what the program prints: the summary, and each problem with its fix on a line. */
function readPrinted(text: string, { path }: Place): string[] {
  const lines = text.replaceAll(path.replaceAll("\\", "/"), "")
    .replace(/\n {2}fix: /g, "; ").replace(/ instead:\n/g, " instead: ")
    .split("\n");
  const [summary = ""] = lines.filter((it) => /^(?:Checked|Found) /.test(it));
  const diagnostics = lines.filter((it) => /: (?:error|warning)\[/.test(it));
  return [summary.replace(/\. To .*/, ""), ...diagnostics];
}

/** Returns the options that a hint says to add, as words of a command line. */
function addedWords(fix: string): string[] {
  const [, option = ""] = /\badd (--agents|--skill-dir \S+|--skill-dir ".*")$/
    .exec(fix) ?? [];
  // These say what else to do.
  if (option === "") assert.match(fix, /^move it/);
  const words = option.matchAll(/"([^"]*)"|(\S+)/g);
  return Array.from(words, ([, quoted, word]) => quoted ?? word!);
}

const NOT_SEARCHED = /\[not-searched\]: it has (\d+) .*\n {2}fix: (.*)$/gm;

/** Adds the options in the hints of `--list`, and asserts that it finds all skills that they count. */
async function assertFollowed(
  dirs: ServerDirs,
  args: readonly string[],
  text: string,
): Promise<void> {
  const missed = [...text.matchAll(NOT_SEARCHED)];
  const words = missed.flatMap(([, , fix]) => addedWords(fix!));
  if (words.length === 0) return;
  const all = [...args, "--json", ...words];
  const { stdout } = await runServer(dirs, { args: all });
  const { skills, diagnostics }: {
    skills: unknown[];
    diagnostics: ReportedDiagnostic[];
  } = JSON.parse(stdout);
  const rules = diagnostics.map(({ rule }) => rule);
  assert.ok(!rules.includes("not-searched"), text);
  const [, before] = /^Found (\d+) skill/m.exec(text)!;
  const counts = [before, ...missed.map(([, count]) => count)].map(Number);
  assert.equal(skills.length, counts.reduce((a, b) => a + b), text);
}

const COMMAND = /^(?<dir>\S*) ?\$ (?<command>.*) → (?<summary>.*)$/;

/** Runs the commands of a row, one after another, in its place. */
async function checkDirRow(
  row: string,
  lines: readonly string[],
): Promise<void> {
  using place = new Place();
  createEntries(row, place);
  assert.ok(lines.length > 0, "there is no command");
  for (const [index, line] of lines.entries()) {
    if (line.startsWith("  ")) continue;
    const { dir, command, summary } = COMMAND.exec(line)!.groups!;
    const others = [...lines.slice(index + 1), ""];
    const end = others.findIndex((it) => !it.startsWith("  "));
    const expected = others.slice(0, end).map((it) => it.slice(2));
    const project = place.dir(dir || "project");
    const dirs = { project, home: place.home };
    const args = command!.split(" ");
    const { code, text } = await printedReport(dirs, ...args);
    const printed = readPrinted(text, place);
    assertPrinted([command!, ...printed], [command!, summary!, ...expected]);
    const isFailed = args[0] === "--check" && text.includes(": error[");
    assert.equal(code, isFailed ? 1 : 0, command);
    if (args[0] === "--list") await assertFollowed(dirs, args, text);
  }
}

for (const needsLinks of [false, true]) {
  const what = needsLinks ? "folders behind links" : "folders";
  Deno.test({
    name: `--check and --list report the problems of ${what}`,
    ignore: needsLinks && lacks("links"),
    fn: async (test) => {
      for (const { head: row, lines } of readAllRows("check_folders.txt")) {
        if (row.includes(" -> ") !== needsLinks) continue;
        await test.step({
          name: row,
          ignore: row.includes("/Skill.md") && lacks("caseSensitive"),
          fn: () => checkDirRow(row, lines),
        });
      }
    },
  });
}

/** What no text and no directory breaks, but the disk. `src/fs/errors_test.ts` has most of it. */
const RULES_OF_THE_DISK: readonly Rule[] = [
  "permission",
  "too-many",
  "file-missing",
  "inaccessible",
  "scan-failed",
  "unreadable",
  "size",
];

Deno.test("a row of a table breaks each rule, unless only the disk can", () => {
  const tables = ["check.txt", "check_folders.txt"].flatMap(readAllRows)
    .flatMap(({ lines }) => lines);
  const reported = tables.flatMap((line) =>
    /(?:error|warning)\[([\w-]+)\]/.exec(line)?.[1] ?? []
  );
  const broken = new Set([...reported, ...RULES_OF_THE_DISK]);
  assert.deepEqual([...broken].sort(), Object.keys(RULES).sort());
});

Deno.test("docs/check.md describes each rule under its effect", () => {
  const page = Deno.readTextFileSync(join(REPOSITORY, "docs", "check.md"));
  const sections = page.split("\n### ").map((text) => text.split("\n## ")[0]!);
  const headings: Record<string, Effect> = {
    Skipped: "skipped",
    Unlisted: "unlisted",
    Errors: "error",
    Warnings: "warning",
  };
  const documented = Object.entries(headings).flatMap(([heading, effect]) => {
    const section = sections.find((text) => text.startsWith(`${heading}\n`));
    const rules = section!.matchAll(/^- `([\w-]+)`: /gm);
    return Array.from(rules, ([, rule]) => [rule, effect]);
  });
  assert.deepEqual(documented.sort(), Object.entries(RULES).sort());
});
