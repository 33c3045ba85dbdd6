// Waiting for events, and the growth of running times.
import assert from "node:assert/strict";
import process from "node:process";

/**
 * The default time limit for anything that a test awaits, in milliseconds. It
 * is much longer than necessary.
 */
const DEADLINE_MS = 60_000;

/** Returns the value of a promise, or throws at the time limit. */
export async function within<T>(
  promise: Promise<T>,
  what: string,
  deadline = DEADLINE_MS,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Timed out waiting for ${what}`)),
    deadline,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until a condition holds, or throws at the time limit. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  while (!await condition()) {
    if (performance.now() > end) {
      throw new Error(`Timed out waiting for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** A queue of values that a test can wait for. */
export class Inbox<T> {
  readonly values: T[] = [];
  #wake = Promise.withResolvers<void>();
  /** Why no more values arrive. */
  #end: string | undefined;

  put(value: T): void {
    this.values.push(value);
    this.#wakeUp();
  }

  /** Makes whoever waits for a value fail at once. */
  end(reason: string): void {
    this.#end = reason;
    this.#wakeUp();
  }

  #wakeUp(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** Takes all values that have arrived. */
  takeAll(): T[] {
    return this.values.splice(0);
  }

  /** Waits for a value that matches and takes it. */
  take(matches: (value: T) => boolean, what: string): Promise<T> {
    return within(this.#take(matches, what), what);
  }

  async #take(matches: (value: T) => boolean, what: string): Promise<T> {
    for (;;) {
      const index = this.values.findIndex(matches);
      if (index >= 0) return this.values.splice(index, 1)[0]!;
      if (this.#end !== undefined) {
        throw new Error(`Cannot wait for ${what}: ${this.#end}`);
      }
      await this.#wake.promise;
    }
  }
}

/** The minimum time that a measurement is compared with, in milliseconds. */
const QUICK_MS = 20;

/**
 * Asserts that the running time of a task grows linearly with the length of its
 * input. An input of four times the length must take less than eight times as long;
 * in quadratic time, it would take sixteen times as long. Only the time counts that
 * this thread computes, whatever other tests and the machine do, and of several rounds
 * the fastest one.
 */
export async function assertLinearTime(
  work: (length: number) => unknown,
  { length, what }: { length: number; what: string },
): Promise<void> {
  const lengths = [Math.ceil(length / 4), length];
  const best = [Infinity, Infinity];
  const hasPassed = () => best[1]! < 8 * Math.max(best[0]!, QUICK_MS);
  for (let round = 0; round < 10; round++) {
    for (const [index, length] of lengths.entries()) {
      const start = process.threadCpuUsage();
      await work(length);
      const { user, system } = process.threadCpuUsage(start);
      best[index] = Math.min(best[index]!, (user + system) / 1_000);
    }
    if (hasPassed()) return;
  }
  const [short, long] = best.map((time) => `${time.toFixed(1)} ms`);
  assert.fail(
    `${what}: a quarter of the input takes ${short}, and all of it takes ${long}`,
  );
}
