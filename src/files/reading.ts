/**
 * Opens and reads regular files without ever blocking, and confirms that what was
 * opened lies where its path leads.
 *
 * 1. Deno has no functions that work relative to an open folder. Every function
 *    takes a path, and two calls can reach different files by the same path. So
 *    the location of a file is confirmed after it is opened.
 * 2. `Deno.openSync` blocks the event loop at a FIFO until another process writes
 *    to it. `node:fs` supports `O_NONBLOCK`, and it requires no permission for the
 *    real path of an open file. Loading it takes 20 ms.
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

/** The default size limit of files, in bytes. */
export const DEFAULT_MAX_FILE_SIZE: number = 1024 * 1024;

/** The longest step in which a file system stores times, in milliseconds. FAT has it. */
const TIME_STEP_MS = 2_000;

/** How many times the location of an open file is confirmed. */
const ROUNDS = 2;

/** The part of a file's status that identifies it and shows whether it changed. */
export type FileStatus = Pick<
  Deno.FileInfo,
  "isFile" | "dev" | "ino" | "size" | "mtime" | "ctime"
>;

/** A path, and where it really leads. */
export interface Located {
  readonly path: string;
  /** The path with all links resolved. */
  readonly realPath: string;
  /** Whether a part of the path that was not trusted from the start is a link. */
  readonly isLinked: boolean;
}

/** An open file. */
export interface OpenFile extends Disposable {
  readonly status: FileStatus;
  /** Reads the next bytes into a buffer. Returns their number, or 0 at the end of the file. */
  read(buffer: Uint8Array): number;
}

/** Returns a text that changes when the file does. See {@linkcode isRecent} for the exception. */
export function versionOf(
  { dev, ino, size, mtime, ctime }: FileStatus,
): string {
  // A template would create a rope, which takes four times the memory.
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(":");
}

/**
 * Whether something changed in the last two seconds, so that it can change again
 * and keep its version. Also `true` if its times are unknown.
 */
export function isRecent(
  { mtime, ctime }: Pick<FileStatus, "mtime" | "ctime">,
): boolean {
  const changed = Math.max(mtime?.getTime() ?? NaN, ctime?.getTime() ?? NaN);
  return !(Date.now() - changed >= TIME_STEP_MS);
}

/** Whether two statuses are those of the same file. */
export function isSameFile(
  a: Pick<FileStatus, "dev" | "ino">,
  b: Pick<FileStatus, "dev" | "ino">,
): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

/** Whether a file or folder has the same version in two statuses. */
export function isUnchanged(a: FileStatus, b: FileStatus): boolean {
  return isSameFile(a, b) && a.size === b.size &&
    a.mtime?.getTime() === b.mtime?.getTime() &&
    a.ctime?.getTime() === b.ctime?.getTime();
}

/**
 * Checks that a file can be read.
 *
 * @throws {SkillFileError} If it is not a regular file, or is too large.
 */
export function requireReadable(
  path: string,
  { status, maxFileSize = DEFAULT_MAX_FILE_SIZE }: {
    status: Pick<Deno.FileInfo, "isDirectory" | "isFile" | "size">;
    maxFileSize: number | undefined;
  },
): void {
  if (status.isDirectory) throw new SkillFileError(path, IS_A_FOLDER);
  if (!status.isFile) throw new SkillFileError(path, NOT_A_FILE);
  if (status.size <= maxFileSize) return;
  throw new SkillFileError(path, tooLarge(status.size, maxFileSize));
}

/** Returns the status of what a path leads to, without following a link that has just appeared. */
export function statLocated({ path, isLinked }: Located): Deno.FileInfo {
  return isLinked ? Deno.statSync(path) : Deno.lstatSync(path);
}

/**
 * Confirms that an open file lies at its real path. A folder on the path may have
 * been swapped for a link and back. Then the real path is the expected one while
 * the file is another, or the reverse, unless another swap comes exactly between
 * the two checks of each round.
 *
 * @throws {SkillFileError} If it does not.
 */
export function confirmLocation(located: Located, status: FileStatus): void {
  for (let round = 0; round < ROUNDS; round++) {
    const isConfirmed = isInPlace(located) &&
      isSameFile(statLocated(located), status);
    if (!isConfirmed) throw new SkillFileError(located.path, WAS_REPLACED);
  }
}

/** Whether a path still leads to the same real path. */
export function isInPlace(
  { path, realPath }: Pick<Located, "path" | "realPath">,
): boolean {
  return Deno.realPathSync(path) === realPath;
}

let isNodeLoaded = false;

/**
 * Opens a file without blocking. The first call loads `node:fs`.
 *
 * @throws {Error} If it cannot be opened.
 */
export function openFile(path: string): OpenFile {
  isNodeLoaded = true;
  const fs = globalThis.process.getBuiltinModule("node:fs");
  const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;
  const fd = fs.openSync(path, O_RDONLY | O_NONBLOCK);
  const stats = fs.fstatSync(fd);
  const { dev, ino, size, mtime, ctime } = stats;
  return {
    status: { isFile: stats.isFile(), dev, ino, size, mtime, ctime },
    read: (buffer) => fs.readSync(fd, buffer),
    [Symbol.dispose]: () => fs.closeSync(fd),
  };
}

/**
 * Opens a file, without loading `node:fs` if possible: the file must not have
 * changed recently, which makes a swap for a FIFO at this moment unlikely, and
 * Deno must be allowed to read its real path.
 *
 * @param status The status of the file before it is opened.
 */
export function openForScan(path: string, status: FileStatus): OpenFile {
  if (isNodeLoaded || isRecent(status)) return openFile(path);
  const file = Deno.openSync(path);
  // Three times as fast as close().
  const close = () => file[Symbol.dispose]();
  try {
    return {
      status: file.statSync(),
      read: (buffer) => file.readSync(buffer) ?? 0,
      [Symbol.dispose]: close,
    };
  } catch {
    close();
    return openFile(path);
  }
}

/** Fills a buffer from a file, as far as the file goes. Returns the number of bytes. */
export function fill(file: OpenFile, buffer: Uint8Array): number {
  let length = 0;
  for (let read = -1; length < buffer.length && read !== 0; length += read) {
    read = file.read(buffer.subarray(length));
  }
  return length;
}

/** Reads a file to its end, but at most `limit` bytes. */
export function readUpTo(
  file: OpenFile,
  limit: number,
): Uint8Array<ArrayBuffer> {
  let buffer = new Uint8Array(Math.min(file.status.size + 1, limit));
  for (let length = 0;;) {
    length += fill(file, buffer.subarray(length));
    if (length < buffer.length || length === limit) {
      return buffer.subarray(0, length);
    }
    const size = Math.min(length * 2, limit);
    buffer = new Uint8Array(buffer.buffer.transfer(size));
  }
}

/** Returns the SHA-256 digest of some bytes in the format of the Skills extension. */
export function sha256(bytes: Uint8Array): string {
  // Loaded on demand. For small files, Web Crypto takes five times as long.
  const { hash } = globalThis.process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes)}`;
}
