/** Sharing the single thread: yielding in long loops, waiting, and running a task once. */

/** The longest time for which a loop blocks the event loop, in milliseconds. */
const TURN_MS = 20;

/**
 * How many turns of the event loop pass between two parts of a long task. Deno polls
 * sockets only every 61 turns, or when it is idle, and an HTTP request takes several
 * polls. All turns together take 0.4 ms.
 */
const TURNS = 4 * 61;

/**
 * Yields the items of a list in order, including items appended meanwhile, and lets
 * other tasks run in between.
 */
export async function* inTurns<T>(items: Iterable<T>): AsyncGenerator<T> {
  let start = Date.now();
  for (const item of items) {
    if (Date.now() - start >= TURN_MS) {
      for (let turn = 0; turn < TURNS; turn++) await nextTurn();
      start = Date.now();
    }
    yield item;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits for a time in milliseconds, or until a promise settles, whichever comes first. */
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
 * Never runs two tasks at the same time. Calls during a run share the next one, because
 * the current run may have missed the latest changes.
 */
export class SharedTask<T> {
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  /** The current run, if there is one. */
  get running(): Promise<T> | undefined {
    return this.#running;
  }

  run(task: () => Promise<T>): Promise<T> {
    if (this.#running === undefined) {
      this.#running = task().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    // Only the callers of the current run get its error.
    this.#next ??= this.#running.catch(() => {}).then(() => {
      this.#next = undefined;
      return this.run(task);
    });
    return this.#next;
  }
}
