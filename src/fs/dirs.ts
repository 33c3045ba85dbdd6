/** Lists directories. The scan uses it for roots, and the file list for skills. */

/** Lists the entries of a directory, sorted by name. */
export function listDirEntries(dir: string): Deno.DirEntry[] {
  const byName = new Map<string, Deno.DirEntry>();
  for (const entry of Deno.readDirSync(dir)) byName.set(entry.name, entry);
  // Sorting strings is faster than sorting objects with a comparator.
  return [...byName.keys()].sort().map((name) => byName.get(name)!);
}
