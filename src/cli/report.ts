/**
 * The output of `--list` and `--check`.
 *
 * With `--json`, it is the report as it is. As text, it is a flat list: `--check`
 * prints the problems, `--list` the skills as well, and the summary comes last, where
 * a terminal shows it. In GitHub Actions, problems are annotations.
 *
 * @module
 */

import { basename, dirname, join, relative } from "jsr:@std/path@^1";
import { styleText } from "node:util";
import type { CheckSettings } from "./check_targets.ts";
import {
  createReport,
  isError,
  type Report,
  type SkillsToReport,
} from "./report_data.ts";
import { attempt } from "../files/faults.ts";
import { currentFolder, isAtOrBelow, SKILL_MD } from "../files/paths.ts";
import { RULES } from "../skills/validity.ts";
import { count, escapeHidden, jsonText, oneLine } from "../text.ts";

/** How a report is shown as text. */
export interface TextStyle {
  readonly colors?: boolean;
  /** Whether problems are annotations of GitHub Actions. */
  readonly annotations?: boolean;
  /** Whether to show everything, not only the problems. */
  readonly list?: boolean | undefined;
  /** Whether the skills were checked. */
  readonly check?: boolean | undefined;
  /** The home folder, which is shown as `~`. */
  readonly home?: string | undefined;
  /** The working directory, to which paths are shown relative. */
  readonly project?: string | undefined;
  /** The policy file, if there is one. */
  readonly policyFile?: string | undefined;
}

/**
 * Scans the roots once and reports the result in the format that the command
 * line asks for. `isBad` means that `--check` found errors.
 */
export async function reportSkills(
  skills: SkillsToReport,
  settings: CheckSettings,
): Promise<{ text: string; isBad: boolean }> {
  const { check = false, json = false } = settings.values;
  const report = await createReport(skills, settings);
  const style = {
    ...settings.values,
    colors: Deno.stdout.isTerminal() && !Deno.noColor,
    annotations: attempt(() => Deno.env.get("GITHUB_ACTIONS")) === "true",
    home: settings.home,
    project: currentFolder(),
    policyFile: settings.policyFile,
  };
  return {
    text: json ? jsonText(report) : reportAsText(report, style),
    isBad: check && report.problems.some(isError),
  };
}

/** Formats a report as text. */
export function reportAsText(report: Report, style: TextStyle): string {
  const { policyFile } = style;
  const sections = style.list
    ? [
      section(
        "Folders",
        report.roots.map((root) => [
          root.status,
          root.scope,
          root.status === "found" ? count(root.skills, "skill") : "",
          showPath(root.path, style),
        ]),
      ),
      section("Policy", policyFile ? [[showPath(policyFile, style)]] : []),
      problemLines(report, style),
      skillLines(report, style),
      ...otherLines(report, style),
    ]
    : [problemLines(report, style)];
  const texts = sections.filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line}\n`).join(""));
  return [...texts, `${summaryOf(report, style)}\n`].join("\n");
}

/** Returns the lines of a section, or none if it is empty. */
function section(heading: string, rows: readonly string[][]): string[] {
  return rows.length === 0
    ? []
    : [`${heading} (${rows.length})`, ...table(rows)];
}

type ReportedProblem = Report["problems"][number];

/** Formats the problems, errors first. */
function problemLines({ problems }: Report, style: TextStyle): string[] {
  const sorted = problems.toSorted((a, b) =>
    Number(isError(b)) - Number(isError(a))
  );
  return sorted.flatMap((problem) =>
    style.annotations
      ? [annotationOf(problem, style)]
      : linesOfProblem(problem, style)
  );
}

/** Formats a problem. Its place has the form that editors and terminals turn into a link. */
function linesOfProblem(
  { rule, severity, file, line, reason, hint }: ReportedProblem,
  style: TextStyle,
): string[] {
  const color = severity === "error" ? "red" : "yellow";
  const label = style.colors
    ? styleText(color, severity, { validateStream: false })
    : severity;
  const place = showPath(file, style) + (line === undefined ? "" : `:${line}`);
  // The other lines of a hint are a text to copy.
  const [fix = "", ...copy] = hint.split("\n");
  return [
    `${escapeHidden(place)}: ${label}[${rule}]: ${escapeHidden(reason)}`,
    `  fix: ${escapeHidden(fix)}`,
    ...copy.map((line) => `  ${escapeHidden(line)}`),
  ];
}

/**
 * Formats a problem as a command of GitHub Actions, which shows it beside the line.
 *
 * @see {@link https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands}
 */
function annotationOf(
  { rule, severity, file, line, reason, hint }: ReportedProblem,
  { project }: TextStyle,
): string {
  const path = project !== undefined && isAtOrBelow(file, project)
    ? relative(project, file)
    : file;
  const properties = Object.entries({ file: path, line, title: rule })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      `${name}=${
        escapeCommand(String(value)).replaceAll(":", "%3A")
          .replaceAll(",", "%2C")
      }`
    );
  const text = escapeCommand(`${reason}\nfix: ${hint}`);
  return `::${severity} ${properties.join(",")}::${text}`;
}

/** Escapes a value in a command of GitHub Actions, which ends with its line. */
function escapeCommand(value: string): string {
  return value.split("\n").map((line) =>
    escapeHidden(line).replaceAll("%", "%25")
  ).join("%0A");
}

/** Lists the skills, or says why there are none. */
function skillLines(report: Report, style: TextStyle): string[] {
  const rows = report.skills.map((skill) => [
    oneLine(skill.name),
    ...decisionCells(skill),
    count(skill.files, "file"),
    formatSize(skill.size),
    showPath(skill.directory, style),
  ]);
  return rows.length > 0
    ? section("Skills", rows)
    : ["Skills (0)", `  ${describeNone(report)}`];
}

/** Says why no skill is listed. */
function describeNone(report: Report): string {
  if (report.off?.length) {
    return "none: those that were found are off, see below";
  }
  if (report.problems.some(isError)) return "none: see the problems above";
  return "none yet: create a folder with a SKILL.md in one of the folders above";
}

/** Lists what is not served as the other skills are. */
function otherLines(report: Report, style: TextStyle): string[][] {
  const { off = [], shadowed, unlisted, unsearched } = report;
  return [
    section(
      "Skills that are off",
      off.map(({ name, rule, directory }) => [
        oneLine(name),
        ...decisionCells({ state: "off", rule }).slice(1),
        showPath(directory, style),
      ]),
    ),
    section(
      "Shadowed skills, which have the name of an earlier one, and the names to load them by",
      shadowed.map((skill) => [
        oneLine(skill.qualifiedName),
        ...decisionCells(skill),
        showPath(skill.directory, style),
        `after ${showPath(dirname(skill.by), style)}`,
      ]),
    ),
    section(
      "Skills that hosts with the Skills extension cannot load, but all other clients can",
      unlisted.map(({ name, reason }) => [oneLine(name), reason]),
    ),
    section(
      "Folders that only --agents searches",
      unsearched.map(({ path, skills }) => [
        count(skills, "skill"),
        showPath(path, style),
      ]),
    ),
  ];
}

function summaryOf(report: Report, { check }: TextStyle): string {
  const { problems, skills, shadowed, off = [] } = report;
  const errors = problems.filter(isError).length;
  const warnings = problems.length - errors;
  const result = problems.length === 0
    ? "no problems"
    : `${count(errors, "error")}, ${count(warnings, "warning")}`;
  const found = skills.length + shadowed.length;
  const skipped = new Set(
    problems.filter(({ rule }) => RULES[rule] === "skipped")
      .map(({ file }) => file)
      .filter((file) =>
        basename(file).toLowerCase() === SKILL_MD.toLowerCase()
      ),
  );
  if (check) {
    return `Checked ${count(found + skipped.size, "skill")}: ${result}`;
  }
  const more = off.length > 0
    ? `, and ${off.length} that ${off.length === 1 ? "is" : "are"} off`
    : "";
  const advice = found === 0 ? "" : " To check each skill, run with --check.";
  return `Found ${count(found, "skill")}${more}: ${result}.${advice}`;
}

/** Shortens a path in the working directory or the home folder. */
function showPath(path: string, { project, home }: TextStyle): string {
  if (project !== undefined && isAtOrBelow(path, project)) {
    return relative(project, path) || ".";
  }
  if (home === undefined || !isAtOrBelow(path, home)) return path;
  return join("~", relative(home, path));
}

/** Returns the state of a skill, and the rule that applies, if there is a policy. */
function decisionCells(
  { state, rule }: Partial<
    Pick<Report["skills"][number], "state" | "rule">
  >,
): string[] {
  if (state === undefined) return [];
  const noRule = state === "off" ? "no usable policy" : "";
  return [state, rule ? `${basename(rule.file)}:${rule.line}` : noRule];
}

/** The maximum width that a column is padded to, in characters. Longer cells exceed it. */
const MAX_PADDING = 80;

/** Formats rows as padded columns, one line for each. */
function table(rows: readonly string[][]): string[] {
  const cells = rows.map((row) => row.map((cell) => escapeHidden(cell)));
  const widths = cells[0]!.map((_, column) =>
    cells.reduce((width, row) => {
      return Math.max(width, Math.min(row[column]!.length, MAX_PADDING));
    }, 0)
  );
  return cells.map((row) => {
    const columns = row.map((cell, column) => cell.padEnd(widths[column]!));
    return `  ${columns.join("  ").trimEnd()}`;
  });
}

/** Formats the size of a skill in bytes: 512 B, 1.5 kB, 12 MB. */
function formatSize(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let value = bytes;
  while (value >= 999.5) {
    value /= 1024;
    units.shift();
  }
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${units[0]}`;
}
