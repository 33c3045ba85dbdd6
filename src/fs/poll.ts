/**
 * Compares the state of paths each second. This finds what causes no file event: a
 * symlink that appears, a directory created where there was none, or moved away and
 * back, and a symlink that is switched to another directory.
 */

import { mayRead } from "./paths.ts";
import { versionOf } from "./read.ts";

/** The time between two comparisons, in milliseconds. */
const POLL_MS = 1_000;

/** Calls back if one of its paths leads to something else, or has changed. */
export class PathPoller {
  readonly #onChange: () => void;
  #states = new Map<string, string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#schedule();
  }

  /** Replaces the paths. The states of new ones count from now on. */
  update(paths: Iterable<string>): void {
    const last = this.#states;
    this.#states = new Map(
      Iterator.from(paths).filter(mayRead)
        .map((path) => [path, last.get(path) ?? readStateSync(path)]),
    );
  }

  /** Stops comparing. Can be called more than once. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#poll(), POLL_MS);
    Deno.unrefTimer(this.#timer);
  }

  /** Compares one path at a time, so that a disk that does not answer takes one thread. */
  async #poll(): Promise<void> {
    const states = this.#states;
    let isChanged = false;
    for (const [path, last] of states) {
      const state = await readState(path);
      states.set(path, state);
      isChanged ||= state !== last;
    }
    if (isChanged && !this.#isClosed) this.#onChange();
    this.#schedule();
  }
}

function readStateSync(path: string): string {
  try {
    return versionOf(Deno.statSync(path));
  } catch (error) {
    return (error as Error).name;
  }
}

async function readState(path: string): Promise<string> {
  try {
    return versionOf(await Deno.stat(path));
  } catch (error) {
    return (error as Error).name;
  }
}
