/**
 * YAML as people write it: parsing it, finding the entries on its lines even if it is
 * malformed, and finishing a line, so that it is valid.
 */

import { parse } from "jsr:@std/yaml@^1/parse";
import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import {
  editDistance,
  escapeCodePoint,
  escapeCommands,
  escapeInvisible,
  isCopyable,
  isObject,
  oneLine,
  withoutInvisible,
} from "../text.ts";
import { validName } from "./names.ts";

/** The maximum size of the frontmatter in bytes, including its two `---` lines. */
export const MAX_FRONTMATTER_SIZE = 16 * 1024;

/** A line that is indented with a tab. YAML forbids that, but not every parser refuses it. */
const TAB_INDENTED = /^\t[\t ]*[^\s#]/m;

/**
 * Parses YAML.
 *
 * @throws {SyntaxError} If it is malformed. See {@linkcode toYamlFault}.
 */
export function parseYaml(yaml: string): unknown {
  const tab = TAB_INDENTED.exec(yaml);
  if (tab !== null) {
    const line = yaml.slice(0, tab.index).split("\n").length;
    const reason = "tab characters must not be used in indentation";
    throw new SyntaxError(`${reason} at line ${line}, column 1`);
  }
  return parse(yaml, { schema: "core" });
}

/** Parses a mapping. Returns `undefined` if the YAML is malformed, or something else. */
export function parseMapping(
  yaml: string,
): Record<string, unknown> | undefined {
  const parsed = attempt(() => parseYaml(yaml));
  return isObject(parsed) ? parsed : undefined;
}

/** Describes an error of {@linkcode parseYaml}. Lines are numbered from 1. */
export function toYamlFault(
  { message }: Error,
): { line: number; reason: string; fix: string } {
  const [text = message, line = "1"] = message.split(/ at line (\d+), /, 2);
  return {
    line: Number(line),
    reason: `the YAML is malformed: ${oneLine(text)}`,
    fix:
      "check the quotes, colons, and indentation of this line and the lines before it; write each value on one line, after its colon",
  };
}

/** The fields without which a skill cannot be served. */
export const REQUIRED_FIELDS = ["name", "description"] as const;

export type RequiredField = (typeof REQUIRED_FIELDS)[number];

export const KNOWN_FIELDS: readonly string[] = [
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
  "argument-hint",
  "disable-model-invocation",
  "user-invocable",
  "when_to_use",
];

/** Returns the letters and digits of a text, in lowercase: what a person sees in a key. */
export function lettersOf(text: string): string {
  return withoutInvisible(text).replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}

const FIELDS_BY_LETTERS: ReadonlyMap<string, string> = new Map(
  KNOWN_FIELDS.map((field) => [lettersOf(field), field]),
);

/** Returns the known field that a key means, whatever its case and its hyphens. */
export function fieldOf(key: string): string | undefined {
  return FIELDS_BY_LETTERS.get(lettersOf(key));
}

/** Whether a key is not known, but differs from a known field by at most one letter. */
export function isNear(key: string, field: string): boolean {
  return !KNOWN_FIELDS.includes(key) &&
    editDistance(lettersOf(key), lettersOf(field), 1) <= 1;
}

/** An entry of a mapping at the top level, as it is written. */
export interface YamlEntry {
  readonly key: string;
  readonly line: number;
  /** Its lines: all up to the next entry, without blank lines and comments at the end. */
  readonly lines: readonly string[];
  /** The text after the key on the first line. */
  readonly value: string;
  /** The text between the key and the value. YAML demands a colon and a blank. */
  readonly separator: string;
}

export function isSeparated(
  { separator, value }: Pick<YamlEntry, "separator" | "value">,
): boolean {
  return /^:[ \t]/.test(separator) || (separator === ":" && value === "");
}

const USUAL_KEY = /^[\p{L}\p{N}_.-]+$/u;

/**
 * Reads the entry that begins on a line. If no colon and blank follow the key, it must be
 * that of a known field, because the line could be part of a text.
 */
export function readKey(
  line: string,
): Pick<YamlEntry, "key" | "value" | "separator"> | undefined {
  const end = line.search(/[:=\uff1a]/);
  if (end < 1 || /^[ \t#-]/.test(line)) return undefined;
  const key = line.slice(0, end).trimEnd().replace(/^(["'])(.*)\1$/, "$2");
  const [separator = ""] = /^.\s*/.exec(line.slice(end)) ?? [];
  const value = line.slice(end + separator.length).trimEnd();
  const isEntry = fieldOf(key) !== undefined ||
    (USUAL_KEY.test(key) && isSeparated({ separator, value }));
  return isEntry ? { key, value, separator } : undefined;
}

/** Finds the entries of a mapping in text whose lines may be malformed. */
export function listEntries(yaml: string): YamlEntry[] {
  const entries: (YamlEntry & { lines: string[] })[] = [];
  for (const [index, line] of yaml.split("\n").entries()) {
    const start = readKey(line);
    if (start) entries.push({ ...start, line: index + 1, lines: [line] });
    else entries.at(-1)?.lines.push(line);
  }
  for (const { lines } of entries) {
    while (/^(?:\s*|#.*)$/.test(lines.at(-1)!)) lines.pop();
  }
  return entries;
}

export function findEntry(
  field: string,
  entries: readonly YamlEntry[],
): YamlEntry | undefined {
  return entries.find(({ key }) => key === field);
}

export function findNested(
  key: string,
  { line, lines: [, ...lines] }: YamlEntry,
): YamlEntry & { indentation: string } | undefined {
  const [indentation = ""] = /^ */.exec(lines[0] ?? "") ?? [];
  const text = lines.map((it) => it.slice(indentation.length)).join("\n");
  const entry = findEntry(key, listEntries(text));
  return entry && { ...entry, line: line + entry.line, indentation };
}

/** Lists the one-line entries that the parser refuses alone. Metadata is never a text. */
export function listRefused(entries: readonly YamlEntry[]): YamlEntry[] {
  return entries.filter(({ key, lines: [line = "", ...others] }) =>
    key !== "metadata" && others.length === 0 &&
    parseMapping(line) === undefined
  );
}

/** Replaces lines, which are given by their numbers. */
export function replaceLines(
  yaml: string,
  finished: ReadonlyMap<number, string>,
): string {
  return yaml.split("\n")
    .map((line, index) => finished.get(index + 1) ?? line).join("\n");
}

/** Writes a field with a text in quotes that keep every character. */
export function quoteField(key: string, text: string): string {
  const json = JSON.stringify(text.toWellFormed());
  // Quotes and backslashes are easier to read in single quotes.
  const isPlain = json === `"${text}"` && isCopyable(text);
  const quoted = isPlain || !isCopyable(text)
    ? escapeCommands(escapeInvisible(json, escapeCodePoint))
    : `'${text.replaceAll("'", "''")}'`;
  return `${key}: ${quoted}`;
}

/** Writes a key with a text, in quotes only if YAML would read something else without. */
export function writeText(key: string, text: string): string {
  const line = `${key}: ${text}`;
  const isRead = parseMapping(line)?.[key] === text && isCopyable(line);
  return isRead ? line : quoteField(key, text);
}

/**
 * Finishes the first line of an entry that means a field: the field rightly spelled, a
 * colon and a space, and the value, in quotes if YAML cannot read it. A name gets the
 * form that hosts accept. Returns `undefined` if it is not clear what the text is.
 */
export function finishLine(
  field: string,
  { value, lines }: YamlEntry,
): string | undefined {
  const line = `${field}: ${value}`.trimEnd();
  if (lines.length === 1) return finishValue(field, value, line);
  // Only the spelling of the field can be finished, because the value goes on below.
  return line === lines[0] ? undefined : line;
}

function finishValue(
  field: string,
  value: string,
  line: string,
): string | undefined {
  const read = parseMapping(line)?.[field];
  const isText = typeof read === "string";
  const text = isText ? read : withoutQuotes(value);
  if (text === undefined || oneLine(text) === "") return undefined;
  if (field === "name") return writeText(field, validName(text) ?? text);
  // Other fields can have a flag or a list.
  const isRead = field === "description" ? isText : read !== undefined;
  return isRead ? line : quoteField(field, text);
}

/**
 * Removes quotation marks around a text, even if the last one is missing. Returns
 * `undefined` if there are others of their kind within the text.
 */
export function withoutQuotes(text: string): string | undefined {
  const [mark = ""] = text;
  if (!/["']/.test(mark)) return text;
  const isClosed = text.length > 1 && text.endsWith(mark);
  const inner = isClosed ? text.slice(1, -1) : text.slice(1);
  // An apostrophe within a word is not a quotation mark.
  const others = inner.replace(/(?<=\p{L})'(?=\p{L})/gu, "");
  return others.includes(mark) ? betweenQuotes(text) : inner;
}

/** The marks around two quoted texts in a list, with the comma between them. */
const BETWEEN_TEXTS = /(["']),? *, *\1/;

/**
 * Returns what is between the first and the last quotation mark, if these are the same, and
 * those inside can only be a part of the text: none is escaped, and none ends an item of a
 * list.
 */
export function betweenQuotes(text: string): string | undefined {
  const [mark = ""] = text;
  const inner = text.slice(1, -1);
  const isOneText = /["']/.test(mark) && text.endsWith(mark) &&
    inner.includes(mark) && !text.includes("\\") && !BETWEEN_TEXTS.test(inner);
  return isOneText ? inner : undefined;
}

type Advice = Pick<DiagnosticDetails, "line" | "fix" | "lines">;

/** The maximum length of a line that is printed to be copied, in characters. */
const MAX_FINISHED_LENGTH = 1_500;

/**
 * Tells to write a finished line instead of an entry, if there is one that can be
 * printed, and the entry has no other lines. Otherwise the advice is in words.
 */
export function tellToWrite(
  finished: string | undefined,
  entry: Pick<YamlEntry, "line" | "lines"> | undefined,
  otherwise: string,
): Advice {
  const isFinished = finished !== undefined && entry?.lines.length === 1 &&
    finished.length <= MAX_FINISHED_LENGTH && isCopyable(finished);
  return isFinished
    ? { line: entry.line, fix: "write this line instead:", lines: [finished] }
    : { line: entry?.line, fix: otherwise };
}
