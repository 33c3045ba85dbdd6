/**
 * Long work in slices, so that other work can run in between.
 *
 * @module
 */

/** How long a scan, or another long work, may hold the event loop at a time, in milliseconds. */
export const SLICE_MS = 10;

/**
 * Divides long work, so that other work can run in between.
 */
export class TimeSlice {
  readonly #length: number;
  #end: number;

  /** Begins the first slice. All slices are of one length, in milliseconds. */
  constructor(length = SLICE_MS) {
    this.#length = length;
    this.#end = performance.now() + length;
  }

  /** Whether this has held the event loop for long enough. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Lets other work run. */
  async yield(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#end = performance.now() + this.#length;
  }
}
