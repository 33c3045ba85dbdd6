/** The frontmatter line by line, even where it is not YAML, and lines to copy into it. */

import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import type { FieldDiagnostic } from "../skills/limits.ts";
import { parseYaml } from "../skills/skill_md.ts";
import {
  editDistance,
  escapeCodePoint,
  escapeCommands,
  escapeInvisible,
  isCopyable,
  isObject,
  quote,
} from "../text.ts";

export const FLAGS: readonly string[] = [
  "disable-model-invocation",
  "user-invocable",
];

export const KNOWN_FIELDS: readonly string[] = [
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
  "argument-hint",
  "when_to_use",
  ...FLAGS,
];

/** A diagnostic of a field or a file whose rule its reader knows. */
export type Details = Omit<DiagnosticDetails, "rule">;

/** A field as written: its first line, and the lines below it up to the next field. */
export interface Field {
  readonly key: string;
  /** What separates the key from the value on the first line: a colon, in valid YAML. */
  readonly separator: string;
  readonly value: string;
  readonly line: number;
  readonly lines: readonly string[];
}

/** Lists the fields at the top level. */
export function listFields(yaml: string): Field[] {
  const fields: (Field & { lines: string[] })[] = [];
  for (const [index, text] of yaml.split("\n").entries()) {
    const start = readStart(text);
    if (start) fields.push({ ...start, line: index + 1, lines: [text] });
    else fields.at(-1)?.lines.push(text);
  }
  for (const { lines } of fields) {
    while (/^\s*(?:#.*)?$/.test(lines.at(-1)!)) lines.pop();
  }
  return fields;
}

const START = /^(["']?)([\w.-]+)\1[ \t]*([:=\uff1a]\s*)(.*)$/;

/** Reads the first line of a field. Without a colon and a space, its key must be known. */
function readStart(
  text: string,
): Pick<Field, "key" | "separator" | "value"> | undefined {
  const [, , key, separator = "", value = ""] = START.exec(text.trimEnd()) ??
    [];
  if (key === undefined || key.startsWith("-")) return undefined;
  const start = { key, separator, value };
  const isField = isSeparated(start) || meantField(key) !== undefined;
  return isField ? start : undefined;
}

/** Whether a colon and a space follow the key, as YAML requires. */
export function isSeparated(
  { separator, value }: Pick<Field, "separator" | "value">,
): boolean {
  return /^:[ \t]/.test(separator) || (separator === ":" && value === "");
}

/** Returns the known field that a key means: its letters differ by at most one. */
export function meantField(key: string): string | undefined {
  const lettersOf = (text: string) => text.toLowerCase().replace(/[-_ ]/g, "");
  return KNOWN_FIELDS.find((field) => field === key) ??
    KNOWN_FIELDS.find((field) =>
      editDistance(lettersOf(key), lettersOf(field), 1) <= 1
    );
}

/** Describes a field whose key is almost a known one. */
export function explainMisspelling(
  { key, value, line }: Field,
  meant: string,
): Details {
  return {
    line,
    reason: `the field ${quote(key)} is almost ${quote(meant)}`,
    fix: fixBy(`${meant}: ${value}`.trimEnd(), `write ${quote(meant)}`),
  };
}

export function findField(
  key: string,
  fields: readonly Field[],
): Field | undefined {
  return fields.find((field) => field.key === key);
}

/** Adds the line of the field to a diagnostic, and a line to copy if the value is known. */
export function locateField(
  { field, key, value, ...rest }: FieldDiagnostic,
  fields: readonly Field[],
): DiagnosticDetails {
  const at = findField(field, fields);
  if (at === undefined) return rest;
  const nested = key === undefined ? undefined : findNested(key, at);
  if (nested !== undefined) {
    return { ...rest, line: nested.line, fix: fixBy(nested.quoted, rest.fix) };
  }
  const isOnOneLine = at.lines.length === 1 && at.value !== "";
  const finished = value && isOnOneLine ? writeField(field, value) : undefined;
  return { ...rest, line: at.line, fix: fixBy(finished, rest.fix) };
}

/** Finds a key one level below a field, and puts its value in quotes if it is a number. */
function findNested(
  key: string,
  { line, lines }: Field,
): { line: number; quoted: string | undefined } | undefined {
  for (const [index, text] of lines.entries()) {
    const [, indentation = "", written = ""] = /^(\s+)(\S.*)$/.exec(text) ?? [];
    const start = readStart(written);
    if (start?.key !== key) continue;
    const number = /^[\w.+-]+(?=\s+#|$)/.exec(start.value)?.[0];
    const quoted = number && `${indentation}${key}: ${inQuotes(number)}`;
    return { line: line + index, quoted };
  }
}

/** Returns a value without the quotes around it, or without the comment after it. */
export function plainText(value: string): string {
  const [, , quoted] = /^(["'])((?:(?!\1).)*)\1\s+#.*$/.exec(value) ??
    /^(["'])(.*?)\1?$/.exec(value) ?? [];
  return quoted ?? value.replace(/\s#.*$/, "");
}

/** Writes a field, in quotes unless YAML reads its text without them. */
export function writeField(key: string, text: string): string {
  const line = `${key}: ${text}`;
  const read = attempt(() => parseYaml(line));
  const isPlain = isObject(read) && read[key] === text && isCopyable(line);
  return isPlain ? line : `${key}: ${inQuotes(text)}`;
}

/** Puts text in quotes, with invisible characters escaped. */
function inQuotes(text: string): string {
  const json = JSON.stringify(text.toWellFormed());
  return escapeCommands(escapeInvisible(json, escapeCodePoint));
}

/** The maximum length of a line to copy, in characters. */
const MAX_FINISHED_LENGTH = 1_500;

/** Says to write a finished line instead, if there is one to copy. */
export function fixBy(finished: string | undefined, otherwise: string): string {
  const canBeCopied = finished !== undefined &&
    finished.length <= MAX_FINISHED_LENGTH && isCopyable(finished);
  return canBeCopied ? `write this line instead:\n${finished}` : otherwise;
}
