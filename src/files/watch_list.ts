/**
 * Which folders to watch for changes, and which cannot be watched.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { mayRead, realPathIfThere } from "./confinement.ts";
import { quote } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";

/** The folders to watch. */
export interface WatchedFolders {
  /** Folders in which every change matters. They can be many, so nobody copies them. */
  readonly whole: ReadonlySet<string>;
  /** Other folders, and the names in each that matter. */
  readonly parts: ReadonlyMap<string, "all" | ReadonlySet<string>>;
}

/**
 * Lists the folders in which changes matter.
 *
 * @param whole The folders in which every change matters.
 * @param around More such folders, and the paths of entries that may appear or
 *   disappear: roots, the targets of links, and single files.
 */
export async function listWatchedFolders(
  whole: ReadonlySet<string>,
  around: {
    folders: Iterable<string>;
    roots: Iterable<string>;
    linkTargets: Iterable<string>;
    files: Iterable<string>;
  },
): Promise<WatchedFolders> {
  const list = new WatchList(whole);
  const slice = new TimeSlice();
  for (const folder of around.folders) list.parts.set(folder, "all");
  for (const path of around.roots) list.addSurroundings(path);
  for (const path of around.files) list.addFile(path);
  for (const path of around.linkTargets) {
    if (slice.isOver) await slice.yield();
    list.addSurroundings(path);
  }
  return list;
}

/**
 * Lists the paths of folders to watch. The most important ones come first, because
 * the system may limit the number of watched folders.
 */
export function* pathsOf(
  { parts, whole }: WatchedFolders,
): Generator<string, void> {
  yield* parts.keys();
  yield* whole.keys();
}

/** Describes the searched folders that Deno is not allowed to watch, if there are any. */
export function describeUnwatched(
  folders: ReadonlySet<string>,
): string | undefined {
  const unwatched: string[] = [];
  for (const folder of folders.keys()) {
    // What holds for a folder holds for those below.
    const isTop = !folders.has(dirname(folder));
    if (isTop && !mayRead(folder)) unwatched.push(folder);
  }
  const [first, ...others] = unwatched;
  if (first === undefined) return undefined;
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return `Cannot watch ${
    quote(first)
  }${more}, because Deno is allowed to read it only through a link: the next rescan finds changes; to notice them immediately, add --allow-read=${
    unwatched.join(",")
  }`;
}

class WatchList implements WatchedFolders {
  readonly whole: ReadonlySet<string>;
  readonly parts = new Map<string, "all" | Set<string>>();
  /**
   * Cached real paths of folders, `undefined` for missing ones. Often, many
   * links point into few folders.
   */
  readonly #realPaths = new Map<string, string | undefined>();

  constructor(whole: ReadonlySet<string>) {
    this.whole = whole;
  }

  /** Adds a file and, if it is a link, its target. */
  addFile(file: string): void {
    for (const path of new Set([file, realPathIfThere(file) ?? file])) {
      if (mayRead(dirname(path))) this.addSurroundings(path);
      else this.parts.set(path, new Set());
    }
  }

  /**
   * Adds the folders in which an event occurs when the entry at a path appears,
   * disappears, or is replaced: its parent, and the nearest existing folder above
   * the parent. One of them may be the home folder, so only the names on the path
   * matter.
   */
  addSurroundings(path: string): void {
    for (let level = 1; path !== dirname(path); level++) {
      const parent = dirname(path);
      const folder = this.#realPath(parent);
      if (folder !== undefined) {
        const names = this.parts.get(folder) ?? new Set();
        if (names !== "all" && !this.whole.has(folder)) {
          this.parts.set(folder, names.add(basename(path)));
        }
        if (level >= 2) return;
      }
      path = parent;
    }
  }

  #realPath(folder: string): string | undefined {
    if (!this.#realPaths.has(folder)) {
      this.#realPaths.set(folder, realPathIfThere(folder));
    }
    return this.#realPaths.get(folder);
  }
}

/**
 * Returns the folders that Deno has permission to read. Asks as little as possible,
 * because Deno keeps each answer for good, in one kilobyte.
 */
export function* filterAllowed(folders: Iterable<string>): Iterable<string> {
  /** Folders that Deno is allowed to read with everything below. */
  const whole = new Set<string>();
  for (const path of folders) {
    if (whole.has(dirname(path))) {
      whole.add(path);
    } else {
      const permission = { name: "read", path } as const;
      const { state, partial } = Deno.permissions.querySync(permission);
      if (state !== "granted") continue;
      if (!partial) whole.add(path);
    }
    yield path;
  }
}
