/**
 * The output of `--list` and `--check` as text: the roots with their skills, then the
 * diagnostics, and a summary at the end, which stays visible in a terminal. In GitHub
 * Actions, diagnostics are annotations.
 */

import {
  pathFromHere,
  type Report,
  type ReportedRoot,
  type ReportedSkill,
} from "../check/report.ts";
import type { ReportedDiagnostic } from "../diagnostics.ts";
import { dirname, join, relative, withTilde } from "../fs/paths.ts";
import { STATES } from "../policy/states.ts";
import type { Settings } from "../program/settings.ts";
import { isOff } from "../skills/visibility.ts";
import { byCodeUnits, count, oneLine, quote } from "../text.ts";
import { annotation, isInActions, withoutCommands } from "./print.ts";

export function formatReport(
  report: Report,
  { options: { homeDirectory: home }, values: { list }, words }: Settings,
): string[] {
  const diagnostics = report.diagnostics
    .toSorted((a, b) => byCodeUnits(a.severity, b.severity));
  const reported = diagnostics.flatMap((it) => formatReported(it, home));
  const advice = formatAdvice(report, words, home);
  const summary = [summarize(report), advice.sentence].filter(Boolean)
    .join(". ");
  const heading = diagnostics.length === 0
    ? []
    : [`Problems (${diagnostics.length})`];
  const listed = words.length > 0
    ? report.skills.flatMap((skill) => formatSkill(skill, home))
    : formatRoots(report, home);
  return joinSections([
    ...list ? [withoutCommands(listed), heading] : [],
    reported,
    [summary],
    advice.lines ?? [],
  ]);
}

function joinSections(sections: readonly (readonly string[])[]): string[] {
  return sections.filter((lines) => lines.length > 0)
    .flatMap((lines, index) => index === 0 ? lines : ["", ...lines]);
}

function formatRoots(
  { policy, roots, skills }: Report,
  home: string | undefined,
): string[] {
  const rows = skills.map((skill) => {
    const { name, loadedAs = name, state, policyRule = "", files } = skill;
    const policyCells = policy === undefined ? [] : [state, policyRule];
    return [
      loadedAs,
      ...policyCells,
      files === undefined ? "" : count(files, "file"),
      formatRemarks(skill, roots[skill.root]!.path, home),
    ];
  });
  const lines = alignColumns(rows);
  return roots.flatMap((root, position) => [
    formatRoot(root, home),
    ...lines.filter((_, index) => skills[index]!.root === position),
  ]);
}

function formatRoot(
  { path, scope, status, skills, repeated }: ReportedRoot,
  home: string | undefined,
): string {
  const start = `${showPath(path, home)} (${scope})`;
  if (status === "missing") return `${start}: does not exist`;
  if (status === "skipped") return `${start}: cannot be searched`;
  const rest = repeated === 0
    ? ""
    : `, ${repeated === skills ? "all" : repeated} of them listed above`;
  return `${start}: ${count(skills, "skill")}${rest}`;
}

/** The advice for a skill that at most the name of its directory loads. */
const RENAME =
  "it is in no list, so change the name in the SKILL.md of one of the two";

/** Adds what the name does not tell: the directory of a skill, and why it does not load. */
function formatRemarks(
  skill: ReportedSkill,
  root: string,
  home: string | undefined,
): string {
  const { name, loadedAs, state, directory, hiddenFrom } = skill;
  const { isHiddenFromUser, shadowedBy, isCopy } = skill;
  const dir = relative(root, directory) || ".";
  const remarks: string[] = [];
  if (dir !== name) remarks.push(`in ${dir}`);
  const byPolicy = STATES[state].hiddenFrom === hiddenFrom;
  if (isOff(skill) && !byPolicy) {
    remarks.push("off, because its SKILL.md is a link into a hidden folder");
  }
  if (hiddenFrom === "model") {
    const hider = byPolicy ? "the policy" : "its SKILL.md";
    remarks.push(`hidden from the model by ${hider}`);
  }
  if (isHiddenFromUser) remarks.push("hidden from the user by its SKILL.md");
  if (shadowedBy !== undefined) {
    const holder = showPath(dirname(shadowedBy), home);
    const advice = loadedAs === undefined ? `: ${RENAME}` : "";
    remarks.push(
      isCopy
        ? `the same files as ${holder}; remove one`
        : `shadowed by ${holder}${advice}`,
    );
  }
  return remarks.join("; ");
}

function formatSkill(
  skill: ReportedSkill,
  home: string | undefined,
): string[] {
  const { name, scope, description, directory, state, policyRule } = skill;
  const { names = [], paths = [] } = skill;
  const rule = policyRule === undefined ? "" : ` (${policyRule})`;
  const remarks = formatRemarks(skill, dirname(directory), home);
  return [
    `${name} (${scope}): ${oneLine(description)}`,
    `  folder: ${showPath(directory, home)}`,
    `  state: ${state}${rule}${remarks === "" ? "" : `; ${remarks}`}`,
    ...names.length === 0 ? [] : [`  loads as: ${names.join(", ")}`],
    ...paths.length === 0 ? [] : [`  files: ${paths.join(", ")}`],
  ];
}

/** The maximum width that a column is padded to, in characters. Longer cells exceed it. */
const MAX_PADDING = 80;

function alignColumns(rows: readonly string[][]): string[] {
  const [first = []] = rows;
  const widths = first.map((_, column) => {
    const widest = rows
      .reduce((widest, row) => Math.max(widest, row[column]!.length), 0);
    return Math.min(MAX_PADDING, widest);
  });
  return rows.map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column]!));
    return `  ${cells.join("  ")}`.trimEnd();
  });
}

/**
 * Formats a diagnostic. Editors and terminals turn its position into a link. GitHub
 * Actions shows it beside the line.
 */
function formatReported(
  diagnostic: ReportedDiagnostic,
  home: string | undefined,
): string[] {
  const { rule, severity, line, reason, fix, copy } = diagnostic;
  const file = showPath(diagnostic.file, home);
  const position = line === undefined ? file : `${file}:${line}`;
  // A line to copy must not be indented.
  const lines = copy === undefined ? [] : [copy];
  if (isInActions()) {
    // The log of a step shows nothing but the message.
    const message = [`${position}: ${reason}`, `fix: ${fix}`, ...lines];
    // Absolute paths work in any directory: the runner makes them relative.
    const place = { file: diagnostic.file, line, title: rule };
    return [annotation(severity, place, message)];
  }
  const start = `${position}: ${severity}[${rule}]: ${reason}`;
  return [start, `  fix: ${fix}`, ...lines];
}

function summarize(
  { errors, warnings, ignored, diagnostics, skills, checked }: Report,
): string {
  const rest = ignored === 0 ? "" : ` (${ignored} ignored)`;
  const counts = diagnostics.length === 0
    ? ""
    : `: ${count(errors, "error")}, ${count(warnings, "warning")}${rest}`;
  if (checked !== undefined) {
    const isClean = checked > 0 && diagnostics.length === 0;
    const result = isClean ? `: no problems${rest}` : counts;
    return `Checked ${count(checked, "skill")}${result}`;
  }
  const visible = skills.filter((skill) => !isOff(skill));
  const shadowed = visible.filter(({ shadowedBy }) => shadowedBy !== undefined);
  const served = count(visible.length - shadowed.length, "skill");
  const others = shadowed.length === 0
    ? ""
    : `, and ${count(shadowed.length, "shadowed one")}`;
  return `Found ${served}${others}${counts}`;
}

/** What to do next, and the lines to write, if there are any. */
interface NextStep {
  readonly sentence?: string;
  readonly lines?: readonly string[];
}

const FIRST_SKILL =
  "---\nname: hello\ndescription: Greet the user. Use when the user says hello.\n---\nSay hello, and ask what to do today."
    .split("\n");

function formatAdvice(
  { checked, diagnostics, roots, skills }: Report,
  words: readonly string[],
  home: string | undefined,
): NextStep {
  if (checked !== undefined) return {};
  if (words.length > 0) {
    const shown = words.map(quote).join(" or ");
    return skills.length + diagnostics.length > 0 ? {} : {
      sentence:
        `No skill has ${shown} in its name or description; --list alone shows all skills and problems.`,
    };
  }
  if (skills.some((skill) => !isOff(skill))) {
    return { sentence: "To check their contents, use --check." };
  }
  if (diagnostics.length > 0) return {};
  if (skills.length > 0) {
    return { sentence: "The policy turns off all of them." };
  }
  // Roots from options are last, and global roots follow those of the project.
  const root = roots.findLast(({ status }) => status === "found") ??
    roots.at(-1);
  if (root === undefined) return {};
  const file = showPath(join(root.path, "hello", "SKILL.md"), home);
  const sentence = `To add one, save these lines as ${file}:`;
  return { sentence, lines: FIRST_SKILL };
}

function showPath(path: string, home: string | undefined): string {
  return pathFromHere(path) ?? withTilde(path, home);
}
