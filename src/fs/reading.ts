/**
 * Reads regular files, and confirms that what was opened lies where its path leads.
 *
 * 1. Deno has no functions that work relative to an open folder. Every function
 *    takes a path, and two calls can reach different files by the same path. So
 *    the location of a file is proven or confirmed after it is opened.
 * 2. `Deno.openSync` blocks the event loop at a FIFO until another process writes
 *    to it. `node:fs` supports `O_NONBLOCK`. Loading it takes 20 ms, so it is used
 *    only where something may have been swapped for a FIFO just now.
 */

import type { DiagnosticDetails } from "../diagnostics.ts";
import {
  IS_A_FOLDER,
  NOT_A_FILE,
  SkillFileError,
  tooLarge,
  WAS_REPLACED,
} from "./faults.ts";
import { childPath, dirname, isThere, mayRead } from "./paths.ts";
import {
  type FileStatus,
  type FolderSnapshot,
  hasSameVersion,
  isSettled,
  PathSnapshot,
} from "./snapshot.ts";

/** The default size limit of files, in bytes. */
export const DEFAULT_MAX_FILE_SIZE: number = 1024 * 1024;

/** A path, and where it really leads. */
export interface Located {
  readonly path: string;
  readonly realPath: string;
  readonly isLink: boolean;
}

/** @throws {SkillFileError} If it is not a regular file, is too large, or was replaced. */
export function requireReadable(
  located: Located,
  { status, maxFileSize = DEFAULT_MAX_FILE_SIZE }: {
    status: Deno.FileInfo;
    maxFileSize: number | undefined;
  },
): void {
  const fault = findFault(status, maxFileSize);
  if (fault === undefined) return;
  // The status may be that of a file outside, which no message may describe.
  confirmPlace(located, status);
  throw new SkillFileError(located.path, fault);
}

function findFault(
  { isDirectory, isFile, size }: Deno.FileInfo,
  maxFileSize: number,
): DiagnosticDetails | undefined {
  if (isDirectory) return IS_A_FOLDER;
  if (!isFile) return NOT_A_FILE;
  return size > maxFileSize ? tooLarge(maxFileSize) : undefined;
}

/** Returns the status of what a path leads to, without following a link that has just appeared. */
export function statLocated({ path, isLink }: Located): Deno.FileInfo {
  return isLink ? Deno.statSync(path) : Deno.lstatSync(path);
}

/** Returns the same place by its real path, if Deno may read that. */
export function byRealPath(located: Located): Located {
  const { realPath } = located;
  const isAllowed = mayRead(realPath);
  return isAllowed ? { path: realPath, realPath, isLink: false } : located;
}

/** How often a place is confirmed if no snapshot proves it. */
const CONFIRM_ROUNDS = 20;

/** The limit of the random delay before each step of a round, in looks at the path. */
const MAX_DELAY_LOOKS = 4;

/** @throws {SkillFileError} If the path no longer leads to its real path. */
export function requireInPlace({ path, realPath }: Located): void {
  if (Deno.realPathSync(path) === realPath) return;
  throw new SkillFileError(path, WAS_REPLACED);
}

/**
 * Confirms that a file or folder with a known status lies where its path leads. Each round
 * compares the real path and then the file. If a folder on the path was swapped for a link
 * and back, one of the two differs, unless another swap comes exactly between them, in
 * each round.
 *
 * @param look Looks at what has the status. Default: at the path.
 * @throws {SkillFileError} If it was replaced.
 */
export function confirmPlace(
  located: Located,
  status: FileStatus,
  look: () => FileStatus = () => statLocated(located),
): void {
  for (let round = 0; round < CONFIRM_ROUNDS; round++) {
    delayRandomly(located);
    requireInPlace(located);
    delayRandomly(located);
    const { dev, ino } = look();
    if (dev === status.dev && ino === status.ino) continue;
    throw new SkillFileError(located.path, WAS_REPLACED);
  }
}

/**
 * Whether an entry lies in a folder. If the folder was swapped for another one while it was
 * listed, the entry may lie there instead.
 */
export function hasEntry(folder: Located, name: string): boolean {
  const look = () => Deno.lstatSync(childPath(folder.path, name));
  try {
    confirmPlace(folder, look(), look);
    return true;
  } catch {
    return false;
  }
}

/** Delays by a random time, so that no loop of swaps keeps step with the rounds. */
function delayRandomly({ path }: Located): void {
  const looks = Math.floor(Math.random() * MAX_DELAY_LOOKS);
  for (let look = 0; look < looks; look++) isThere(path);
}

/**
 * Reads the beginning of a regular file, as much as fits into the buffer, and confirms its
 * place: nothing was swapped if a snapshot of the folders above it holds before the file is
 * opened and after it is read. If it does not, {@linkcode confirmPlace} compares the path
 * and the file in rounds.
 *
 * @param options The status that the file must still have, the buffer, and the snapshot of
 *   a walk, or else whether other users may be able to swap the folders above the file.
 * @returns The bytes, which must not be remembered unless their place is proven.
 * @throws {SkillFileError} If the file was changed or replaced in the meantime.
 */
export function readLocated(
  located: Located,
  { expected, buffer, isShared = true, walked }: {
    expected: FileStatus;
    buffer: Uint8Array<ArrayBuffer>;
    isShared?: boolean | undefined;
    walked?: FolderSnapshot | undefined;
  },
): { bytes: Uint8Array<ArrayBuffer>; isProven: boolean } {
  const target = walked ? located : byRealPath(located);
  const folder = dirname(located.realPath);
  const proof = walked ??
    new PathSnapshot(folder, isShared || target === located);
  const wasProven = proof.holds();
  using file = openFile(target.path, wasProven);
  if (!hasSameVersion(file.statSync(), expected)) {
    throw new SkillFileError(located.path, WAS_REPLACED);
  }
  const bytes = readAll(file, buffer.subarray(0, expected.size));
  const isProven = wasProven && proof.holds();
  if (!isProven) confirmPlace(target, expected);
  return { bytes, isProven };
}

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

type OpenFile = Disposable & {
  statSync(): FileStatus;
  readSync(buffer: Uint8Array): number | null;
};

let isNodeLoaded = false;

/** Opens a file, without blocking at a FIFO that it was swapped for in the last two seconds. */
function openFile(path: string, isProven: boolean): OpenFile {
  if (!isNodeLoaded && isProven && isSettled(Deno.statSync(dirname(path)))) {
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
