/**
 * The output of `--list` and `--check`.
 *
 * @module
 */

import { basename, join } from "jsr:@std/path@^1";
import { styleText } from "node:util";
import { SkillRegistry } from "../../mod.ts";
import { missingFolders, openPolicy, type Settings } from "./command_line.ts";
import { findFieldLine, splitSkillMd } from "../skills/frontmatter.ts";
import { findLinks, type Link, pathOf } from "../skills/markdown_links.ts";
import { qualifiedName, servedSkills } from "../skills/names.ts";
import { faultOf, MAX_FILE_DEPTH } from "../files/skill_files.ts";
import {
  checkContents,
  checkFrontmatter,
  createFinding,
  type Finding,
  findUnlisting,
  isUnlisting,
  MAX_LINES,
  type RuleId,
  type SkillContents,
  totalSize,
} from "../skills/validity.ts";
import { SKILL_MD } from "../files/paths.ts";
import {
  escapeHidden,
  jsonText,
  listInvisible,
  nearestWords,
  normalizeText,
  oneLine,
  quote,
} from "../text.ts";
import type {
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillPolicyReport,
  SkillPolicyRule,
  SkillProblem,
  SkillRootReport,
  SkillSource,
} from "../skills/types.ts";

/** The maximum number of findings of one kind that are reported for a skill. */
const MAX_SIMILAR = 20;

/** The maximum length of a link's target in a finding, in characters. */
const MAX_TARGET_LENGTH = 200;

/** The maximum number of invisible characters of a line that are named. */
const MAX_CODE_POINTS = 10;

/**
 * Scans the roots once and reports the result in the format that the command
 * line asks for. `isBad` means that `--check` found errors.
 */
export async function reportSkills(
  settings: Settings,
): Promise<{ text: string; isBad: boolean }> {
  const { roots, options, values: { check = false, json = false } } = settings;
  const log = () => {};
  using policyFile = await openPolicy(settings, log);
  const policy = policyFile?.policy;
  using registry = new SkillRegistry(roots, { ...options, policy, log });
  const catalog = await registry.refresh();
  const problems = missingFolders(catalog, settings).map((file) => ({
    file,
    reason: "there is no such folder",
    hint: "check its spelling",
  }));
  const inspected = registry.inspectPolicy();
  const report = createReport(registry, {
    check,
    problems,
    policy: policyFile && inspected && {
      file: settings.policyFile!,
      problems: policyFile.problems,
      ...inspected,
    },
  });
  const colors = Deno.stdout.isTerminal() && !Deno.noColor;
  return {
    text: json ? reportAsJson(report) : reportAsText(report, { colors }),
    isBad: check && hasErrors(report),
  };
}

/** The skills that were found, and the problems with them. */
export interface Report extends Omit<SkillCatalog, "skills" | "problems"> {
  readonly skills: readonly FoundSkill[];
  readonly policy: ReportedPolicy | undefined;
  readonly findings: readonly Finding[];
}

/** The effects of a policy, and the problems with its file. */
interface ReportedPolicy extends SkillPolicyReport {
  readonly file: string;
  readonly problems: readonly SkillProblem[];
}

/** A skill, with the number and the size of its files. */
interface FoundSkill {
  readonly skill: Skill;
  /** The number of its files. */
  readonly files: number;
  /** Their total size in bytes. */
  readonly size: number;
  /** The reason why `skills/list` omits it, if it does. */
  readonly unlisted: string | undefined;
}

/** Options of {@linkcode createReport}. */
export interface ReportOptions {
  /** Whether to check each skill. If not, no files are read. */
  readonly check: boolean;
  /** Problems that the scan does not report. */
  readonly problems: readonly SkillProblem[];
  /** The policy, if there is one. */
  readonly policy?: ReportedPolicy;
}

/** Creates a report on a registry that has been refreshed. */
export function createReport(
  registry: SkillSource,
  { check, problems, policy }: ReportOptions,
): Report {
  const { catalog } = registry;
  const skills: FoundSkill[] = [];
  const findings = [
    ...checkPolicy(policy, { check, catalog }),
    ...[...problems, ...catalog.problems]
      .map((problem) => createFinding("skipped", problem)),
  ];
  for (const skill of servedSkills(catalog).values()) {
    const contents = registry.inspectFiles(skill);
    const found = check ? [...checkSkill(skill, { contents, registry })] : [];
    for (const finding of found) findings.push(finding);
    const unlisting = check
      ? found.find(isUnlisting)
      : findUnlisting(skill, contents);
    skills.push({
      skill,
      files: contents.files.length,
      size: totalSize(contents.files),
      unlisted: unlisting?.reason,
    });
  }
  return { ...catalog, skills, policy, findings };
}

/** Checks the policy file, and whether each of its rules matches a skill. */
function* checkPolicy(
  policy: ReportedPolicy | undefined,
  { check, catalog }: { check: boolean; catalog: SkillCatalog },
): Generator<Finding> {
  if (policy === undefined) return;
  const { file, problems, off, unused } = policy;
  for (const problem of problems) yield createFinding("policy", problem);
  if (!check || problems.length > 0) return;
  const skills = [...catalog.skills.values(), ...off.map(({ skill }) => skill)];
  const names = new Set(skills.map(({ name }) => name));
  for (const { line, skill } of unused) {
    const [nearest] = skill === undefined ? [] : nearestWords(skill, names);
    const reason = nearest === undefined
      ? "the rule matches no skill"
      : `the rule matches no skill; the closest name is ${quote(nearest)}`;
    const hint = "fix the rule, or remove it";
    yield createFinding("policy-unused", { file, line, reason, hint });
  }
}

/** Whether there is an error in a report. */
export function hasErrors({ findings }: Report): boolean {
  return findings.some(({ severity }) => severity === "error");
}

/** The context of a check. */
interface CheckContext {
  readonly contents: SkillContents;
  readonly registry: SkillSource;
}

/** Checks a skill in its current state. */
function* checkSkill(
  skill: Skill,
  { contents, registry }: CheckContext,
): Generator<Finding> {
  yield* checkMain(skill, { contents, registry });
  yield* checkContents(skill, contents);
  for (const { path } of contents.files) {
    if (path === SKILL_MD) continue;
    try {
      registry.readFile(skill, path);
    } catch (error) {
      const file = join(skill.directory, path);
      yield createFinding("unreadable", { file, ...faultOf(error) });
    }
  }
}

/** Checks the frontmatter, the length, the characters, and the links of a `SKILL.md`. */
function* checkMain(
  skill: Skill,
  { contents, registry }: CheckContext,
): Generator<Finding> {
  const { file } = skill;
  let text, yaml, body;
  try {
    const main = registry.readFile(skill, SKILL_MD);
    if (main.text === undefined) {
      yield createFinding("utf-8", { file, ...NOT_UTF_8 });
    }
    text = main.text ?? new TextDecoder().decode(main.bytes);
    ({ yaml, body } = splitSkillMd(text));
  } catch (error) {
    const reason = (error as Error).message;
    yield createFinding("changed", { file, reason, hint: "check it again" });
    return;
  }
  yield* checkFrontmatter(skill, yaml);
  yield* checkFolderName(skill, yaml);
  yield* checkLength(skill, text);
  yield* checkCharacters(skill, { text, yaml });
  const firstLine = countLineBreaks(yaml) + 3;
  yield* checkLinks(skill, { body, firstLine, contents });
}

const NOT_UTF_8 = {
  reason: "SKILL.md is not valid UTF-8",
  hint: "save the file as UTF-8",
};

function* checkFolderName(
  { name, directory, file }: Skill,
  yaml: string,
): Generator<Finding> {
  const folder = basename(directory);
  if (normalizeText(folder) === normalizeText(name)) return;
  yield createFinding("name-folder", {
    file,
    line: findFieldLine("name", yaml),
    reason: `the name ${quote(name)} differs from the folder name ${
      quote(folder)
    }`,
    hint: "give the skill and its folder the same name",
  });
}

function* checkLength({ file }: Skill, text: string): Generator<Finding> {
  const lines = countLineBreaks(text) + (text.endsWith("\n") ? 0 : 1);
  if (lines <= MAX_LINES) return;
  yield createFinding("length", {
    file,
    reason: `it has ${lines} lines, more than the recommended ${MAX_LINES}`,
    hint: "move details into separate files, for the agent to read if needed",
  });
}

/** Checks a `SKILL.md` for invisible characters, which can hide text. */
function* checkCharacters(
  { file, frontmatter }: Skill,
  { text, yaml }: { text: string; yaml: string },
): Generator<Finding> {
  const { name, description } = frontmatter;
  if (listInvisible(text + name + description).length === 0) return;
  const places = text.replace(/^\ufeff/, "").split(/\r?\n/)
    .map((text, index) => ({ line: index + 1, text }));
  // Characters that YAML escapes appear only in the parsed values.
  if (listInvisible(yaml).length === 0) {
    places.push({ line: findFieldLine("name", yaml), text: name });
    places.push({
      line: findFieldLine("description", yaml),
      text: description,
    });
  }
  const found = places.flatMap(({ line, text }) =>
    describeInvisible(text).map((reason) => ({ line, reason }))
  );
  const hint = "remove them, and find out where they come from";
  yield* limitSimilar({ rule: "invisible-characters", file, hint }, found);
}

/** Describes the invisible characters in a line. Returns an empty array if there are none. */
function describeInvisible(line: string): string[] {
  const characters = listInvisible(line);
  if (characters.length === 0) return [];
  const shown = characters.slice(0, MAX_CODE_POINTS).join(", ");
  const more = characters.length > MAX_CODE_POINTS ? ", …" : "";
  return [`the line contains invisible characters: ${shown}${more}`];
}

/** Checks the relative links in the body, each target once. */
function* checkLinks(
  { file }: Skill,
  { body, firstLine, contents }: {
    body: string;
    firstLine: number;
    contents: SkillContents;
  },
): Generator<Finding> {
  const isServed = createPathTest(contents);
  const broken = new Map<string, Link>();
  for (const link of findLinks(body)) {
    const path = pathOf(link.target);
    if (path === undefined || broken.has(path) || isServed(path)) continue;
    broken.set(path, link);
  }
  const found = [...broken].map(([path, { target, line }]) => {
    const fault = path.split("/", 1)[0] === ".."
      ? "points outside the skill"
      : "does not point to a served file";
    const shown = quote(target.slice(0, MAX_TARGET_LENGTH));
    return {
      line: firstLine + line,
      reason: `the link ${shown} ${fault}`,
    };
  });
  const hint = "link to a served file, or remove the link";
  yield* limitSimilar({ rule: "broken-link", file, hint }, found);
}

/**
 * Creates a function that returns whether a path is served, or is in a folder
 * that could not be read.
 */
function createPathTest(
  { files, leftOut }: SkillContents,
): (path: string) => boolean {
  const served = new Set(files.flatMap(({ path }) => listPrefixes(path)));
  const unreadable = new Set(
    leftOut.map(({ file }) => file)
      .filter((file) => file === "" || file.endsWith("/"))
      .map((folder) => folder.slice(0, -1)),
  );
  return (path) =>
    path === "" || served.has(path) ||
    listPrefixes(path).some((prefix) => unreadable.has(prefix));
}

/** Lists the prefixes of a path, starting with the skill directory, as deep as files are served. */
function listPrefixes(path: string): string[] {
  const names = path.split("/", MAX_FILE_DEPTH);
  return ["", ...names.map((_, index) => names.slice(0, index + 1).join("/"))];
}

/** Reports the first findings of one kind, and the number of the others. */
function* limitSimilar(
  { rule, ...rest }: { rule: RuleId; file: string; hint: string },
  found: readonly { line: number; reason: string }[],
): Generator<Finding> {
  const reported = found.slice(0, MAX_SIMILAR);
  for (const place of reported) {
    yield createFinding(rule, { ...rest, ...place });
  }
  const more = found.length - reported.length;
  if (more === 0) return;
  const reason = `there are ${more} more like these`;
  yield createFinding(rule, { ...rest, line: reported.at(-1)!.line, reason });
}

/** Counts the line breaks in a text. */
function countLineBreaks(text: string): number {
  return text.split("\n").length - 1;
}

/** Formats a report as JSON. `docs/check.md` describes its shape. */
export function reportAsJson(report: Report): string {
  const { roots, skills, shadowed, policy, findings } = report;
  const plain = skills.filter(({ skill }) => skill.prefix === undefined);
  const decisionOn = (skill: Skill, rule = policy?.rules.get(skill)) =>
    policy &&
    { state: skill.state ?? "on", rule: rule && placeOf(rule, policy) };
  const shape = {
    roots: roots.map(({ root, status, skills }) => ({
      path: root.path,
      scope: root.scope,
      recursive: root.recursive,
      status,
      skills,
    })),
    skills: plain.map(({ skill, files, size }) => ({
      name: skill.name,
      description: skill.description,
      scope: skill.scope,
      directory: skill.directory,
      file: skill.file,
      files,
      size,
      ...decisionOn(skill),
    })),
    shadowed: shadowed.map(({ skill, by }) => ({
      name: skill.name,
      qualifiedName: qualifiedName(skill),
      file: skill.file,
      by: by.file,
      ...decisionOn(skill),
    })),
    off: policy?.off.map(({ skill, rule }) => ({
      name: skill.name,
      scope: skill.scope,
      directory: skill.directory,
      file: skill.file,
      rule: rule && placeOf(rule, policy),
    })),
    unlisted: skills.filter(({ unlisted }) => unlisted !== undefined)
      .map(({ skill, unlisted }) => ({
        name: qualifiedName(skill),
        reason: unlisted,
      })),
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

/** Returns the file and line of a rule, if it is from the policy file. */
function placeOf(
  { line }: SkillPolicyRule,
  { file }: ReportedPolicy,
): { file: string; line: number } | undefined {
  return line === undefined ? undefined : { file, line };
}

/** The style of a text report. */
export interface TextStyle {
  /** Whether to use colors. */
  readonly colors: boolean;
}

/** Formats a report as text. */
export function reportAsText(report: Report, style: TextStyle): string {
  const { roots, skills, shadowed, policy, findings } = report;
  const plain = skills.filter(({ skill }) => skill.prefix === undefined);
  const off = policy?.off ?? [];
  const unlisted = skills.filter(({ unlisted }) => unlisted !== undefined);
  const sections = [
    section("Roots", roots.map(rootRow), style),
    section("Policy", policy ? [[policy.file]] : [], style),
    section("Skills", plain.map((found) => skillRow(found, policy)), style),
    section(
      "Skills that are off",
      off.map(({ skill, rule }) => offRow(skill, ruleCell(rule, policy))),
      style,
    ),
    section(
      "Shadowed skills",
      shadowed.map((found) => shadowedRow(found, policy)),
      style,
    ),
    section("Not in skills/list", unlisted.map(unlistedRow), style),
    findingsAsText(findings, style),
  ];
  return sections.filter((text) => text !== "").join("\n");
}

/** Formats rows under a heading with their count. */
function section(heading: string, rows: string[][], style: TextStyle): string {
  if (rows.length === 0 && heading !== "Skills") return "";
  const title = `${paint(heading, "bold", style)} (${rows.length})\n`;
  return title + (rows.length > 0 ? table(rows) : NO_SKILLS);
}

const NO_SKILLS =
  "  none yet: add a folder with a SKILL.md to one of the roots\n";

function rootRow({ root, status, skills }: SkillRootReport): string[] {
  const found = status === "found" ? count(skills, "skill") : "";
  return [status, root.scope, found, root.path];
}

function skillRow(
  { skill, files, size }: FoundSkill,
  policy: ReportedPolicy | undefined,
): string[] {
  const { name, scope, directory } = skill;
  const contents = [count(files, "file"), formatSize(size)];
  const decision = decisionCells(skill, policy);
  return [oneLine(name), ...decision, scope, ...contents, directory];
}

function shadowedRow(
  { skill, by }: ShadowedSkill,
  policy: ReportedPolicy | undefined,
): string[] {
  const decision = decisionCells(skill, policy);
  const name = oneLine(qualifiedName(skill));
  return [name, ...decision, skill.file, `by ${by.file}`];
}

function offRow({ name, scope, directory }: Skill, rule: string): string[] {
  return [oneLine(name), "off", rule, scope, directory];
}

/** Returns the state of a skill, and the rule that applies. */
function decisionCells(
  skill: Skill,
  policy: ReportedPolicy | undefined,
): string[] {
  if (policy === undefined) return [];
  return [skill.state ?? "on", ruleCell(policy.rules.get(skill), policy)];
}

function ruleCell(
  rule: SkillPolicyRule | undefined,
  policy: ReportedPolicy | undefined,
): string {
  if (rule === undefined || policy === undefined) return "";
  const place = placeOf(rule, policy);
  return place ? `${basename(place.file)}:${place.line}` : "no usable policy";
}

function unlistedRow({ skill, unlisted = "" }: FoundSkill): string[] {
  return [oneLine(qualifiedName(skill)), unlisted];
}

/** The maximum width that a column is padded to, in characters. Longer cells exceed it. */
const MAX_PADDING = 80;

/** Formats rows as padded columns. */
function table(rows: readonly string[][]): string {
  const cells = rows.map((row) => row.map((cell) => escapeHidden(cell)));
  const widths = cells[0]!.map((_, column) =>
    cells.reduce(
      (width, row) =>
        Math.max(width, Math.min(row[column]!.length, MAX_PADDING)),
      0,
    )
  );
  const lines = cells.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd()
  );
  return lines.map((line) => `  ${line}\n`).join("");
}

/** Formats findings as text, errors first. Findings with the same rule and fix are grouped. */
function findingsAsText(
  findings: readonly Finding[],
  style: TextStyle,
): string {
  const isError = ({ severity }: Finding) => severity === "error";
  const errors = findings.filter(isError);
  const warnings = findings.filter((finding) => !isError(finding));
  const counts = `${count(errors.length, "error")}, ${
    count(warnings.length, "warning")
  }`;
  const title = `${paint("Problems", "bold", style)} (${counts})\n`;
  const groups = [errors, warnings].flatMap((list) => [
    ...Map.groupBy(list, ({ rule, hint }) => `${rule} ${hint}`).values(),
  ]);
  return title + groups.map((group) => groupAsText(group, style)).join("");
}

/**
 * Formats findings with the same rule and fix. Each place has the form that
 * editors and terminals turn into a link.
 */
function groupAsText(findings: readonly Finding[], style: TextStyle): string {
  const { rule, severity, hint } = findings[0]!;
  const color = severity === "error" ? "red" : "yellow";
  const lines = findings.map(({ file, line, reason }) => {
    const place = line === undefined ? file : `${file}:${line}`;
    return `    ${escapeHidden(`${place}: ${reason}`)}\n`;
  });
  const heading = `${paint(severity, color, style)}[${rule}]`;
  return `  ${heading}\n${lines.join("")}    fix: ${escapeHidden(hint)}\n`;
}

function paint(
  text: string,
  color: "bold" | "red" | "yellow",
  { colors }: TextStyle,
): string {
  return colors ? styleText(color, text, { validateStream: false }) : text;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Formats a number of bytes: 512 B, 1.5 kB, 12 MB. */
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
