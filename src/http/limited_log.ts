/**
 * A log for events that clients can cause at any rate.
 *
 * @module
 */

/** The minimum time between two lines, in milliseconds. */
const INTERVAL_MS = 60_000;

/**
 * Creates a log that passes on at most one line a minute and counts the others, so
 * that clients cannot fill it.
 */
export function limitLog(log: (line: string) => void): (line: string) => void {
  let nextTime = -Infinity;
  let dropped = 0;
  return (line) => {
    const time = performance.now();
    if (time < nextTime) {
      dropped++;
      return;
    }
    const others = dropped > 0
      ? ` (${dropped} more such events since the last line)`
      : "";
    log(line + others);
    nextTime = time + INTERVAL_MS;
    dropped = 0;
  };
}
