/** Where fields are, and lines to copy in place of them. */

import { attempt } from "../attempt.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { escapeCodePoint, escapeInvisible } from "../invisible.ts";
import { escapeCommands, isCopyable } from "../log.ts";
import {
  type Field,
  findField,
  isYaml,
  listFields,
  parseYaml,
  quoteText,
} from "../skills/fields.ts";
import { isObject, quote } from "../text.ts";

/** How many diagnostics of a file are reported. Others follow once these are solved. */
export const MAX_PER_FILE = 20;

export function explainMisspelling(
  field: Field,
  meant: string,
): Pick<Diagnostic, "line" | "reason" | "fix" | "copy"> {
  const { key, value, line } = field;
  const written = `${meant}: ${value}`.trimEnd();
  const [quoted] = quoteText({ ...field, key: meant }) ?? [];
  const otherwise = `write ${quote(meant)}`;
  return {
    line,
    reason: `the field ${quote(key)} is almost ${quote(meant)}`,
    ...isYaml(written)
      ? writeInstead(written, otherwise)
      : writeInstead(quoted, otherwise, insteadOf(field)),
  };
}

/** Adds the line of its field to a diagnostic, and a line to copy if the value is known. */
export function addLine(
  diagnostic: DiagnosticDetails,
  fields: readonly Field[],
): DiagnosticDetails {
  const { field, value, fix } = diagnostic;
  if (field === undefined) return diagnostic;
  const [name = "", ...keys] = field.split(".");
  const at = findField(name, fields);
  if (at === undefined) return diagnostic;
  const isOnOneLine = at.lines.length === 1 && at.value !== "";
  const nested = keys.length > 0 ? findNested(keys.join("."), at) : undefined;
  const { line, finished } = nested ?? {
    line: at.line,
    finished: value && isOnOneLine ? writeField(name, value) : undefined,
  };
  return { ...diagnostic, line, ...writeInstead(finished, fix) };
}

/** Finds a key one level below a field, and puts its value in quotes if it is a number. */
function findNested(
  key: string,
  { line, lines }: Field,
): { line: number; finished: string | undefined } | undefined {
  const [indentation = ""] = /^\s+/.exec(lines[1] ?? "") ?? [];
  for (const [index, text] of lines.entries()) {
    const isOneLevelBelow = indentation !== "" && text.startsWith(indentation);
    const [start] = isOneLevelBelow
      ? listFields(text.slice(indentation.length))
      : [];
    if (start?.key !== key) continue;
    const number = /^[\w.+-]+(?=\s+#|$)/.exec(start.value)?.[0];
    const finished = number && `${indentation}${key}: ${inQuotes(number)}`;
    return { line: line + index, finished };
  }
  return undefined;
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
export function writeInstead(
  finished: string | undefined,
  otherwise: string,
  instead = "instead",
): Pick<Diagnostic, "fix" | "copy"> {
  const canBeCopied = finished !== undefined &&
    finished.length <= MAX_FINISHED_LENGTH && isCopyable(finished);
  return canBeCopied
    ? { fix: `write this line ${instead}:`, copy: finished }
    : { fix: otherwise };
}

/** Says which lines one line takes the place of, if they are several. */
export function insteadOf({ line, lines }: Field): string {
  return lines.length === 1
    ? "instead"
    : `instead of lines ${line} to ${line + lines.length - 1}`;
}
