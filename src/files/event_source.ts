/**
 * Sources of file system events. A source runs in this thread if it watches few
 * folders, or else in a worker.
 *
 * Opening and closing Deno's watchers waits for a thread that compares each event
 * with each watched path. While many events arrive for many paths, or if the file
 * system is slow, the wait takes seconds. In a worker, nobody waits.
 *
 * @module
 */

import { isPassing } from "./faults.ts";

/** The maximum number of paths that are watched in this thread. A worker takes 6 MB. */
export const MAX_LOCAL_PATHS = 64;

/**
 * How many files a process must be able to open before it starts a worker. A worker
 * takes 6, and 3 more when it starts watching.
 */
const WORKER_FILES = 16;

/** Folders to watch, without their subfolders. */
export interface WatchRequest {
  /**
   * The paths to watch in addition to those that are watched already. With none,
   * the request only asks for the events that have reached this process.
   */
  readonly paths: readonly string[];
  /** Whether to close all watchers first. */
  readonly isFresh: boolean;
}

/** What a source reports. */
export type WatchReport =
  | {
    readonly kind: "events";
    readonly events: readonly Deno.FsEvent[];
    /** The number of events, including those that are left out because they repeat others. */
    readonly count: number;
    /** The time since the last event, in milliseconds. */
    readonly age: number;
  }
  /**
   * The reply to a request, after all events before it. It has only the paths that
   * cannot be watched, because copies of all of them would take memory.
   */
  | { readonly kind: "reply"; readonly failed: readonly string[] }
  | { readonly kind: "failed"; readonly message: string };

/** A running source of events. */
export interface EventSource {
  /** Whether it runs in a worker. */
  readonly isWorker: boolean;
  /** Sends a request. Each one is answered by one report, unless watching fails. */
  send(request: WatchRequest): void;
  /** Stops it. There are no more reports. */
  close(): void;
}

/**
 * Whether the process can open the files that a worker needs. Otherwise, Deno ends
 * the process when the worker starts. Nothing else must run between the two.
 *
 * @param folder A folder that Deno is allowed to read.
 */
export async function canStartWorker(folder: string): Promise<boolean> {
  // A FIFO in place of the folder would block, but its name has no slash at the end.
  const opening = Array.from(
    { length: WORKER_FILES },
    () => Deno.open(`${folder}/`),
  );
  const results = await Promise.allSettled(opening);
  let canStart = true;
  for (const result of results) {
    if (result.status === "fulfilled") result.value.close();
    else if (isPassing(result.reason)) canStart = false;
  }
  return canStart;
}

/** Starts a source in a worker. See {@linkcode canStartWorker}. */
export function startWorkerSource(
  report: (report: WatchReport) => void,
): EventSource {
  // A module of its own could not be loaded from a bundle or without permission.
  const text =
    `const source = new (${LocalSource})((data) => postMessage(data));
    onmessage = ({ data }) => source.send(data);`;
  const url = URL.createObjectURL(
    new Blob([text], { type: "text/javascript" }),
  );
  const worker = new Worker(url, { type: "module", name: "folder-watcher" });
  worker.onmessage = ({ data }: MessageEvent<WatchReport>) => report(data);
  worker.onerror = (event) => {
    // Otherwise, the error would end the process.
    event.preventDefault();
    report({ kind: "failed", message: event.message });
  };
  return {
    isWorker: true,
    send: (request) => worker.postMessage(request),
    close: () => {
      worker.onmessage = worker.onerror = null;
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

/**
 * A source in this thread. It reports the first event immediately, and those that
 * follow in batches. A worker runs the text of this class, so it must not refer to
 * anything outside.
 */
export class LocalSource implements EventSource {
  /** The time between two batches, in milliseconds. */
  static readonly #BATCH_MS = 20;
  /** The maximum number of events in a batch. More are reported as lost. */
  static readonly #MAX_BATCH = 500;
  /** The time between closing and reopening watchers, in milliseconds. */
  static readonly #REOPEN_MS = 10;

  readonly isWorker = false;
  #report: ((report: WatchReport) => void) | undefined;
  #watchers: Deno.FsWatcher[] = [];
  #events: Deno.FsEvent[] = [];
  #count = 0;
  #lastEvent = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(report: (report: WatchReport) => void) {
    this.#report = report;
  }

  send(request: WatchRequest): void {
    this.#handle(request).catch((error) => this.#fail(error));
  }

  close(): void {
    this.#report = undefined;
    this.#closeWatchers();
  }

  async #handle({ paths, isFresh }: WatchRequest): Promise<void> {
    if (isFresh) this.#closeWatchers();
    // When the event loop turns, the events arrive that have reached this process,
    // and closed paths no longer count as watched.
    await new Promise((resolve) =>
      setTimeout(resolve, isFresh ? LocalSource.#REOPEN_MS : 1)
    );
    if (this.#report === undefined) return;
    const failed = this.#open(paths);
    clearTimeout(this.#timer);
    this.#sendEvents();
    this.#report({ kind: "reply", failed });
  }

  /** Starts watching folders and returns those that cannot be watched. */
  #open(paths: readonly string[]): readonly string[] {
    if (paths.length === 0) return [];
    try {
      const watcher = Deno.watchFs([...paths], { recursive: false });
      this.#watchers.push(watcher);
      this.#listen(watcher).catch((error) => this.#fail(error));
      return [];
    } catch (error) {
      // Often, a folder was just removed or replaced. The error does not say which.
      if (paths.length > 1) {
        const middle = paths.length >> 1;
        return [paths.slice(0, middle), paths.slice(middle)]
          .flatMap((half) => this.#open(half));
      }
      const { NotFound, PermissionDenied } = Deno.errors;
      const isFolderError = error instanceof NotFound ||
        error instanceof PermissionDenied;
      if (isFolderError || !this.#isThere(paths[0]!)) return paths;
      throw error;
    }
  }

  #isThere(path: string): boolean {
    try {
      Deno.statSync(path);
      return true;
    } catch {
      return false;
    }
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    for await (const event of watcher) this.#record(event);
  }

  #record(event: Deno.FsEvent): void {
    this.#count++;
    this.#lastEvent = performance.now();
    const last = this.#events.at(-1);
    const isRepeated = last?.kind === event.kind &&
      last.paths.join("\n") === event.paths.join("\n");
    if (this.#events.length === LocalSource.#MAX_BATCH) {
      this.#events[0] = { kind: "other", paths: [], flag: "rescan" };
    } else if (!isRepeated) {
      this.#events.push(event);
    }
    if (this.#timer === undefined) this.#sendEvents();
  }

  /** Reports the recorded events, and then waits before it reports the next ones. */
  #sendEvents(): void {
    this.#timer = undefined;
    if (this.#count === 0) return;
    const [events, count] = [this.#events, this.#count];
    [this.#events, this.#count] = [[], 0];
    this.#timer = setTimeout(() => this.#sendEvents(), LocalSource.#BATCH_MS);
    const age = performance.now() - this.#lastEvent;
    this.#report?.({ kind: "events", events, count, age });
  }

  #fail(error: unknown): void {
    this.#report?.({ kind: "failed", message: (error as Error).message });
  }

  #closeWatchers(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }
}
