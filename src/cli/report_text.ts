/**
 * The output of `--list` and `--check` for people.
 *
 * @module
 */

import { basename } from "jsr:@std/path@^1";
import { styleText } from "node:util";
import { qualifiedName } from "../skills/names.ts";
import type { Finding } from "../skills/validity.ts";
import { escapeHidden, oneLine } from "../text.ts";
import {
  type FoundSkill,
  placeOf,
  type Report,
  type ReportedPolicy,
} from "./report_data.ts";
import type {
  ShadowedSkill,
  Skill,
  SkillPolicyRule,
  SkillRootReport,
} from "../skills/types.ts";

/** How a text is styled. */
interface TextStyle {
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
  // The second line of a hint is a text to copy.
  const fix = hint.split("\n").map((line) => escapeHidden(line));
  return `  ${heading}\n${lines.join("")}    fix: ${fix.join("\n      ")}\n`;
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
