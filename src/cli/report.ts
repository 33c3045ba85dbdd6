/**
 * The output of `--list` and `--check`.
 *
 * As text, `--check` prints the problems, and `--list` the skills as well. The
 * summary comes last, where a terminal shows it. What users copy is never wrapped.
 *
 * @module
 */

import { basename, dirname, join, relative } from "jsr:@std/path@^1";
import { styleText } from "node:util";
import type { CheckSettings } from "./check_targets.ts";
import {
  createReport,
  hasErrors,
  isError,
  type PrintedProblem,
  type Report,
  type SkillsToReport,
} from "./report_data.ts";
import { attempt } from "../files/faults.ts";
import { currentFolder, isAtOrBelow } from "../files/paths.ts";
import { count, escapeHidden, jsonText, oneLine, wrapText } from "../text.ts";

export interface TextStyle {
  readonly colors: boolean;
  /** The number of characters in a line. Default: lines are not wrapped. */
  readonly width?: number | undefined;
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
  skills: SkillsToReport,
  settings: CheckSettings,
): Promise<{ text: string; isBad: boolean }> {
  const { check = false, json = false } = settings.values;
  const report = await createReport(skills, settings);
  return {
    text: json ? reportAsJson(report) : reportAsText(report, {
      ...styleOfOutput(),
      home: settings.home,
      project: currentFolder(),
    }),
    isBad: check && hasErrors(report),
  };
}

function reportAsJson({ data }: Report): string {
  const skills = data.skills.map(({ root: _, ...skill }) => skill);
  return jsonText({ ...data, skills });
}

/** Returns the style for a terminal, or else for a file. */
function styleOfOutput(): Pick<TextStyle, "colors" | "width"> {
  if (!Deno.stdout.isTerminal()) return { colors: false };
  const width = attempt(() => Deno.consoleSize().columns) || undefined;
  return { colors: !Deno.noColor, width };
}

export function reportAsText(report: Report, style: TextStyle): string {
  return new TextReport(report, style).format();
}

/** A section of the text. */
interface Section {
  readonly heading: string;
  /** What the heading means. */
  readonly explanation?: string;
  /** What the heading counts. Default: the lines. */
  readonly count?: number | string;
  readonly rows?: readonly string[][];
  /** Default: the rows as a table. */
  readonly lines?: readonly string[];
}

type ReportedSkill = Report["data"]["skills"][number];

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
        ...this.#others(),
      ]
      : [this.#problems()];
    const texts = sections.filter((text) => text !== "");
    return [...texts, `${this.#summary()}\n`].join("\n");
  }

  #section(section: Section): string {
    const { heading, explanation, rows = [], lines = table(rows) } = section;
    if (lines.length === 0) return "";
    const { count = lines.length } = section;
    const title = this.#paint(heading, "bold") +
      (count === "" ? "" : ` (${count})`);
    const intro = explanation ? [this.#wrap(explanation, "  ")] : [];
    return [title, ...intro, ...lines].map((line) => `${line}\n`).join("");
  }

  #folders(): string {
    const rows = this.#report.data.roots.map(
      ({ path, scope, status, skills }) => {
        const found = status === "found" ? count(skills, "skill") : "";
        return [status, scope, found, this.#path(path)];
      },
    );
    return this.#section({ heading: "Folders", rows });
  }

  #policy(): string {
    const { policyFile } = this.#report;
    const lines = policyFile ? [`  ${this.#path(policyFile)}`] : [];
    return this.#section({ heading: "Policy", count: "", lines });
  }

  /** Lists the skills below the folders that they were found in. */
  #skills(): string {
    const { roots, skills } = this.#report.data;
    const rows = skills.map((skill) => {
      const { name, directory, files, size, root: { path } } = skill;
      const isUsual = directory === join(path, name);
      const place = isUsual ? "" : `in ${relative(path, directory) || "."}`;
      const contents = [count(files, "file"), formatSize(size)];
      return [oneLine(name), ...decisionCells(skill), ...contents, place];
    });
    const lines = table(rows, "    ");
    const byRoot = Map.groupBy(lines, (_, index) => skills[index]!.root);
    const groups = roots.flatMap((root) => {
      const own = byRoot.get(root) ?? [];
      const title = `  ${this.#path(root.path)} (${root.scope})`;
      return own.length > 0 ? [title, ...own] : [];
    });
    return this.#section({
      heading: "Skills",
      count: skills.length,
      lines: groups.length > 0 ? groups : [`  ${this.#describeNone()}`],
    });
  }

  /** Says why no skill is listed. */
  #describeNone(): string {
    const { skipped, data: { off = [], problems } } = this.#report;
    if (off.length > 0) return "none: those that were found are off, see below";
    if (skipped > 0) {
      return "none: those that were found are skipped, see above";
    }
    if (problems.some(isError)) return "none: see the problems above";
    return "none yet: create a folder with a SKILL.md in one of the folders above";
  }

  /** Lists what is not served as the other skills are. */
  #others(): string[] {
    const { off = [], shadowed, unlisted, unsearched } = this.#report.data;
    const sections: Section[] = [{
      heading: "Skills that are off",
      rows: off.map(({ name, rule, directory }) => {
        const [, place = ""] = decisionCells({ state: "off", rule });
        return [oneLine(name), place, this.#path(directory)];
      }),
    }, {
      heading: "Shadowed skills",
      explanation:
        "An earlier skill has the same name. Load these by the names below.",
      rows: shadowed.map((skill) => [
        oneLine(skill.qualifiedName),
        ...decisionCells(skill),
        this.#path(dirname(skill.file)),
        `after ${this.#path(dirname(skill.by))}`,
      ]),
    }, {
      heading: "Skills that are not valid for all hosts",
      explanation:
        "Hosts with the Skills extension cannot load these. All other clients can.",
      rows: unlisted.map(({ name, reason }) => [oneLine(name), reason]),
    }, {
      heading: "Folders that are not searched",
      explanation: "To serve these skills too, add the option --agents.",
      rows: unsearched.map(({ path, skills }) => [
        count(skills, "skill"),
        this.#path(path),
      ]),
    }];
    return sections.map((section) => this.#section(section));
  }

  /** Formats the problems, errors first. Those with the same rule and fix are grouped. */
  #problems(): string {
    const { problems } = this.#report.data;
    const sorted = problems.toSorted((a, b) =>
      Number(isError(b)) - Number(isError(a))
    );
    const groups = Map.groupBy(sorted, ({ rule, hint }) => `${rule} ${hint}`);
    return this.#section({
      heading: "Problems",
      count: this.#counts(),
      lines: [...groups.values()].flatMap((group) => this.#group(group)),
    });
  }

  /**
   * Formats findings with the same rule and fix. Each place has the form that
   * editors and terminals turn into a link. A reason that all share is first.
   */
  #group(findings: readonly PrintedProblem[]): string[] {
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
    const { problems } = this.#report.data;
    const errors = problems.filter(isError).length;
    const warnings = problems.length - errors;
    return `${count(errors, "error")}, ${count(warnings, "warning")}`;
  }

  #summary(): string {
    const { values, found, skipped, data } = this.#report;
    const problems = data.problems.length === 0
      ? "no problems"
      : this.#counts();
    if (values.check) {
      return `Checked ${count(found + skipped, "skill")}: ${problems}`;
    }
    const advice = found === 0 ? "" : " To check each skill, run with --check.";
    return `Found ${count(found, "skill")}: ${problems}.${advice}`;
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

/** Returns the state of a skill, and the rule that applies, if there is a policy. */
function decisionCells(
  { state, rule }: Pick<ReportedSkill, "state" | "rule">,
): string[] {
  if (state === undefined) return [];
  const noRule = state === "off" ? "no usable policy" : "";
  return [state, rule ? `${basename(rule.file)}:${rule.line}` : noRule];
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
