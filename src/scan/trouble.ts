/**
 * Which scans count, although something is temporarily unreadable.
 *
 * @module
 */

import { quote } from "../text.ts";
import type { Reading, RootVisit } from "./record.ts";

/** Says what is temporarily unreadable of the user's own, if anything is. */
export function findTrouble(
  visits: readonly RootVisit[],
  reading: Reading,
): string | undefined {
  const failures = [
    ...visits.flatMap((visit) => visit.failures),
    ...reading.failures,
  ];
  const trouble = failures
    .find((failure) => failure.isTemporary && failure.scope === "global");
  return trouble && `${quote(trouble.problem.file)}: ${trouble.problem.reason}`;
}

/** The maximum number of scans in a row that do not count. */
const MAX_VOID_SCANS = 4;

/**
 * Tells which scans count, so that skills do not disappear because they are unreadable for
 * a moment. What stays unreadable is accepted with the fifth such scan in a row.
 */
export class TroubledScans {
  readonly #log: (line: string) => void;
  #voidScans = 0;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Decides whether a scan with this trouble, if any, counts, and remembers it. */
  accept(trouble: string | undefined): boolean {
    if (trouble === undefined) {
      this.#voidScans = 0;
      return true;
    }
    if (this.#voidScans === MAX_VOID_SCANS) return true;
    if (this.#voidScans === 0) {
      this.#log(
        `Cannot read ${trouble}; the skills stay as they were, and the next attempt follows in a second`,
      );
    }
    this.#voidScans++;
    return false;
  }
}
