/**
 * Walks directories breadth first, in a fixed order, up to a limit. The scan uses it
 * for roots, and the file list for skills.
 */

import { inTurns } from "../tasks.ts";

/**
 * Yields the entries of a queue in order, and lets other tasks run in between. The
 * caller appends the entries of each directory that it enters. After the walk, entries
 * beyond the limit remain unvisited.
 *
 * @param limit The maximum number of entries to visit.
 */
export function walk<Entry>(
  queue: Entry[],
  limit: number,
): AsyncGenerator<Entry> {
  return inTurns(queue.values().take(limit));
}

/** Lists the entries of a directory, sorted by name. */
export function listDirEntries(dir: string): Deno.DirEntry[] {
  const byName = new Map<string, Deno.DirEntry>();
  for (const entry of Deno.readDirSync(dir)) byName.set(entry.name, entry);
  // Sorting strings is faster than sorting objects with a comparator.
  return [...byName.keys()].sort().map((name) => byName.get(name)!);
}
