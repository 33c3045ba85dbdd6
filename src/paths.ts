// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Path strings: what the system writes between names, and what lies in what.
 *
 * @module
 */

import {
  isAbsolute,
  join,
  normalize,
  relative,
  resolve,
} from "jsr:@std/path@^1";
import { quote } from "./text.ts";
import type { SkillRootOptions } from "./types.ts";

export const isWindows = Deno.build.os === "windows";

/** Whether names that differ in the case of their letters alone are those of one file. */
export const isCaseBlind = isWindows || Deno.build.os === "darwin";

/** What stands between the names in a path. */
const SEPARATOR = isWindows ? "\\" : "/";

/**
 * Makes the path of a folder absolute, as a shell would: from the working
 * directory, or from home where it begins with `~`.
 * @throws {Error} If that folder is not known.
 */
export function resolveFolder(
  folder: string,
  { workingDirectory, homeDirectory }: SkillRootOptions,
): string {
  const isAtHome = /^~(?=$|[\\/])/.test(folder);
  const base = isAtHome ? homeDirectory : workingDirectory;
  if (base === undefined && !isAbsolute(folder)) {
    throw new Error(
      `Cannot find the folder ${quote(folder)}: the ${
        isAtHome ? "home folder" : "working directory"
      } is not known; give its whole path`,
    );
  }
  const path = isAtHome ? join(".", folder.slice(1)) : folder;
  return base === undefined ? normalize(folder) : resolve(base, path);
}

/**
 * Whether a path is a folder or lies in it, by their letters.
 */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && !/^\.\.(?:[\\/]|$)/.test(way);
}

/** Whether a real path is one of the folders or lies in one. */
export function isInside(
  realPath: string,
  folders: readonly string[],
): boolean {
  return folders.some((folder) => isWithin(realPath, folder));
}

/** Joins a name to the path of a folder: `join` without its care, which takes long. */
export function childPath(folder: string, name: string): string {
  return folder.endsWith(SEPARATOR) ? folder + name : folder + SEPARATOR + name;
}
