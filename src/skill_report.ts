// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * What `--list` and `--check` print.
 *
 * @module
 */

import { basename, join } from "jsr:@std/path@^1";
import { styleText } from "node:util";
import { SkillRegistry } from "../mod.ts";
import { missingFolders, type Settings } from "./command_line.ts";
import { lineOf, splitSkillMd } from "./frontmatter.ts";
import { type Link, linksIn, pathOf } from "./markdown_links.ts";
import {
  FIELD_RULES,
  filesFault,
  type Finding,
  MAX_LINES,
  sizeOf,
} from "./skill_rules.ts";
import {
  escapeHidden,
  jsonText,
  normalizeText,
  oneLine,
  quote,
} from "./text.ts";
import type {
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillFile,
  SkillProblem,
  SkillRootReport,
  SkillSource,
} from "./types.ts";

/** A skill's files, and the way to them. */
interface SkillFiles {
  readonly registry: SkillSource;
  readonly files: readonly SkillFile[];
  /** What lies in the skill and is not served, folders with a `/` at the end. */
  readonly leftOut: readonly SkillProblem[];
}

/** Checks a skill against the specification, as it is now. */
function* checkSkill(
  skill: Skill,
  skillFiles: SkillFiles,
): Generator<Finding> {
  yield* checkMain(skill, skillFiles);
  yield* checkFiles(skill, skillFiles);
}

/** Checks the `SKILL.md`: its frontmatter, its length, and where its links lead. */
function* checkMain(
  skill: Skill,
  { registry, files, leftOut }: SkillFiles,
): Generator<Finding> {
  const { file } = skill;
  try {
    const { text, bytes } = registry.readFile(skill, "SKILL.md");
    if (text === undefined) yield { ...NOT_UTF_8, file };
    const readable = text ?? new TextDecoder().decode(bytes);
    const { yaml, body } = splitSkillMd(readable);
    yield* checkFields(skill, yaml);
    const lines = lineBreaks(readable) + (readable.endsWith("\n") ? 0 : 1);
    if (lines > MAX_LINES) yield { ...tooLong(lines), file };
    const firstLine = lineBreaks(yaml) + 3;
    const broken = brokenLinks(body, pathsOf(files, leftOut));
    for (const { line, reason } of broken) {
      yield { ...BROKEN_LINK, file, line: firstLine + line, reason };
    }
  } catch (error) {
    yield { ...CHANGED, file, reason: (error as Error).message };
  }
}

const NOT_UTF_8 = {
  rule: "utf-8",
  severity: "error",
  reason: "its SKILL.md is not UTF-8",
  hint: "save it as UTF-8",
} as const;

const CHANGED = {
  rule: "changed",
  severity: "warning",
  hint: "check again: it changed while it was being checked",
} as const;

const BROKEN_LINK = {
  rule: "broken-link",
  severity: "warning",
  hint: "make the link lead to a file that is served, or take it out",
} as const;

function tooLong(lines: number): Omit<Finding, "file"> {
  return {
    rule: "length",
    severity: "warning",
    reason:
      `it has ${lines} lines, more than the ${MAX_LINES} that are recommended`,
    hint:
      "move details into files of their own, which the agent reads if need be",
  };
}

function* checkFields(skill: Skill, yaml: string): Generator<Finding> {
  const { frontmatter, file, directory, name } = skill;
  for (const { rule, severity, field, hint, fault } of FIELD_RULES) {
    const reason = fault(frontmatter);
    if (reason === undefined) continue;
    yield { rule, severity, file, line: lineOf(field, yaml), reason, hint };
  }
  const folder = basename(directory);
  if (normalizeText(folder) !== normalizeText(name)) {
    yield {
      rule: "name-folder",
      severity: "error",
      file,
      line: lineOf("name", yaml),
      reason: `its name is ${quote(name)}, that of its folder ${quote(folder)}`,
      hint: "give the skill and its folder the same name",
    };
  }
}

/** Tells of files that are not served, and of too many. */
function* checkFiles(
  skill: Skill,
  { files, leftOut }: SkillFiles,
): Generator<Finding> {
  for (const { file, ...fault } of leftOut) {
    const path = join(skill.directory, file);
    yield { rule: "not-served", severity: "warning", file: path, ...fault };
  }
  const reason = filesFault(files);
  if (reason === undefined) return;
  yield {
    rule: "size",
    severity: "warning",
    file: skill.directory,
    reason,
    hint: "take out what the agent does not need, or divide the skill",
  };
}

/** Returns how many line breaks a text has. */
function lineBreaks(text: string): number {
  return text.split("\n").length - 1;
}

/** How many broken links of a skill are told, and how much of each. */
const MAX_BROKEN_LINKS = 20;

const MAX_TARGET_LENGTH = 200;

/** Tells whether a path leads to a file or a folder of a skill, or to where nobody could look. */
function pathsOf(
  files: readonly SkillFile[],
  leftOut: readonly SkillProblem[],
): (path: string) => boolean {
  const paths = new Set([""]);
  for (const { path } of files) {
    const names = path.split("/");
    names.forEach((_, index) => paths.add(names.slice(0, index + 1).join("/")));
  }
  const closed = leftOut.map(({ file }) => file)
    .filter((file) => file === "" || file.endsWith("/"));
  return (path) =>
    paths.has(path) || closed.some((folder) => `${path}/`.startsWith(folder));
}

/** Finds the relative links in Markdown that lead nowhere, each target once. */
function brokenLinks(
  markdown: string,
  isThere: (path: string) => boolean,
): { line: number; reason: string }[] {
  const broken = new Map<string, Link>();
  for (const link of linksIn(markdown)) {
    const path = pathOf(link.target);
    if (path === undefined || broken.has(path) || isThere(path)) continue;
    broken.set(path, link);
  }
  const told = [...broken].slice(0, MAX_BROKEN_LINKS).map(([path, link]) => {
    const target = quote(link.target.slice(0, MAX_TARGET_LENGTH));
    const place = path.startsWith("../") || path === ".."
      ? "outside the skill"
      : "to no file that is served";
    return { line: link.line, reason: `the link ${target} leads ${place}` };
  });
  const rest = broken.size - told.length;
  const { line } = told.at(-1) ?? { line: 0 };
  const reason = `there are ${rest} more links like these`;
  return rest > 0 ? [...told, { line, reason }] : told;
}

/**
 * Scans once and reports the result in the way that the command line asks for.
 * `unlisted` says why `skills/list` does not list a skill, if it does not.
 */
export async function reportSkills(
  settings: Settings,
  unlisted: (
    skill: Skill,
    registry: SkillRegistry,
  ) => Promise<string | undefined>,
): Promise<{ text: string; isBad: boolean }> {
  const { roots, options, values: { check = false, json = false } } = settings;
  using registry = new SkillRegistry(roots, { ...options, log: () => {} });
  const catalog = await registry.refresh();
  const problems = missingFolders(catalog, settings).map((file) => ({
    file,
    reason: "there is no such folder",
    hint: "check its spelling",
  }));
  const report = await makeReport(registry, {
    check,
    problems,
    unlisted: (skill) => unlisted(skill, registry),
  });
  return {
    text: json ? reportAsJson(report) : reportAsText(report, stdoutStyle()),
    isBad: check && hasErrors(report),
  };
}

/** Returns the style for stdout. */
function stdoutStyle(): TextStyle {
  const isTerminal = Deno.stdout.isTerminal();
  return {
    // Some terminals report 0 columns.
    columns: isTerminal && Deno.consoleSize().columns || Infinity,
    colors: isTerminal && !Deno.noColor,
  };
}

/** What was found and what is left out, and why. */
export interface Report extends Omit<SkillCatalog, "skills" | "problems"> {
  readonly skills: readonly FoundSkill[];
  readonly findings: readonly Finding[];
}

/** A skill, and what of it is served. */
interface FoundSkill {
  readonly skill: Skill;
  /** How many files it has. */
  readonly files: number;
  /** How many bytes these have together. */
  readonly size: number;
  /** Why `skills/list` does not list it, if it does not. */
  readonly unlisted: string | undefined;
}

/** What a report is made with. */
export interface ReportOptions {
  /** Whether each skill is checked against the specification. */
  readonly check: boolean;
  /** Faults that the scan does not know of. */
  readonly problems: readonly SkillProblem[];
  /** Says why `skills/list` does not list a skill, if it does not. */
  readonly unlisted: (skill: Skill) => Promise<string | undefined>;
}

/** Makes the report of a registry that has been refreshed. */
export async function makeReport(
  registry: SkillSource,
  { check, problems, unlisted }: ReportOptions,
): Promise<Report> {
  const { catalog } = registry;
  const skills: FoundSkill[] = [];
  const findings: Finding[] = [...problems, ...catalog.problems].map(
    (problem) => ({ rule: "skipped", severity: "error", ...problem }),
  );
  for (const skill of catalog.skills.values()) {
    const { files, leftOut } = registry.inspectFiles(skill);
    const reason = await unlisted(skill);
    skills.push({
      skill,
      files: files.length,
      size: sizeOf(files),
      unlisted: reason,
    });
    if (!check) continue;
    const found = [...checkSkill(skill, { registry, files, leftOut })];
    for (const finding of found) findings.push(finding);
    if (
      reason !== undefined && !found.some((other) => other.reason === reason)
    ) {
      findings.push({ ...UNLISTED, file: skill.file, reason });
    }
  }
  return { ...catalog, skills, findings };
}

/** What no other rule tells, a file that cannot be read for instance. */
const UNLISTED = {
  rule: "unlisted",
  severity: "error",
  hint: "mend it, so that hosts can load the skill",
} as const;

/** Whether there is an error in a report. */
export function hasErrors({ findings }: Report): boolean {
  return findings.some(({ severity }) => severity === "error");
}

/** Writes a report for programs. The README documents its shape. */
export function reportAsJson(report: Report): string {
  const { roots, skills, shadowed, findings } = report;
  const shape = {
    roots: roots.map(({ root, status, skills }) => ({
      path: root.path,
      scope: root.scope,
      recursive: root.recursive,
      status,
      skills,
    })),
    skills: skills.map(({ skill, files, size }) => ({
      name: skill.name,
      description: skill.description,
      scope: skill.scope,
      directory: skill.directory,
      file: skill.file,
      files,
      size,
    })),
    shadowed: shadowed.map(({ skill, by }) => ({
      name: skill.name,
      file: skill.file,
      by: by.file,
    })),
    unlisted: skills.filter(({ unlisted }) => unlisted !== undefined)
      .map(({ skill, unlisted }) => ({ name: skill.name, reason: unlisted })),
    problems: findings.map(({ rule, severity, file, line, reason, hint }) => ({
      rule,
      severity,
      file,
      line,
      reason,
      hint,
    })),
  };
  return jsonText(shape);
}

/** How a report is shown. */
export interface TextStyle {
  /** How many columns the terminal has; `Infinity` where it is none. */
  readonly columns: number;
  /** Whether to use colors. */
  readonly colors: boolean;
}

/** Writes a report for people. */
export function reportAsText(report: Report, style: TextStyle): string {
  const { roots, skills, shadowed, findings } = report;
  const unlisted = skills.filter(({ unlisted }) => unlisted !== undefined);
  const sections = [
    section("Roots", roots.map(rootRows), style),
    section("Skills", skills.map(skillRows), style),
    section("Shadowed skills", shadowed.map(shadowedRows), style),
    section("Not in skills/list", unlisted.map(unlistedRows), style),
    findingsAsText(findings, style),
  ];
  return sections.filter((text) => text !== "").join("\n");
}

/** Lists items, each by its rows, under a heading that counts them. */
function section(heading: string, items: Cell[][][], style: TextStyle): string {
  if (items.length === 0 && heading !== "Skills") return "";
  const title = `${paint(heading, "bold", style)} (${items.length})\n`;
  return title + (items.length > 0 ? table(items.flat(), style) : NO_SKILLS);
}

const NO_SKILLS =
  "  none yet: put a folder with a SKILL.md in it into one of the roots\n";

function rootRows({ root, status, skills }: SkillRootReport): Cell[][] {
  return [[
    { text: status, color: STATUS_COLORS[status] },
    { text: root.scope, isMinor: true },
    { text: status === "found" ? count(skills, "skill") : "", isMinor: true },
    { text: root.path, isPath: true },
  ]];
}

function skillRows({ skill, files, size }: FoundSkill): Cell[][] {
  return [[
    nameCell(skill),
    { text: skill.scope, isMinor: true },
    { text: count(files, "file"), isNumber: true, isMinor: true },
    { text: formatSize(size), isNumber: true, isMinor: true },
    { text: skill.directory, isPath: true },
  ]];
}

function shadowedRows({ skill, by }: ShadowedSkill): Cell[][] {
  return [
    [nameCell(skill), { text: "" }, { text: skill.file, isPath: true }],
    [{ text: "" }, { text: "by" }, { text: by.file, isPath: true }],
  ];
}

function unlistedRows({ skill, unlisted = "" }: FoundSkill): Cell[][] {
  return [[nameCell(skill), { text: unlisted }]];
}

function nameCell({ name }: Skill): Cell {
  return { text: oneLine(name), color: "cyan" };
}

type Color = Parameters<typeof styleText>[0];

const STATUS_COLORS = {
  found: "green",
  missing: "dim",
  refused: "red",
} as const;

const SEVERITY_COLORS = { error: "red", warning: "yellow" } as const;

function paint(text: string, color: Color, { colors }: TextStyle): string {
  // What it is written to is looked at elsewhere.
  return colors ? styleText(color, text, { validateStream: false }) : text;
}

/** Lists what is wrong, and what has the same mend together. */
function findingsAsText(
  findings: readonly Finding[],
  style: TextStyle,
): string {
  const groups = Object.groupBy(
    findings,
    ({ severity, hint }) => `${severity} ${hint}`,
  );
  const errors = findings.filter(({ severity }) => severity === "error");
  const counts = [
    count(errors.length, "error"),
    count(findings.length - errors.length, "warning"),
  ].join(", ");
  const lines = Object.values(groups)
    .sort((a, b) => severityOrder(a![0]!) - severityOrder(b![0]!))
    .flatMap((group) => [
      mendLine(group![0]!, style),
      ...group!.map((finding) => findingLine(finding, style)),
    ]);
  return `${paint("Problems", "bold", style)} (${counts})\n${lines.join("")}`;
}

function severityOrder({ severity }: Finding): number {
  return severity === "error" ? 0 : 1;
}

function mendLine({ severity, hint }: Finding, style: TextStyle): string {
  const text = wrap(`${severity}: ${escapeHidden(hint)}`, 2, style);
  return text.replace(
    severity,
    paint(severity, SEVERITY_COLORS[severity], style),
  );
}

/** Says where something is wrong in the form that editors and terminals make a link of. */
function findingLine(
  { file, line, reason }: Finding,
  style: TextStyle,
): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return wrap(escapeHidden(`${place}: ${reason}`), 4, style);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Writes a number of bytes with three digits at most: 512 B, 1.5 kB, 12 MB. */
function formatSize(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(unit > 0 && value < 9.95 ? 1 : 0)} ${units[unit]}`;
}

/** A cell of a table. */
interface Cell {
  readonly text: string;
  readonly color?: Color;
  /** Whether it stands at the right of its column. */
  readonly isNumber?: boolean;
  /** Whether it is shortened in its middle, not at its end. */
  readonly isPath?: boolean;
  /** Whether its column is left out of a terminal that is too narrow for all. */
  readonly isMinor?: boolean;
}

/** The least that a column is shortened to. */
const MIN_COLUMN = 8;

/** The most that cells are aligned by: longer ones stick out, if they need not fit. */
const MAX_ALIGNED = 80;

const GAP = "  ";

/** Lays rows out in columns. Where they do not fit, minor ones are left out and the widest shortened. */
function table(rows: readonly Cell[][], style: TextStyle): string {
  const all = rows.map((row) =>
    row.map((cell) => ({ ...cell, text: escapeHidden(cell.text) }))
  );
  const least = (all[0] ?? []).length * (GAP.length + MIN_COLUMN);
  const cells = least <= style.columns
    ? all
    : all.map((row) => row.filter(({ isMinor }) => !isMinor));
  const widths = (cells[0] ?? []).map((_, column) => widthOf(cells, column));
  const fitted = fitWidths(widths, style.columns);
  const lines = cells.map((row) => {
    const line = row.map((cell, column) => pad(cell, fitted[column]!, style));
    return `${GAP}${line.join(GAP)}`.trimEnd() + "\n";
  });
  return lines.join("");
}

/** Returns the width that the cells of a column are aligned by. */
function widthOf(cells: readonly Cell[][], column: number): number {
  return cells.reduce((widest, row) => {
    const width = textWidth(row[column]!.text);
    return Math.max(widest, Math.min(width, MAX_ALIGNED));
  }, 0);
}

/** Shortens the widest columns until all fit. The last one has what room is left. */
function fitWidths(widths: readonly number[], columns: number): number[] {
  const capped = (cap: number) => widths.map((width) => Math.min(width, cap));
  const total = (list: number[]) =>
    list.reduce((sum, width) => sum + GAP.length + width, 0);
  let cap = MAX_ALIGNED;
  while (cap > MIN_COLUMN && total(capped(cap)) > columns) cap--;
  const fitted = capped(cap);
  const last = fitted.pop() ?? 0;
  if (columns === Infinity) return [...fitted, 0];
  return [...fitted, Math.max(last, columns - total(fitted) - GAP.length)];
}

function pad(
  { text, color, isNumber, isPath }: Cell,
  width: number,
  style: TextStyle,
): string {
  const short = style.columns === Infinity
    ? text
    : shorten(text, width, isPath);
  const blanks = " ".repeat(Math.max(width - textWidth(short), 0));
  const painted = color ? paint(short, color, style) : short;
  return isNumber ? blanks + painted : painted + blanks;
}

/** Takes so much out of a text that it fits, of a path its middle. */
function shorten(text: string, width: number, isPath = false): string {
  if (textWidth(text) <= width) return text;
  const characters = [...text];
  const end = isPath ? Math.ceil(width * 2 / 3) : 0;
  let tail = characters.slice(characters.length - end);
  let head = characters.slice(0, width - end);
  const result = () => `${head.join("")}…${tail.join("")}`;
  while (textWidth(result()) > width) {
    if (head.length > 0) head = head.slice(0, -1);
    else tail = tail.slice(1);
  }
  return result();
}

/** Breaks a text into lines that fit, all of them indented, the later ones a little more. */
function wrap(text: string, indent: number, { columns }: TextStyle): string {
  const lines: string[] = [];
  let words: string[] = [];
  let width = indent;
  for (const word of columns === Infinity ? [text] : text.split(" ")) {
    const wordWidth = textWidth(word);
    if (words.length > 0 && width + wordWidth > columns) {
      lines.push(words.join(" "));
      words = [];
      width = indent + 4;
    }
    words.push(word);
    width += wordWidth + 1;
  }
  lines.push(words.join(" "));
  const margin = " ".repeat(indent);
  return `${margin}${lines.join(`\n    ${margin}`)}\n`;
}

/** Returns how many columns of a terminal a text takes, as far as Unicode's scripts tell. */
function textWidth(text: string): number {
  const wide = text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60]/gu,
  );
  const none = text.match(/[\p{Mn}\p{Me}\p{Cf}]/gu);
  return [...text].length + (wide?.length ?? 0) - (none?.length ?? 0);
}
