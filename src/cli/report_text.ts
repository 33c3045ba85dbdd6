/**
 * The output of `--list` and `--check` for people.
 *
 * `--check` prints the problems, and `--list` the skills as well. The summary
 * comes last, where a terminal shows it. What users copy is never wrapped.
 *
 * @module
 */

import { basename, join, relative } from "jsr:@std/path@^1";
import { styleText } from "node:util";
import { isAtOrBelow } from "../files/paths.ts";
import { qualifiedName } from "../skills/names.ts";
import type { Finding } from "../skills/validity.ts";
import { escapeHidden, oneLine, wrapText } from "../text.ts";
import {
  type FoundSkill,
  placeOfRule,
  type Report,
  type ReportedPolicy,
} from "./report_data.ts";
import type {
  Skill,
  SkillPolicyRule,
  SkillRootReport,
} from "../skills/types.ts";

export interface TextStyle {
  readonly colors: boolean;
  /** The number of characters in a line. Default: lines are not wrapped. */
  readonly width?: number | undefined;
  /** The home folder, which is shown as `~`. */
  readonly home?: string | undefined;
  /** The working directory, to which paths are shown relative. */
  readonly project?: string | undefined;
}

export function reportAsText(report: Report, style: TextStyle): string {
  return new TextReport(report, style).format();
}

/** A section of the text: a heading, what it means, and its lines. */
interface Section {
  readonly heading: string;
  readonly explanation?: string;
  readonly count?: number | string;
  readonly lines: readonly string[];
}

class TextReport {
  readonly #report: Report;
  readonly #style: TextStyle;

  constructor(report: Report, style: TextStyle) {
    this.#report = report;
    this.#style = style;
  }

  format(): string {
    const { values } = this.#report;
    const sections = values.list
      ? [
        this.#folders(),
        this.#policy(),
        this.#problems(),
        this.#skills(),
        this.#off(),
        this.#shadowed(),
        this.#unlisted(),
        this.#unsearched(),
      ]
      : [this.#problems()];
    const texts = sections.filter(({ lines }) => lines.length > 0)
      .map((section) => this.#format(section));
    return [...texts, `${this.#summary()}\n`].join("\n");
  }

  #format({ heading, explanation, count, lines }: Section): string {
    const title = this.#paint(heading, "bold") +
      (count === undefined ? "" : ` (${count})`);
    const intro = explanation === undefined
      ? []
      : [this.#wrap(explanation, "  ")];
    return [title, ...intro, ...lines].map((line) => `${line}\n`).join("");
  }

  #folders(): Section {
    const { roots } = this.#report;
    const rows = roots.map(
      ({ root, scope, status, skills }: SkillRootReport) => {
        const found = status === "found" ? count(skills, "skill") : "";
        return [status, scope, found, this.#path(root.path)];
      },
    );
    return { heading: "Folders", count: roots.length, lines: table(rows) };
  }

  #policy(): Section {
    const { policy } = this.#report;
    const lines = policy ? [`  ${this.#path(policy.file)}`] : [];
    return { heading: "Policy", lines };
  }

  /** Lists the skills below the folders that they were found in. */
  #skills(): Section {
    const { roots, skills, policy } = this.#report;
    const plain = skills.filter(({ skill }) => skill.prefix === undefined);
    const rows = plain.map((found) => this.#skillRow(found, policy));
    const lines = table(rows, "    ");
    const byRoot = Map.groupBy(lines, (_, index) => plain[index]!.skill.root);
    const groups = roots.flatMap(({ root, scope }) => {
      const own = byRoot.get(root) ?? [];
      const title = `  ${this.#path(root.path)} (${scope})`;
      return own.length > 0 ? [title, ...own] : [];
    });
    return {
      heading: "Skills",
      count: plain.length,
      lines: groups.length > 0 ? groups : [`  ${this.#describeNone()}`],
    };
  }

  #skillRow(
    { skill, files, size }: FoundSkill,
    policy: ReportedPolicy | undefined,
  ): string[] {
    const { name, directory, root } = skill;
    const decision = decisionCells(skill, policy);
    const contents = [count(files, "file"), formatSize(size)];
    const isUsual = directory === join(root.path, name);
    const place = isUsual ? "" : `in ${relative(root.path, directory) || "."}`;
    return [oneLine(name), ...decision, ...contents, place];
  }

  /** Says why no skill is listed. */
  #describeNone(): string {
    const { policy, findings } = this.#report;
    const off = policy?.off.length ?? 0;
    if (off > 0) return "none: those that were found are off, see below";
    if (findings.some(({ severity }) => severity === "error")) {
      return "none: those that were found are skipped, see above";
    }
    return "none yet: create a folder with a SKILL.md in one of the folders above";
  }

  #off(): Section {
    const { policy } = this.#report;
    const rows = policy?.off.map(({ skill, rule }) => [
      oneLine(skill.name),
      ruleCell(rule, policy),
      this.#path(skill.directory),
    ]) ?? [];
    return {
      heading: "Skills that are off",
      count: rows.length,
      lines: table(rows),
    };
  }

  #shadowed(): Section {
    const { shadowed, policy } = this.#report;
    const rows = shadowed.map(({ skill, by }) => [
      oneLine(qualifiedName(skill)),
      ...decisionCells(skill, policy),
      this.#path(skill.directory),
      `after ${this.#path(by.directory)}`,
    ]);
    return {
      heading: "Shadowed skills",
      explanation:
        "An earlier skill has the same name. Load these by the names below.",
      count: rows.length,
      lines: table(rows),
    };
  }

  #unlisted(): Section {
    const { skills } = this.#report;
    const unlisted = skills.filter(({ unlisted }) => unlisted !== undefined);
    const rows = unlisted.map(({ skill, unlisted = "" }) => [
      oneLine(qualifiedName(skill)),
      unlisted,
    ]);
    return {
      heading: "Skills that are not valid for all hosts",
      explanation:
        "Hosts with the Skills extension cannot load these. All other clients can.",
      count: rows.length,
      lines: table(rows),
    };
  }

  #unsearched(): Section {
    const { unsearched } = this.#report;
    const rows = unsearched.map(({ path, skills }) => [
      count(skills, "skill"),
      this.#path(path),
    ]);
    return {
      heading: "Folders that are not searched",
      explanation: "To serve these skills too, add the option --agents.",
      count: rows.length,
      lines: table(rows),
    };
  }

  /** Formats the findings, errors first. Those with the same rule and fix are grouped. */
  #problems(): Section {
    const { findings } = this.#report;
    const isError = ({ severity }: Finding) => severity === "error";
    const errors = findings.filter(isError);
    const warnings = findings.filter((finding) => !isError(finding));
    const groups = [errors, warnings].flatMap((list) => [
      ...Map.groupBy(list, ({ rule, hint }) => `${rule} ${hint}`).values(),
    ]);
    return {
      heading: "Problems",
      count: this.#counts(),
      lines: groups.flatMap((group) => this.#group(group)),
    };
  }

  /**
   * Formats findings with the same rule and fix. Each place has the form that
   * editors and terminals turn into a link. A reason that all share is first.
   */
  #group(findings: readonly Finding[]): string[] {
    const { rule, severity, hint, reason } = findings[0]!;
    const color = severity === "error" ? "red" : "yellow";
    const heading = `  ${this.#paint(severity, color)}[${rule}]`;
    const isShared = findings.length > 1 &&
      findings.every((finding) => finding.reason === reason);
    const places = findings.map(({ file, line, reason }) => {
      const place = this.#path(file) + (line === undefined ? "" : `:${line}`);
      const text = isShared ? place : `${place}: ${reason}`;
      return this.#wrap(text);
    });
    // The other lines of a hint are a text to copy.
    const [fix, ...copy] = hint.split("\n");
    return [
      heading,
      ...isShared ? [this.#wrap(`${reason}:`)] : [],
      ...places,
      this.#wrap(`fix: ${fix}`),
      ...copy.map((line) => `      ${escapeHidden(line)}`),
    ];
  }

  #counts(): string {
    const { findings } = this.#report;
    const errors = findings.filter(({ severity }) => severity === "error");
    return `${count(errors.length, "error")}, ${
      count(findings.length - errors.length, "warning")
    }`;
  }

  #summary(): string {
    const { values, skills, skipped, findings } = this.#report;
    const problems = findings.length === 0 ? "no problems" : this.#counts();
    if (values.check) {
      return `Checked ${count(skills.length + skipped, "skill")}: ${problems}`;
    }
    const found = `Found ${count(skills.length, "skill")}: ${problems}.`;
    return skills.length === 0
      ? found
      : `${found} To check each skill, run with --check.`;
  }

  /** Shortens a path in the working directory or the home folder. */
  #path(path: string): string {
    const { project, home } = this.#style;
    if (project !== undefined && isAtOrBelow(path, project)) {
      return relative(project, path) || ".";
    }
    if (home === undefined || !isAtOrBelow(path, home)) return path;
    return join("~", relative(home, path));
  }

  /** Wraps a text at the width of the terminal, and indents it. */
  #wrap(text: string, start = "    "): string {
    const { width = Infinity } = this.#style;
    const indentation = `${start}  `;
    return wrapText(escapeHidden(text), { width, start, indentation });
  }

  #paint(text: string, color: "bold" | "red" | "yellow"): string {
    const { colors } = this.#style;
    return colors ? styleText(color, text, { validateStream: false }) : text;
  }
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
  const place = placeOfRule(rule, policy);
  return place ? `${basename(place.file)}:${place.line}` : "no usable policy";
}

/** The maximum width that a column is padded to, in characters. Longer cells exceed it. */
const MAX_PADDING = 80;

/** Formats rows as padded columns, one line for each. */
function table(rows: readonly string[][], indentation = "  "): string[] {
  const cells = rows.map((row) => row.map((cell) => escapeHidden(cell)));
  const widths = (cells[0] ?? []).map((_, column) =>
    cells.reduce(
      (width, row) =>
        Math.max(width, Math.min(row[column]!.length, MAX_PADDING)),
      0,
    )
  );
  return cells.map((row) => {
    const columns = row.map((cell, column) => cell.padEnd(widths[column]!));
    return `${indentation}${columns.join("  ").trimEnd()}`;
  });
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
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(unit > 0 && value < 9.95 ? 1 : 0)} ${units[unit]}`;
}
