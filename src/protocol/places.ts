/**
 * Limits how many requests are handled at a time. All handlers share one thread,
 * so handling more at a time would only take more memory.
 *
 * @module
 */

import { TimeSlice } from "../time_slice.ts";

/** The maximum number of requests that are handled at a time. */
const MAX_HANDLED = 8;

/** Starts a request, which calls the function at its end. */
type Start = (leave: () => void) => void;

interface PlacesOptions {
  /** Whether a request can start now. Default: always. */
  readonly isOpen?: () => boolean;
  /**
   * The time after which a request leaves its place to another one, in
   * milliseconds: it is assumed to wait for something, such as a shell command.
   * Default: none.
   */
  readonly slowMs?: number;
}

/** The places of the requests that are being handled. Others wait in line. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #taken = new Set<{ readonly since: number }>();
  readonly #waiting = new Set<Start>();
  readonly #slice = new TimeSlice();
  #pause: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates places that are all free. */
  constructor(options: PlacesOptions = {}) {
    this.#options = options;
  }

  /** Starts a request as soon as there is a place for it. */
  enter(start: Start): void {
    this.#waiting.add(start);
    this.fill();
  }

  /** Starts as many of the requests that wait as possible. */
  fill(): void {
    const { isOpen = () => true, slowMs = Infinity } = this.#options;
    const slowSince = Date.now() - slowMs;
    for (const place of this.#taken) {
      if (place.since <= slowSince) this.#taken.delete(place);
    }
    for (const start of this.#waiting) {
      if (this.#taken.size >= MAX_HANDLED || !isOpen()) break;
      this.#waiting.delete(start);
      const place = { since: Date.now() };
      this.#taken.add(place);
      start(() => {
        this.#taken.delete(place);
        if (this.#waiting.size > 0) this.#passOn();
      });
    }
    const isFull = this.#taken.size >= MAX_HANDLED;
    if (this.#waiting.size === 0 || !isFull || slowMs === Infinity) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.fill();
    }, slowMs);
  }

  /** Passes places on. Pauses from time to time, so that replies are written and pings are read. */
  #passOn(): void {
    if (!this.#slice.isOver) return this.fill();
    this.#pause ??= this.#slice.pause().then(() => {
      this.#pause = undefined;
      this.fill();
    });
  }
}
