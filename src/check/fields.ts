/** Where fields are, and lines to copy in place of them. */

import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import {
  type Field,
  findField,
  listFields,
  parseYaml,
  quoteText,
} from "../skills/fields.ts";
import type { FieldDiagnostic } from "../skills/limits.ts";
import { escapeCodePoint, escapeInvisible } from "../invisible.ts";
import { escapeCommands, isCopyable, isObject, quote } from "../text.ts";

/** A diagnostic of a field or a file whose rule its reader knows. */
export type Details = Omit<DiagnosticDetails, "rule">;

/** How many diagnostics of a file are reported. Others follow once these are solved. */
export const MAX_PER_FILE = 20;

/** Describes a field whose key is almost a known one. */
export function explainMisspelling(field: Field, meant: string): Details {
  const { key, value, line } = field;
  const written = `${meant}: ${value}`.trimEnd();
  const isRead = attempt(() => [parseYaml(written)]) !== undefined;
  const [quoted] = quoteText({ ...field, key: meant }) ?? [];
  const otherwise = `write ${quote(meant)}`;
  return {
    line,
    reason: `the field ${quote(key)} is almost ${quote(meant)}`,
    ...isRead ? fixBy(written, otherwise) : fixBy(quoted, otherwise, field),
  };
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
    return { ...rest, line: nested.line, ...fixBy(nested.quoted, rest.fix) };
  }
  const isOnOneLine = at.lines.length === 1 && at.value !== "";
  const finished = value && isOnOneLine ? writeField(field, value) : undefined;
  return { ...rest, line: at.line, ...fixBy(finished, rest.fix) };
}

/** Finds a key one level below a field, and puts its value in quotes if it is a number. */
function findNested(
  key: string,
  { line, lines }: Field,
): { line: number; quoted: string | undefined } | undefined {
  for (const [index, text] of lines.entries()) {
    const [, indentation = "", written = ""] = /^(\s+)(\S.*)$/.exec(text) ?? [];
    const [start] = listFields(written);
    if (start?.key !== key) continue;
    const number = /^[\w.+-]+(?=\s+#|$)/.exec(start.value)?.[0];
    const quoted = number && `${indentation}${key}: ${inQuotes(number)}`;
    return { line: line + index, quoted };
  }
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

/** Says to write a finished line instead of a field or a line, if there is one to copy. */
export function fixBy(
  finished: string | undefined,
  otherwise: string,
  { line, lines }: Pick<Field, "line" | "lines"> = { line: 1, lines: [""] },
): Pick<Details, "fix" | "copy"> {
  const canBeCopied = finished !== undefined &&
    finished.length <= MAX_FINISHED_LENGTH && isCopyable(finished);
  if (!canBeCopied) return { fix: otherwise };
  const replaced = lines.length === 1
    ? "instead"
    : `instead of lines ${line} to ${line + lines.length - 1}`;
  return { fix: `write this line ${replaced}:`, copy: finished };
}
