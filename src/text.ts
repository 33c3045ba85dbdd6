/**
 * Text for people and for the wire: quoting, escaping, logging.
 *
 * @module
 */

/** How much may be waiting to be written to stderr, in characters. */
const MAX_LOG_SIZE = 256 * 1024;

/** Lines on their way to stderr, and how many characters they have. */
let logging: Promise<void> = Promise.resolve();

let loggingSize = 0;

/**
 * Writes a line for people to stderr. Stdout belongs to the protocol.
 *
 * It does not wait: a client that never reads its server's stderr must not
 * stop it. What piles up past 256 KiB is dropped.
 *
 * @param line The line, with no line break at its end.
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
 * Fulfilled when all lines logged so far are written.
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
    // Nobody is left to read it, which is no reason to stop serving.
  }
}

/**
 * Puts a value in quotes, with what nobody could see escaped.
 */
export function quote(value: string): string {
  return `"${escapeHidden(value)}"`;
}

/**
 * What a terminal acts on or nobody can see: control characters, line breaks,
 * and what Unicode lets fonts ignore (zero-width and bidirectional characters,
 * tags, variation selectors), in which text can be hidden.
 */
const HIDDEN =
  /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** The same, but for tabs and line feeds. */
const INVISIBLE =
  /[^\P{Cc}\t\n]|[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** What is invisible for a reason: in emoji, and between letters of scripts that join them. */
const VISIBLE_IN_EFFECT =
  /(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})|(?<=[^\P{L}A-Za-z]|\p{M})[\u200c\u200d](?=\p{L})/gu;

/**
 * Escapes what a terminal acts on or nobody can see.
 *
 * @param text The text.
 * @param escapeOf Escapes one character. Default: as JSON and JavaScript do.
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

/**
 * Removes what nobody can see from a text, so that it can neither hide a
 * message to the model nor rearrange a terminal's output. Any line break
 * becomes a line feed.
 */
export function withoutInvisible(text: string): string {
  return text.toWellFormed()
    .replace(/\r\n?|[\v\f\u2028\u2029]/g, "\n")
    .replace(INVISIBLE, "");
}

/**
 * Lists the invisible characters in a text, each once, as `U+200B`. Those that
 * emoji and some scripts need are not listed.
 */
export function listInvisible(text: string): string[] {
  const characters = text.replace(/\r\n/g, "\n").replace(VISIBLE_IN_EFFECT, "")
    .match(INVISIBLE) ?? [];
  return [...new Set(characters)].map((character) => {
    const codePoint = character.codePointAt(0)!.toString(16).toUpperCase();
    return `U+${codePoint.padStart(4, "0")}`;
  });
}

/**
 * Joins the lines of a text and removes what nobody can see.
 */
export function oneLine(text: string): string {
  return withoutInvisible(text).replace(/\s+/g, " ").trim();
}

/** Escapes a text for XML, so that it cannot end the element it stands in. */
export function escapeXml(text: string): string {
  return withoutInvisible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/**
 * Serializes a value as JSON that is well-formed Unicode.
 *
 * `JSON.stringify` writes half of a surrogate pair as an escape sequence, which
 * strict parsers refuse, and with it all that surrounds it. Here U+FFFD takes
 * its place.
 *
 * @param value The value. `JSON.stringify` must be able to serialize it.
 * @param indent How many spaces each level is indented by. Default: one line.
 * @returns The JSON.
 */
export function stringifyJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent);
  // It escapes surrogates only where they have no partner.
  return json.includes("\\ud") ? json.replace(ESCAPES, withoutSurrogate) : json;
}

/** Each escape sequence of JSON, so that a literal backslash is not taken for the start of one. */
const ESCAPES = /\\(?:u[\da-f]{4}|[^u])/g;

function withoutSurrogate(escape: string): string {
  return escape.startsWith("\\ud") ? "\ufffd" : escape;
}

/** Takes back what {@linkcode escapeXml} escaped. */
export function unescapeXml(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/**
 * Serializes a value as JSON of several lines, with what a terminal acts on or
 * nobody can see escaped.
 */
export function jsonText(value: unknown): string {
  const lines = stringifyJson(value, 2).split("\n");
  return `${lines.map((line) => escapeHidden(line)).join("\n")}\n`;
}

/** Orders texts by their UTF-16 code units: the same everywhere, in any locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The form of a name under which skills are found: as it is shown (white space
 * folded, nothing invisible), in Unicode's normal form C, in lower case.
 *
 * ```ts
 * import { skillKey } from "@skill-server/skill-server";
 *
 * if (skillKey(" Git  Flow") !== "git flow") throw new Error();
 * ```
 *
 * @param name The name as it is written.
 * @returns The key in {@linkcode SkillCatalog.skills}.
 */
export function skillKey(name: string): string {
  return normalizeText(normalizeText(oneLine(name)).toLowerCase());
}

/**
 * Composes a text (Unicode's normal form C). Text with more than 30 combining
 * marks in a row stays as it is: no language writes that, and the time to
 * compose it grows with the square of their number.
 *
 * @see {@link https://unicode.org/reports/tr15/#Stream_Safe_Text_Format}
 */
export function normalizeText(text: string): string {
  return /\p{M}{31}/u.test(text) ? text : text.normalize("NFC");
}
