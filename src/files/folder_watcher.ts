/**
 * Watches folders for changes.
 *
 * Deno's watchers have these properties:
 *
 * 1. All watchers of a thread share one table of paths. If a folder is moved away
 *    and another one takes its place, the path still counts as watched until all
 *    of the path's watchers are closed.
 * 2. Each event is compared with the paths of each watcher, up to the first one
 *    that contains it. So folders come before their subfolders. The event of a
 *    removed file is compared with all paths.
 * 3. Opening and closing a watcher waits for these comparisons. If events arrive
 *    faster than they are compared, the wait lasts until they stop. So many paths
 *    are watched in a worker.
 * 4. An event with the flag "rescan" replaces lost events.
 * 5. Recursive watchers follow the links that they find, to the whole file system
 *    if a link points there, and take the system's watches for everything below.
 *    So they are not used.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import {
  canStartWorker,
  type EventSource,
  LocalSource,
  MAX_LOCAL_PATHS,
  startWorkerSource,
  type WatchReport,
  type WatchRequest,
} from "./event_source.ts";
import { isFolder } from "./confinement.ts";
import { filterAllowed, pathsOf, type WatchedFolders } from "./watch_list.ts";
import {
  runInSlices,
  SharedTask,
  type Steps,
  TimeSlice,
} from "../time_slice.ts";

/** The pause in events that ends a burst, in milliseconds. */
const WATCH_QUIET_MS = 100;

/** The maximum length of a burst of events, in milliseconds. */
const WATCH_BURST_MS = 1_000;

/**
 * How long there must be no events before watchers are reopened, in milliseconds.
 * Reopening them after each burst takes memory.
 */
const REOPEN_QUIET_MS = 500;

/** The maximum number of requests to watch more folders before all are reopened. */
const MAX_REQUESTS = 8;

/**
 * Watchers are reopened if they have more paths than this plus twice the number
 * of folders to watch.
 */
const MAX_NEEDLESS_FOLDERS = 1_000;

/** The maximum number of watched folders. All programs of a user share the system's limit. */
const MAX_WATCHED_FOLDERS = 20_000;

/** How many of the topmost folders are watched along with additional ones. */
const TOP_FOLDERS = 8;

/** What it costs to handle an event, in comparisons of its path with a watched path. */
const EVENT_COST = 20;

/** How many comparisons are sustainable. Each takes about 10 microseconds. */
const COST_PER_SECOND = 20_000;

/** How many comparisons the folders' events can take in a burst. */
const MAX_COST = 200_000;

/** How long a worker may take to open watchers, in milliseconds. */
const OPEN_TIMEOUT_MS = 5_000;

/** How long a source may take to report the events that it knows of, in milliseconds. */
const FLUSH_TIMEOUT_MS = 100;

/** The time between two callbacks while the folders are not watched, in milliseconds. */
const POLL_MS = 1_000;

/** How many such callbacks there are after too many events. */
const MIN_POLLS = 5;

/** The maximum of that number, which doubles if there are too many events again. */
const MAX_POLLS = 60;

/** If it takes longer than this to get the status of a folder, its disk is slow. */
const SLOW_MS = 10;

/**
 * Watches folders without their subfolders, and calls back once after each burst
 * of events. Events only indicate that it is time for a scan. While there are too
 * many events, it stops watching and calls back every second.
 */
export class FolderWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  readonly #budget = new EventBudget();
  #source: EventSource | undefined;
  /** Receive the source's replies, in the order of the requests. */
  readonly #replies: ((failed?: readonly string[]) => void)[] = [];
  /** The number of requests to watch folders since all watchers were opened. */
  #requests = 0;
  /**
   * The paths of the watchers. Those whose folders were removed or replaced are no
   * longer watched, and have the value `false`.
   */
  readonly #paths = new Map<string, boolean>();
  #folders: WatchedFolders = { whole: new Set(), parts: new Map() };
  readonly #covering = new SharedTask<void>();
  #isLimitLogged = false;
  #burstEnd: number | undefined;
  #lastEvent = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #poll: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /**
   * Creates a watcher that watches nothing yet.
   *
   * @param onEvents Called after events. It is expected to call {@linkcode update}.
   * @param log Logs a line.
   */
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
    const size = folders.whole.size + folders.parts.size;
    if (size > MAX_WATCHED_FOLDERS && !this.#isLimitLogged) {
      this.#isLimitLogged = true;
      this.#log(
        `Cannot watch more than ${MAX_WATCHED_FOLDERS} folders: the next rescan finds changes in the others`,
      );
    }
    this.#covering.run(() => this.#cover())
      .catch((error) => this.#giveUp((error as Error).message));
  }

  /**
   * Whether all folders are watched, and nothing happened in them since the last
   * callback. An event of the last milliseconds can be unknown: when a call that
   * changes something returns, the system has queued its event, but nothing tells
   * when Deno has read the queue.
   */
  async isQuiet(): Promise<boolean> {
    if (!this.#isIdle) return false;
    const request = { paths: [], isFresh: false };
    const reply = await this.#ask(request, FLUSH_TIMEOUT_MS);
    return reply !== undefined && this.#isIdle;
  }

  /** Whether all folders are watched, and no callback is due. */
  get #isIdle(): boolean {
    return this.#source !== undefined && !this.#covering.isRunning &&
      this.#timer === undefined && this.#isCovered;
  }

  get #isCovered(): boolean {
    return pathsOf(this.#folders).every(this.#isWatched);
  }

  readonly #isWatched = (path: string): boolean =>
    this.#paths.get(path) ?? false;

  /** Stops watching. Can be called more than once. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#poll);
    this.#closeSource();
  }

  /** Whether it neither is closed nor rests after too many events. */
  get #isActive(): boolean {
    return !this.#isClosed && this.#poll === undefined;
  }

  /** Starts watching the folders that are not watched yet. */
  async #cover(): Promise<void> {
    // Usually, everything is covered, and then there is nothing to list.
    if (!this.#isActive || this.#isCovered) return;
    const folders = await this.#listAllowed();
    if (folders.every(this.#isWatched)) return;
    await this.#startSource(folders);
    if (this.#source === undefined) return;
    let missing = folders.filter((path) => !this.#isWatched(path));
    const isFresh = this.#requests >= MAX_REQUESTS ||
      this.#paths.size > 2 * folders.length + MAX_NEEDLESS_FOLDERS ||
      missing.some((path) => this.#paths.has(path));
    if (isFresh) {
      if (!this.#isCalm()) return;
      this.#forget();
      missing = folders;
    }
    const tops = folders.filter(this.#isWatched).slice(0, TOP_FOLDERS);
    this.#requests++;
    const request = { paths: [...tops, ...missing], isFresh };
    const failed = await this.#ask(request, OPEN_TIMEOUT_MS);
    if (failed === undefined) return this.#rest();
    const ignored = new Set(failed);
    const opened = missing.filter((path) => !ignored.has(path));
    for (const path of opened) this.#paths.set(path, true);
    if (opened.length > 0) this.#onEvents();
  }

  /**
   * Lists the folders that Deno is allowed to read, with folders before their
   * subfolders. Watching another could prompt the user.
   */
  async #listAllowed(): Promise<string[]> {
    const allowed = new Set<string>();
    const slice = new TimeSlice();
    for (const path of filterAllowed(pathsOf(this.#folders))) {
      if (allowed.size === MAX_WATCHED_FOLDERS) break;
      if (slice.isOver) await slice.yield();
      allowed.add(path);
    }
    // The paths of subfolders are longer.
    return [...allowed].sort((a, b) => a.length - b.length);
  }

  /**
   * Starts the source for some folders, if it is another one than the current: one
   * in a worker if they are many or on a slow disk. Rests if the process cannot open
   * the files that a worker needs.
   */
  async #startSource(folders: readonly string[]): Promise<void> {
    if (this.#source?.isWorker) return;
    const isLocal = folders.length <= MAX_LOCAL_PATHS &&
      !await runInSlices(hasSlowFolder(folders));
    if (!isLocal && !await canStartWorker(folders[0]!)) this.#rest();
    if (!this.#isActive || (this.#source !== undefined && isLocal)) return;
    this.#closeSource();
    const receive = (report: WatchReport) => this.#receive(report);
    this.#source = isLocal
      ? new LocalSource(receive)
      : startWorkerSource(receive);
  }

  /**
   * Sends a request and returns the paths that cannot be watched, or `undefined` if
   * the source is closed or does not reply in time.
   */
  async #ask(
    request: WatchRequest,
    timeout: number,
  ): Promise<readonly string[] | undefined> {
    type Reply = readonly string[] | undefined;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const timer = setTimeout(() => resolve(undefined), timeout);
    this.#replies.push(resolve);
    this.#source!.send(request);
    const failed = await promise;
    clearTimeout(timer);
    return failed;
  }

  /** Whether no event occurred recently. If not, schedules a callback. */
  #isCalm(): boolean {
    const rest = this.#lastEvent + REOPEN_QUIET_MS - performance.now();
    if (rest > 0 && this.#burstEnd === undefined) this.#callBackIn(rest);
    return rest <= 0;
  }

  #receive(report: WatchReport): void {
    if (report.kind === "reply") return this.#replies.shift()?.(report.failed);
    if (report.kind === "failed") return this.#giveUp(report.message);
    let cost = report.count * EVENT_COST;
    for (const event of report.events) {
      const { kind } = event;
      if (kind === "remove" || kind === "rename") cost += this.#paths.size;
      this.#recordLoss(event);
      if (this.#isRelevant(event)) this.#recordEvent(report.age);
    }
    if (!this.#budget.take(cost)) this.#rest();
  }

  /** Records which folders are no longer watched: after lost events, perhaps none is. */
  #recordLoss({ kind, paths, flag }: Deno.FsEvent): void {
    if (kind === "access" || kind === "modify") return;
    for (const path of flag === "rescan" ? this.#paths.keys() : paths) {
      if (this.#paths.has(path)) this.#paths.set(path, false);
    }
  }

  #isRelevant({ kind, paths, flag }: Deno.FsEvent): boolean {
    if (flag === "rescan") return true;
    if (kind === "access") return false;
    const { whole, parts } = this.#folders;
    return paths.some((path) => {
      const folder = dirname(path);
      const names = parts.get(folder);
      return whole.has(path) || parts.has(path) || whole.has(folder) ||
        names === "all" || names?.has(basename(path));
    });
  }

  /** Records an event and schedules the callback for the end of the burst. */
  #recordEvent(age: number): void {
    const now = performance.now();
    this.#lastEvent = now - age;
    this.#burstEnd ??= now + WATCH_BURST_MS;
    this.#callBackIn(Math.min(WATCH_QUIET_MS - age, this.#burstEnd - now));
  }

  #callBackIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = this.#burstEnd = undefined;
      this.#onEvents();
    }, Math.max(0, milliseconds));
  }

  /** Stops watching for a while, and calls back every second instead. */
  #rest(): void {
    if (!this.#isActive) return;
    this.#closeSource();
    let polls = this.#budget.countPolls();
    const poll = () => {
      this.#poll = --polls > 0 ? setTimeout(poll, POLL_MS) : undefined;
      this.#onEvents();
      if (polls === 0) this.update(this.#folders);
    };
    this.#poll = setTimeout(poll, POLL_MS);
  }

  #closeSource(): void {
    this.#source?.close();
    this.#source = undefined;
    this.#forget();
    for (const resolve of this.#replies.splice(0)) resolve();
  }

  #forget(): void {
    this.#paths.clear();
    this.#requests = 0;
  }

  #giveUp(message: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#onEvents();
    this.#log(
      `Cannot watch folders: ${
        message.replace(/\.$/, "")
      }; the next rescan finds changes instead`,
    );
  }
}

/** Limits what events cost over time. */
class EventBudget {
  #cost = 0;
  #time = performance.now();
  /** The number of callbacks of the last rest. */
  #polls = 0;
  #restStart = -Infinity;

  /** Records a cost and returns whether it is within the limit. */
  take(cost: number): boolean {
    const now = performance.now();
    const sustained = (now - this.#time) / 1_000 * COST_PER_SECOND;
    this.#cost = Math.max(0, this.#cost - sustained) + cost;
    this.#time = now;
    return this.#cost <= MAX_COST;
  }

  /** Starts a rest and returns its number of callbacks: more if the last one was recent. */
  countPolls(): number {
    const now = performance.now();
    const isRepeated = now - this.#restStart < 2 * this.#polls * POLL_MS;
    this.#polls = isRepeated ? Math.min(MAX_POLLS, this.#polls * 2) : MIN_POLLS;
    this.#restStart = now;
    this.#cost = 0;
    return this.#polls;
  }
}

/** Whether it takes long to get the status of one of the folders, as on a network. */
function* hasSlowFolder(folders: readonly string[]): Steps<boolean> {
  for (const path of folders) {
    if (yield* isSlow(path)) return true;
  }
  return false;
}

function* isSlow(folder: string): Steps<boolean> {
  // One slow call can be a coincidence.
  for (let call = 0; call < 3; call++) {
    yield;
    const start = performance.now();
    // An asynchronous call would also wait for what else this process does.
    isFolder(folder);
    if (performance.now() - start <= SLOW_MS) return false;
  }
  return true;
}
