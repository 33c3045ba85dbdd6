/**
 * Tasks on the one thread: long ones pause between slices of time, and one that several
 * callers ask for runs once.
 */

/**
 * The maximum time for which a task blocks the event loop, in milliseconds. A number of
 * items would not do, because the same operation takes microseconds on one disk and tens
 * of milliseconds on another.
 */
export const SLICE_MS = 20;

/**
 * How many turns of the event loop pass between two slices. Deno looks for what
 * arrived on sockets only after 61 turns, or when it has nothing to do. A request
 * over HTTP takes several of these looks. All turns together take 0.4 ms, or up to
 * 1 ms while the process starts.
 */
export const TURNS = 4 * 61;

/** The last pause that any task has scheduled. */
let lastPause: Promise<void> = Promise.resolve();

/**
 * Divides a long task into slices: `if (slice.isOver) await slice.pause();` once
 * for each entry of a loop.
 */
export class TimeSlice {
  #start = Date.now();

  get isOver(): boolean {
    return Date.now() - this.#start >= SLICE_MS;
  }

  /**
   * Lets other tasks run, and then starts the next slice. Tasks that wait here
   * resume one after the other, with a pause before each. What has arrived in the
   * meantime would otherwise wait for a slice of each of them.
   */
  async pause(): Promise<void> {
    lastPause = lastPause.then(turnEventLoop);
    await lastPause;
    this.#start = Date.now();
  }
}

async function turnEventLoop(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits for a time in milliseconds, or only until something else is done. */
export async function wait(
  milliseconds: number,
  done?: Promise<unknown>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    await Promise.race([promise, done ?? promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs a task once at a time. Calls while it runs share the next run, because the
 * running one may have missed the latest changes.
 */
export class SharedTask<T> {
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  run(task: () => Promise<T>): Promise<T> {
    if (this.#running === undefined) {
      this.#running = task().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    // An error of the running task concerns only its own callers.
    this.#next ??= this.#running.catch(() => {}).then(() => {
      this.#next = undefined;
      return this.run(task);
    });
    return this.#next;
  }
}
