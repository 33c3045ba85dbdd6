// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Watching folders for changes.
 *
 * What Deno's watchers do, and what follows from it:
 *
 * 1. All of them share one thread and one table of paths. A folder that was
 *    moved away counts as watched, though another one took its place, until
 *    all watchers of its path are closed.
 * 2. To add or to remove a path waits for that thread, and so holds the event
 *    loop. While events come faster than the thread handles them, it waits for
 *    as long as they come. So nothing is opened or closed meanwhile.
 * 3. Each event is compared with each path of each watcher. So there are few
 *    watchers with many paths.
 * 4. Where events are lost, one with the flag "rescan" stands for them.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { TimeSlice } from "./time_slice.ts";

/** A burst of file system events ends when it was quiet for this long, in milliseconds. */
const WATCH_QUIET_MS = 100;

/** A burst of file system events is looked at after this long at the latest, in milliseconds. */
const WATCH_BURST_MS = 1_000;

/** After more events than this in one burst, no watcher is opened or closed for a while. */
const MAX_BURST_SIZE = 20;

/** How long that while is, from the last of the events, in milliseconds. */
const FLOOD_MS = 2_000;

/** Watchers are reopened only after this long without events, in milliseconds. */
const REOPEN_QUIET_MS = 500;

/** How long a watcher that lost events is not read, in milliseconds. */
const LOSS_PAUSE_MS = 50;

/** How long watchers stay closed when they are reopened, in milliseconds. */
const REOPEN_MS = 10;

/** How many `Deno.FsWatcher`s may pile up before they are merged into one. */
const MAX_WATCHERS = 8;

/** How many folders are added at a time, since that holds the event loop. */
const BATCH_SIZE = 500;

/** How many folders are watched. All programs of a user share the system's limit. */
const MAX_WATCHED_FOLDERS = 20_000;

/** How many folders may be known that need not be watched, besides one for each that must. */
const MAX_NEEDLESS_FOLDERS = 1_000;

/** The folders to watch: all that happens in them matters, or only what happens to some names. */
export type WatchedFolders = ReadonlyMap<string, "all" | ReadonlySet<string>>;

/**
 * Watches folders, not what is below them, and calls back once after each burst
 * of events. Events only say that it is time to look again.
 */
export class FolderWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  #watchers: Deno.FsWatcher[] = [];
  readonly #covered = new Set<string>();
  /** Folders that went or came while they were watched. */
  readonly #stale = new Set<string>();
  /** Whether events were lost, so that any folder may have gone. */
  #isAllStale = false;
  #folders: WatchedFolders = new Map();
  #isCovering = false;
  #isLimitLogged = false;
  #burstEnd: number | undefined;
  #burstSize = 0;
  /** When no more events are expected to come fast. */
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
   * Watches these folders from now on. Once those are watched that were not
   * before, it calls back, since they may have changed meanwhile.
   */
  update(folders: WatchedFolders): void {
    this.#folders = folders;
    if (folders.size > MAX_WATCHED_FOLDERS && !this.#isLimitLogged) {
      this.#isLimitLogged = true;
      this.#log(
        `Cannot watch more than ${MAX_WATCHED_FOLDERS} folders: changes in the others are found by the next rescan`,
      );
    }
    this.#cover().catch((error) => this.#giveUp(error as Error));
  }

  /** Stops watching. May be called again. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#closeWatchers();
  }

  /** Watches what is not watched yet, as long as there is something new to watch. */
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

  /** Watches those of the folders that are not watched. Returns whether there were any. */
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
   * Whether events come slowly, and none did for some milliseconds. If not, it
   * calls back when that may be so, and there will be another update.
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

  /** Watches folders, some at a time, and at last all of them by one watcher. */
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
      // That takes no time, since all of them are watched already.
      this.#openBatch(opened);
      for (const watcher of parts) watcher.close();
      this.#watchers = this.#watchers.filter((it) => !parts.includes(it));
    }
    return opened.length > 0;
  }

  /** Watches folders, and returns those of which that can be done. */
  #openBatch(folders: readonly string[]): readonly string[] {
    if (folders.length === 0) return [];
    try {
      const watcher = Deno.watchFs([...folders], { recursive: false });
      this.#watchers = [...this.#watchers, watcher];
      for (const folder of folders) this.#covered.add(folder);
      this.#listen(watcher);
      return folders;
    } catch (error) {
      if (!isOfOneFolder(error)) throw error;
      // It went, or was locked, just now. The error does not say which one.
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
        this.#noteStale(event);
        if (this.#isRelevant(event)) this.#gather();
        if (event.flag === "rescan") {
          await new Promise((resolve) => setTimeout(resolve, LOSS_PAUSE_MS));
        }
      }
    } catch (error) {
      this.#giveUp(error as Error);
    }
  }

  /** Notes folders that went or came: they are no longer the ones that are watched. */
  #noteStale({ kind, paths, flag }: Deno.FsEvent): void {
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

  /** Calls back when it has been quiet for a while, and not too late. */
  #gather(): void {
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
      `Cannot watch folders: ${error.message}; changes are found by the next rescan instead`,
    );
  }
}

/** Whether Deno may read a folder. If it may not, it would ask, where it can. */
function isAllowed(path: string): boolean {
  const permission = { name: "read", path } as const;
  return Deno.permissions.querySync(permission).state === "granted";
}

/** Whether an error is about one of the folders to watch, not about watching. */
function isOfOneFolder(error: unknown): boolean {
  const { NotCapable, NotFound, PermissionDenied } = Deno.errors;
  return [NotCapable, NotFound, PermissionDenied].some((type) =>
    error instanceof type
  );
}
