// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Watching folders for changes.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";

/** A burst of file system events ends when it was quiet for this long, in milliseconds. */
const WATCH_QUIET_MS = 100;

/** A burst of file system events is looked at after this long at the latest, in milliseconds. */
const WATCH_BURST_MS = 1_000;

/** How long watchers are closed before their folders are watched anew, in milliseconds. */
const REOPEN_MS = 10;

/** How many `Deno.FsWatcher`s may pile up before they are merged into one. */
const MAX_WATCHERS = 8;

/** The folders to watch: all that happens in them matters, or only what happens to some names. */
export type WatchedFolders = ReadonlyMap<string, "all" | ReadonlySet<string>>;

/**
 * Watches folders, not what is below them, and calls back once after each burst
 * of events. Events only say that it is time to look again.
 */
export class FolderWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  readonly #watchers: Deno.FsWatcher[] = [];
  readonly #covered = new Set<string>();
  /** Folders that went or came while they were watched. */
  readonly #stale = new Set<string>();
  #reopening: ReturnType<typeof setTimeout> | undefined;
  #folders: WatchedFolders = new Map();
  #burstEnd: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(onEvents: () => void, log: (line: string) => void) {
    this.#onEvents = onEvents;
    this.#log = log;
  }

  /** Watches these folders from now on, and tells whether any of them is newly watched. */
  update(folders: WatchedFolders): boolean {
    this.#folders = folders;
    if (this.#isClosed || this.#reopening !== undefined) return false;
    const isMissing = (folder: string) => !this.#covered.has(folder);
    const missing = [...folders.keys()].filter(isMissing).filter(isWatchable);
    if (missing.length === 0) return false;
    const isStale = missing.some((folder) => this.#stale.has(folder));
    if (isStale || this.#watchers.length >= MAX_WATCHERS) {
      this.#reopen();
      return false;
    }
    try {
      this.#open(missing);
    } catch (error) {
      // A folder went, or was locked, just now: the next refresh will see it.
      const { NotFound, PermissionDenied } = Deno.errors;
      if (error instanceof NotFound || error instanceof PermissionDenied) {
        return false;
      }
      this.#giveUp(error as Error);
    }
    return true;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#reopening);
    this.#closeWatchers();
  }

  /**
   * Watches all folders by one watcher again. All watchers share what they
   * know of a path: one that was moved away counts as watched, though another
   * folder has taken its place, until all that watch it were closed for a while.
   */
  #reopen(): void {
    this.#closeWatchers();
    this.#reopening = setTimeout(() => {
      this.#reopening = undefined;
      this.update(this.#folders);
      this.#onEvents();
    }, REOPEN_MS);
  }

  #open(folders: string[]): void {
    const watcher = Deno.watchFs(folders, { recursive: false });
    this.#watchers.push(watcher);
    for (const folder of folders) this.#covered.add(folder);
    this.#listen(watcher);
  }

  #closeWatchers(): void {
    for (const watcher of this.#watchers.splice(0)) watcher.close();
    this.#covered.clear();
    this.#stale.clear();
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    try {
      for await (const event of watcher) {
        if (this.#matters(event)) this.#gather();
      }
    } catch (error) {
      this.#giveUp(error as Error);
    }
  }

  #matters({ kind, paths, flag }: Deno.FsEvent): boolean {
    if (flag === "rescan") return true;
    if (kind === "access") return false;
    // A folder that went or came is no longer the one that is watched.
    for (const path of kind === "modify" ? [] : paths) {
      if (this.#covered.delete(path)) this.#stale.add(path);
    }
    return paths.some((path) => {
      const names = this.#folders.get(dirname(path));
      return this.#folders.has(path) || names === "all" ||
        names?.has(basename(path));
    });
  }

  /** Calls back when it has been quiet for a while, and not too late. */
  #gather(): void {
    const now = performance.now();
    this.#burstEnd ??= now + WATCH_BURST_MS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#burstEnd = undefined;
      this.#onEvents();
    }, Math.max(0, Math.min(WATCH_QUIET_MS, this.#burstEnd - now)));
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

/** Whether a folder may be read by Deno and by the system's leave, so that it can be watched. */
function isWatchable(path: string): boolean {
  const permission = { name: "read", path } as const;
  if (Deno.permissions.querySync(permission).state !== "granted") return false;
  try {
    Deno.readDirSync(path);
    return true;
  } catch {
    return false;
  }
}
