/**
 * Snapshots of folders: the proof that nothing in a folder was swapped.
 *
 * @module
 */

import { type FileStatus, hasSameVersion, isSettled } from "./file_status.ts";

/**
 * A folder as it was when it was listed. If it was settled then, and has the same version
 * since, what it contains is what it contained. A walk makes snapshots, and what reads
 * files below asks them. Where one proves nothing, a place is confirmed in rounds, which
 * costs more and is a little weaker.
 */
export class FolderSnapshot {
  readonly #path: string;
  readonly #status: FileStatus;
  readonly #wasSettled: boolean;
  /** Whether somebody may be swapping a folder above it, so that it proves nothing. */
  readonly isExposed: boolean;

  /** Creates it with the status of the folder before it was listed. */
  constructor(path: string, status: FileStatus, isExposed: boolean) {
    this.#path = path;
    this.#status = status;
    this.isExposed = isExposed;
    this.#wasSettled = !isExposed && isSettled(status);
  }

  /**
   * Whether certainly nothing in the folder was added, removed, or swapped since. Then an
   * entry that was no link is none yet.
   */
  holds(): boolean {
    return this.#wasSettled &&
      hasSameVersion(Deno.statSync(this.#path), this.#status);
  }
}
