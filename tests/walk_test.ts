import assert from "node:assert/strict";
import { lacks } from "./testing/needs.ts";
import { Random } from "./walk/random.ts";
import { record, RecordedDisk } from "./walk/recording.ts";
import { chooseCourse } from "./walk/start.ts";
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

/** The recorded walks that found a fault, one in each line. */
const FOUND = "tests/walk/found.jsonl";

/** The file to which RECORD=<file> adds the walks. */
const RECORD = Deno.env.get("RECORD");

/** How many walks take place at a time. They mostly wait for servers. */
const CONCURRENT = 8;

/** Does something with items, several at a time. */
async function forAll<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = Iterator.from(items);
  const run = async () => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENT }, run));
}

/** Takes a random walk, and reports how to repeat and how to keep a failure. */
async function walk(seed: number, mode: WalkMode, steps: number) {
  if (RECORD !== undefined) {
    const line = record(chooseCourse(seed), mode, steps);
    Deno.writeTextFileSync(RECORD, line, { append: true });
  }
  using walk = new Walk(chooseCourse(seed), new Random(~seed));
  try {
    await walk.run(steps, mode);
  } catch (error) {
    const variable = `WALK=${walk.step}:${seed}:${mode}`;
    assert.fail(
      `${variable}\nTo repeat the walk in every run of the tests, run this one with ` +
        `RECORD=${FOUND} ${variable} once\n${(error as Error).message}`,
    );
  }
}

/** Repeats a recorded walk. */
async function replay(line: string): Promise<void> {
  const disk = new RecordedDisk(line);
  using walk = new Walk({ disk, start: disk.start }, new Random(1), 2);
  await walk.run(disk.steps.length, disk.mode);
}

const OPTIONS = { ignore: lacks("links", "names") };

Deno.test(
  `every view shows what the reference model says, after ${STEPS} random changes (seed ${SEED})`,
  OPTIONS,
  async () => {
    const length = Math.ceil(Number(STEPS) / WALK_STEPS);
    const steps = Math.min(Number(STEPS), WALK_STEPS);
    await forAll(Array(length).keys(), (index) => {
      const mode = index % WALKS_PER_WATCH === 1 ? "watch" : "scan";
      return walk(Number(SEED) + index, MODE as WalkMode ?? mode, steps);
    });
  },
);

Deno.test(
  "every view shows what the reference model says, where it once did not",
  OPTIONS,
  async () => {
    const text = await Deno.readTextFile(
      `${import.meta.dirname}/walk/found.jsonl`,
    );
    await forAll(text.trimEnd().split("\n"), replay);
  },
);
