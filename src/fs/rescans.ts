/**
 * When to scan again: after events in the watched folders, and by a timer. Both only
 * say that it is time to look.
 */

import { FolderWatcher } from "./watch.ts";

/** The shortest pause of the timer, in milliseconds, unless the user's interval is shorter. */
const MIN_RESCAN_MS = 1_000;

/**
 * The pause after a scan is this many times as long as the scan, so that scanning takes
 * little of the time. The user's own interval is the longest pause.
 */
const PAUSE_PER_SCAN = 500;

interface RescanOptions {
  /** The longest time between two scans, in seconds, or 0 for no timer. */
  readonly refreshSeconds: number;
  readonly watchFolders: boolean;
  readonly log: (line: string) => void;
}

/** Asks for scans once it has been started. */
export class Rescans {
  readonly #refresh: () => Promise<unknown>;
  readonly #log: (line: string) => void;
  readonly #refreshMs: number;
  readonly #watcher: FolderWatcher | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #time = 0;
  #isStarted = false;

  /** @param refresh Scans, and then calls {@linkcode schedule}. */
  constructor(
    refresh: () => Promise<unknown>,
    { refreshSeconds, watchFolders, log }: RescanOptions,
  ) {
    this.#refresh = refresh;
    this.#log = log;
    this.#refreshMs = refreshSeconds * 1_000;
    if (watchFolders) {
      this.#watcher = new FolderWatcher(() => this.#rescan(), log);
    }
  }

  /** Starts the timer. Watching starts with the first folders. */
  start(): void {
    this.#isStarted = true;
    this.schedule(0);
  }

  /**
   * Schedules the next scan of the timer after a scan has ended. The longer scans
   * take, the longer is the pause. It depends on the shorter of the last two, so that one
   * slow scan does not delay the next.
   *
   * @param time How long the scan took, in milliseconds.
   * @param options Whether something was temporarily unreadable. Then there is another
   *   scan after a second, even without a timer.
   */
  schedule(
    time: number,
    { isTroubled = false }: { isTroubled?: boolean } = {},
  ): void {
    clearTimeout(this.#timer);
    const usual = Math.min(time, this.#time);
    this.#time = time;
    const hasTimer = isTroubled || this.#refreshMs > 0;
    if (!this.#isStarted || !hasTimer) return;
    const pause = Math.max(usual * PAUSE_PER_SCAN, MIN_RESCAN_MS);
    const delay = isTroubled ? MIN_RESCAN_MS : Math.min(pause, this.#refreshMs);
    this.#timer = setTimeout(() => this.#rescan(), delay);
    Deno.unrefTimer(this.#timer);
  }

  #rescan(): void {
    this.#refresh().catch(({ message }: Error) => {
      this.#log(
        `Cannot look for changes: ${message}; the next attempt follows in a second`,
      );
      this.schedule(0, { isTroubled: true });
    });
  }

  watch(list: () => Iterable<string>): void {
    if (this.#isStarted) this.#watcher?.update(list());
  }

  close(): void {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }
}
