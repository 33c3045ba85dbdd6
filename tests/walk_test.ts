import assert from "node:assert/strict";
import { lacks } from "./testing/needs.ts";
import { Walk } from "./walk/walk.ts";

/** The number of steps, and the seed of the first walk: WALK=<steps>:<seed> sets them. */
const [STEPS, SEED] = (Deno.env.get("WALK") ?? "500:1").split(":").map(Number);

/** The number of steps of one walk, which has its own disk and settings. */
const WALK_STEPS = 100;

/** The seeds of walks that found a fault. */
const FOUND = [67, 98, 243, 333, 473, 1052, 20267];

/** How many walks take place at a time. They mostly wait for servers. */
const CONCURRENT = 8;

/** Runs walks, several at a time, and reports how to repeat a failure. */
async function walkAll(seeds: readonly number[], steps: number): Promise<void> {
  const remaining = seeds.values();
  const run = async () => {
    for (const seed of remaining) {
      try {
        using walk = new Walk(seed);
        await walk.run(steps);
      } catch (error) {
        assert.fail(`WALK=${steps}:${seed}\n${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, run));
}

Deno.test(
  `every view shows what the reference model says, after ${STEPS} random changes (seed ${SEED})`,
  {
    ignore: lacks("links", "names"),
  },
  async () => {
    const length = Math.ceil(STEPS! / WALK_STEPS);
    const seeds = Array.from({ length }, (_, index) => SEED! + index);
    await walkAll(seeds, Math.min(STEPS!, WALK_STEPS));
  },
);

Deno.test(
  "every view shows what the reference model says, where it once did not",
  {
    ignore: lacks("links", "names"),
  },
  () => walkAll(FOUND, WALK_STEPS),
);
