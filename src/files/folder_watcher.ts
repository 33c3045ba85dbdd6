/**
 * Watches folders for changes.
 *
 * Deno's watchers have these properties:
 *
 * 1. All watchers share one thread and one table of paths. If a folder is moved
 *    away and another one takes its place, the path still counts as watched
 *    until all of the path's watchers are closed.
 * 2. Adding or removing a path waits for that thread and blocks the event loop.
 *    If events arrive faster than the thread handles them, the wait lasts until
 *    they stop. So watchers are neither opened nor closed during a flood of events.
 * 3. Each event is compared with each path of each watcher. So there are few
 *    watchers, each with many paths.
 * 4. An event with the flag "rescan" replaces lost events.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { realPaths } from "./confinement.ts";
import { TimeSlice } from "../time_slice.ts";

/** The pause in events that ends a burst, in milliseconds. */
const WATCH_QUIET_MS = 100;

/** The maximum length of a burst of events, in milliseconds. */
const WATCH_BURST_MS = 1_000;

/**
 * More events than this in a burst start a flood. During a flood, no watcher is
 * opened or closed.
 */
const MAX_BURST_SIZE = 20;

/** The pause in events that ends a flood, in milliseconds. */
const FLOOD_MS = 2_000;

/** How long there must be no events before watchers are reopened, in milliseconds. */
const REOPEN_QUIET_MS = 500;

/** How long to stop reading a watcher that lost events, in milliseconds. */
const LOSS_PAUSE_MS = 50;

/** The time between closing and reopening watchers, in milliseconds. */
const REOPEN_MS = 10;

/**
 * The maximum number of `Deno.FsWatcher`s. If another one is needed, one
 * watcher replaces all of them.
 */
const MAX_WATCHERS = 8;

/** How many folders are added at a time. Adding folders blocks the event loop. */
const BATCH_SIZE = 500;

/** The maximum number of watched folders. All programs of a user share the system's limit. */
const MAX_WATCHED_FOLDERS = 20_000;

/**
 * Watchers are reopened if they have more paths than this plus twice the number
 * of folders to watch.
 */
const MAX_NEEDLESS_FOLDERS = 1_000;

/** The folders to watch, and the names in each that matter. */
export type WatchedFolders = ReadonlyMap<string, "all" | ReadonlySet<string>>;

/** A list of folders to watch. */
export class WatchList {
  readonly #folders = new Map<string, "all" | Set<string>>();
  /**
   * Cached real paths of folders, `undefined` for missing ones. Often, many
   * links point into few folders.
   */
  readonly #realPaths = new Map<string, string | undefined>();

  get folders(): WatchedFolders {
    return this.#folders;
  }

  /** Adds a folder in which all names matter. */
  add(folder: string): void {
    this.#folders.set(folder, "all");
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
        const names = this.#folders.get(folder) ?? new Set();
        if (names !== "all") {
          this.#folders.set(folder, names.add(basename(path)));
        }
        if (level >= 2) return;
      }
      path = parent;
    }
  }

  #realPath(folder: string): string | undefined {
    if (!this.#realPaths.has(folder)) {
      this.#realPaths.set(folder, realPaths([folder])[0]);
    }
    return this.#realPaths.get(folder);
  }
}

/**
 * Watches folders without their subfolders, and calls back once after each burst
 * of events. Events only indicate that it is time for a scan.
 */
export class FolderWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  #watchers: Deno.FsWatcher[] = [];
  readonly #covered = new Set<string>();
  /** Folders that were removed or replaced while they were watched. */
  readonly #stale = new Set<string>();
  /** Whether events were lost, so that any folder may have been removed or replaced. */
  #isAllStale = false;
  #folders: WatchedFolders = new Map();
  #isCovering = false;
  #isLimitLogged = false;
  #burstEnd: number | undefined;
  #burstSize = 0;
  /** The end of the flood of events. */
  #floodEnd = 0;
  #lastEvent = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** Creates a watcher that watches nothing yet. */
  constructor(onEvents: () => void, log: (line: string) => void) {
    this.#onEvents = onEvents;
    this.#log = log;
  }

  /**
   * Replaces the folders to watch. Calls back after it starts watching new folders,
   * because they may already have changed.
   */
  update(folders: WatchedFolders): void {
    this.#folders = folders;
    if (folders.size > MAX_WATCHED_FOLDERS && !this.#isLimitLogged) {
      this.#isLimitLogged = true;
      this.#log(
        `Cannot watch more than ${MAX_WATCHED_FOLDERS} folders: the next rescan finds changes in the others`,
      );
    }
    this.#cover().catch((error) => this.#giveUp(error as Error));
  }

  /** Stops watching. Can be called more than once. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#closeWatchers();
  }

  /** Starts watching new folders, until there are no more. */
  async #cover(): Promise<void> {
    if (this.#isCovering) return;
    this.#isCovering = true;
    try {
      let isNew = false;
      let folders: WatchedFolders | undefined;
      while (folders !== this.#folders && !this.#isClosed) {
        folders = this.#folders;
        if (await this.#openMissing([...folders.keys()])) isNew = true;
      }
      if (isNew && !this.#isClosed) this.#onEvents();
    } finally {
      this.#isCovering = false;
    }
  }

  /** Starts watching the folders that are not watched yet, and returns whether there were any. */
  async #openMissing(all: readonly string[]): Promise<boolean> {
    const folders = all.slice(0, MAX_WATCHED_FOLDERS);
    const missing = () => folders.filter((path) => !this.#covered.has(path));
    if (this.#mustReopen(missing(), folders.length)) {
      if (!this.#isCalm(REOPEN_QUIET_MS)) return false;
      this.#closeWatchers();
      await new Promise((resolve) => setTimeout(resolve, REOPEN_MS));
    }
    return await this.#open(missing());
  }

  /**
   * Whether there is no flood, and no event occurred in the last `quiet`
   * milliseconds. If not, schedules a callback, which causes another update.
   */
  #isCalm(quiet = 0): boolean {
    const calm = Math.max(this.#floodEnd, this.#lastEvent + quiet);
    const rest = calm - performance.now();
    if (rest > 0 && this.#burstEnd === undefined) this.#callBackIn(rest);
    return rest <= 0;
  }

  #mustReopen(missing: readonly string[], count: number): boolean {
    if (this.#watchers.length === 0) return false;
    const known = this.#covered.size + this.#stale.size;
    return this.#isAllStale || known > 2 * count + MAX_NEEDLESS_FOLDERS ||
      missing.some((path) => this.#stale.has(path)) ||
      missing.length > 0 && this.#watchers.length >= MAX_WATCHERS;
  }

  /** Starts watching folders in batches, and then merges the batches into one watcher. */
  async #open(folders: readonly string[]): Promise<boolean> {
    const before = this.#watchers;
    const opened: string[] = [];
    const slice = new TimeSlice();
    for (let start = 0; start < folders.length; start += BATCH_SIZE) {
      if (start > 0) await slice.yield();
      if (this.#isClosed || !this.#isCalm()) break;
      const batch = folders.slice(start, start + BATCH_SIZE);
      opened.push(...this.#openBatch(batch.filter(isAllowed)));
    }
    const parts = this.#watchers.filter((watcher) => !before.includes(watcher));
    if (parts.length > 1) {
      // This is fast, because all of the folders are already watched.
      this.#openBatch(opened);
      for (const watcher of parts) watcher.close();
      this.#watchers = this.#watchers.filter((watcher) =>
        !parts.includes(watcher)
      );
    }
    return opened.length > 0;
  }

  /** Starts watching folders and returns those that could be watched. */
  #openBatch(folders: readonly string[]): readonly string[] {
    if (folders.length === 0) return [];
    try {
      const watcher = Deno.watchFs([...folders], { recursive: false });
      this.#watchers = [...this.#watchers, watcher];
      for (const folder of folders) this.#covered.add(folder);
      this.#listen(watcher);
      return folders;
    } catch (error) {
      if (!isFolderError(error)) throw error;
      // A folder was just removed or locked. The error does not say which one.
      if (folders.length === 1) return [];
      const middle = folders.length >> 1;
      return [folders.slice(0, middle), folders.slice(middle)]
        .flatMap((half) => this.#openBatch(half));
    }
  }

  #closeWatchers(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
    this.#covered.clear();
    this.#stale.clear();
    this.#isAllStale = false;
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    try {
      for await (const event of watcher) {
        this.#recordStale(event);
        if (this.#isRelevant(event)) this.#recordEvent();
        if (event.flag === "rescan") {
          await new Promise((resolve) => setTimeout(resolve, LOSS_PAUSE_MS));
        }
      }
    } catch (error) {
      this.#giveUp(error as Error);
    }
  }

  /** Records the folders that were removed or replaced. Their watchers no longer work. */
  #recordStale({ kind, paths, flag }: Deno.FsEvent): void {
    if (flag === "rescan") this.#isAllStale = true;
    else if (kind !== "access" && kind !== "modify") {
      for (const path of paths) {
        if (this.#covered.delete(path)) this.#stale.add(path);
      }
    }
  }

  #isRelevant({ kind, paths, flag }: Deno.FsEvent): boolean {
    if (flag === "rescan") return true;
    if (kind === "access") return false;
    return paths.some((path) => {
      const names = this.#folders.get(dirname(path));
      return this.#folders.has(path) || names === "all" ||
        names?.has(basename(path));
    });
  }

  /** Records an event and schedules the callback for the end of the burst. */
  #recordEvent(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    this.#lastEvent = now;
    this.#burstSize++;
    if (this.#burstSize > MAX_BURST_SIZE) this.#floodEnd = now + FLOOD_MS;
    this.#burstEnd ??= now + WATCH_BURST_MS;
    this.#callBackIn(Math.min(WATCH_QUIET_MS, this.#burstEnd - now));
  }

  #callBackIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#burstEnd = undefined;
      this.#burstSize = 0;
      this.#onEvents();
    }, Math.max(0, milliseconds));
  }

  #giveUp(error: Error): void {
    if (this.#isClosed) return;
    this.close();
    this.#onEvents();
    this.#log(
      `Cannot watch folders: ${
        error.message.replace(/\.$/, "")
      }; the next rescan finds changes instead`,
    );
  }
}

/** Whether Deno has permission to read a folder. Without it, watching could prompt the user. */
function isAllowed(path: string): boolean {
  const permission = { name: "read", path } as const;
  return Deno.permissions.querySync(permission).state === "granted";
}

/** Whether an error concerns a single folder rather than watching in general. */
function isFolderError(error: unknown): boolean {
  const { NotCapable, NotFound, PermissionDenied } = Deno.errors;
  return [NotCapable, NotFound, PermissionDenied].some((type) =>
    error instanceof type
  );
}
