/**
 * When to scan again: after events in the watched folders, and by a timer. Both only
 * say that it is time to look.
 *
 * @module
 */

import { FolderWatcher, type WatchedFolders } from "../files/watcher.ts";
import { DEFAULT_REFRESH_SECONDS } from "./roots.ts";
import type { SkillRegistryOptions } from "./types.ts";

/** The time until the next scan after one that met something unreadable, in milliseconds. */
const RETRY_MS = 1_000;

/** The shortest time between two scans of the timer, in milliseconds. */
const MIN_RESCAN_MS = 1_000;

/** The timer's scans take at most one part in this many of the time. */
const RESCAN_SHARE = 500;

/** What a scan says about the next one. */
export interface ScanEnd {
  /** How long it took, in milliseconds. */
  readonly time: number;
  /** Whether something was temporarily unreadable. */
  readonly isTroubled: boolean;
}

/** Asks for scans once it was started. */
export class Rescans {
  readonly #rescan: () => void;
  readonly #refreshMs: number;
  readonly #watcher: FolderWatcher | undefined;
  /** How long the last two scans took, in milliseconds. One can be slow by chance. */
  #times: [number, number] = [0, 0];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state: "new" | "started" | "closed" = "new";

  /**
   * Creates it without starting anything.
   *
   * @param rescan Scans, and then calls {@linkcode scanned}.
   * @param options The time between two scans, and whether to watch folders.
   */
  constructor(
    rescan: () => void,
    { refreshSeconds = DEFAULT_REFRESH_SECONDS, watchFolders = true, log }:
      & SkillRegistryOptions
      & Required<Pick<SkillRegistryOptions, "log">>,
  ) {
    this.#rescan = rescan;
    this.#refreshMs = refreshSeconds === 0 ? Infinity : refreshSeconds * 1_000;
    if (watchFolders) this.#watcher = new FolderWatcher(rescan, log);
  }

  /** Whether folders are watched. */
  get isWatching(): boolean {
    return this.#state === "started" && this.#watcher !== undefined;
  }

  /** Starts the timer. Watching starts with the first folders. */
  start(): void {
    if (this.#state !== "new") return;
    this.#state = "started";
    this.#schedule(false);
  }

  /** Schedules the next scan after one has ended. */
  scanned({ time, isTroubled }: ScanEnd): void {
    this.#times = [time, this.#times[0]];
    this.#schedule(isTroubled);
  }

  /** Watches other folders. See {@linkcode FolderWatcher.update}. */
  watch(folders: WatchedFolders, isQuiet: boolean): void {
    if (this.isWatching) this.#watcher!.update(folders, isQuiet);
  }

  /** Stops everything. */
  close(): void {
    this.#state = "closed";
    clearTimeout(this.#timer);
    this.#watcher?.close();
  }

  /** Schedules the next scan of the timer. The longer scans take, the rarer they are. */
  #schedule(isTroubled: boolean): void {
    clearTimeout(this.#timer);
    if (this.#state !== "started") return;
    const share = Math.min(...this.#times) * RESCAN_SHARE;
    const rest = Math.max(share, MIN_RESCAN_MS);
    const regular = this.#refreshMs === Infinity
      ? Infinity
      : Math.min(rest, this.#refreshMs);
    const delay = isTroubled ? Math.min(RETRY_MS, regular) : regular;
    if (delay === Infinity) return;
    this.#timer = setTimeout(this.#rescan, delay);
    Deno.unrefTimer(this.#timer);
  }
}
