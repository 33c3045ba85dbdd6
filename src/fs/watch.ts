/** Watches a small number of directories. Any event means: scan again. */

import { isAtOrBelow, mayRead, realPathIfThere } from "./paths.ts";

/**
 * The maximum number of watched directories. Deno compares each event with each watched
 * path, so too many of them would block the thread during a burst of events.
 */
export const MAX_WATCHED_DIRS = 48;

/** How long to wait for related events after an event, in milliseconds. */
const DEBOUNCE_MS = 100;

/**
 * How long to wait before reopening a path, in milliseconds. Deno forgets a directory
 * that was moved away only once its watcher is closed and the event loop has turned.
 */
const REOPEN_MS = 10;

/** Watches directories and reports each burst of events once. */
export class DirWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  #dirs: readonly string[] = [];
  #watcher: Deno.FsWatcher | undefined;
  /** Whether a directory may have been moved away, so that its path must be reopened. */
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
   * Replaces the watched directories. Ignores directories that Deno may not read, and
   * all beyond the limit, so the most important ones should be first.
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
    // Earlier changes caused no event.
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
      `Cannot watch folders: ${reason}; the next scan still finds changes`,
    );
  }
}

function canWatch(path: string): boolean {
  return mayRead(path) && realPathIfThere(path) !== undefined;
}
