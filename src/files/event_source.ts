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
interface WatchRequest {
  /** The paths to watch in addition to those that are watched already. */
  readonly paths: readonly string[];
  /** Whether to close all watchers first. */
  readonly isFresh: boolean;
}

/** Asks a source to report the events that it knows of, before it replies. */
const FLUSH = "flush";

/** What a source reports. */
export type WatchReport =
  | {
    readonly kind: "events";
    readonly events: readonly WatchEvent[];
    /** The number of events, including those that are left out because they repeat others. */
    readonly count: number;
    /** The time since the last event, in milliseconds. */
    readonly age: number;
  }
  /**
   * The reply to a request. It has only the paths that cannot be watched, because
   * copies of all of them would take memory.
   */
  | { readonly kind: "opened"; readonly failed: readonly string[] }
  /** The reply to {@linkcode EventSource.flush}. */
  | { readonly kind: "flushed" }
  | { readonly kind: "failed"; readonly message: string };

/** The data of an event. */
export type WatchEvent = Pick<Deno.FsEvent, "kind" | "paths" | "flag">;

/** A running source of events. */
export interface EventSource {
  /** Whether it runs in a worker. */
  readonly isWorker: boolean;
  /** Sends a request. Each one is answered by one report, unless watching fails. */
  send(request: WatchRequest): void;
  /** Asks for the events that have reached this process. Then it reports that there are no more. */
  flush(): void;
  /** Stops it. There are no more reports. */
  close(): void;
}

/** What an {@linkcode EventServer} is told: to watch folders, to flush, or to stop. */
type ServerRequest = WatchRequest | typeof FLUSH | undefined;

/** The connection of an {@linkcode EventServer} to its client. */
interface WatchPort {
  onmessage: ((message: { data: ServerRequest }) => void) | null;
  postMessage(report: WatchReport): void;
}

/** Starts a source in this thread. */
export function startLocalSource(
  report: (report: WatchReport) => void,
): EventSource {
  const port: WatchPort = { onmessage: null, postMessage: report };
  new EventServer(port);
  return {
    isWorker: false,
    send: (data) => port.onmessage!({ data }),
    flush: () => port.onmessage!({ data: FLUSH }),
    close: () => {
      port.postMessage = () => {};
      port.onmessage!({ data: undefined });
    },
  };
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
  for (const result of results) {
    if (result.status === "fulfilled") result.value.close();
  }
  return !results.some((result) =>
    result.status === "rejected" && isPassing(result.reason)
  );
}

/** Starts a source in a worker. See {@linkcode canStartWorker}. */
export function startWorkerSource(
  report: (report: WatchReport) => void,
): EventSource {
  // A module of its own could not be loaded from a bundle or without permission.
  const text = `new (${EventServer})(globalThis)`;
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
    flush: () => worker.postMessage(FLUSH),
    close: () => {
      worker.onmessage = worker.onerror = null;
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

/**
 * Watches the folders that a client requests, and reports their events: the
 * first one immediately, and those that follow in batches. A worker runs the text
 * of this class, so it must not refer to anything outside.
 */
class EventServer {
  /** The time between two batches, in milliseconds. */
  static readonly #BATCH_MS = 20;
  /** The maximum number of events in a batch. More are reported as lost. */
  static readonly #MAX_BATCH = 500;
  /** The time between closing and reopening watchers, in milliseconds. */
  static readonly #REOPEN_MS = 10;

  readonly #port: WatchPort;
  #watchers: Deno.FsWatcher[] = [];
  #events: WatchEvent[] = [];
  #count = 0;
  #lastEvent = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(port: WatchPort) {
    this.#port = port;
    port.onmessage = ({ data }) => {
      if (data === undefined) this.#close();
      else if (data === "flush") this.#flush();
      else this.#handle(data).catch((error) => this.#fail(error));
    };
  }

  async #handle({ paths, isFresh }: WatchRequest): Promise<void> {
    if (isFresh) {
      this.#close();
      // A closed path counts as watched until the event loop has turned.
      await new Promise((resolve) =>
        setTimeout(resolve, EventServer.#REOPEN_MS)
      );
    }
    this.#port.postMessage({ kind: "opened", failed: this.#open(paths) });
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
      const { NotCapable, NotFound, PermissionDenied } = Deno.errors;
      const isFolderError = [NotCapable, NotFound, PermissionDenied]
        .some((type) => error instanceof type);
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

  #record({ kind, paths, flag }: Deno.FsEvent): void {
    this.#count++;
    this.#lastEvent = performance.now();
    const last = this.#events.at(-1);
    const isRepeated = last !== undefined && !flag && last.kind === kind &&
      last.paths.join("\n") === paths.join("\n");
    if (this.#events.length === EventServer.#MAX_BATCH) {
      this.#events[0] = { kind: "other", paths: [], flag: "rescan" };
    } else if (!isRepeated) {
      this.#events.push({ kind, paths, ...(flag && { flag }) });
    }
    if (this.#timer === undefined) this.#send();
  }

  /** Reports the recorded events, and then waits before it reports the next ones. */
  #send(): void {
    this.#timer = undefined;
    if (this.#count === 0) return;
    const [events, count] = [this.#events, this.#count];
    [this.#events, this.#count] = [[], 0];
    this.#timer = setTimeout(() => this.#send(), EventServer.#BATCH_MS);
    const age = performance.now() - this.#lastEvent;
    this.#port.postMessage({ kind: "events", events, count, age });
  }

  #flush(): void {
    // Events that have reached this process arrive when the event loop turns.
    setTimeout(() => {
      clearTimeout(this.#timer);
      this.#send();
      this.#port.postMessage({ kind: "flushed" });
    }, 1);
  }

  #fail(error: unknown): void {
    const { message } = error as Error;
    this.#port.postMessage({ kind: "failed", message });
  }

  #close(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }
}
