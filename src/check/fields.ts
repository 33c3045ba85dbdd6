/**
 * The frontmatter as it is written, line by line, even where it is not YAML, and
 * finished lines to write instead.
 */

import { attempt } from "../attempt.ts";
import { parseYaml } from "../skills/skill_md.ts";
import {
  editDistance,
  escapeCodePoint,
  escapeCommands,
  escapeInvisible,
  isCopyable,
  isObject,
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

/** Returns the known field that a key stands for: its letters differ by at most one. */
export function meantField(key: string): string | undefined {
  const lettersOf = (text: string) => text.toLowerCase().replace(/[-_ ]/g, "");
  return KNOWN_FIELDS.find((field) => field === key) ??
    KNOWN_FIELDS.find((field) =>
      editDistance(lettersOf(key), lettersOf(field), 1) <= 1
    );
}

/** A field as it is written: its first line, and those below it up to the next field. */
export interface Field {
  readonly key: string;
  /** What follows the key on the first line, and what separates them. */
  readonly value: string;
  readonly separator: string;
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

/** Reads the key and the value of a line. Without a colon and a space, the key must be a known one. */
function readStart(
  text: string,
): Pick<Field, "key" | "value" | "separator"> | undefined {
  const [, , key, separator = "", value = ""] = START.exec(text.trimEnd()) ??
    [];
  if (key === undefined || key.startsWith("-")) return undefined;
  const start = { key, separator, value };
  return isSeparated(start) || meantField(key) !== undefined
    ? start
    : undefined;
}

/** Whether a colon and a space follow the key, as YAML demands. */
export function isSeparated(
  { separator, value }: Pick<Field, "separator" | "value">,
): boolean {
  return /^:[ \t]/.test(separator) || (separator === ":" && value === "");
}

export function findField(
  key: string,
  fields: readonly Field[],
): Field | undefined {
  return fields.find((field) => field.key === key);
}

/** Finds a key one level below a field. Its line keeps the indentation. */
export function findNested(
  key: string,
  { line, lines }: Field,
): { line: number; indentation: string; value: string } | undefined {
  for (const [index, text] of lines.entries()) {
    const [, indentation = "", written] = /^(\s+)(\S.*)$/.exec(text) ?? [];
    const start = readStart(written ?? "");
    if (start?.key !== key) continue;
    return { line: line + index, indentation, value: start.value };
  }
}

/** Returns a value without the quotes around it, or without the comment behind it. */
export function plainText(value: string): string {
  const [, , quoted] = /^(["'])(.*?)\1?$/.exec(value) ?? [];
  return quoted ?? value.replace(/(?:^|\s)#.*$/, "");
}

/** Writes a field with a text, in quotes unless YAML reads the text without them. */
export function writeField(key: string, text: string): string {
  const line = `${key}: ${text}`;
  const read = attempt(() => parseYaml(line));
  const isPlain = isObject(read) && read[key] === text && isCopyable(line);
  return isPlain ? line : `${key}: ${inQuotes(text)}`;
}

/** Puts a text in quotes in which nothing is hidden. */
export function inQuotes(text: string): string {
  const json = JSON.stringify(text.toWellFormed());
  return escapeCommands(escapeInvisible(json, escapeCodePoint));
}

/** The maximum length of a line that is printed to be copied, in characters. */
const MAX_FINISHED_LENGTH = 1_500;

/** Says to write a finished line instead, if there is one that can be copied. */
export function fixBy(finished: string | undefined, otherwise: string): string {
  const canBeCopied = finished !== undefined &&
    finished.length <= MAX_FINISHED_LENGTH && isCopyable(finished);
  return canBeCopied ? `write this line instead:\n${finished}` : otherwise;
}
