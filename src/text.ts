/**
 * Text for people and for the wire: logging, quoting, cleaning, serializing.
 *
 * @module
 */

/** How many characters may wait to be written to stderr. */
const MAX_LOG_SIZE = 256 * 1024;

/** Settles when every line so far has been written. */
let logging: Promise<void> = Promise.resolve();

/** How many characters are waiting. */
let loggingSize = 0;

/**
 * Writes a line for people to stderr, because stdout belongs to the protocol.
 *
 * It does not wait, so a client that never reads stderr cannot stop the server.
 * Lines are dropped while more than 256 KiB are waiting.
 *
 * @param line The line, without a line break.
 */
export function log(line: string): void {
  const text = `skill-server: ${oneLine(line)}\n`;
  if (loggingSize + text.length > MAX_LOG_SIZE) return;
  loggingSize += text.length;
  logging = logging.then(() => writeToStderr(text)).then(() => {
    loggingSize -= text.length;
  });
}

/**
 * Waits until every line logged so far has been written.
 */
export function logged(): Promise<void> {
  return logging;
}

async function writeToStderr(text: string): Promise<void> {
  try {
    const writer = Deno.stderr.writable.getWriter();
    try {
      await writer.write(new TextEncoder().encode(text));
    } finally {
      writer.releaseLock();
    }
  } catch {
    // Nobody reads stderr any more. That is no reason to stop serving.
  }
}

/** How much of a value is quoted, in characters: more than a path has. */
const MAX_QUOTE_LENGTH = 5_000;

/**
 * Puts a value in quotes, escapes what nobody can see, and cuts what is very long.
 */
export function quote(value: string): string {
  const isLong = value.length > MAX_QUOTE_LENGTH;
  const text = isLong ? `${value.slice(0, MAX_QUOTE_LENGTH)}…` : value;
  return `"${escapeHidden(text)}"`;
}

/**
 * Characters that nobody can see, or that a terminal acts on: control
 * characters, line breaks, and what Unicode lets fonts ignore (zero-width and
 * bidirectional characters, tags, variation selectors). Text can be hidden in
 * them.
 */
const HIDDEN =
  /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** The same without tabs and line breaks. */
const INVISIBLE =
  /[^\P{Cc}\t\n]|[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Characters that are invisible but needed: in emoji, and between letters of scripts that join them. */
const NEEDED =
  /(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})|(?<=[^\P{L}A-Za-z]|\p{M})[\u200c\u200d](?=\p{L})/gu;

/**
 * Escapes characters that nobody can see or that a terminal acts on.
 *
 * @param text The text.
 * @param escapeOf Escapes one character. Default: the way JSON does.
 */
export function escapeHidden(
  text: string,
  escapeOf: (character: string) => string = escapeUnits,
): string {
  return text.toWellFormed().replace(HIDDEN, escapeOf);
}

function escapeUnits(character: string): string {
  return character.split("").map((unit) =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  ).join("");
}

/** ASCII that can be seen, blanks, and line feeds. */
const PLAIN = /^[\n\x20-\x7e]*$/;

/**
 * Removes invisible characters, so that a text can neither hide a message to
 * the model nor rearrange the output of a terminal. Line breaks become line
 * feeds.
 */
export function withoutInvisible(text: string): string {
  // Most texts are plain, and this test takes a tenth of the time of the rest.
  if (PLAIN.test(text)) return text;
  return text.toWellFormed()
    .replace(/\r\n?|[\v\f\u2028\u2029]/g, "\n")
    .replace(INVISIBLE, "");
}

/**
 * Lists the invisible characters in a text, each once, in the form `U+200B`. It
 * leaves out those that emoji and some scripts need.
 */
export function listInvisible(text: string): string[] {
  const characters = text.replace(/\r\n/g, "\n").replace(NEEDED, "")
    .match(INVISIBLE) ?? [];
  return [...new Set(characters)].map((character) => {
    const codePoint = character.codePointAt(0)!.toString(16).toUpperCase();
    return `U+${codePoint.padStart(4, "0")}`;
  });
}

/** Whitespace other than a single space. Skipping single spaces makes the replacement four times as fast. */
const IRREGULAR_SPACE = /\s{2,}|[^\S ]/g;

/**
 * Joins the lines of a text and removes invisible characters.
 */
export function oneLine(text: string): string {
  return withoutInvisible(text).replace(IRREGULAR_SPACE, " ").trim();
}

/** Escapes a text for XML, so that it cannot end the element that contains it. */
export function escapeXml(text: string): string {
  return withoutInvisible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** Reverses the escaping of {@linkcode escapeXml}. */
export function unescapeXml(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/**
 * Serializes a value as JSON that is well-formed Unicode. See {@linkcode toWellFormedJson}.
 *
 * @param value The value. `JSON.stringify` must be able to serialize it.
 * @param indent How many spaces each level is indented by. Default: one line.
 * @returns The JSON.
 */
export function stringifyJson(value: unknown, indent?: number): string {
  return toWellFormedJson(JSON.stringify(value, null, indent));
}

/**
 * Returns JSON as well-formed Unicode.
 *
 * `JSON.stringify` writes a lone surrogate as an escape sequence, and strict
 * parsers reject the whole text because of it. This writes U+FFFD instead.
 *
 * @param json What `JSON.stringify` returned, or a text that contains it.
 */
export function toWellFormedJson(json: string): string {
  // It escapes no other surrogates than lone ones.
  return json.includes("\\ud") ? json.replace(ESCAPES, withoutSurrogate) : json;
}

/** Any escape sequence of JSON. Matching all of them keeps a literal backslash from looking like the start of one. */
const ESCAPES = /\\(?:u[\da-f]{4}|[^u])/g;

function withoutSurrogate(sequence: string): string {
  return sequence.startsWith("\\ud") ? "\ufffd" : sequence;
}

/**
 * Serializes a value as indented JSON in which nothing is invisible and nothing
 * acts on a terminal.
 */
export function jsonText(value: unknown): string {
  const lines = stringifyJson(value, 2).split("\n");
  return `${lines.map((line) => escapeHidden(line)).join("\n")}\n`;
}

/** Compares texts by their UTF-16 code units, so that the order is the same in every locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** How much of a name counts, in characters. */
const MAX_KEY_LENGTH = 64 * 1024;

/**
 * Returns the form of a name by which skills are found: on one line, without
 * invisible characters, in Unicode normalization form C, in lower case.
 *
 * ```ts
 * import { skillKey } from "@skill-server/skill-server";
 *
 * if (skillKey(" Git  Flow") !== "git flow") throw new Error();
 * ```
 *
 * @param name The name as it is written. Its first 65,536 characters count: no
 *   frontmatter holds more.
 * @returns The key in {@linkcode SkillCatalog.skills}.
 */
export function skillKey(name: string): string {
  const text = oneLine(name.slice(0, MAX_KEY_LENGTH));
  return normalizeText(normalizeText(text).toLowerCase());
}

/**
 * Brings a text into Unicode normalization form C. A text with more than 30
 * combining marks in a row stays as it is: no language writes that, and the time
 * it takes grows with the square of their number.
 *
 * @see {@link https://unicode.org/reports/tr15/#Stream_Safe_Text_Format}
 */
export function normalizeText(text: string): string {
  if (PLAIN.test(text)) return text;
  return /\p{M}{31}/u.test(text) ? text : text.normalize("NFC");
}

/** Returns the words that may be meant by a misspelled one, the most likely first. */
export function nearestWords(word: string, words: Iterable<string>): string[] {
  const key = word.toLowerCase();
  return Array.from(words)
    .map((other) => ({ other, ...compareWords(key, other.toLowerCase()) }))
    .filter(({ isStarted, distance }) => isStarted || distance < FAR)
    .sort((a, b) =>
      a.distance - b.distance || Number(b.isStarted) - Number(a.isStarted)
    )
    .map(({ other }) => other);
}

/** Returns whether a word starts another one, and by how many letters they differ if these are few. */
function compareWords(
  word: string,
  other: string,
): { isStarted: boolean; distance: number } {
  const limit = other.length > 3 ? 2 : other.length > 1 ? 1 : 0;
  const distance = Math.abs(word.length - other.length) > limit
    ? FAR
    : editDistance(word, other);
  return {
    isStarted: word !== "" && other.startsWith(word),
    distance: distance > limit ? FAR : distance,
  };
}

/** The distance of words that have nothing to do with each other. */
const FAR = 1_000;

/** Returns how many letters to insert, remove, replace, or swap with the next to get from one text to the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next[j] = Math.min(
        next[j - 1]! + 1,
        row[j]! + 1,
        row[j - 1]! + (isSame ? 0 : 1),
        isSwapped ? before[j - 2]! + 1 : Infinity,
      );
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
