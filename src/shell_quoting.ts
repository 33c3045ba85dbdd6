/**
 * Quotes commands that users can paste into sh, bash, zsh, or fish.
 *
 * @module
 */

import { escapeHidden } from "./text.ts";

/**
 * Quotes a command so that a shell passes on each word unchanged.
 *
 * @returns The command, or `undefined` if it is not safe to paste: a line break or
 *   an escape sequence could take effect.
 */
export function quoteCommand(words: readonly string[]): string | undefined {
  return words.some((word) => word !== escapeHidden(word))
    ? undefined
    : words.map(quoteWord).join(" ");
}

/**
 * Quotes a word. Quotation marks and backslashes stand outside of the quotes,
 * because fish interprets backslashes within them.
 */
function quoteWord(word: string): string {
  if (/^[\w./:,@+-][\w./:,@+=-]*$/.test(word)) return word;
  const parts = word.match(/['\\]|[^'\\]+/g) ?? [""];
  return parts.map((part) => /['\\]/.test(part) ? `\\${part}` : `'${part}'`)
    .join("");
}
