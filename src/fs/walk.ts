/**
 * Walks through directories breadth first, in a fixed order, and up to a limit. The
 * scan of a root, the list of a skill's files, and the search for near misses are such
 * walks.
 */

import { inTurns } from "../tasks.ts";

/**
 * Yields the entries of a queue in order, and lets other tasks run in between. Whoever
 * walks appends the entries of each directory that it enters to the queue. After the
 * walk, what the queue has beyond the limit was not visited.
 *
 * @param limit The largest number of entries to visit.
 */
export function walk<Entry>(
  queue: Entry[],
  limit: number,
): AsyncGenerator<Entry> {
  return inTurns(queue.values().take(limit));
}

/** Lists what a directory contains, sorted by name. */
export function listEntries(dir: string): Deno.DirEntry[] {
  const byName = new Map<string, Deno.DirEntry>();
  for (const entry of Deno.readDirSync(dir)) byName.set(entry.name, entry);
  // Sorting texts is faster than sorting objects by a function.
  return [...byName.keys()].sort().map((name) => byName.get(name)!);
}
