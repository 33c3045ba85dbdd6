/**
 * YAML as people write it: parsing it, finding the entries on its lines even if it is
 * malformed, and writing finished lines that are valid.
 *
 * @module
 */

import { parse } from "jsr:@std/yaml@^1/parse";
import type { Fault } from "../problems.ts";
import {
  editDistance,
  escapeCodePoint,
  escapeHidden,
  isCopyable,
  isObject,
  oneLine,
  quote,
  withoutInvisible,
} from "../text.ts";

/** The maximum size of the frontmatter in bytes, including its two `---` lines. */
export const MAX_FRONTMATTER_SIZE = 16 * 1024;

/** A line that is indented with a tab, which YAML forbids, but not every parser. */
const TAB_INDENTED = /^\t[\t ]*[^\s#]/m;

/** Parses YAML. Returns the error if it is malformed. */
export function parseYaml(yaml: string): unknown {
  const tab = TAB_INDENTED.exec(yaml);
  if (tab !== null) {
    const line = yaml.slice(0, tab.index).split("\n").length;
    const reason = "tab characters must not be used in indentation";
    return new SyntaxError(`${reason} at line ${line}, column 1`);
  }
  try {
    return parse(yaml, { schema: "core" });
  } catch (error) {
    return error;
  }
}

/** Parses a mapping. Returns `undefined` if the YAML is malformed, or something else. */
function parseMapping(yaml: string): Record<string, unknown> | undefined {
  const parsed = parseYaml(yaml);
  return isObject(parsed) && !(parsed instanceof Error) ? parsed : undefined;
}

/** Describes an error of {@linkcode parseYaml}. Lines are numbered from 1. */
export function describeYamlError(
  { message }: Error,
): { line: number; reason: string; hint: string } {
  const [text = message, line = "1"] = message.split(/ at line (\d+), /, 2);
  return {
    line: Number(line),
    reason: `the YAML is malformed: ${oneLine(text)}`,
    hint:
      "check the quotes, colons, and indentation of this line and the line before it",
  };
}

/** The fields without which a skill cannot be served. */
export const REQUIRED_FIELDS = ["name", "description"] as const;
export type RequiredField = (typeof REQUIRED_FIELDS)[number];

/** The fields of the frontmatter that have a meaning. */
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
];

/** The known fields whose values are no texts. */
const NO_TEXTS: ReadonlySet<string> = new Set([
  "metadata",
  "disable-model-invocation",
  "user-invocable",
]);

/** Returns the letters and digits of a key, in lowercase: what a person sees in it. */
export function lettersOf(key: string): string {
  return withoutInvisible(key).replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}

/** The known fields, by their letters. */
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
  /** The key, without quotes. */
  readonly key: string;
  /** The number of its first line, from 1. */
  readonly line: number;
  /** Its lines: all up to the next entry, without blank lines and comments at the end. */
  readonly lines: readonly string[];
  /** The text after the key on the first line. */
  readonly value: string;
  /** What is between the key and the value: YAML demands a colon and a blank. */
  readonly separator: string;
}

/** Whether the key of an entry is followed by a colon and a blank, as YAML demands. */
export function isSeparated(
  { separator, value }: Pick<YamlEntry, "separator" | "value">,
): boolean {
  return /^:[ \t]/.test(separator) || separator === ":" && value === "";
}

/** A key as YAML authors write it. */
const USUAL_KEY = /^[\p{L}\p{N}_.-]+$/u;

/**
 * Reads the entry that begins on a line. A key that is followed by something else than
 * a colon and a blank must be that of a known field, because the line could be part
 * of a text.
 */
function readKey(
  line: string,
): Pick<YamlEntry, "key" | "value" | "separator"> | undefined {
  const end = line.search(/[:=\uff1a]/);
  if (end < 1 || /^[ \t#-]/.test(line)) return undefined;
  const key = line.slice(0, end).trimEnd().replace(/^(["'])(.*)\1$/, "$2");
  const [separator = ""] = /^.\s*/.exec(line.slice(end)) ?? [];
  const value = line.slice(end + separator.length).trimEnd();
  const isEntry = fieldOf(key) !== undefined ||
    USUAL_KEY.test(key) && isSeparated({ separator, value });
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

/** Finds the entry of a field. */
export function findEntry(
  field: string,
  entries: readonly YamlEntry[],
): YamlEntry | undefined {
  return entries.find(({ key }) => key === field);
}

/** Whether the lines of an entry, by themselves, are not a mapping in YAML. */
export function isMalformed({ lines }: YamlEntry): boolean {
  return parseMapping(lines.join("\n")) === undefined;
}

/**
 * Whether a value that YAML refuses can only be meant as a text: it contains a colon
 * with a blank, begins with a character with which no value begins, or begins with a
 * bracket that closes before the end. What begins like anything else could be part
 * of something longer.
 */
export function isClearlyText(value: string): boolean {
  if (/^["'*&!|>#]/.test(value)) return false;
  if (/^[`@%,]/.test(value)) return true;
  if (/^[[{]/.test(value)) return closesEarly(value);
  return /:(?:[ \t]|$)/.test(value);
}

/** Whether the bracket with which a text begins closes before the end of the text. */
function closesEarly(text: string): boolean {
  let depth = 0;
  for (const { 0: bracket, index } of text.matchAll(/[[\]{}]/g)) {
    depth += "[{".includes(bracket) ? 1 : -1;
    if (depth === 0) return index < text.length - 1;
  }
  return false;
}

/** Writes a field with a text in quotes that keep every character. */
export function quoteField(key: string, text: string): string {
  const json = JSON.stringify(text.toWellFormed());
  // Quotes and backslashes are easier to read in single quotes.
  const isPlain = json === `"${text}"` && isCopyable(text);
  const quoted = isPlain || !isCopyable(text)
    ? escapeHidden(json, escapeCodePoint).replaceAll("##[", "\\u0023#[")
    : `'${text.replaceAll("'", "''")}'`;
  return `${key}: ${quoted}`;
}

/**
 * Writes a field on a line, with quotes only if YAML would read something else without
 * them. A name gets the form that hosts accept, if there is one.
 */
export function writeField(key: string, text: string): string {
  if (key === "name") return writeName(text);
  if (!NO_TEXTS.has(key)) return writeText(key, text);
  const line = `${key}: ${text}`.trimEnd();
  const isRead = parseMapping(line) !== undefined && isCopyable(line);
  return isRead ? line : quoteField(key, text);
}

function writeName(text: string): string {
  const withoutComment = text.replace(/\s#[^]*/, "");
  return writeText("name", validName(withoutComment) ?? text);
}

/** Writes a key with a text, in quotes only if YAML would read something else without. */
export function writeText(key: string, text: string): string {
  const line = `${key}: ${text}`;
  const isRead = parseMapping(line)?.[key] === text && isCopyable(line);
  return isRead ? line : quoteField(key, text);
}

/** A key and its value on a line of their own, indented or not. */
const NESTED = /^([ \t]*)([\p{L}\p{N}_.-]+):[ \t](.*)$/u;

/** Writes the value on an indented line as a text, in quotes if it needs them. */
export function writeNested(line: string): string {
  const [, indentation = "", key, written = ""] = NESTED.exec(line) ?? [];
  if (key === undefined) return line;
  const isText = typeof parseMapping(line.trim())?.[key] === "string";
  const value = written.replace(/\s#.*/, "").trim();
  return isText ? line : indentation + writeText(key, withoutQuotes(value));
}

/**
 * Returns a name in the form that hosts accept: `a-z`, `0-9`, and single hyphens
 * between them. Letters of other alphabets have none.
 */
export function validName(name: string): string | undefined {
  const text = withoutInvisible(name);
  if (/[^\p{ASCII}]/u.test(text.replace(/[^\p{L}\p{N}]/gu, ""))) {
    return undefined;
  }
  const valid = text.toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return valid === "" ? undefined : valid;
}

/**
 * Returns the text that the value of an entry most likely means: all its lines joined,
 * without quotation marks and other marks at the beginning that are not closed.
 */
export function textOf({ value, lines }: YamlEntry): string {
  const [first = "", ...others] = [value, ...lines.slice(1)]
    .map((line) => line.trim()).filter((line) => line !== "");
  const isList = (value === "" || others.length > 0) &&
    [first, ...others].every(isItem);
  const text = isList
    ? [first, ...others].map((item) => item.slice(1).trim()).join(", ")
    : [first, ...others].join(" ");
  return withoutQuotes(text.replace(/^(?:!!\S+|[|>][+-]?|&\S+)\s+/, ""));
}

function isItem(line: string): boolean {
  return /^-\s/.test(line);
}

/** Removes quotation marks around a text, even if the last one is missing. */
function withoutQuotes(text: string): string {
  const [mark = ""] = text;
  if (!/["']/.test(mark)) return text;
  const isClosed = text.length > 1 && text.endsWith(mark);
  const inner = isClosed ? text.slice(1, -1) : text.slice(1);
  // An apostrophe within a word is no quotation mark.
  const others = inner.replace(/(?<=\p{L})'(?=\p{L})/gu, "");
  return others.includes(mark) ? text : inner;
}

/** Where to write what: a part of a fault. */
export type Advice = Pick<Fault, "line" | "hint" | "lines">;

/** Lines of a file, such as those of an entry, and the number of the first. */
type Lines = Pick<YamlEntry, "line" | "lines">;

/** Tells to write a line instead of an entry, if it is known where that is. */
export function tellToWrite(finished: string, entry?: Lines): Advice {
  return entry === undefined
    ? { hint: `write ${quote(finished)}` }
    : tellToReplace(entry, [finished]);
}

/**
 * Tells to replace lines with finished ones, except for those at both ends that are the
 * same. If the others cannot be printed, it only says where to look.
 */
export function tellToReplace(
  before: Lines,
  finished: readonly string[],
): Advice {
  const { start, end } = countEqual(before.lines, finished);
  const first = before.line + start;
  const last = before.line + before.lines.length - 1 - end;
  const lines = finished.slice(start, finished.length - end);
  if (!lines.every(isCopyable)) {
    const hint = "check the quotes, colons, and indentation of this line";
    return { line: first, hint };
  }
  const what = lines.length === 1 ? "this line" : "these lines";
  const which = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  const hint = first === last && lines.length === 1
    ? "write this line instead:"
    : `write ${what} instead of ${which}:`;
  return { line: first, hint, lines };
}

/** Counts the lines at both ends that are the same. At least one is left between them. */
function countEqual(
  a: readonly string[],
  b: readonly string[],
): { start: number; end: number } {
  const most = Math.min(a.length, b.length) - 1;
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (start + end < most && a.at(-1 - end) === b.at(-1 - end)) end++;
  return { start, end };
}
