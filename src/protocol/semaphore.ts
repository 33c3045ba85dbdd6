/**
 * A semaphore: a limited number of permits for work that is done at the same time.
 * Named and used like the one of `@std/async`.
 *
 * @module
 */

import { TimeSlice } from "../time_slice.ts";

/** Allows one task to run. It can be released more than once, and by `using`. */
export class Permit implements Disposable {
  readonly #onRelease: () => void;
  #isReleased = false;

  /** Creates a permit that calls back when it is released. */
  constructor(onRelease: () => void) {
    this.#onRelease = onRelease;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#onRelease();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/**
 * Hands out permits in the order in which they are asked for:
 * `using permit = await permits.acquire();`
 */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #slice = new TimeSlice();
  #pause: Promise<void> | undefined;

  constructor(permits: number) {
    this.#free = permits;
  }

  async acquire(): Promise<Permit> {
    if (this.#free > 0) this.#free--;
    else {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await this.#pauseIfDue();
    }
    return new Permit(() => this.#passOn());
  }

  /** Gives a permit to the task that has waited longest. */
  #passOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }

  /** Pauses from time to time, so that replies are written and pings are read. */
  async #pauseIfDue(): Promise<void> {
    if (!this.#slice.isOver) return;
    this.#pause ??= this.#slice.pause().finally(() => {
      this.#pause = undefined;
    });
    await this.#pause;
  }
}
