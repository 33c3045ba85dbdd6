/**
 * Whether a file or folder lies where its path says.
 *
 * 1. A path belongs to a folder if its real path, with all links resolved, lies
 *    in the folder's real directory or in a trusted folder.
 * 2. Deno has no functions that work relative to an open folder. Every function
 *    takes a path, and two calls can reach different files by the same path. So
 *    the code confirms the location of everything after it is opened or listed.
 *
 * @module
 */

import { dirname, relative } from "jsr:@std/path@^1";
import {
  attempt,
  IS_A_FOLDER,
  isAbsence,
  NOT_A_FILE,
  SkillFileError,
  tooLarge,
  WAS_REPLACED,
} from "./faults.ts";
import { type FileState, isRacy, type OpenFile } from "./open_file.ts";
import { isAtOrBelow, isAtOrBelowAny } from "./paths.ts";
import type { Steps } from "../time_slice.ts";
import type { Boundary } from "./types.ts";

/** The default size limit of files, in bytes. */
export const DEFAULT_MAX_FILE_SIZE: number = 1024 * 1024;

/** A path in a folder and its real path. */
export interface Located {
  readonly path: string;
  /** The path with all links resolved. */
  readonly realPath: string;
  /** The folder that it belongs to. */
  readonly boundary: Boundary;
}

/** A file and its status before it is opened. */
export interface CheckedFile extends Located {
  readonly info: Deno.FileInfo;
}

/**
 * Reads a regular file after confirming that the opened file lies at its real
 * path. The content can be cached only if that is certain.
 */
export function* readConfined<T>(
  checked: CheckedFile,
  { maxFileSize, open }: {
    maxFileSize: number;
    open: (path: string, info: Deno.FileInfo) => OpenFile;
  },
  read: (file: OpenFile, isCertain: boolean) => T,
): Steps<T> {
  const { path, info } = checked;
  requireReadable(checked, maxFileSize);
  const since = Date.now();
  using file = open(path, info);
  yield;
  if (!file.info.isFile) throw new SkillFileError(path, WAS_REPLACED);
  return read(file, yield* confirmFile(checked, { since, info: file.info }));
}

/** Confirms that a file lies at its real path. See {@linkcode confirmLocation}. */
export function confirmFile(
  file: Located,
  { info, ...options }: { info: FileState; since: number; checks?: number },
): Steps<boolean> {
  const isSame = function* () {
    yield;
    const { isFile, dev, ino } = statLocated(file);
    return isFile === info.isFile && dev === info.dev && ino === info.ino;
  };
  const folder = dirname(file.realPath);
  return confirmLocation(file, { ...options, folder, isSame });
}

/**
 * Checks that something can be read.
 *
 * @throws {SkillFileError} If it is not a regular file, or is too large.
 */
export function requireReadable(
  { path, info }: Pick<CheckedFile, "path" | "info">,
  maxFileSize: number,
): void {
  if (info.isDirectory) throw new SkillFileError(path, IS_A_FOLDER);
  if (!info.isFile) throw new SkillFileError(path, NOT_A_FILE);
  if (info.size <= maxFileSize) return;
  throw new SkillFileError(path, tooLarge(info.size, maxFileSize));
}

/** Stats the file at a path, without following a link that has replaced it. */
export function statLocated(located: Located): Deno.FileInfo {
  const { path } = located;
  return isDirect(located) ? Deno.lstatSync(path) : Deno.statSync(path);
}

/** Whether no part of a path below the boundary is a link. */
export function isDirect({ path, realPath, boundary }: Located): boolean {
  return realPath ===
    boundary.realDirectory + path.slice(boundary.directory.length);
}

/** How many times a path is checked again if folders on it changed recently. */
const CHECKS = 16;

/**
 * How many times a large folder or the target of a link is checked again. Each
 * check of a large folder is slow.
 */
export const FEW_CHECKS = 4;

/** A folder with more entries than this counts as large. */
const MANY_ENTRIES = 500;

/**
 * Confirms that the file or folder that was found at a path after the time
 * `since` lies at its real path. A folder on the path may have been swapped for a
 * link and back.
 *
 * 1. A swap changes the times of the folder that contains the swapped entry. If
 *    the folders on the path, from `folder` up, have not changed for a while,
 *    nothing was swapped.
 * 2. Otherwise, two checks are repeated in random order: that the path still leads
 *    to the same file, and that it still has the same real path. A file outside
 *    passes the first check only while it is swapped in, and the second one only
 *    while it is not. So each check detects the swap with a probability of one
 *    half, whatever the timing, and one swap in 65,536 passes all sixteen
 *    checks.
 *
 * @returns Whether it is certain that nothing was swapped, as in case 1.
 * @throws {SkillFileError} If a swap was detected.
 */
function* confirmLocation(
  located: Located,
  { since, folder, isSame, checks = CHECKS }: {
    since: number;
    folder: string;
    isSame: () => Steps<boolean>;
    checks?: number;
  },
): Steps<boolean> {
  let isConfirmed = isInPlace(located);
  yield;
  if (isConfirmed && isDirect(located)) {
    if (yield* isSettled(located, folder, since)) return true;
  }
  isConfirmed &&= yield* isSame();
  for (; isConfirmed && checks > 0; checks--) {
    yield;
    isConfirmed = Math.random() < 0.5 ? yield* isSame() : isInPlace(located);
  }
  if (!isConfirmed) throw new SkillFileError(located.path, WAS_REPLACED);
  return false;
}

/** Whether a folder in which an entry was just found lies at its real path. */
export function* isConfirmed(
  folder: Located,
  isSame: () => Steps<boolean>,
): Steps<boolean> {
  const since = Date.now();
  try {
    yield* confirmLocation(folder, { since, folder: folder.realPath, isSame });
    return true;
  } catch {
    return false;
  }
}

export function isInPlace({ path, realPath }: Located): boolean {
  return Deno.realPathSync(path) === realPath;
}

/**
 * Whether the folders from the parent of the boundary down to `folder`, a
 * real path, have not changed since a while before the time `since`.
 */
function* isSettled(
  { boundary: { directory, realDirectory } }: Located,
  folder: string,
  since: number,
): Steps<boolean> {
  const top = dirname(realDirectory);
  try {
    // The order is upward, because an unchanged folder proves that the check of
    // its subfolder was valid.
    for (let path = folder;; path = dirname(path)) {
      const info = Deno.lstatSync(path);
      yield;
      if (info.isSymlink || isRacy(info, since)) return false;
      if (path.length <= top.length) break;
    }
    const parent = dirname(directory);
    return parent === top || !isRacy(Deno.statSync(parent), since);
  } catch {
    return false;
  }
}

export interface Entry extends Deno.DirEntry {
  /** The status, unless the entry is a folder or a link. */
  readonly info?: Deno.FileInfo;
  /** The error of the attempt to get the status. */
  readonly error?: unknown;
}

/**
 * Lists a folder and confirms that it lies at its real path. Returns the
 * entries that every check finds. If that is not all of them, others may be
 * missing, so it lists the folder once more.
 */
export function* listConfirmed(
  folder: Located,
  read: () => Steps<Entry[]>,
  { isRepeated = false } = {},
): Steps<Entry[]> {
  const since = Date.now();
  const listed = yield* read();
  let entries = listed;
  const isSame = function* () {
    const identities = new Set<string>();
    for (const entry of yield* read()) {
      identities.add(entryIdentity(entry));
      yield;
    }
    const same: Entry[] = [];
    for (const entry of entries) {
      if (identities.has(entryIdentity(entry))) same.push(entry);
      yield;
    }
    entries = same;
    return true;
  };
  const checks = entries.length > MANY_ENTRIES ? FEW_CHECKS : CHECKS;
  const { realPath } = folder;
  yield* confirmLocation(folder, { since, folder: realPath, isSame, checks });
  return entries.length < listed.length && !isRepeated
    ? yield* listConfirmed(folder, read, { isRepeated: true })
    : entries;
}

/** Returns a text that identifies an entry and does not change when a file grows. */
function entryIdentity({ name, isSymlink, info }: Entry): string {
  return `${name}:${isSymlink}:${info?.dev}:${info?.ino}`;
}

/** Whether a file or folder with this name is served. */
export function isVisible(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" &&
    name !== "__pycache__";
}

/**
 * Whether a real path belongs to a folder: it lies in the folder's real directory
 * and is not hidden, or it lies in a trusted folder.
 */
export function isOwn(
  realPath: string,
  realDirectory: string,
  trustLinks: readonly string[],
): boolean {
  return isAtOrBelow(realPath, realDirectory)
    ? relative(realDirectory, realPath).split(/[\\/]/).every(isVisible)
    : isAtOrBelowAny(realPath, trustLinks);
}

/**
 * Returns the real paths of folders, without missing ones. If Deno is not
 * allowed to resolve a folder, returns its path as it is. If that path contains
 * a link, no real path lies in it, which is safe.
 */
export function* boundaries(paths: readonly string[]): Steps<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    yield;
    try {
      found.push(Deno.realPathSync(path));
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) found.push(path);
    }
  }
  return found;
}

/** Returns the real path of a file or folder, if it exists and can be resolved. */
export function realPathIfThere(path: string): string | undefined {
  return attempt(() => Deno.realPathSync(path));
}

/** Whether a path exists, including dangling links. */
export function isThere(path: string): boolean {
  return lstatIfThere(path) !== undefined;
}

/** Whether a path leads to a folder. */
export function isFolder(path: string): boolean {
  return attempt(() => Deno.statSync(path).isDirectory) ?? false;
}

export function isLink(path: string): boolean {
  return lstatIfThere(path)?.isSymlink ?? false;
}

export function lstatIfThere(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Whether Deno has permission to read a path. Without it, some operations prompt the user. */
export function mayRead(path: string): boolean {
  const permission = { name: "read", path } as const;
  return Deno.permissions.querySync(permission).state === "granted";
}
