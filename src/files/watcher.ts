/**
 * Watches a small number of folders for changes. An event only says that it is
 * time to look again.
 *
 * Deno compares each event with each watched path by opening both, and closing or
 * opening a watcher waits for that. So few folders are watched, each by a watcher
 * of its own, without its subfolders. After a folder was moved away, its path counts
 * as watched until every watcher of the path is closed.
 *
 * @module
 */

import { isAtOrBelow, mayRead, realPathIfThere } from "./paths.ts";

/**
 * The maximum number of watched folders. While 300 files a second come and go, closing
 * one of 128 watchers blocks the thread for more than a second, and one of 48 for 20 ms.
 */
export const MAX_WATCHED_FOLDERS = 48;

/** The pause in events that ends a burst, in milliseconds. */
const QUIET_MS = 100;

/** More events than this in ten seconds close all watchers for as long. */
const MAX_EVENTS = 1_000;
const EVENT_WINDOW_MS = 10_000;

/** How long a closed path still counts as watched, in milliseconds. */
const REOPEN_MS = 10;

/** Watches folders, and calls back once after each burst of events. */
export class FolderWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  #folders: ReadonlySet<string> = new Set();
  /** The watchers, by path. */
  readonly #watchers = new Map<string, Deno.FsWatcher>();
  /** The number of events in the current window of time, and when it started. */
  #events = 0;
  #windowStart = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #opening: ReturnType<typeof setTimeout> | undefined;
  /** It rests while events come too fast, and is closed once watching failed. */
  #state: "watching" | "resting" | "closed" = "watching";

  /**
   * Creates a watcher that watches nothing yet.
   *
   * @param onEvents Called after events, and after folders were opened, because they
   *   may already have changed. It is expected to call {@linkcode update}.
   * @param log Logs a line.
   */
  constructor(onEvents: () => void, log: (line: string) => void) {
    this.#onEvents = onEvents;
    this.#log = log;
  }

  /**
   * Replaces the folders to watch.
   *
   * @param folders The folders, the most important ones first. Those beyond the
   *   limit, and those that Deno is not allowed to read, are left out.
   */
  update(folders: Iterable<string>): void {
    if (this.#state !== "watching") return;
    this.#folders = new Set(
      Iterator.from(folders).filter(mayRead).take(MAX_WATCHED_FOLDERS),
    );
    for (const path of this.#watchers.keys()) {
      if (!this.#folders.has(path)) this.#close(path);
    }
    this.#opening ??= setTimeout(() => this.#openMissing(), REOPEN_MS);
  }

  /** Stops watching. Can be called more than once. */
  close(): void {
    this.#state = "closed";
    this.#stop();
  }

  #openMissing(): void {
    this.#opening = undefined;
    for (const path of this.#folders) {
      if (this.#watchers.has(path)) continue;
      try {
        const watcher = Deno.watchFs(path, { recursive: false });
        this.#watchers.set(path, watcher);
        this.#listen(watcher).catch((error) => this.#giveUp(error));
        this.#callBackIn(QUIET_MS);
      } catch (error) {
        // Something may have just removed it, and the next update knows, or denied it.
        const isDenied = error instanceof Deno.errors.PermissionDenied;
        if (!isDenied && realPathIfThere(path)) {
          return this.#giveUp(error as Error);
        }
      }
    }
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    for await (const { kind, paths } of watcher) {
      this.#countEvent();
      if (this.#events > MAX_EVENTS) return this.#rest();
      if (kind === "access") continue;
      this.#callBackIn(QUIET_MS);
      if (kind === "modify") continue;
      // What a path leads to may be another folder now, which its watcher does not see.
      for (const watched of this.#watchers.keys()) {
        if (paths.some((changed) => isAtOrBelow(watched, changed))) {
          this.#close(watched);
        }
      }
    }
  }

  /** Counts an event in the current window of time. */
  #countEvent(): void {
    const now = performance.now();
    if (now - this.#windowStart > EVENT_WINDOW_MS) {
      this.#windowStart = now;
      this.#events = 0;
    }
    this.#events++;
  }

  /** Schedules the callback. Another event postpones it. */
  #callBackIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#state = "watching";
      this.#onEvents();
    }, milliseconds);
  }

  /** Stops watching for a while. */
  #rest(): void {
    if (this.#state !== "watching") return;
    this.#state = "resting";
    this.#stop();
    this.#callBackIn(EVENT_WINDOW_MS);
  }

  #giveUp({ message }: Error): void {
    if (this.#state === "closed") return;
    this.close();
    const reason = message.replace(/\.$/, "");
    this.#log(
      `Cannot watch folders: ${reason}; changes are noticed by the scans of --refresh`,
    );
  }

  #close(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }

  /** Watches nothing anymore, and forgets what was about to happen. */
  #stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#opening);
    this.#opening = undefined;
    for (const path of this.#watchers.keys()) this.#close(path);
  }
}
