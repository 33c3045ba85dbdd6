/**
 * Which folders to watch for changes.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { mayRead, realPathIfThere } from "../files/paths.ts";
import { MAX_WATCHED_FOLDERS, type WatchedFolders } from "../files/watcher.ts";
import type { ReadSkill } from "./skill_reader.ts";

/** Where changes matter, by importance. */
export interface WatchedPlaces {
  /** The paths of the roots, which may be missing. */
  readonly roots: readonly string[];
  /** The path of the policy file. */
  readonly policyFile: string | undefined;
  /** The real paths of folders that clients subscribed to. */
  readonly tracked: readonly string[];
  /** What was found in the folders with a `SKILL.md`. */
  readonly skills: readonly { realPath: string; read: ReadSkill }[];
  /** The real paths of other folders that were searched. */
  readonly searched: Iterable<string>;
}

/**
 * Lists the folders to watch, by their real paths, the most important ones first:
 * what is being edited is noticed at once, and the rest by the next rescan.
 */
export function listWatchedFolders(places: WatchedPlaces): WatchedFolders {
  const folders = new Map<string, Set<string> | undefined>();
  for (const root of places.roots) {
    addEntry(folders, root);
    const realPath = realPathIfThere(root);
    if (realPath !== undefined) folders.set(realPath, undefined);
  }
  if (places.policyFile !== undefined) addFile(folders, places.policyFile);
  for (const folder of places.tracked) folders.set(folder, undefined);
  const byTime = places.skills.toSorted((a, b) =>
    b.read.modified - a.read.modified
  );
  for (const { realPath, read } of byTime.slice(0, MAX_WATCHED_FOLDERS)) {
    folders.set(realPath, undefined);
    folders.set(read.mainFolder, undefined);
  }
  for (const folder of places.searched) {
    if (folders.size >= MAX_WATCHED_FOLDERS) break;
    folders.set(folder, undefined);
  }
  return folders;
}

/** Adds a file, and the target if it is a link. */
function addFile(
  folders: Map<string, Set<string> | undefined>,
  file: string,
): void {
  const realPath = realPathIfThere(file) ?? file;
  for (const path of new Set([file, realPath])) {
    if (mayRead(dirname(path))) addEntry(folders, path);
    else folders.set(path, undefined);
  }
}

/**
 * Adds the nearest existing folder above a path. It may be the home folder, so only
 * the name that leads to the path matters.
 */
function addEntry(
  folders: Map<string, Set<string> | undefined>,
  path: string,
): void {
  for (; path !== dirname(path); path = dirname(path)) {
    const folder = realPathIfThere(dirname(path));
    if (folder === undefined) continue;
    const names = folders.get(folder);
    if (names === undefined && folders.has(folder)) return;
    folders.set(folder, (names ?? new Set()).add(basename(path)));
    return;
  }
}
