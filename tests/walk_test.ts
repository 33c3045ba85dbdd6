import assert from "node:assert/strict";
import { lacks } from "./testing.ts";
import { Walk, type WalkOptions } from "./walk/walk.ts";

/** The number of steps, and the seed of the first walk: WALK=<steps>:<seed> sets both. */
const [STEPS, SEED] = (Deno.env.get("WALK") ?? "2000:1").split(":")
  .map(Number) as [number, number];

/** The number of steps of one walk, which has its own disk and settings. */
const WALK_STEPS = 100;

/**
 * Of so many walks, one ends with processes, and another has a server that watches,
 * because both take a while.
 */
const WALKS_PER_SLOW = Number(Deno.env.get("SLOWLY") ?? 10);

/** The seeds of walks that found a fault. */
const FOUND = [67, 98, 243, 333, 473, 20267];

/** Walks with a seed, and reports how to repeat a failure. */
async function walk(
  seed: number,
  steps: number,
  options: WalkOptions,
): Promise<void> {
  try {
    using walk = new Walk(seed);
    await walk.run(steps, options);
  } catch (error) {
    assert.fail(`WALK=${steps}:${seed}\n${(error as Error).message}`);
  }
}

Deno.test({
  name:
    `every view shows what the reference model says, after ${STEPS} random changes (seed ${SEED})`,
  ignore: lacks("links", "names"),
  fn: async () => {
    for (let count = 0; count * WALK_STEPS < STEPS; count++) {
      const steps = Math.min(WALK_STEPS, STEPS - count * WALK_STEPS);
      const turn = count % WALKS_PER_SLOW;
      const options = { watches: turn === 1, withProcesses: turn === 0 };
      await walk(SEED + count, steps, options);
    }
  },
});

Deno.test({
  name: "every view shows what the reference model says, where it once did not",
  ignore: lacks("links", "names"),
  fn: async () => {
    for (const seed of FOUND) {
      const options = { watches: false, withProcesses: false };
      await walk(seed, WALK_STEPS, options);
    }
  },
});
