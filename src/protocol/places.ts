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
  readonly #isOpen: () => boolean;
  readonly #slowMs: number | undefined;
  readonly #taken = new Set<{ readonly since: number }>();
  readonly #waiting = new Set<Start>();
  readonly #slice = new TimeSlice();
  #pause: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates places that are all free. */
  constructor({ isOpen = () => true, slowMs }: PlacesOptions = {}) {
    this.#isOpen = isOpen;
    this.#slowMs = slowMs;
  }

  /** Starts a request as soon as there is a place for it. */
  enter(start: Start): void {
    this.#waiting.add(start);
    this.fill();
  }

  /** Starts as many of the requests that wait as possible. */
  fill(): void {
    this.#freeSlowPlaces();
    for (const start of this.#waiting) {
      if (this.#taken.size >= MAX_HANDLED || !this.#isOpen()) break;
      this.#waiting.delete(start);
      const place = { since: Date.now() };
      this.#taken.add(place);
      start(() => {
        this.#taken.delete(place);
        if (this.#waiting.size > 0) this.#passOn();
      });
    }
  }

  /** Passes places on. Pauses from time to time, so that replies are written and pings are read. */
  #passOn(): void {
    if (!this.#slice.isOver) this.fill();
    else {
      this.#pause ??= this.#slice.yield().then(() => {
        this.#pause = undefined;
        this.fill();
      });
    }
  }

  #freeSlowPlaces(): void {
    if (this.#slowMs === undefined || this.#taken.size < MAX_HANDLED) return;
    const time = Date.now() - this.#slowMs;
    for (const place of this.#taken) {
      if (place.since <= time) this.#taken.delete(place);
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#waiting.size > 0) this.fill();
    }, this.#slowMs);
  }
}
