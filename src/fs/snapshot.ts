/**
 * The status of files: whether one changed, and whether it can have changed unseen. From
 * it, snapshots of folders prove that nothing in a folder was swapped.
 */

import { attempt } from "../attempt.ts";
import { dirname, mayRead, withFoldersAbove } from "./paths.ts";

/** The longest step in which a file system stores times, in milliseconds. FAT has it. */
const TIME_STEP_MS = 2_000;

/** The part of a file's status that identifies it and shows whether it changed. */
export type FileStatus = Pick<
  Deno.FileInfo,
  "dev" | "ino" | "size" | "mtime" | "ctime"
>;

/** Returns a text that changes with the file. Of a settled file, it identifies the content. */
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

/**
 * A folder as it was when it was listed. If it was settled then, and still has the same
 * version, it has the same entries. A walk takes snapshots, and whoever reads files below
 * uses them as proof. Without proof, a place is confirmed in rounds, which costs more,
 * and what is read there is not remembered.
 */
export class FolderSnapshot {
  readonly #path: string;
  readonly #status: FileStatus;
  readonly #wasSettled: boolean;
  /** Whether somebody may be swapping a folder above it, so that it proves nothing. */
  readonly isExposed: boolean;

  constructor(path: string, status: FileStatus, isExposed: boolean) {
    this.#path = path;
    this.#status = status;
    this.isExposed = isExposed;
    this.#wasSettled = !isExposed && isSettled(status);
  }

  /**
   * Whether it is certain that nothing in the folder was added, removed, or swapped
   * since. Then an entry that was not a link is still not one.
   */
  holds(): boolean {
    return this.#wasSettled &&
      hasSameVersion(Deno.statSync(this.#path), this.#status);
  }
}

/**
 * A real folder and all folders above it, without a walk. While it holds, the real path
 * leads to this folder, through no link.
 */
export class PathSnapshot {
  readonly #folders: FolderSnapshot[] = [];
  #isComplete = true;

  /**
   * @param isShared Whether others may be able to swap folders above it, as in a project.
   *   Then there is no proof if Deno may not look at one of them.
   */
  constructor(realPath: string, isShared = true) {
    for (const path of withFoldersAbove(realPath)) {
      const status = mayRead(path) && attempt(() => Deno.lstatSync(path));
      if (status) {
        // A link proves nothing.
        const isExposed = !status.isDirectory;
        this.#folders.push(new FolderSnapshot(path, status, isExposed));
      } else if (isShared) this.#isComplete = false;
    }
  }

  /** Whether it is certain that nothing on the path was swapped since. */
  holds(): boolean {
    return this.#isComplete && this.#folders.every((folder) => folder.holds());
  }
}

/** Whether somebody may be swapping a folder above a path. See {@linkcode PathSnapshot}. */
export function isExposed(
  { path, realPath }: { path: string; realPath: string },
  isShared = true,
): boolean {
  return path !== realPath ||
    !new PathSnapshot(dirname(realPath), isShared).holds();
}
