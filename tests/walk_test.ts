import assert from "node:assert/strict";
import { lacks } from "./testing/needs.ts";
import { Walk, type WalkMode } from "./walk/walk.ts";

/**
 * The number of steps, the seed of the first walk, and what all of them check:
 * WALK=<steps>:<seed>[:<mode>] sets them.
 */
const [STEPS = "500", SEED = "1", MODE] = Deno.env.get("WALK")?.split(":") ??
  [];

/** The number of steps of one walk, which has its own disk and settings. */
const WALK_STEPS = 100;

/** One of so many walks watches the disk, which takes a while. */
const WALKS_PER_WATCH = 10;

/** The seeds of walks that found a fault. */
const FOUND: Readonly<Record<WalkMode, readonly number[]>> = {
  scan: [67, 98, 243, 333, 473, 20267],
  watch: [1052],
};

/** Walks with a seed, and reports how to repeat a failure. */
async function walk(
  seed: number,
  steps: number,
  { mode }: { mode: WalkMode },
): Promise<void> {
  try {
    using walk = new Walk(seed);
    await walk.run(steps, mode);
  } catch (error) {
    assert.fail(`WALK=${steps}:${seed}:${mode}\n${(error as Error).message}`);
  }
}

/** How many walks take place at a time. They mostly wait for servers. */
const CONCURRENT = 8;

/** Runs walks, several at a time. */
async function walkAll(
  walks: readonly { seed: number; steps: number; mode: WalkMode }[],
): Promise<void> {
  const remaining = walks.values();
  const run = async () => {
    for (const { seed, steps, mode } of remaining) {
      await walk(seed, steps, { mode });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, run));
}

Deno.test({
  name:
    `every view shows what the reference model says, after ${STEPS} random changes (seed ${SEED})`,
  ignore: lacks("links", "names"),
  fn: () =>
    walkAll(
      Array.from(
        { length: Math.ceil(Number(STEPS) / WALK_STEPS) },
        (_, index) => ({
          seed: Number(SEED) + index,
          steps: Math.min(WALK_STEPS, Number(STEPS) - index * WALK_STEPS),
          mode: MODE as WalkMode ??
            (index % WALKS_PER_WATCH === 1 ? "watch" : "scan"),
        }),
      ),
    ),
});

Deno.test({
  name: "every view shows what the reference model says, where it once did not",
  ignore: lacks("links", "names"),
  fn: () =>
    walkAll(
      Object.entries(FOUND).flatMap(([mode, seeds]) =>
        seeds.map((seed) => ({
          seed,
          steps: WALK_STEPS,
          mode: mode as WalkMode,
        }))
      ),
    ),
});
