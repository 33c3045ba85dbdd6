import assert from "node:assert/strict";
import { Inbox, withTimers } from "../../tests/testing/waiting.ts";
import { Rescans } from "./rescans.ts";

/** Returns the delays of the timers that are started, in milliseconds. */
async function delaysOf(
  refreshSeconds: number,
  use: (rescans: Rescans) => void,
): Promise<number[]> {
  const delays: number[] = [];
  const note = (delay: number) => {
    delays.push(delay);
    return delay;
  };
  await withTimers(note, () => {
    const options = { refreshSeconds, watchFolders: false, log: () => {} };
    const rescans = new Rescans(() => Promise.resolve(), options);
    rescans.start();
    use(rescans);
    rescans.close();
    return Promise.resolve();
  });
  return delays;
}

Deno.test("Rescans.schedule() takes at most one part in 500 of the time for scans, and ignores one that was delayed", async () => {
  const delays = await delaysOf(30, (rescans) => {
    for (const time of [12, 12, 100, 12, 100, 100]) rescans.schedule(time);
    rescans.schedule(100, { isTroubled: true });
  });
  const regular = [6_000, 6_000, 6_000, 6_000, 30_000];
  assert.deepEqual(delays, [1_000, 1_000, ...regular, 1_000]);
});

Deno.test("Rescans needs no timer, but tries again a second after trouble", async () => {
  const untroubled = (rescans: Rescans) => rescans.schedule(5);
  assert.deepEqual(await delaysOf(0, untroubled), []);
  const troubled = (rescans: Rescans) =>
    rescans.schedule(5, { isTroubled: true });
  assert.deepEqual(await delaysOf(0, troubled), [1_000]);
});

/** Waits for a number of calls of a function that is passed to `Rescans`. */
function counter(refresh: () => Promise<unknown> = () => Promise.resolve()) {
  const calls = new Inbox<number>();
  let count = 0;
  const call = () => {
    calls.put(++count);
    return refresh();
  };
  return { call, next: () => calls.take(() => true, "a scan"), calls };
}

Deno.test("Rescans scans by the timer, and not anymore once it is closed", async () => {
  await withTimers((delay) => delay === 1_000 ? 0 : delay, async () => {
    const { call, next, calls } = counter();
    const options = { refreshSeconds: 30, watchFolders: false, log: () => {} };
    const rescans = new Rescans(call, options);
    rescans.schedule(0);
    assert.deepEqual(calls.takeAll(), []);
    rescans.start();
    assert.equal(await next(), 1);
    rescans.schedule(0);
    assert.equal(await next(), 2);
    rescans.schedule(0);
    rescans.close();
    rescans.schedule(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(calls.takeAll(), []);
  });
});

Deno.test("Rescans logs why a scan failed, and scans again", async () => {
  await withTimers((delay) => delay === 1_000 ? 0 : delay, async () => {
    const lines: string[] = [];
    const { call, next } = counter(() => Promise.reject(new Error("no disk")));
    const options = {
      refreshSeconds: 30,
      watchFolders: false,
      log: (line: string) => lines.push(line),
    };
    const rescans = new Rescans(call, options);
    rescans.start();
    assert.equal(await next(), 1);
    assert.equal(await next(), 2);
    rescans.close();
    assert.equal(
      lines[0],
      "Cannot look for changes: no disk; the next attempt follows in a second",
    );
  });
});
