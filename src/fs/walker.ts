/**
 * Walks through a folder and those below it: breadth first, sorted by name, with pauses,
 * and up to a number of entries. The scan of a root and the list of a skill's files are
 * such walks. They differ in what they do at each step.
 */

import { childPath } from "./paths.ts";
import { TimeSlice } from "../tasks.ts";
import {
  byRealPath,
  confirmPlace,
  hasEntry,
  type Located,
  requireInPlace,
} from "./reading.ts";
import { FolderSnapshot, PathSnapshot } from "./snapshot.ts";

/** A folder in another one, or where a walk begins. */
export interface PlacedFolder extends Located {
  /** The snapshot of the folder in which it was found, unless a walk begins here. */
  readonly parent: FolderSnapshot | undefined;
  /** At the top of a walk: whether somebody may be swapping a folder above it. */
  readonly isExposed?: boolean;
}

/** Returns the snapshot that can prove the place of a folder. Behind a link, there is none. */
export function proofOf(
  { isLink, parent }: PlacedFolder,
): FolderSnapshot | undefined {
  return isLink || parent?.isExposed ? undefined : parent;
}

/** The steps of a walk, which differ by its purpose. */
export interface WalkSteps<Folder extends PlacedFolder> {
  readonly maxEntries: number;
  /** Whether others may be able to swap the folders. */
  readonly isShared: boolean;
  /** Whether to look at an entry. If not, it does not count toward the limit. */
  isLookedAt(entry: Deno.DirEntry): boolean;
  isListed(folder: Folder): boolean;
  /** Notes a folder and its entries, before the walk looks at these. */
  onListed(folder: Folder, entries: readonly Deno.DirEntry[]): void;
  /** Notes a folder that is not searched, because it is unwanted or the limit is reached. */
  onUnsearched?(folder: Folder, reason: "unwanted" | "limit"): void;
  /** Notes an entry beyond the limit. */
  onUnvisited?(realPath: string): void;
  /** Looks at an entry. If it is a folder to walk through, returns that. */
  onEntry(
    entry: Deno.DirEntry,
    folder: Folder,
    snapshot: FolderSnapshot,
  ): Folder | undefined;
  /** Notes an error with an entry, or with a whole folder. It affects nothing else. */
  onFailure(error: unknown, folder: Folder, entry?: Deno.DirEntry): void;
}

interface FoundEntry<Folder> {
  readonly folder: Folder;
  readonly entry: Deno.DirEntry;
}

/**
 * Walks from a folder on.
 *
 * @param slice The time slice of a longer task that the walk is a part of.
 * @returns The first entry beyond the limit, and its folder, if there is one.
 * @throws {Error} What `onFailure` throws.
 */
export function walk<Folder extends PlacedFolder>(
  top: Folder,
  steps: WalkSteps<Folder>,
  slice: TimeSlice = new TimeSlice(),
): Promise<FoundEntry<Folder> | undefined> {
  return new Walk(top, steps, slice).run();
}

class Walk<Folder extends PlacedFolder> {
  readonly #steps: WalkSteps<Folder>;
  readonly #slice: TimeSlice;
  /** The folders to visit. A visit appends those in its folder. */
  readonly #queue: Folder[];
  #entriesLeft: number;
  #firstBeyond: FoundEntry<Folder> | undefined;

  constructor(top: Folder, steps: WalkSteps<Folder>, slice: TimeSlice) {
    this.#queue = [top];
    this.#steps = steps;
    this.#slice = slice;
    this.#entriesLeft = steps.maxEntries;
  }

  async run(): Promise<FoundEntry<Folder> | undefined> {
    for (const folder of this.#queue) {
      if (this.#slice.isOver) await this.#slice.pause();
      if (!this.#steps.isListed(folder)) {
        this.#steps.onUnsearched?.(folder, "unwanted");
      } else if (this.#firstBeyond !== undefined) {
        this.#steps.onUnsearched?.(folder, "limit");
      } else {
        await this.#visit(folder);
      }
    }
    return this.#firstBeyond;
  }

  async #visit(folder: Folder): Promise<void> {
    try {
      const { entries, snapshot } = listFolder(folder);
      this.#steps.onListed(folder, entries);
      for (const entry of this.#takeFitting(folder, entries)) {
        if (this.#slice.isOver) await this.#slice.pause();
        this.#lookAt(entry, folder, snapshot);
      }
      // If it was swapped in the meantime, its entries may lie elsewhere.
      if (!snapshot.holds()) requireInPlace(folder);
    } catch (error) {
      this.#steps.onFailure(error, folder);
    }
  }

  #lookAt(
    entry: Deno.DirEntry,
    folder: Folder,
    snapshot: FolderSnapshot,
  ): void {
    try {
      const child = this.#steps.onEntry(entry, folder, snapshot);
      if (child !== undefined) this.#queue.push(child);
    } catch (error) {
      const isProven = !this.#steps.isShared || snapshot.holds();
      // Nothing may be said of an entry of another folder.
      if (!isProven && !hasEntry(folder, entry.name)) return;
      this.#steps.onFailure(error, folder, entry);
    }
  }

  /** Takes the entries within the limit, and notes those beyond it. */
  #takeFitting(
    folder: Folder,
    entries: readonly Deno.DirEntry[],
  ): Deno.DirEntry[] {
    const fitting = entries.filter((entry) => this.#steps.isLookedAt(entry));
    const beyond = fitting.splice(this.#entriesLeft);
    this.#entriesLeft -= fitting.length;
    const [entry] = beyond;
    if (entry !== undefined) this.#firstBeyond = { folder, entry };
    for (const { name } of beyond) {
      this.#steps.onUnvisited?.(childPath(folder.realPath, name));
    }
    return fitting;
  }
}

/**
 * Lists what a folder contains, sorted by name, and confirms its place.
 *
 * @throws {Error} If it cannot be listed, or was swapped for a link.
 */
function listFolder(
  folder: PlacedFolder,
): { entries: Deno.DirEntry[]; snapshot: FolderSnapshot } {
  const { path, realPath, isLink, parent } = folder;
  const walked = proofOf(folder);
  const target = walked ? folder : byRealPath(folder);
  const proof = walked ?? new PathSnapshot(realPath);
  const status = Deno.statSync(target.path);
  const byName = new Map<string, Deno.DirEntry>();
  for (const entry of Deno.readDirSync(target.path)) {
    byName.set(entry.name, entry);
  }
  const isProven = proof.holds();
  // What is proven later relies on this status.
  if (!isProven) confirmPlace(target, status);
  // Swapping a link, or a folder above, changes nothing in the folder that it leads to.
  const isExposed = folder.isExposed ??
    (isLink || !isProven || parent?.isExposed === true);
  // Sorting texts is faster than sorting objects by a function.
  const entries = [...byName.keys()].sort().map((name) => byName.get(name)!);
  return { entries, snapshot: new FolderSnapshot(path, status, isExposed) };
}
