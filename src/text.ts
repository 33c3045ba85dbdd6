/** Quoting, cleaning, comparing, and serializing text. */

import { escapeInvisible, PLAIN, withoutInvisible } from "./invisible.ts";

/** The maximum length of a quoted value in characters, longer than any path. */
const MAX_QUOTE_LENGTH = 5_000;

/** The maximum lengths of names, paths, and URIs in characters. */
export const MAX_LENGTHS = { name: 1_024, path: 4_096, uri: 65_536 };

/** Quotes a value, escapes its invisible characters and quotes, and truncates a very long one. */
export function quote(value: string): string {
  const shown = escapeInvisible(truncate(value, MAX_QUOTE_LENGTH));
  return `"${shown.replaceAll('"', "\\u0022")}"`;
}

/** How much of a name, path, or URI an error repeats, in characters. */
const MAX_SENT_LENGTH = 200;

/** Quotes what a client sent. A long value must not push the advice out of an error. */
export function quoteSent(value: string): string {
  return quote(truncate(value, MAX_SENT_LENGTH));
}

/** Whitespace other than single spaces, which makes the replacement four times as fast. */
const IRREGULAR_SPACE = /\s{2,}|[^\S ]/g;

/** Joins the lines of a text and removes invisible characters. */
export function oneLine(text: string): string {
  return withoutInvisible(text).replace(IRREGULAR_SPACE, " ").trim();
}

export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = "...";
  return limit <= end.length
    ? ""
    : text.slice(0, limit - end.length).replace(/[\ud800-\udbff]$/, "") + end;
}

/** Truncates a text to a number of characters, each of one or two code units. */
export function truncateCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = Array.from(text.slice(0, 2 * limit + 1));
  if (characters.length <= limit) return text;
  const end = "...";
  return characters.slice(0, limit - end.length).join("") + end;
}

/** Returns a number and a noun: "1 skill", "2 skills". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Escapes a text for XML, so that it cannot close the element around it. */
export function escapeXml(text: string): string {
  return withoutInvisible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/**
 * Serializes a value as JSON in well-formed Unicode. `JSON.stringify` escapes lone
 * surrogates, and strict parsers reject the whole text because of one.
 */
export function stringifyJson(value: unknown, indent?: number): string {
  // It does not escape pairs. An odd number of backslashes starts an escape sequence.
  return JSON.stringify(value, null, indent)
    .replace(/(?<!\\)((?:\\\\)*)\\ud[\da-f]{3}/g, "$1\ufffd");
}

/** Whether a value is a JSON object or a YAML mapping: neither `null` nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Serializes a value as indented JSON without {@linkcode INVISIBLE} characters. */
export function formatIndentedJson(value: unknown): string {
  const lines = stringifyJson(value, 2).split("\n");
  return `${lines.map((line) => escapeInvisible(line)).join("\n")}\n`;
}

/** Compares texts by UTF-16 code units, so that the order is the same in every locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Normalizes a text, unless it has more than 30 combining marks in a row. No language
 * needs that many, and normalization takes quadratic time.
 *
 * @see {@link https://unicode.org/reports/tr15/#Stream_Safe_Text_Format}
 */
export function normalizeText(
  text: string,
  form: "NFC" | "NFD" | "NFKC" = "NFC",
): string {
  if (PLAIN.test(text)) return text;
  return /\p{M}{31}/u.test(text) ? text : text.normalize(form);
}

/**
 * Suggests corrections for a misspelled word, the most similar first: words that begin
 * with it, and words that differ by at most two characters.
 */
export function nearestWords(word: string, words: Iterable<string>): string[] {
  const key = word.toLowerCase();
  const distanceOf = (other: string) =>
    key !== "" && other.startsWith(key) ? 0 : editDistance(key, other, 2);
  return Array.from(
    words,
    (other) => ({ other, distance: distanceOf(other.toLowerCase()) }),
  )
    .filter(({ other, distance }) =>
      distance <= Math.min(2, (other.length + 1) / 3)
    )
    .sort((a, b) => a.distance - b.distance || a.other.length - b.other.length)
    .map(({ other }) => other);
}

/**
 * Returns how many characters to insert, remove, replace, or swap with the next one to
 * turn one text into the other, or any number above the limit. Each difference lowers
 * the limit for the rest, so the function takes linear time.
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (a === b) return 0;
  if (limit === 0 || Math.abs(a.length - b.length) > limit) return limit + 1;
  let start = 0;
  // The texts differ, so the loop ends.
  while (a[start] === b[start]) start++;
  const after = (i: number, j: number) =>
    1 + editDistance(a.slice(start + i), b.slice(start + j), limit - 1);
  const isSwapped = a[start] === b[start + 1] && a[start + 1] === b[start];
  const distances = [after(1, 0), after(0, 1), after(1, 1)];
  return Math.min(...distances, isSwapped ? after(2, 2) : limit + 1);
}
