/**
 * Diagnostics: what is wrong with a file or folder, and how to fix it, from the scan to the
 * report.
 */

import { oneLine, quote } from "./text.ts";

/**
 * The effect of a problem:
 *
 * - `skipped`: an error because of which something is not served at all
 * - `unlisted`: an error because of which `skills/list` leaves the skill out
 * - `error`: an error without an effect on what is served
 * - `warning`: advice, with which `--check` succeeds
 */
export type Effect = "skipped" | "unlisted" | "error" | "warning";

/** The effect of breaking each rule in `docs/check.md`, by its ID. */
export const RULES = {
  "folder-missing": "skipped",
  "not-a-folder": "skipped",
  "file-name": "skipped",
  "loose-file": "skipped",
  "link-text": "skipped",
  "skill-md-missing": "skipped",
  "frontmatter-missing": "skipped",
  "yaml": "skipped",
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
  "yaml-repaired": "unlisted",
  "name-characters": "unlisted",
  "name-length": "unlisted",
  "description-length": "unlisted",
  "hidden-characters": "unlisted",
  "compatibility": "unlisted",
  "metadata": "unlisted",
  "frontmatter-json": "unlisted",
  "utf-8": "unlisted",
  "size": "unlisted",
  "unreadable": "unlisted",
  "policy": "error",
  "policy-unused": "warning",
  "no-skills": "error",
  "name-folder": "error",
  "flags": "error",
  "field-misspelled": "warning",
  "invisible-characters": "warning",
  "description-comment": "warning",
  "description-tag": "warning",
  "argument-hint": "warning",
  "allowed-tools": "warning",
  "body-empty": "warning",
  "long": "warning",
  "broken-link": "warning",
  "file-case": "warning",
  "name-twice": "warning",
  "not-served": "warning",
  "not-searched": "warning",
  "archive": "warning",
} as const satisfies Readonly<Record<string, Effect>>;

/** The ID of a rule in `docs/check.md`. */
export type Rule = keyof typeof RULES;

type SkippingRule = {
  [ID in Rule]: (typeof RULES)[ID] extends "skipped" ? ID : never;
}[Rule];

/**
 * Why something is skipped, in words that quote nothing of the file, for the model.
 * `docs/check.md` has these sentences, too.
 */
export const SENTENCES: Readonly<Record<SkippingRule, string>> = {
  "folder-missing": "a folder on the command line does not exist",
  "not-a-folder": "a folder on the command line is a file",
  "file-name": "a file is almost named SKILL.md",
  "loose-file": "a SKILL.md is directly in a folder of skills",
  "link-text": "Git wrote a link as a text file",
  "skill-md-missing": "a folder among skills has files, but no SKILL.md",
  "frontmatter-missing": "there is no frontmatter, or it has no end",
  "yaml": "the frontmatter is not valid YAML",
  "name-missing": "the name is missing, empty, or not a text",
  "name-malformed": "the name is not allowed",
  "description-missing": "the description is missing, empty, or not a text",
  "too-large": "the SKILL.md is too large",
  "not-a-file": "the SKILL.md is a folder or a special file",
  "link-outside": "a link points outside",
  "link-broken": "a link points to a missing file or folder",
  "permission": "a file or folder may not be read",
  "too-many": "there is more than is searched or read",
  "file-missing": "a file that was asked for does not exist",
  "inaccessible": "a file or folder cannot be read",
};

export function formatReason(
  { rule, line, sentence }: DiagnosticDetails,
): string {
  const said = sentence ?? SENTENCES[rule as SkippingRule] ?? rule;
  return line === undefined ? said : `${said} (line ${line})`;
}

/** What is wrong with a file, a folder, or a policy, and how to fix it. */
export interface Diagnostic {
  /** The rule that is broken. */
  readonly rule: Rule;
  /** The path of the file or folder. */
  readonly file: string;
  /** The number of the line that it is about, from 1, if it is known. */
  readonly line?: number | undefined;
  /** What is wrong. */
  readonly reason: string;
  /** The same without a word of the file. Default: the sentence of the rule. */
  readonly sentence?: string | undefined;
  /** How to fix it. */
  readonly fix: string;
  /**
   * The finished lines that the fix tells to write, with their indentation. They
   * stand at the beginning of a line wherever they are printed, to be copied.
   */
  readonly lines?: readonly string[] | undefined;
}

/** A diagnostic of a file that its finder does not know. */
export type DiagnosticDetails = Omit<Diagnostic, "file">;

export function hasEffect(
  { rule }: DiagnosticDetails,
  effect: Effect,
): boolean {
  return RULES[rule] === effect;
}

export function isError(diagnostic: DiagnosticDetails): boolean {
  return !hasEffect(diagnostic, "warning");
}

export function formatDiagnostic(
  diagnostic: Diagnostic,
): [sentence: string, ...lines: string[]] {
  const { file, line, reason, fix, lines = [] } = diagnostic;
  const position = line === undefined ? "" : ` (line ${line})`;
  const start = `${formatEffect(diagnostic)} ${quote(file)}${position}`;
  return [oneLine(`${start}: ${reason}; ${fix}`), ...lines];
}

function formatEffect(diagnostic: Diagnostic): string {
  if (diagnostic.rule === "policy") return "Cannot use the policy";
  return hasEffect(diagnostic, "skipped") ? "Skipped" : "Check";
}
