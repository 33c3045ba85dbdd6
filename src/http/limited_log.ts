/**
 * A log for events that clients can cause at any rate.
 *
 * @module
 */

/** The minimum time between two lines, in milliseconds. */
const INTERVAL_MS = 60_000;

/** Logs at most one line a minute, so that clients cannot fill the log. */
export class LimitedLog {
  readonly #log: (line: string) => void;
  #nextTime = -Infinity;
  #dropped = 0;

  /** Creates a limited log that writes to another log. */
  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Logs a line, or counts it if there was one in the last minute. */
  write(line: string): void {
    const time = performance.now();
    if (time < this.#nextTime) {
      this.#dropped++;
      return;
    }
    const others = this.#dropped > 0
      ? ` (${this.#dropped} more such events since the last line)`
      : "";
    this.#log(line + others);
    this.#nextTime = time + INTERVAL_MS;
    this.#dropped = 0;
  }
}
