/**
 * Long work in slices, so that other work can run in between.
 *
 * @module
 */

/** How long a scan, or another long work, may hold the event loop at a time, in milliseconds. */
const SLICE_MS = 10;

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
    // A timer would take a millisecond or two, of which there would be many.
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    this.#end = performance.now() + this.#length;
  }
}

/** How many items are sorted at once. */
const RUN_LENGTH = 2_000;

/** How many items are merged before the slice is looked at. */
const MERGE_LENGTH = 500;

/** Sorts items in slices: first short runs, then these are merged in pairs. */
export async function sortInSlices<T>(
  items: readonly T[],
  options: { compare: (a: T, b: T) => number; slice: TimeSlice },
): Promise<T[]> {
  const { compare, slice } = options;
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += RUN_LENGTH) {
    if (slice.isOver) await slice.yield();
    runs.push(items.slice(start, start + RUN_LENGTH).sort(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(await merge(runs.slice(index, index + 2), options));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Merges two sorted runs, or takes one as it is. */
async function merge<T>(
  [a = [], b = []]: readonly T[][],
  { compare, slice }: { compare: (a: T, b: T) => number; slice: TimeSlice },
): Promise<T[]> {
  const merged: T[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (merged.length % MERGE_LENGTH === 0 && slice.isOver) await slice.yield();
    merged.push(compare(a[i]!, b[j]!) <= 0 ? a[i++]! : b[j++]!);
  }
  return merged.concat(a.slice(i), b.slice(j));
}
