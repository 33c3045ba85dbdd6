/**
 * The output of `--list` and `--check`.
 *
 * With `--json`, it is the report as it is. As text, it is a flat list: with `--list`
 * what was found, then the problems, and last the summary, where a terminal shows it.
 * In GitHub Actions, problems are annotations.
 *
 * @module
 */

import { basename, dirname, join, relative } from "jsr:@std/path@^1";
import {
  createReport,
  isError,
  type Report,
  type ReportedSkill,
} from "./report_data.ts";
import type { Settings } from "./settings.ts";
import { attempt } from "../files/faults.ts";
import { currentFolder, isAtOrBelow } from "../files/paths.ts";
import type { SkillSource } from "../skills/types.ts";
import {
  byCodeUnits,
  count,
  escapeHidden,
  jsonText,
  shownName,
} from "../text.ts";

/** How a report is shown as text. */
export interface TextStyle {
  /** Whether to show what was found, not only the problems. */
  readonly list?: boolean | undefined;
  /** Whether problems are annotations of GitHub Actions. */
  readonly annotations?: boolean;
  /** The home folder, which is shown as `~`. */
  readonly home?: string | undefined;
  /** The working directory, to which paths are shown relative. */
  readonly project?: string | undefined;
}

/**
 * Scans the roots once and reports the result in the format that the command
 * line asks for. `isBad` means that `--check` found errors.
 */
export async function reportSkills(
  registry: SkillSource,
  settings: Settings,
): Promise<{ text: string; isBad: boolean }> {
  const { check = false, json, list } = settings.values;
  const report = await createReport(registry, settings);
  const text = json ? jsonWithoutCommands(report) : reportAsText(report, {
    list,
    annotations: isInActions(),
    home: settings.home,
    project: currentFolder(),
  });
  return { text, isBad: check && report.problems.some(isError) };
}

/** Formats a report as text. */
export function reportAsText(report: Report, style: TextStyle): string {
  const problems = report.problems.toSorted((a, b) =>
    Number(isError(b)) - Number(isError(a)) ||
    byCodeUnits(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0)
  );
  const sections = [
    ...style.list ? [withoutCommands(formatTables(report, style))] : [],
    problems.map((problem) =>
      style.annotations ? annotate(problem, style) : format(problem, style)
    ).join(""),
    `${summarize(report)}\n`,
  ];
  return sections.filter((section) => section !== "").join("\n");
}

/** Formats what was found. */
function formatTables(report: Report, style: TextStyle): string {
  const { policy, roots, skills } = report;
  const folderRows = roots.map(({ status, scope, skills, path }) => [
    status,
    scope,
    status === "found" ? count(skills, "skill") : "",
    showPath(path, style),
  ]);
  const skillRows = skills.map((skill) => {
    const { state, ruleLine, files } = skill;
    const rule = ruleLine ? `${basename(policy!)}:${ruleLine}` : "";
    return [
      shownName(skill.name),
      ...policy === undefined ? [] : [state, rule],
      files === undefined ? "" : count(files, "file"),
      showPath(skill.directory, style),
      describeEffects(skill, style),
    ];
  });
  return [
    ...folderRows.length > 0 ? [formatTable("Folders", folderRows)] : [],
    ...skillRows.length > 0 ? [formatTable("Skills", skillRows)] : [],
  ].join("\n");
}

/** Describes who cannot load a skill by its name, and why. */
function describeEffects(
  { shadowedBy, qualifiedName, unlisted }: ReportedSkill,
  style: TextStyle,
): string {
  const advice = qualifiedName
    ? `load it as ${shownName(qualifiedName)}`
    : "rename it to load it";
  return [
    ...shadowedBy
      ? [`after ${showPath(dirname(shadowedBy), style)}: ${advice}`]
      : [],
    ...unlisted ? [`not in skills/list: ${unlisted}`] : [],
  ].join("; ");
}

/** The maximum width that a column is padded to, in characters. Longer cells exceed it. */
const MAX_PADDING = 80;

/** Formats rows as padded columns, one line for each. */
function formatTable(title: string, rows: readonly string[][]): string {
  const cells = rows.map((row) => row.map((cell) => escapeHidden(cell)));
  const widths = cells[0]!.map((_, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]!.length), 0)
  );
  const lines = cells.map((row) =>
    `  ${
      row.map((cell, column) =>
        cell.padEnd(Math.min(widths[column]!, MAX_PADDING))
      ).join("  ")
    }`
  );
  return [`${title} (${rows.length})`, ...lines]
    .map((line) => `${line.trimEnd()}\n`).join("");
}

type ReportedProblem = Report["problems"][number];

/** Formats a problem. Its place has the form that editors and terminals turn into a link. */
function format(
  { rule, severity, file, line, reason, hint }: ReportedProblem,
  style: TextStyle,
): string {
  const place = showPath(file, style) + (line === undefined ? "" : `:${line}`);
  // The other lines of a hint are a text to copy.
  const [fix, ...copy] = hint.split("\n");
  return [`${place}: ${severity}[${rule}]: ${reason}`, `  fix: ${fix}`]
    .concat(copy.map((line) => `  ${line}`))
    .map((line) => `${escapeHidden(line)}\n`).join("");
}

/**
 * Formats a problem as a command of GitHub Actions, which shows it beside the line.
 *
 * @see {@link https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands}
 */
function annotate(
  { rule, severity, file, line, reason, hint }: ReportedProblem,
  { project }: TextStyle,
): string {
  const escape = (text: string) =>
    text.split("\n").map((line) => escapeHidden(line)).join("\n")
      .replaceAll("%", "%25").replaceAll("\n", "%0A");
  const path = escape(showPath(file, { project }))
    .replaceAll(":", "%3A").replaceAll(",", "%2C");
  const place = line === undefined ? "" : `,line=${line}`;
  const text = escape(`${reason}\nfix: ${hint}`);
  return `::${severity} file=${path}${place},title=${rule}::${text}\n`;
}

function summarize({ problems, skills, checked }: Report): string {
  const errors = problems.filter(isError).length;
  const warnings = problems.length - errors;
  const result = problems.length === 0
    ? "no problems"
    : `${count(errors, "error")}, ${count(warnings, "warning")}`;
  if (checked !== undefined) {
    return `Checked ${count(checked, "skill")}: ${result}`;
  }
  const served = skills.filter(({ state }) => state !== "off").length;
  const advice = skills.length + errors > 0
    ? ""
    : " To add one, create a folder with a SKILL.md in one of the folders above.";
  return `Found ${count(served, "skill")}: ${result}.${advice}`;
}

/** Shortens a path in the working directory or the home folder. */
function showPath(path: string, { project, home }: TextStyle): string {
  if (project !== undefined && isAtOrBelow(path, project)) {
    return relative(project, path) || ".";
  }
  if (home === undefined || !isAtOrBelow(path, home)) return path;
  return join("~", relative(home, path));
}

/** Whether this process runs in GitHub Actions, which obeys commands in what a step prints. */
function isInActions(): boolean {
  return attempt(() => Deno.env.get("GITHUB_ACTIONS")) === "true";
}

/** Keeps GitHub Actions from obeying a text that contains text of skills. */
export function withoutCommands(text: string): string {
  const token = crypto.randomUUID();
  return text === "" || !isInActions()
    ? text
    : `::stop-commands::${token}\n${text}::${token}::\n`;
}

/** Formats a value as JSON in which GitHub Actions finds no commands of the old form. */
export function jsonWithoutCommands(value: unknown): string {
  return jsonText(value).replaceAll("##[", "\\u0023#[");
}
