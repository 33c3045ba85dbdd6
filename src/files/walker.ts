/**
 * Walks through a folder and those below it: breadth first, sorted by name, with pauses,
 * and up to a number of entries. The scan of a root and the list of a skill's files are
 * such walks. They differ in what they do at each step.
 *
 * @module
 */

import { childPath } from "./paths.ts";
import { TimeSlice } from "../time_slice.ts";
import {
  byRealPath,
  confirmPlace,
  type Located,
  requireInPlace,
} from "./reading.ts";
import { FolderSnapshot, PathSnapshot } from "./snapshot.ts";

/** A folder in another one, or where a walk begins. */
export interface PlacedFolder extends Located {
  /** The snapshot of the folder in which it was found, unless a walk begins here. */
  readonly parent: FolderSnapshot | undefined;
  /** Where a walk begins: whether somebody may be swapping a folder above it. */
  readonly isExposed?: boolean;
}

/** Returns the snapshot that can prove the place of a folder. Behind a link, there is none. */
export function proofOf(
  { isLink, parent }: PlacedFolder,
): FolderSnapshot | undefined {
  return isLink || parent?.isExposed ? undefined : parent;
}

/** What a walk does with what it finds. */
export interface WalkSteps<Folder extends PlacedFolder> {
  readonly maxEntries: number;
  /** Whether to look at an entry. The others do not count. */
  isLookedAt(entry: Deno.DirEntry): boolean;
  isListed(folder: Folder): boolean;
  /** Notes a folder, with its entries if it is listed, before it looks at them. */
  onFolder(folder: Folder, entries?: readonly Deno.DirEntry[]): void;
  onUnvisited?(place: string): void;
  /** Notes a folder that is not listed because of the limit. */
  onUnlisted?(folder: Folder): void;
  /** Looks at an entry. Returns the folder that it is, to walk on there. */
  onEntry(
    entry: Deno.DirEntry,
    folder: Folder,
    snapshot: FolderSnapshot,
  ): Folder | undefined;
  /** Notes an error with an entry, or with a whole folder. It affects nothing else. */
  onFailure(error: unknown, folder: Folder, entry?: Deno.DirEntry): void;
}

/**
 * Walks from a folder on.
 *
 * @param slice The time slice of a longer task that the walk is a part of.
 * @returns The first entry beyond the limit, and its folder, if there is one.
 * @throws {Error} What `onFailure` throws.
 */
export async function walk<Folder extends PlacedFolder>(
  top: Folder,
  steps: WalkSteps<Folder>,
  slice: TimeSlice = new TimeSlice(),
): Promise<{ folder: Folder; entry: Deno.DirEntry } | undefined> {
  // The loop appends the folders to walk on in.
  const queue = [top];
  let room = steps.maxEntries;
  let end: { folder: Folder; entry: Deno.DirEntry } | undefined;
  for (const folder of queue) {
    if (slice.isOver) await slice.pause();
    const isListed = steps.isListed(folder);
    if (!isListed) steps.onFolder(folder);
    else if (end !== undefined) steps.onUnlisted?.(folder);
    if (!isListed || end !== undefined) continue;
    try {
      const { entries, snapshot } = listFolder(folder);
      steps.onFolder(folder, entries);
      const visited = entries.filter((it) => steps.isLookedAt(it));
      const beyond = visited.splice(room);
      room -= visited.length;
      const [entry] = beyond;
      if (entry !== undefined) end = { folder, entry };
      for (const { name } of beyond) {
        steps.onUnvisited?.(childPath(folder.realPath, name));
      }
      for (const entry of visited) {
        if (slice.isOver) await slice.pause();
        const child = lookAt(entry, folder, { snapshot, steps });
        if (child !== undefined) queue.push(child);
      }
      // If it was swapped in the meantime, its entries are not what they seemed to be.
      if (!snapshot.holds()) requireInPlace(folder);
    } catch (error) {
      steps.onFailure(error, folder);
    }
  }
  return end;
}

function lookAt<Folder extends PlacedFolder>(
  entry: Deno.DirEntry,
  folder: Folder,
  { snapshot, steps }: { snapshot: FolderSnapshot; steps: WalkSteps<Folder> },
): Folder | undefined {
  try {
    return steps.onEntry(entry, folder, snapshot);
  } catch (error) {
    steps.onFailure(error, folder, entry);
    return undefined;
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
  const place = walked ? folder : byRealPath(folder);
  const proof = walked ?? new PathSnapshot(realPath);
  const status = Deno.statSync(place.path);
  const byName = new Map<string, Deno.DirEntry>();
  const entriesThere = Deno.readDirSync(place.path);
  for (const entry of entriesThere) byName.set(entry.name, entry);
  // What is proven later relies on this status.
  if (!proof.holds()) confirmPlace(place, status);
  // Whoever swaps a link changes nothing in the folder that it leads to.
  const isExposed = folder.isExposed ?? (isLink || parent?.isExposed === true);
  // Sorting texts is faster than sorting objects by a function.
  const entries = [...byName.keys()].sort().map((name) => byName.get(name)!);
  return { entries, snapshot: new FolderSnapshot(path, status, isExposed) };
}
