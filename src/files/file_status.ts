/**
 * The status of a file: whether it changed, and whether it can have changed unseen.
 *
 * @module
 */

/** The longest step in which a file system stores times, in milliseconds. FAT has it. */
const TIME_STEP_MS = 2_000;

/** The part of a file's status that identifies it and shows whether it changed. */
export type FileStatus = Pick<
  Deno.FileInfo,
  "dev" | "ino" | "size" | "mtime" | "ctime"
>;

/** Returns a text that changes when the file does. It identifies the content if the file is {@linkcode isSettled}. */
export function versionOf(
  { dev, ino, size, mtime, ctime }: FileStatus,
): string {
  // A template would create a rope, which takes four times the memory.
  return [dev, ino, size, mtime?.getTime(), ctime?.getTime()].join(":");
}

/**
 * Whether a file or folder is settled: it did not change in the last two seconds. If it
 * did, it can change again and keep its version. It is not settled if its times are
 * unknown.
 */
export function isSettled(
  { mtime, ctime }: Pick<FileStatus, "mtime" | "ctime">,
): boolean {
  const changed = Math.max(mtime?.getTime() ?? NaN, ctime?.getTime() ?? NaN);
  return Date.now() - changed >= TIME_STEP_MS;
}

/** Whether two statuses are of the same version. Faster than comparing versions. */
export function hasSameVersion(a: FileStatus, b: FileStatus): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size &&
    a.mtime?.getTime() === b.mtime?.getTime() &&
    a.ctime?.getTime() === b.ctime?.getTime();
}
