import assert from "node:assert/strict";
import { withTimers } from "../../tests/testing/waiting.ts";
import { Rescans } from "./rescans.ts";

Deno.test("Rescans.schedule() takes at most one part in 500 of the time for scans, and ignores one that was delayed", async () => {
  const delays: number[] = [];
  const delayOf = (delay: number) => delays.push(delay) && delay;
  await withTimers(delayOf, () => {
    const log = () => {};
    const options = { refreshSeconds: 30, watchFolders: false, log };
    const rescans = new Rescans(() => Promise.resolve(), options);
    rescans.start();
    for (const time of [12, 12, 100, 12]) rescans.schedule(time);
    for (const time of [100, 100]) rescans.schedule(time);
    rescans.schedule(100, { isTroubled: true });
    rescans.close();
    return Promise.resolve();
  });
  const regular = [6_000, 6_000, 6_000, 6_000, 30_000];
  assert.deepEqual(delays, [1_000, 1_000, ...regular, 1_000]);
});
