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
 * How many turns of the event loop pass between two slices. A request over HTTP
 * takes several, and would wait for as many slices otherwise.
 */
const TURNS = 4;

/** Of so many pauses, one begins with a timer. */
const YIELDS_PER_TIMER = 4;

/** The number of pauses of all tasks. */
let yields = 0;

/** Bytes whose digest takes long enough for the thread to be idle in the meantime. */
const BYTES = new Uint8Array(32 * 1024);

/** Divides a long task into slices, so that other tasks can run in between. */
export class TimeSlice {
  readonly #length: number;
  #end: number;

  /** Starts the first slice. All slices have the same length, in milliseconds. */
  constructor(length = SLICE_MS) {
    this.#length = length;
    this.#end = performance.now() + length;
  }

  /** Whether the current slice has ended. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /**
   * Lets other tasks run, and then starts the next slice.
   *
   * Deno looks for what arrived on sockets when its thread has nothing to do, or
   * after 61 turns of the event loop. `setImmediate` keeps it busy, and a timer
   * takes two milliseconds. So this waits for another thread, which takes less than
   * a tenth of a millisecond, and then for all that has arrived. On a busy machine,
   * the other thread can be done before this one is idle, so there is a timer now
   * and then.
   */
  async yield(): Promise<void> {
    if (++yields % YIELDS_PER_TIMER === 0) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    for (let turn = 0; turn < TURNS; turn++) {
      await crypto.subtle.digest("SHA-256", BYTES);
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    this.#end = performance.now() + this.#length;
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

/** Runs a task, and pauses at the end of each slice. */
export async function runInSlices<T>(
  steps: Steps<T>,
  slice: TimeSlice = new TimeSlice(),
): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (slice.isOver) await slice.yield();
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
