// A random walk over the states of a disk, and the walks that once found a fault.
import assert from "node:assert/strict";
import { lacks } from "./testing/needs.ts";
import { FOUND } from "./walk/found.ts";
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

/** How many walks take place at a time. They mostly wait for servers. */
const CONCURRENT = 8;

/** Runs functions, several at a time. */
async function runAll(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const remaining = tasks.values();
  const run = async () => {
    for (const task of remaining) await task();
  };
  await Promise.all(Array.from({ length: CONCURRENT }, run));
}

/** Takes a random walk, and reports how to repeat a failure. */
async function walkAtRandom(
  seed: number,
  steps: number,
  mode: WalkMode,
): Promise<void> {
  try {
    using walk = Walk.draw(seed, steps);
    await walk.run(mode);
  } catch (error) {
    assert.fail(`WALK=${steps}:${seed}:${mode}\n${(error as Error).message}`);
  }
}

const OPTIONS = { ignore: lacks("links", "names") };

Deno.test(
  `every view shows what the reference model says, after ${STEPS} random changes (seed ${SEED})`,
  OPTIONS,
  async () => {
    const length = Math.ceil(Number(STEPS) / WALK_STEPS);
    const steps = Math.min(Number(STEPS), WALK_STEPS);
    const walks = Array.from({ length }, (_, index) => () => {
      const mode = index % WALKS_PER_WATCH === 1 ? "watch" : "scan";
      return walkAtRandom(
        Number(SEED) + index,
        steps,
        MODE as WalkMode ?? mode,
      );
    });
    await runAll(walks);
  },
);

for (const [fault, recording] of Object.entries(FOUND)) {
  Deno.test(
    `every view shows what the reference model says, where once ${fault}`,
    OPTIONS,
    async () => {
      using walk = Walk.repeat(recording);
      await walk.run(recording.mode);
    },
  );
}
