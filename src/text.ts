/** Functions for text: logging, quoting, cleaning, comparing, and serializing it. */

/** The maximum size of what waits to be logged, in bytes. Beyond it, lines are dropped. */
const MAX_UNLOGGED_SIZE = 16 * 1024 * 1024;

let unloggedSize = 0;

let logging: Promise<unknown> = Promise.resolve();

/**
 * Logs a sentence to stderr, after the prefix `skill-server: `. Stdout is reserved
 * for the protocol. Does not wait, so that a client that never reads stderr cannot
 * block the server.
 *
 * @param sentence A sentence, which is put on one line.
 * @param lines Lines to copy, which follow as they are. They must be
 *   {@linkcode isCopyable}.
 */
export function log(sentence: string, ...lines: readonly string[]): void {
  const first = escapeCommands(oneLine(sentence));
  const text = [LOG_PREFIX + first, ...lines, ""].join("\n");
  const bytes = new TextEncoder().encode(text);
  // If nobody reads stderr, the server can still serve its client.
  if (unloggedSize + bytes.length > MAX_UNLOGGED_SIZE) return;
  unloggedSize += bytes.length;
  logging = logging.then(() => Deno.stderr.write(bytes)).catch(() => {})
    .then(() => unloggedSize -= bytes.length);
}

const LOG_PREFIX = "skill-server: ";

/**
 * Whether a line can be printed as it is, at the beginning of a line. It must not look
 * like a line of the log, hide anything, or be a command: GitHub Actions obeys `::` at
 * the beginning of a line.
 */
export function isCopyable(line: string): boolean {
  return !/^\s*::/.test(line) && !line.startsWith(LOG_PREFIX.trimEnd()) &&
    escapeCommands(escapeInvisible(line)) === line;
}

/**
 * Escapes what services that run builds obey anywhere in a line that is printed, such
 * as `##[` in GitHub Actions and `##vso[` in Azure Pipelines. JSON, TOML, and YAML read
 * the result in double quotes as the text.
 */
export function escapeCommands(text: string): string {
  return text.replace(/##(?=[\p{L}[])/gu, "\\u0023#");
}

/** Waits until all lines logged so far have been written. */
export function logged(): Promise<unknown> {
  return logging;
}

/** The maximum length of a quoted value, in characters. It is longer than any path. */
const MAX_QUOTE_LENGTH = 5_000;

/** The maximum lengths of names, paths, and URIs, in characters. */
export const MAX_LENGTHS = { name: 1_024, path: 4_096, uri: 65_536 };

/**
 * Puts a value in quotes, escapes its invisible characters and its own quotes, and
 * truncates it if it is very long.
 */
export function quote(value: string): string {
  const shown = escapeInvisible(truncate(value, MAX_QUOTE_LENGTH));
  return `"${shown.replaceAll('"', "\\u0022")}"`;
}

/**
 * Characters that are invisible or that control a terminal: control characters,
 * line breaks, and characters that Unicode allows fonts to ignore (zero-width and
 * bidirectional characters, tags, and variation selectors). They can hide text.
 */
const INVISIBLE =
  /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u{13430}-\u{1343f}\u{16fe4}]/gu;

/** Joiners that writing needs: in emoji, and between letters of scripts without case. */
const JOINER =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Lo}\p{M}])[\u200c\u200d](?=\p{Lo})/u;

/** Invisible characters. The first group matches the joiners that writing needs. */
const INVISIBLE_OR_JOINER = new RegExp(
  `(${JOINER.source})|${INVISIBLE.source}`,
  "gu",
);

/** Invisible characters that are no reason to warn: joiners, line breaks, and the style of emoji. */
const HARMLESS = new RegExp(
  `${JOINER.source}|[\\t\\n\\u2028\\u2029]|\\r\\n?|(?<=\\p{Emoji})[\\ufe0e\\ufe0f]`,
  "gu",
);

/** Escapes the characters that are {@linkcode INVISIBLE}, by default as in JSON. */
export function escapeInvisible(
  text: string,
  escapeOf: (character: string) => string = escapeUnits,
): string {
  return text.toWellFormed().replace(INVISIBLE, escapeOf);
}

function escapeUnits(character: string): string {
  return character.split("").map((unit) =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  ).join("");
}

/** Escapes a character as in the double quotes of YAML and TOML, by its code point. */
export function escapeCodePoint(character: string): string {
  const digits = character.codePointAt(0)!.toString(16);
  return digits.length > 4
    ? `\\U${digits.padStart(8, "0")}`
    : `\\u${digits.padStart(4, "0")}`;
}

/** Visible ASCII characters, spaces, and line feeds. */
const PLAIN = /^[\n\x20-\x7e]*$/;

/**
 * Removes invisible characters, so that a text can neither hide a message to the
 * model nor control a terminal. Joiners that writing needs stay. Replaces line breaks
 * with line feeds.
 */
export function withoutInvisible(text: string): string {
  // Most texts are plain, and this test takes only a tenth of the time.
  if (PLAIN.test(text)) return text;
  const lines = text.replace(/\r\n?|[\v\f\u2028\u2029]/g, "\n");
  return lines.toWellFormed().replace(
    INVISIBLE_OR_JOINER,
    (character, joiner = "") => /[\n\t]/.test(character) ? character : joiner,
  );
}

/**
 * Lists the distinct invisible characters in a text in the form `U+200B`, except
 * line breaks and those that emoji and some scripts need.
 */
export function listInvisible(text: string): string[] {
  const characters = text.replace(HARMLESS, "").match(INVISIBLE) ?? [];
  return [...new Set(characters)].map((character) => {
    const codePoint = character.codePointAt(0)!.toString(16).toUpperCase();
    return `U+${codePoint.padStart(4, "0")}`;
  });
}

/**
 * Whitespace other than a single space. Skipping single spaces makes the
 * replacement four times as fast.
 */
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
    : text.slice(0, limit - end.length).toWellFormed() + end;
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

/** Escapes a text for XML, so that it cannot close the element that contains it. */
export function escapeXml(text: string): string {
  return withoutInvisible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/**
 * Serializes a value as JSON that is well-formed Unicode. `JSON.stringify` writes lone
 * surrogates as escape sequences, and strict parsers then reject the whole text.
 */
export function stringifyJson(value: unknown, indent?: number): string {
  // Surrogates in pairs are not escaped. An odd number of backslashes begins an escape
  // sequence.
  return JSON.stringify(value, null, indent)
    .replace(/(?<!\\)((?:\\\\)*)\\ud[\da-f]{3}/g, "$1\ufffd");
}

/** Whether a value is an object of JSON or a mapping of YAML: neither `null` nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Serializes a value as indented JSON without {@linkcode INVISIBLE} characters. */
export function formatIndentedJson(value: unknown): string {
  const lines = stringifyJson(value, 2).split("\n");
  return `${lines.map((line) => escapeInvisible(line)).join("\n")}\n`;
}

/** Compares texts by their UTF-16 code units, so that the order is the same in every locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Normalizes a text, unless it has more than 30 combining marks in a row: no language
 * needs that, and normalization takes time quadratic in their number.
 *
 * @see {@link https://unicode.org/reports/tr15/#Stream_Safe_Text_Format}
 */
export function normalizeText(
  text: string,
  form: "NFC" | "NFKC" = "NFC",
): string {
  if (PLAIN.test(text)) return text;
  return /\p{M}{31}/u.test(text) ? text : text.normalize(form);
}

/**
 * Returns the words that a misspelled word may stand for, the most similar first: those
 * that begin with it, and those that differ by at most two characters.
 */
export function nearestWords(word: string, words: Iterable<string>): string[] {
  const key = word.toLowerCase();
  const distanceOf = (other: string) =>
    key !== "" && other.startsWith(key) ? 0 : editDistance(key, other, 2);
  return Array.from(
    words,
    (other) => ({ other, distance: distanceOf(other.toLowerCase()) }),
  )
    .filter(({ other, distance }) => distance <= Math.min(2, other.length >> 1))
    .sort((a, b) => a.distance - b.distance || a.other.length - b.other.length)
    .map(({ other }) => other);
}

/** @throws {TypeError} If it is not one of the choices, which the message lists. */
export function requireChoice(
  kind: string,
  choice: string,
  choices: readonly string[],
): void {
  if (choices.includes(choice)) return;
  const list = choices.join(", ");
  throw new TypeError(
    `Invalid ${kind} ${quote(String(choice))}: expected one of ${list}`,
  );
}

/**
 * Counts the characters to insert, remove, replace, or swap with the next one to turn
 * one text into the other. Above the limit, it returns any larger number: each
 * difference lowers the limit for the rest, so the time is linear in the length.
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (a === b) return 0;
  if (limit === 0 || Math.abs(a.length - b.length) > limit) return limit + 1;
  let start = 0;
  // The texts differ, so this ends.
  while (a[start] === b[start]) start++;
  const after = (i: number, j: number) =>
    1 + editDistance(a.slice(start + i), b.slice(start + j), limit - 1);
  const isSwapped = a[start] === b[start + 1] && a[start + 1] === b[start];
  const distances = [after(1, 0), after(0, 1), after(1, 1)];
  return Math.min(...distances, isSwapped ? after(2, 2) : limit + 1);
}
