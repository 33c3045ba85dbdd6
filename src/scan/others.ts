/**
 * What a root has instead of skills, which is counted for those who find none.
 *
 * @module
 */

import { isArchiveName } from "../skills/skill_file.ts";

/** Counts what is in the folders of a root that are no skills. */
export class OtherContents {
  #archives = 0;
  #folders = 0;

  /** Counts the archives in a folder, and the folder, unless it is the root. */
  add(
    entries: readonly Deno.DirEntry[],
    { isRoot }: { isRoot: boolean },
  ): void {
    const files = entries.filter(({ isFile }) => isFile);
    const archives = files.filter(({ name }) => isArchiveName(name));
    this.#archives += archives.length;
    if (!isRoot && files.length > archives.length) this.#folders++;
  }

  /** The numbers of archives, and of folders that have other files. */
  get counts(): { archives: number; otherFolders: number } {
    return { archives: this.#archives, otherFolders: this.#folders };
  }
}
