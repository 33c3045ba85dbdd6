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
  MAX_LOCAL_PATHS,
  startLocalSource,
  startWorkerSource,
  type WatchEvent,
  type WatchReport,
} from "./event_source.ts";
import { attempt } from "./faults.ts";
import { filterAllowed, pathsOf, type WatchedFolders } from "./watch_list.ts";
import { runInSlices, type Steps, TimeSlice } from "../time_slice.ts";

/** The pause in events that ends a burst, in milliseconds. */
const WATCH_QUIET_MS = 100;

/** The maximum length of a burst of events, in milliseconds. */
const WATCH_BURST_MS = 1_000;

/** How long there must be no events before watchers are reopened, in milliseconds. */
const REOPEN_QUIET_MS = 500;

/** The maximum number of requests to watch more folders before all are reopened. */
const MAX_REQUESTS = 8;

/** The maximum number of watched folders. All programs of a user share the system's limit. */
const MAX_WATCHED_FOLDERS = 20_000;

/**
 * Watchers are reopened if they have more paths than this plus twice the number
 * of folders to watch.
 */
const MAX_NEEDLESS_FOLDERS = 1_000;

/** How many of the topmost folders are watched along with additional ones. */
const TOP_FOLDERS = 8;

/** What it costs to handle an event, in comparisons of its path with a watched path. */
const EVENT_COST = 20;

/** How many comparisons are sustainable. Each takes about 10 microseconds. */
const COST_PER_SECOND = 20_000;

/** How many comparisons the folders' events can take in a burst. */
const MAX_COST = 200_000;

/** What lost events cost, in comparisons. */
const LOSS_COST = 20_000;

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
  readonly #onEvents: () => unknown;
  readonly #log: (line: string) => void;
  readonly #budget = new EventBudget();
  #source: EventSource | undefined;
  /** Receives the source's reply to a request, or nothing if the source was closed. */
  #onReply: ((failed?: readonly string[]) => void) | undefined;
  /** Receive the source's replies to flushes, in their order. */
  readonly #flushes: ((isFlushed: boolean) => void)[] = [];
  /** The number of requests since all watchers were opened. */
  #requests = 0;
  readonly #covered = new Set<string>();
  /** Folders that were removed or replaced while they were watched. */
  readonly #stale = new Set<string>();
  /** Whether events were lost, so that any folder may have been removed or replaced. */
  #isAllStale = false;
  #folders: WatchedFolders = { whole: new Map(), parts: new Map() };
  #isCovering = false;
  #isLimitLogged = false;
  #burstEnd: number | undefined;
  #lastEvent = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #poll: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /**
   * Creates a watcher that watches nothing yet.
   *
   * @param onEvents Called after events. While nothing is watched, the next call
   *   waits for the promise that it returns.
   * @param log Logs a line.
   */
  constructor(onEvents: () => unknown, log: (line: string) => void) {
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
    this.#cover().catch((error) => this.#giveUp((error as Error).message));
  }

  /**
   * Whether all folders are watched, and nothing happened in them since the last
   * callback. An event of the last milliseconds can be unknown: when a call that
   * changes something returns, the system has queued its event, but nothing tells
   * when Deno has read the queue.
   */
  async isQuiet(): Promise<boolean> {
    if (!this.#isIdle) return false;
    return await this.#flush(this.#source!) && this.#isIdle;
  }

  /** Whether all folders are watched, and no callback is due. */
  get #isIdle(): boolean {
    return this.#isWatching && !this.#isCovering &&
      this.#source !== undefined && this.#timer === undefined &&
      this.#covers(this.#folders);
  }

  #covers(folders: WatchedFolders): boolean {
    return pathsOf(folders).every((path) => this.#covered.has(path));
  }

  /** Receives the events that the source knows of. Returns whether it replied in time. */
  async #flush(source: EventSource): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#flushes.push(resolve);
    const timer = setTimeout(() => resolve(false), FLUSH_TIMEOUT_MS);
    source.flush();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Stops watching. Can be called more than once. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#poll);
    this.#closeSource();
  }

  /** Starts watching new folders, until there are no more. */
  async #cover(): Promise<void> {
    if (this.#isCovering) return;
    this.#isCovering = true;
    try {
      let isNew = false;
      let folders: WatchedFolders | undefined;
      while (folders !== this.#folders && this.#isWatching) {
        folders = this.#folders;
        if (await this.#openMissing(folders)) isNew = true;
      }
      if (isNew && !this.#isClosed) this.#onEvents();
    } finally {
      this.#isCovering = false;
    }
  }

  /** Whether it neither is closed nor rests after too many events. */
  get #isWatching(): boolean {
    return !this.#isClosed && this.#poll === undefined;
  }

  /** Starts watching the folders that are not watched yet, and returns whether there were any. */
  async #openMissing(all: WatchedFolders): Promise<boolean> {
    // Usually so, and then there is nothing to list.
    if (this.#covers(all)) return false;
    const folders = await this.#listAllowed(all);
    if (folders.every((path) => this.#covered.has(path))) return false;
    const source = await this.#sourceFor(folders);
    if (source === undefined) return false;
    const missing = folders.filter((path) => !this.#covered.has(path));
    const isFresh = this.#mustReopen(missing, folders.length);
    if (isFresh && !this.#isCalm()) return false;
    if (isFresh) this.#forget();
    const tops = sortByLength(this.#covered).slice(0, TOP_FOLDERS);
    const paths = sortByLength(isFresh ? folders : [...tops, ...missing]);
    this.#requests++;
    const failed = new Set(await this.#send(source, { paths, isFresh }));
    const opened = paths.filter((path) =>
      !failed.has(path) && !this.#covered.has(path)
    );
    for (const path of opened) this.#covered.add(path);
    return opened.length > 0;
  }

  /** Lists the folders that Deno is allowed to read. Watching another could prompt the user. */
  async #listAllowed(folders: WatchedFolders): Promise<string[]> {
    const allowed: string[] = [];
    const slice = new TimeSlice();
    for (const path of filterAllowed(pathsOf(folders))) {
      if (allowed.length === MAX_WATCHED_FOLDERS) break;
      if (slice.isOver) await slice.yield();
      allowed.push(path);
    }
    return allowed;
  }

  /**
   * Returns the source for some folders: one in a worker if they are many or on a
   * slow disk. Returns `undefined` if the watcher was closed, or has to rest because
   * the process cannot open the files that a worker needs.
   */
  async #sourceFor(
    folders: readonly string[],
  ): Promise<EventSource | undefined> {
    if (this.#source?.isWorker) return this.#source;
    const isLocal = folders.length <= MAX_LOCAL_PATHS &&
      !await runInSlices(hasSlowFolder(folders));
    if (!isLocal && !await canStartWorker(folders[0]!)) this.#rest();
    if (!this.#isWatching) return undefined;
    if (this.#source !== undefined && isLocal) return this.#source;
    this.#closeSource();
    const start = isLocal ? startLocalSource : startWorkerSource;
    return this.#source = start((report) => this.#receive(report));
  }

  /** Sends a request and returns the paths that are not watched then. */
  async #send(
    source: EventSource,
    request: { paths: readonly string[]; isFresh: boolean },
  ): Promise<readonly string[]> {
    const reply = Promise.withResolvers<readonly string[] | undefined>();
    this.#onReply = reply.resolve;
    const timer = setTimeout(() => this.#rest(), OPEN_TIMEOUT_MS);
    try {
      source.send(request);
      return await reply.promise ?? request.paths;
    } finally {
      clearTimeout(timer);
      this.#onReply = undefined;
    }
  }

  #mustReopen(missing: readonly string[], count: number): boolean {
    if (this.#requests === 0) return false;
    const known = this.#covered.size + this.#stale.size;
    return this.#isAllStale || known > 2 * count + MAX_NEEDLESS_FOLDERS ||
      missing.some((path) => this.#stale.has(path)) ||
      this.#requests >= MAX_REQUESTS;
  }

  /**
   * Whether no event occurred recently. If not, schedules a callback, which causes
   * another update.
   */
  #isCalm(): boolean {
    const rest = this.#lastEvent + REOPEN_QUIET_MS - performance.now();
    if (rest > 0 && this.#burstEnd === undefined) this.#callBackIn(rest);
    return rest <= 0;
  }

  #receive(report: WatchReport): void {
    if (this.#isClosed) return;
    if (report.kind === "opened") return this.#onReply?.(report.failed);
    if (report.kind === "flushed") return this.#flushes.shift()?.(true);
    if (report.kind === "failed") return this.#giveUp(report.message);
    for (const event of report.events) {
      this.#recordStale(event);
      if (this.#isRelevant(event)) this.#recordEvent(report.age);
    }
    if (!this.#budget.take(costOf(report, this.#covered.size))) this.#rest();
  }

  /** Records the folders that were removed or replaced. They are no longer watched. */
  #recordStale({ kind, paths, flag }: WatchEvent): void {
    if (flag === "rescan") this.#isAllStale = true;
    else if (kind !== "access" && kind !== "modify") {
      for (const path of paths) {
        if (this.#covered.delete(path)) this.#stale.add(path);
      }
    }
  }

  #isRelevant({ kind, paths, flag }: WatchEvent): boolean {
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
    if (!this.#isWatching) return;
    this.#closeSource();
    let polls = this.#budget.countPolls();
    const poll = async () => {
      await this.#onEvents();
      if (this.#isClosed) return;
      this.#poll = --polls > 0 ? setTimeout(poll, POLL_MS) : undefined;
      if (polls === 0) this.update(this.#folders);
    };
    this.#poll = setTimeout(poll, POLL_MS);
  }

  #closeSource(): void {
    this.#source?.close();
    this.#source = undefined;
    this.#forget();
    this.#onReply?.();
    for (const resolve of this.#flushes.splice(0)) resolve(false);
  }

  #forget(): void {
    this.#covered.clear();
    this.#stale.clear();
    this.#isAllStale = false;
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

/** Returns what it cost to handle events while `size` paths were watched. */
function costOf(
  { events, count }: { events: readonly WatchEvent[]; count: number },
  size: number,
): number {
  const missing = events.filter(({ kind }) =>
    kind === "remove" || kind === "rename"
  );
  const isLossy = events.some(({ flag }) => flag === "rescan");
  return count * EVENT_COST + missing.length * size + (isLossy ? LOSS_COST : 0);
}

/** Sorts paths so that folders come before their subfolders, whose paths are longer. */
function sortByLength(paths: Iterable<string>): string[] {
  return [...new Set(paths)].sort((a, b) => a.length - b.length);
}

/** Whether the status of one of the folders takes long, as on a network. */
function* hasSlowFolder(folders: readonly string[]): Steps<boolean> {
  for (const path of folders) {
    // One slow call can be a coincidence.
    let isSlow = true;
    for (let call = 0; call < 3 && isSlow; call++) {
      yield;
      isSlow = timeOfStatus(path) > SLOW_MS;
    }
    if (isSlow) return true;
  }
  return false;
}

/**
 * Returns how long it takes to get the status of a folder, in milliseconds. An
 * asynchronous call would also wait for what else this process does.
 */
function timeOfStatus(path: string): number {
  const start = performance.now();
  // A missing folder takes time too.
  attempt(() => Deno.statSync(path));
  return performance.now() - start;
}
