/** Characters that nobody sees: finding, removing, and escaping them. */

/**
 * Characters that are invisible or that control a terminal: control characters,
 * line breaks, and characters that Unicode allows fonts to ignore (zero-width and
 * bidirectional characters, tags, and variation selectors). They can hide text.
 */
const INVISIBLE =
  /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u{13430}-\u{1343f}\u{16fe4}]/gu;

/**
 * Joiners with a purpose: in emoji, such as a family of three, and between letters of
 * scripts without case, such as Persian.
 */
const JOINER =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Lo}\p{M}])[\u200c\u200d](?=\p{Lo})/u;

/** Matches {@linkcode INVISIBLE} characters, with a {@linkcode JOINER} as the first group. */
const INVISIBLE_OR_JOINER = new RegExp(
  `(${JOINER.source})|${INVISIBLE.source}`,
  "gu",
);

/**
 * Invisible characters that hide nothing: joiners, line breaks, and the variation
 * selectors of emoji, as in a red heart.
 */
const HARMLESS = new RegExp(
  `${JOINER.source}|[\\t\\n\\u2028\\u2029]|\\r\\n?|(?<=\\p{Emoji})[\\ufe0e\\ufe0f]`,
  "gu",
);

/** Escapes {@linkcode INVISIBLE} characters, by default as JSON does. */
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

/** Escapes a character by its code point, as YAML and TOML do in double quotes. */
export function escapeCodePoint(character: string): string {
  const digits = character.codePointAt(0)!.toString(16);
  return digits.length > 4
    ? `\\U${digits.padStart(8, "0")}`
    : `\\u${digits.padStart(4, "0")}`;
}

/** Visible ASCII characters, spaces, and line feeds. */
export const PLAIN = /^[\n\x20-\x7e]*$/;

/**
 * Removes invisible characters except joiners with a purpose, so that a text can
 * neither hide a message to the model nor control a terminal. Replaces line breaks with
 * line feeds.
 */
export function withoutInvisible(text: string): string {
  // Most texts are plain, and this test takes a tenth of the time.
  if (PLAIN.test(text)) return text;
  const lines = text.replace(/\r\n?|[\v\f\u2028\u2029]/g, "\n");
  return lines.toWellFormed().replace(
    INVISIBLE_OR_JOINER,
    (character, joiner = "") => /[\n\t]/.test(character) ? character : joiner,
  );
}

/**
 * Lists the distinct invisible characters in a text in the form `U+200B`, except
 * {@linkcode HARMLESS} ones.
 */
export function listInvisible(text: string): string[] {
  const characters = text.replace(HARMLESS, "").match(INVISIBLE) ?? [];
  return [...new Set(characters)].map((character) => {
    const codePoint = character.codePointAt(0)!.toString(16).toUpperCase();
    return `U+${codePoint.padStart(4, "0")}`;
  });
}
