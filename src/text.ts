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
 * Puts a value in quotes, with what a terminal would act on escaped.
 */
export function quote(value: string): string {
  return `"${escapeControls(value)}"`;
}

/**
 * Escapes what a terminal would act on.
 */
export function escapeControls(text: string): string {
  return text.toWellFormed().replace(
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) =>
      `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Joins the lines of a text and drops its control characters.
 */
export function oneLine(text: string): string {
  return withoutControls(text.replace(/\s+/g, " ")).trim();
}

/** Drops control characters, but for the tab and the line feed. */
function withoutControls(text: string): string {
  return text.toWellFormed().replace(
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    "",
  );
}

/** Escapes a text for XML, so that it cannot end the element it stands in. */
export function escapeXml(text: string): string {
  return withoutControls(text)
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

/**
 * Writes a value as JSON of several lines, with what a terminal would act on escaped.
 */
export function jsonText(value: unknown): string {
  const lines = stringifyJson(value, 2).split("\n");
  return `${lines.map(escapeControls).join("\n")}\n`;
}

/** Orders texts by their UTF-16 code units: the same everywhere, in any locale. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The form of a name under which skills are found: as it is shown (blanks
 * folded, no control characters), in Unicode's normal form C, in lower case.
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
  return oneLine(name).normalize("NFC").toLowerCase().normalize("NFC");
}
