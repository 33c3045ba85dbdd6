/**
 * A semaphore: a limited number of permits for work that is done at the same time.
 * Named and used like the one of `@std/async`.
 */

import { TimeSlice } from "../tasks.ts";

/** Allows one task to run. It can be released more than once, and by `using`. */
export class Permit implements Disposable {
  readonly #onRelease: () => void;
  #isReleased = false;

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

interface Waiting {
  readonly units: number;
  readonly start: () => void;
}

/**
 * Hands out permits in the order in which they are asked for:
 * `using permit = await permits.acquire();`. A large task takes more than one unit.
 */
export class Semaphore {
  #free: number;
  readonly #waiting: Waiting[] = [];
  readonly #slice = new TimeSlice();
  #pause: Promise<void> | undefined;

  constructor(units: number) {
    this.#free = units;
  }

  /** Waits for as many units as the task takes, which must not be more than there are. */
  async acquire(units = 1): Promise<Permit> {
    if (this.#waiting.length === 0 && units <= this.#free) this.#free -= units;
    else {
      await new Promise<void>((start) => this.#waiting.push({ units, start }));
      await this.#pauseIfDue();
    }
    return new Permit(() => this.#release(units));
  }

  /** Starts the tasks that have waited longest, as far as the free units allow. */
  #release(units: number): void {
    this.#free += units;
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || next.units > this.#free) return;
      this.#waiting.shift();
      this.#free -= next.units;
      next.start();
    }
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
