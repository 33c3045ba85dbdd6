/**
 * Paths as people read and write them in a shell.
 *
 * @module
 */

import { isAtOrBelow, isWindows, join, relative } from "../files/paths.ts";

/** Shortens a path in the home folder, in the form that options accept. */
export function withTilde(path: string, home: string | undefined): string {
  return home !== undefined && isAtOrBelow(path, home)
    ? join("~", relative(home, path))
    : path;
}

/** A path that needs no quotes. Only on Windows, a shell keeps the character `\`. */
const PLAIN_PATH = isWindows ? /^[\w~./:\\,@=+-]+$/ : /^[\w~./:,@=+-]+$/;

/** The characters that have a meaning even in double quotes. */
const SPECIAL = isWindows ? /[$`]/ : /["$`\\!]/;

/** Quotes a path as one word of a command line, if it needs quotes. */
export function quoteWord(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  return SPECIAL.test(path)
    ? `'${path.replaceAll("'", String.raw`'\''`)}'`
    : `"${path}"`;
}
