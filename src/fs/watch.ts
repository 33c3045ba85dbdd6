/**
 * Watches a small number of directories for changes. An event only says that it is time
 * to scan again.
 */

import { isAtOrBelow, mayRead, realPathIfThere } from "./paths.ts";

/**
 * The maximum number of watched directories. Deno compares each event with each watched
 * path, so that many of them would block the thread while files come and go.
 */
export const MAX_WATCHED_DIRS = 48;

/** How long to wait after an event for others that belong to it, in milliseconds. */
const DEBOUNCE_MS = 100;

/**
 * How long a closed path still counts as watched, in milliseconds: Deno forgets a
 * directory that was moved away only after its watcher is closed and the event loop has
 * turned.
 */
const REOPEN_MS = 10;

/** Watches directories, and calls back once after each burst of events. */
export class DirWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  #dirs: readonly string[] = [];
  #watcher: Deno.FsWatcher | undefined;
  /** Whether a directory may have been moved away, so that its path is to be opened again. */
  #isStale = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #opening: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param onEvents Called after events. It is expected to call {@linkcode update}. */
  constructor(onEvents: () => void, log: (line: string) => void) {
    this.#onEvents = onEvents;
    this.#log = log;
  }

  /**
   * Replaces the directories to watch, the most important ones first. Those beyond the
   * limit, and those that Deno is not allowed to read, are ignored.
   */
  update(dirs: Iterable<string>): void {
    if (this.#isClosed) return;
    const watched = Iterator.from(dirs).filter(canWatch)
      .take(MAX_WATCHED_DIRS).toArray();
    const isSame = watched.join("\0") === this.#dirs.join("\0");
    if (isSame && !this.#isStale) return;
    this.#dirs = watched;
    this.#isStale = false;
    this.#watcher?.close();
    this.#watcher = undefined;
    clearTimeout(this.#opening);
    this.#opening = setTimeout(() => this.#open(), REOPEN_MS);
  }

  /** Stops watching. Can be called more than once. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#opening);
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #open(): void {
    const dirs = this.#dirs.filter(canWatch);
    try {
      if (dirs.length > 0) {
        this.#watcher = Deno.watchFs(dirs, { recursive: false });
        this.#listen(this.#watcher).catch((error) => this.#giveUp(error));
      }
    } catch (error) {
      if (dirs.every(canWatch)) return this.#giveUp(error as Error);
    }
    // What changed before they were watched caused no event.
    if (this.#dirs.length > 0) this.#schedule();
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    for await (const { kind, paths } of watcher) {
      if (kind === "access") continue;
      const isMoved = (dir: string) =>
        paths.some((changed) => isAtOrBelow(dir, changed));
      if (kind !== "modify" && this.#dirs.some(isMoved)) this.#isStale = true;
      this.#schedule();
    }
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onEvents(), DEBOUNCE_MS);
  }

  #giveUp({ message }: Error): void {
    if (this.#isClosed) return;
    this.close();
    const reason = message.replace(/\.$/, "");
    this.#log(
      `Cannot watch folders: ${reason}; changes are noticed by the scans of --refresh`,
    );
  }
}

function canWatch(path: string): boolean {
  return mayRead(path) && realPathIfThere(path) !== undefined;
}
