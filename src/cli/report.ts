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
  isInActions,
  jsonWithoutCommands,
  withoutCommands,
} from "./github_actions.ts";
import {
  createReport,
  isError,
  type Report,
  type ReportedSkill,
} from "./report_data.ts";
import type { Settings } from "./settings.ts";
import { currentFolder, isAtOrBelow } from "../files/paths.ts";
import type { SkillSource } from "../skills/types.ts";
import { byCodeUnits, count, escapeHidden, shownName } from "../text.ts";

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
  const tables = style.list ? tablesOf(report, style) : {};
  const found = Object.entries(tables)
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => `${title} (${rows.length})\n${formatTable(rows)}`);
  const sections = found.length > 0 ? [withoutCommands(found.join("\n"))] : [];
  const problems = report.problems
    .toSorted((a, b) =>
      Number(isError(b)) - Number(isError(a)) ||
      byCodeUnits(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0)
    )
    .map((problem) =>
      style.annotations ? annotate(problem, style) : format(problem, style)
    );
  if (problems.length > 0) sections.push(problems.join(""));
  return [...sections, `${summarize(report)}\n`].join("\n");
}

type Row = readonly string[];

/** Returns what was found as tables, by their headings. */
function tablesOf(report: Report, style: TextStyle): Record<string, Row[]> {
  const show = (path: string) => showPath(path, style);
  const { policy, roots, skills } = report;
  const stateOf = ({ state, ruleLine }: ReportedSkill) => [
    state,
    ruleLine === undefined ? "" : `${basename(policy!)}:${ruleLine}`,
  ];
  return {
    "Folders": roots.map(({ status, scope, skills, path }) => [
      status,
      scope,
      status === "found" ? count(skills, "skill") : "",
      show(path),
    ]),
    "Skills": skills.map((skill) => [
      shownName(skill.name),
      ...policy === undefined ? [] : stateOf(skill),
      skill.files === undefined ? "" : count(skill.files, "file"),
      show(skill.directory),
      describeEffects(skill, style),
    ]),
  };
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

type ReportedProblem = Report["problems"][number];

/** Formats a problem. Its place has the form that editors and terminals turn into a link. */
function format(
  { rule, severity, file, line, reason, hint }: ReportedProblem,
  style: TextStyle,
): string {
  const place = showPath(file, style) + (line === undefined ? "" : `:${line}`);
  // The other lines of a hint are a text to copy.
  const lines = [
    `${escapeHidden(place)}: ${severity}[${rule}]: ${escapeHidden(reason)}`,
    ...`fix: ${hint}`.split("\n").map((line) => `  ${escapeHidden(line)}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
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
  const result = problems.length === 0
    ? "no problems"
    : `${count(errors, "error")}, ${
      count(problems.length - errors, "warning")
    }`;
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

/** The maximum width that a column is padded to, in characters. Longer cells exceed it. */
const MAX_PADDING = 80;

/** Formats rows as padded columns, one line for each. */
function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => row.map((cell) => escapeHidden(cell)));
  const widths = cells[0]!.map((_, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]!.length), 0)
  );
  return cells.map((row) => {
    const columns = row.map((cell, column) =>
      cell.padEnd(Math.min(widths[column]!, MAX_PADDING))
    );
    return `  ${columns.join("  ").trimEnd()}\n`;
  }).join("");
}
