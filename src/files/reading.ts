/**
 * Reads regular files, and confirms that what was opened lies where its path leads.
 *
 * 1. Deno has no functions that work relative to an open folder. Every function
 *    takes a path, and two calls can reach different files by the same path. So
 *    the location of a file is confirmed after it is opened.
 * 2. `Deno.openSync` blocks the event loop at a FIFO until another process writes
 *    to it. `node:fs` supports `O_NONBLOCK`, and it requires no permission for the
 *    real path of an open file. Loading it takes 20 ms, so it is used only where
 *    Deno lacks that permission, and for files that changed recently, which may be
 *    swapped for a FIFO right now.
 *
 * @module
 */

import {
  IS_A_FOLDER,
  NOT_A_FILE,
  SkillFileError,
  tooLarge,
  WAS_REPLACED,
} from "./faults.ts";
import { type FileStatus, hasSameVersion, isSettled } from "./file_status.ts";
import { mayRead } from "./paths.ts";
import type { FolderSnapshot } from "./snapshot.ts";

/** The default size limit of files, in bytes. */
export const DEFAULT_MAX_FILE_SIZE: number = 1024 * 1024;

/** A path, and where it really leads. */
export interface Located {
  readonly path: string;
  /** The path with all links resolved. */
  readonly realPath: string;
  /** Whether the path is that of a link. */
  readonly isLink: boolean;
}

/**
 * Checks that a file can be read.
 *
 * @throws {SkillFileError} If it is not a regular file, or is too large.
 */
export function requireReadable(
  path: string,
  { status, maxFileSize = DEFAULT_MAX_FILE_SIZE }: {
    status: Deno.FileInfo;
    maxFileSize: number | undefined;
  },
): void {
  if (status.isDirectory) throw new SkillFileError(path, IS_A_FOLDER);
  if (!status.isFile) throw new SkillFileError(path, NOT_A_FILE);
  if (status.size <= maxFileSize) return;
  throw new SkillFileError(path, tooLarge(maxFileSize));
}

/** Returns the status of what a path leads to, without following a link that has just appeared. */
export function statLocated({ path, isLink }: Located): Deno.FileInfo {
  return isLink ? Deno.statSync(path) : Deno.lstatSync(path);
}

/** How often a place is confirmed on which much relies, if no snapshot proves it. */
export const CONFIRM_ROUNDS = 4;

/** Throws an error if a path does not lead to its real path anymore. */
export function requireInPlace({ path, realPath }: Located): void {
  if (Deno.realPathSync(path) === realPath) return;
  throw new SkillFileError(path, WAS_REPLACED);
}

/**
 * Confirms that a file or folder with a known status lies where its path leads. A
 * folder on the path may have been swapped for a link and back. Then the real path is
 * the expected one while the file is another, or the reverse, unless another swap comes
 * exactly between the two checks of each round.
 *
 * @throws {SkillFileError} If it was replaced.
 */
export function confirmPlace(
  located: Located,
  { status, rounds }: { status: FileStatus; rounds: number },
): void {
  for (let round = 0; round < rounds; round++) {
    requireInPlace(located);
    const { dev, ino } = statLocated(located);
    if (dev === status.dev && ino === status.ino) continue;
    throw new SkillFileError(located.path, WAS_REPLACED);
  }
}

/**
 * Reads the beginning of a regular file, and confirms its place. If a snapshot holds both
 * before the file is opened and after it was read, nothing was swapped. Otherwise, the
 * place is confirmed in rounds.
 *
 * @param located The file.
 * @param options Its status, which it must have when it is open, a buffer for the bytes,
 *   the number of rounds, and a snapshot that proves its place, if there is one.
 * @throws {SkillFileError} If the file was changed or replaced in the meantime.
 */
export function readLocated(
  located: Located,
  { expected, buffer, rounds = 2, proof }: {
    expected: FileStatus;
    buffer: Uint8Array<ArrayBuffer>;
    rounds?: number;
    proof?: FolderSnapshot | undefined;
  },
): Uint8Array<ArrayBuffer> {
  const wasProven = proof?.holds() === true;
  using file = openFile(located, expected);
  if (!hasSameVersion(file.statSync(), expected)) {
    throw new SkillFileError(located.path, WAS_REPLACED);
  }
  const bytes = readAll(file, buffer.subarray(0, expected.size));
  const isProven = wasProven && proof?.holds() === true;
  if (!isProven) confirmPlace(located, { status: expected, rounds });
  return bytes;
}

/** Fills a buffer with the beginning of a file, and returns what was read. */
function readAll(
  file: OpenFile,
  buffer: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  let end = 0;
  while (end < buffer.length) {
    const size = file.readSync(buffer.subarray(end)) ?? 0;
    if (size === 0) break;
    end += size;
  }
  return buffer.subarray(0, end);
}

/** An open file, as Deno represents it. */
type OpenFile = Disposable & {
  statSync(): FileStatus;
  readSync(buffer: Uint8Array): number | null;
};

let isNodeLoaded = false;

/** Opens a file with a known status. */
function openFile({ path, realPath }: Located, status: FileStatus): OpenFile {
  const isAllowed = path === realPath || mayRead(realPath);
  if (isAllowed && !isNodeLoaded && isSettled(status)) {
    return Deno.openSync(path);
  }
  // Once it is loaded, it is the better way for every file.
  isNodeLoaded = true;
  const fs = globalThis.process.getBuiltinModule("node:fs");
  const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;
  const fd = fs.openSync(path, O_RDONLY | O_NONBLOCK);
  return {
    statSync: () => fs.fstatSync(fd),
    readSync: (buffer) => fs.readSync(fd, buffer),
    [Symbol.dispose]: () => fs.closeSync(fd),
  };
}
