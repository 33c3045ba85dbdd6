/**
 * Notices changes: {@linkcode DirWatcher} by the events of directories, and
 * {@linkcode PathPoller} by comparing the states of paths. Any change means: scan again.
 */

import { attempt } from "../attempt.ts";
import { mayRead, withDirsAbove } from "./paths.ts";
import { versionOf } from "./read.ts";

/**
 * The maximum number of watched directories. Deno compares each event with each watched
 * path: with 1,000 paths, a removed file takes 0.6 ms of another thread. On macOS, each
 * path that is added creates all event streams again. On Windows, a watched directory
 * keeps the directories above it from being renamed.
 *
 * @see {@link https://github.com/notify-rs/notify/issues/988}
 * @see
 *   {@link https://learn.microsoft.com/en-us/windows/win32/api/winbase/nf-winbase-readdirectorychangesw}
 */
export const MAX_WATCHED_DIRS: number = Deno.build.os === "linux" ? 1_200 : 48;

/** How long to wait for related events after an event, in milliseconds. */
const DEBOUNCE_MS = 100;

/** How long to wait after the first event, in milliseconds, if others never stop. */
const MAX_DELAY_MS = 1_000;

/**
 * How long to wait before reopening a path, in milliseconds. Deno forgets a directory
 * that was moved away only once its watcher is closed and the event loop has turned.
 */
const REOPEN_MS = 10;

/** Watches directories and reports each burst of events once. */
export class DirWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  #dirs: ReadonlySet<string> = new Set();
  /** These and all directories above them. */
  #withDirsAbove: ReadonlySet<string> = new Set();
  #isComplete = false;
  #watcher: Deno.FsWatcher | undefined;
  /** Whether the paths must be opened: at first, or if a directory may have been moved away. */
  #isStale = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the first event of the burst happened, in milliseconds. */
  #start: number | undefined;
  #opening: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param onEvents Called after events. It is expected to call {@linkcode update}. */
  constructor(onEvents: () => void, log: (line: string) => void) {
    this.#onEvents = onEvents;
    this.#log = log;
  }

  /** Whether all directories of the last update are watched. */
  get isComplete(): boolean {
    return this.#isComplete && !this.#isClosed;
  }

  /**
   * Replaces the watched directories. Ignores directories that Deno may not read, and
   * all beyond the limit, so the most important ones should be first.
   */
  update(dirs: Iterable<string>): void {
    if (this.#isClosed) return;
    const usable = Iterator.from(dirs).filter(canWatch)
      .take(1 + MAX_WATCHED_DIRS).toArray();
    const watched = new Set(usable.slice(0, MAX_WATCHED_DIRS));
    this.#isComplete = watched.size === usable.length;
    // An edit changes only the order, for which nothing needs to be opened again.
    const isSame = watched.symmetricDifference(this.#dirs).size === 0;
    if (isSame && !this.#isStale) return;
    this.#dirs = watched;
    this.#withDirsAbove = new Set([...watched].flatMap(withDirsAbove));
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
    const dirs = [...this.#dirs].filter(canWatch);
    try {
      if (dirs.length > 0) {
        this.#watcher = Deno.watchFs(dirs, { recursive: false });
        this.#listen(this.#watcher).catch((error) => this.#giveUp(error));
      }
    } catch (error) {
      if (dirs.every(canWatch)) return this.#giveUp(error as Error);
    }
    // Earlier changes caused no event.
    this.#schedule();
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    for await (const { kind, paths } of watcher) {
      if (kind === "access") continue;
      const isOnTheWay = paths.some((path) => this.#withDirsAbove.has(path));
      if (kind !== "modify" && isOnTheWay) this.#isStale = true;
      this.#schedule();
    }
  }

  #schedule(): void {
    const now = performance.now();
    this.#start ??= now;
    // The timer that is running by then fires in time.
    if (now - this.#start >= MAX_DELAY_MS - DEBOUNCE_MS) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#start = undefined;
      this.#onEvents();
    }, DEBOUNCE_MS);
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
  return mayRead(path) && attempt(() => Deno.statSync(path)) !== undefined;
}

/** The time between two comparisons, in milliseconds. */
const POLL_MS = 1_000;

/**
 * Compares the state of paths each second. This finds what causes no file event: a
 * symlink that appears, a directory created where there was none, or moved away and
 * back, and a symlink that is switched to another directory.
 */
export class PathPoller {
  readonly #onChange: () => void;
  #states = new Map<string, string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#schedule();
  }

  /** Replaces the paths. The states of new ones count from now on. */
  update(paths: Iterable<string>): void {
    const last = this.#states;
    this.#states = new Map(
      Iterator.from(paths).filter(mayRead)
        .map((path) => [path, last.get(path) ?? readStateSync(path)]),
    );
  }

  /** Stops comparing. Can be called more than once. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#poll(), POLL_MS);
    Deno.unrefTimer(this.#timer);
  }

  /** Compares one path at a time, so that a disk that does not answer takes one thread. */
  async #poll(): Promise<void> {
    const states = this.#states;
    let isChanged = false;
    for (const [path, last] of states) {
      const state = await readState(path);
      states.set(path, state);
      isChanged ||= state !== last;
    }
    if (isChanged && !this.#isClosed) this.#onChange();
    this.#schedule();
  }
}

function readStateSync(path: string): string {
  try {
    return versionOf(Deno.statSync(path));
  } catch (error) {
    return (error as Error).name;
  }
}

async function readState(path: string): Promise<string> {
  try {
    return versionOf(await Deno.stat(path));
  } catch (error) {
    return (error as Error).name;
  }
}
