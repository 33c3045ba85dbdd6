/**
 * Time slices: long tasks pause between them and let other tasks run.
 *
 * A slice is measured in time, not in items, because the same operation takes
 * microseconds on one disk and tens of milliseconds on another.
 *
 * @module
 */

/** The maximum time for which a task blocks the event loop, in milliseconds. */
export const SLICE_MS = 20;

/**
 * How many turns of the event loop pass between two slices. Deno looks for what
 * arrived on sockets only after 61 turns, or when it has nothing to do. A request
 * over HTTP takes several of these looks. All turns together take 0.4 ms, or up to
 * 1 ms while the process starts.
 */
export const TURNS = 4 * 61;

/** The last pause that has been scheduled, of all tasks. */
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
