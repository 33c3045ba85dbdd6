import assert from "node:assert/strict";
import { lacks } from "./testing/needs.ts";
import { Walk, type WalkMode } from "./walk/walk.ts";

/**
 * The number of steps, the seed of the first walk, and what all of them check:
 * WALK=<steps>:<seed>[:<mode>] sets them.
 */
const [STEPS, SEED, MODE] = (Deno.env.get("WALK") ?? "500:1").split(":");

/** The number of steps of one walk, which has its own disk and settings. */
const WALK_STEPS = 100;

/** One of so many walks watches the disk, which takes a while. */
const WALKS_PER_WATCH = 10;

/** The seeds of walks that found a fault. */
const FOUND: readonly [seed: number, mode: WalkMode][] = [
  ...[67, 98, 243, 333, 473, 20267, 1500174].map((
    it,
  ): [number, "scan"] => [it, "scan"]),
  [1052, "watch"],
];

/** How many walks take place at a time. They mostly wait for servers. */
const CONCURRENT = 8;

/** Runs walks, several at a time, and reports how to repeat a failure. */
async function walkAll(walks: typeof FOUND, steps = WALK_STEPS): Promise<void> {
  const remaining = walks.values();
  const run = async () => {
    for (const [seed, mode] of remaining) {
      try {
        using walk = new Walk(seed);
        await walk.run(steps, mode);
      } catch (error) {
        assert.fail(
          `WALK=${steps}:${seed}:${mode}\n${(error as Error).message}`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, run));
}

const OPTIONS = { ignore: lacks("links", "names") };

Deno.test(
  `every view shows what the reference model says, after ${STEPS} random changes (seed ${SEED})`,
  OPTIONS,
  async () => {
    const length = Math.ceil(Number(STEPS) / WALK_STEPS);
    const walks = Array.from({ length }, (_, index): [number, WalkMode] => {
      const mode = index % WALKS_PER_WATCH === 1 ? "watch" : "scan";
      return [Number(SEED) + index, MODE as WalkMode ?? mode];
    });
    await walkAll(walks, Math.min(Number(STEPS), WALK_STEPS));
  },
);

Deno.test(
  "every view shows what the reference model says, where it once did not",
  OPTIONS,
  () => walkAll(FOUND),
);
