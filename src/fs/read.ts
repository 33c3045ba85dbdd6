/**
 * Lists directories and reads files. No other module opens a file. First,
 * {@linkcode locate} resolves its path and checks that it is inside; then
 * {@linkcode readLocated} reads it.
 */

import {
  IS_A_DIR,
  LINK_OUTSIDE,
  NOT_A_FILE,
  SkillFileError,
  tooLarge,
} from "./errors.ts";

/** The default size limit of files, in bytes. */
const DEFAULT_MAX_FILE_SIZE = 1024 * 1024;

/** Lists the wanted entries of a directory, sorted by name. */
export function listDirEntries(
  dir: string,
  isWanted: (entry: Deno.DirEntry) => boolean,
): Deno.DirEntry[] {
  const byName = new Map<string, Deno.DirEntry>();
  for (const entry of Deno.readDirSync(dir)) {
    if (isWanted(entry)) byName.set(entry.name, entry);
  }
  // Sorting strings is faster than sorting objects with a comparator.
  return [...byName.keys()].sort().map((name) => byName.get(name)!);
}

/** A file or directory inside a directory that may be read. */
export interface Located {
  readonly path: string;
  readonly realPath: string;
  readonly status: Deno.FileInfo;
}

/**
 * Resolves a path, and requires its real path to be inside.
 *
 * @throws {SkillFileError} If it leads outside.
 * @throws {Error} If it is missing, or cannot be resolved.
 */
export function locate(
  path: string,
  isInside: (realPath: string) => boolean,
): Located {
  const realPath = Deno.realPathSync(path);
  if (!isInside(realPath)) throw new SkillFileError(path, LINK_OUTSIDE);
  return { path, realPath, status: Deno.statSync(path) };
}

/** @throws {SkillFileError} If it is not a regular file, or is too large. */
export function requireReadable(
  { path, status: { isDirectory, isFile, size } }: Omit<Located, "realPath">,
  maxFileSize: number = DEFAULT_MAX_FILE_SIZE,
): void {
  if (isDirectory) throw new SkillFileError(path, IS_A_DIR);
  if (!isFile) throw new SkillFileError(path, NOT_A_FILE);
  if (size > maxFileSize) throw new SkillFileError(path, tooLarge(maxFileSize));
}

/**
 * Reads a located file. Its status was read before, because opening a FIFO would block.
 *
 * @param options.maxFileSize The size limit in bytes. Default: 1 MiB.
 * @param options.buffer A buffer for the beginning of the file. Default: one for all of
 *   it, if it is not too large.
 * @throws {SkillFileError} If it is not a regular file, or is too large.
 */
export function readLocated(
  file: Located,
  { maxFileSize, buffer }: {
    maxFileSize?: number | undefined;
    buffer?: Uint8Array<ArrayBuffer>;
  } = {},
): Uint8Array<ArrayBuffer> {
  requireReadable(file, maxFileSize);
  using open = Deno.openSync(file.path);
  const { size: fileSize } = file.status;
  const bytes = (buffer ?? new Uint8Array(fileSize)).subarray(0, fileSize);
  let end = 0;
  while (end < bytes.length) {
    const size = open.readSync(bytes.subarray(end)) ?? 0;
    if (size === 0) break;
    end += size;
  }
  return bytes.subarray(0, end);
}

/** Returns a string that changes with the file. For a settled file, it identifies the content. */
export function versionOf(
  { dev, ino, size, mtime, ctime }: Deno.FileInfo,
): string {
  // A template literal would create a rope, which takes four times the memory.
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(":");
}

/** The coarsest time resolution of a file system in milliseconds, that of FAT. */
const TIME_STEP_MS = 2_000;

/**
 * Whether a file is settled: it has not changed in the last two seconds. Otherwise, it
 * can change again without a new version. A file with unknown times is never settled.
 */
export function isSettled(status: Deno.FileInfo): boolean {
  return Date.now() >= settlingTimeOf(status);
}

/** Returns when a file that has just changed will be settled, in milliseconds since 1970. */
export function findSettlingTime(status: Deno.FileInfo): number | undefined {
  const time = settlingTimeOf(status);
  const wait = time - Date.now();
  return wait > 0 && wait <= TIME_STEP_MS ? time : undefined;
}

function settlingTimeOf({ mtime, ctime }: Deno.FileInfo): number {
  const changed = Math.max(mtime?.getTime() ?? NaN, ctime?.getTime() ?? NaN);
  return changed + TIME_STEP_MS;
}
