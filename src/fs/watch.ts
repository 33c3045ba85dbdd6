/**
 * Watches a small number of folders for changes. An event only says that it is
 * time to look again.
 *
 * Deno compares each event with each watched path by opening both, and closing or
 * opening a watcher blocks the thread until that is done for all events, however many
 * follow. So few folders are watched, each by a watcher of its own, without its
 * subfolders, and watchers are closed and opened one by one, while no events come. After
 * a folder was moved away, its path counts as watched until every watcher of the path is
 * closed.
 */

import { isAtOrBelow, mayRead, realPathIfThere } from "./paths.ts";

/**
 * The maximum number of watched folders. While 300 files a second come and go, closing
 * one of 128 watchers blocks the thread for more than a second, and one of 48 for 20 ms.
 */
export const MAX_WATCHED_FOLDERS = 48;

const QUIET_MS = 100;

/** After more events than this in ten seconds, reading pauses for ten seconds. */
const MAX_EVENTS = 1_000;
const EVENT_WINDOW_MS = 10_000;

/** Up to this number of events in ten seconds, closing all watchers at once is fast. */
const CALM_EVENTS = 100;

/** How long a closed path still counts as watched, in milliseconds. */
const REOPEN_MS = 10;

/** Watches folders, and calls back once after each burst of events. */
export class FolderWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  #folders = new Set<string>();
  readonly #watchers = new Map<string, Deno.FsWatcher>();
  /** The paths that may lead to other folders now, which their watchers do not see. */
  readonly #moved = new Set<string>();
  #events = 0;
  #windowStart = 0;
  #lastEvent = -Infinity;
  /** Fulfilled when the readers of events continue, after too many events. */
  #rest: PromiseWithResolvers<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #adjusting: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /**
   * @param onEvents Called after events, and after folders were opened, because they
   *   may already have changed. It is expected to call {@linkcode update}.
   */
  constructor(onEvents: () => void, log: (line: string) => void) {
    this.#onEvents = onEvents;
    this.#log = log;
  }

  /**
   * Replaces the folders to watch, the most important ones first. Those beyond the limit,
   * and those that Deno is not allowed to read, are left out.
   */
  update(folders: Iterable<string>): void {
    if (this.#isClosed) return;
    this.#folders = new Set(
      Iterator.from(folders).filter(mayRead).take(MAX_WATCHED_FOLDERS),
    );
    this.#adjusting ??= setTimeout(() => this.#adjust(), REOPEN_MS);
  }

  /**
   * Stops watching. Can be called more than once. While events come fast, the watchers
   * are closed later.
   */
  close(): void {
    this.#isClosed = true;
    this.#folders.clear();
    clearTimeout(this.#adjusting);
    if (!this.#isQuiet && this.#events > CALM_EVENTS) return this.#adjust();
    clearTimeout(this.#timer);
    for (const path of this.#watchers.keys()) this.#close(path);
  }

  /** Whether no event came just now, so that watchers can be closed and opened. */
  get #isQuiet(): boolean {
    return this.#rest === undefined &&
      performance.now() - this.#lastEvent >= QUIET_MS;
  }

  /** Closes or opens one watcher, if that blocks nothing now, and then the next one. */
  #adjust(): void {
    this.#adjusting = undefined;
    const path = this.#findPending();
    if (path === undefined) return;
    if (this.#isQuiet) {
      if (this.#watchers.has(path)) this.#close(path);
      else this.#open(path);
    }
    this.#adjusting = setTimeout(() => this.#adjust(), REOPEN_MS);
  }

  /** Finds a path whose watcher is to be closed, or else one that is to be watched. */
  #findPending(): string | undefined {
    const isPast = (path: string) =>
      this.#moved.has(path) || !this.#folders.has(path);
    return this.#watchers.keys().find(isPast) ??
      this.#folders.values().find((path) => !this.#watchers.has(path));
  }

  #open(path: string): void {
    try {
      const watcher = Deno.watchFs(path, { recursive: false });
      this.#watchers.set(path, watcher);
      this.#listen(watcher).catch((error) => this.#giveUp(error));
      this.#callBackIn(QUIET_MS);
    } catch (error) {
      this.#folders.delete(path);
      // Something may have just removed it, and the next update knows, or denied it.
      const isDenied = error instanceof Deno.errors.PermissionDenied;
      if (!isDenied && realPathIfThere(path)) this.#giveUp(error as Error);
    }
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    for await (const { kind, paths } of watcher) {
      this.#countEvent();
      await this.#rest?.promise;
      if (kind === "access") continue;
      this.#callBackIn(QUIET_MS);
      if (kind === "modify") continue;
      for (const watched of this.#watchers.keys()) {
        if (paths.some((changed) => isAtOrBelow(watched, changed))) {
          this.#moved.add(watched);
        }
      }
    }
  }

  /** Counts an event in the current window of time. After too many, it rests. */
  #countEvent(): void {
    const now = performance.now();
    if (now - this.#windowStart > EVENT_WINDOW_MS) {
      this.#windowStart = now;
      this.#events = 0;
    }
    this.#events++;
    this.#lastEvent = now;
    if (this.#events <= MAX_EVENTS || this.#rest !== undefined) return;
    this.#rest = Promise.withResolvers();
    this.#callBackIn(EVENT_WINDOW_MS);
  }

  #callBackIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#rest !== undefined) this.#lastEvent = performance.now();
      this.#rest?.resolve();
      this.#rest = undefined;
      if (!this.#isClosed) this.#onEvents();
    }, milliseconds);
  }

  #giveUp({ message }: Error): void {
    if (this.#isClosed) return;
    this.close();
    const reason = message.replace(/\.$/, "");
    this.#log(
      `Cannot watch folders: ${reason}; changes are noticed by the scans of --refresh`,
    );
  }

  #close(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
    this.#moved.delete(path);
  }
}
