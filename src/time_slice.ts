/**
 * Time slices: long tasks pause between them and let other tasks run.
 *
 * A slice is measured in time, not in items, because the same operation takes
 * microseconds on one disk and tens of milliseconds on another.
 *
 * @module
 */

/** The maximum time for which a task blocks the event loop, in milliseconds. */
const SLICE_MS = 10;

/**
 * How many turns of the event loop pass between two slices. Deno looks for what
 * arrived on sockets only after 61 turns, or when it has nothing to do. A request
 * over HTTP takes several of these looks. All turns together take 0.3 ms, or up to
 * 1 ms while the process starts.
 */
const TURNS = 4 * 61;

/** The last pause that has been scheduled, of all tasks. */
let lastPause: Promise<void> = Promise.resolve();

/** Divides a long task into slices, so that other tasks can run in between. */
export class TimeSlice {
  readonly #length: number;
  #start: number;

  /** Starts the first slice. All slices have the same length, in milliseconds. */
  constructor(length = SLICE_MS) {
    this.#length = length;
    this.#start = Date.now();
  }

  /** Whether the current slice has ended. */
  get isOver(): boolean {
    return this.isOverAt(Date.now());
  }

  /**
   * Whether the current slice has ended at a time, as `Date.now` returns it. That
   * takes a sixth of `performance.now`, but the clock can be set back.
   */
  isOverAt(now: number): boolean {
    const time = now - this.#start;
    return time >= this.#length || time < 0;
  }

  /**
   * Lets other tasks run, and then starts the next slice. Tasks that wait here
   * resume one after the other, with a pause before each. What has arrived in the
   * meantime would otherwise wait for a slice of each of them.
   */
  async yield(): Promise<void> {
    await (lastPause = lastPause.then(pause));
    this.#start = Date.now();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    let turns = 0;
    const turn = () => {
      if (turns++ < TURNS) setImmediate(turn);
      else resolve();
    };
    turn();
  });
}

/** Waits for a time in milliseconds, or only until something else is done. */
export async function wait(
  milliseconds: number,
  done?: Promise<unknown>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    await Promise.race([promise, ...(done ? [done] : [])]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A task that can pause at each `yield`. Operations on files come between the
 * pauses, because on a network each one can take as long as a slice. The same
 * task can also run without pauses.
 */
export type Steps<T> = Generator<void, T, void>;

/** Runs a task without pauses. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Whether the last step of a task took a whole slice, as on a slow disk. */
let isSlow = false;

/** Runs a task, and pauses at the end of each slice. */
export async function runInSlices<T>(
  steps: Steps<T>,
  slice: TimeSlice = new TimeSlice(),
): Promise<T> {
  // Tasks that start together would block for the sum of their first steps.
  if (isSlow) await slice.yield();
  for (let time = Date.now();;) {
    const { done, value } = steps.next();
    const now = Date.now();
    isSlow = now - time >= SLICE_MS;
    if (done) return value;
    time = now;
    if (slice.isOverAt(now)) {
      await slice.yield();
      time = Date.now();
    }
  }
}

/**
 * Runs a task once at a time. Calls while it runs share the next run, because the
 * running one may have missed the latest changes.
 */
export class SharedTask<T> {
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  /** Whether the task is running or going to run. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Runs the task, or returns the result of the next run. */
  run(task: () => Promise<T>): Promise<T> {
    if (this.#running === undefined) {
      this.#running = task().finally(() => this.#running = undefined);
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
