/** Diagnostics: what is wrong with a file or directory, and how to fix it. */

import { oneLine, quote } from "./text.ts";

/**
 * The effect of a problem:
 *
 * - `skipped`: an error that keeps something from being served at all
 * - `unlisted`: an error that keeps the skill out of `skills/list`
 * - `error`: an error that does not change what is served
 * - `warning`: advice, for which `--check` fails only with `--strict`
 */
export type Effect = "skipped" | "unlisted" | "error" | "warning";

/** The effect of breaking each rule, by its ID. */
export const RULES = {
  "folder-missing": "skipped",
  "not-a-folder": "skipped",
  "file-name": "skipped",
  "loose-file": "skipped",
  "link-text": "skipped",
  "skill-md-missing": "skipped",
  "frontmatter-missing": "skipped",
  "utf-8": "skipped",
  "name-missing": "skipped",
  "name-malformed": "skipped",
  "description-missing": "skipped",
  "too-large": "skipped",
  "not-a-file": "skipped",
  "link-outside": "skipped",
  "link-broken": "skipped",
  "permission": "skipped",
  "too-many": "skipped",
  "file-missing": "skipped",
  "inaccessible": "skipped",
  "scan-failed": "skipped",
  "yaml": "unlisted",
  "name-characters": "unlisted",
  "name-length": "unlisted",
  "description-length": "unlisted",
  "field-characters": "unlisted",
  "compatibility": "unlisted",
  "metadata": "unlisted",
  "frontmatter-json": "unlisted",
  "size": "unlisted",
  "unreadable": "unlisted",
  "policy": "error",
  "policy-unused": "warning",
  "no-skills": "error",
  "name-folder": "error",
  "conflict": "error",
  "flags": "error",
  "field-misspelled": "warning",
  "invisible-characters": "warning",
  "description-comment": "warning",
  "description-tag": "warning",
  "instructions-missing": "warning",
  "long": "warning",
  "dead-link": "warning",
  "encoding": "warning",
  "file-case": "warning",
  "name-twice": "warning",
  "not-served": "warning",
  "inner-skill": "warning",
  "not-searched": "warning",
  "archive": "warning",
} as const satisfies Readonly<Record<string, Effect>>;

/** The ID of a rule in `docs/check.md`. */
export type Rule = keyof typeof RULES;

/** The rules of what can keep all skills from being served. */
export const FAILURES: readonly Rule[] = ["policy", "scan-failed"];

const ABOUT_SYMLINKS: readonly Rule[] = [
  "link-text",
  "link-outside",
  "link-broken",
];

/** The rules whose words repeat an error of the system or of the user. */
const REPEATING: readonly Rule[] = ["inaccessible", ...FAILURES];

/**
 * Formats a diagnostic of a scan for the model. Of a stranger's text, it repeats at most
 * a plain file name, in the command of the rule `link-text`.
 */
export function formatForModel(
  { rule, reason, fix }: DiagnosticDetails,
): string {
  return REPEATING.includes(rule)
    ? `${rule}; the server's log says how to fix it`
    : `${reason}; ${fix}`;
}

/** What is wrong with a file, a directory, or a policy, and how to fix it. */
export interface Diagnostic {
  /** The rule that is broken. */
  readonly rule: Rule;
  /**
   * The path of the file or directory, or `options.policy`. In `SkillFiles.skipped`, it is
   * relative to the skill.
   */
  readonly file: string;
  /** The line number, from 1, if it is known. */
  readonly line?: number | undefined;
  /** The field of the frontmatter that is wrong. A key in `metadata` follows a dot. */
  readonly field?: string | undefined;
  /** The right value of that field, if it is known. */
  readonly value?: string | undefined;
  /** What is wrong. */
  readonly reason: string;
  /** How to fix it. If there is a line to copy, it ends with a colon. */
  readonly fix: string;
  /** A line to copy as it is, with its indentation. */
  readonly copy?: string | undefined;
}

/** A diagnostic in a report. */
export interface ReportedDiagnostic extends Diagnostic {
  /** Whether `--check` fails because of it even without `--strict`. */
  readonly severity: "error" | "warning";
}

/** A diagnostic before the file is known. */
export type DiagnosticDetails = Omit<Diagnostic, "file">;

/** What to add to the fix of each rule. */
export type Advice = Readonly<Partial<Record<Rule, string>>>;

export function withAdvice<D extends DiagnosticDetails>(
  diagnostic: D,
  advice: Advice = {},
): D {
  const { rule, fix } = diagnostic;
  return { ...diagnostic, fix: fix + (advice[rule] ?? "") };
}

/** Whether a diagnostic is about a symlink, or a text that should be one. */
export function isAboutSymlink({ rule }: DiagnosticDetails): boolean {
  return ABOUT_SYMLINKS.includes(rule);
}

export function isError({ rule }: Diagnostic): boolean {
  return RULES[rule] !== "warning";
}

export function formatDiagnostic(
  { rule, file, line, reason, fix }: Diagnostic,
): string {
  const position = line === undefined ? "" : ` (line ${line})`;
  const start = `${formatEffect(rule)} ${quote(file)}${position}`;
  return oneLine(`${start}: ${reason}; ${fix}`);
}

function formatEffect(rule: Rule): string {
  if (rule === "policy") return "Cannot use the policy";
  if (rule === "scan-failed") return "Cannot scan";
  return RULES[rule] === "skipped" ? "Skipped" : "Check";
}
