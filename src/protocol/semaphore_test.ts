import assert from "node:assert/strict";
import { Semaphore } from "./semaphore.ts";

Deno.test("Semaphore.acquire() waits in line for a permit that is released or disposed of", async () => {
  const semaphore = new Semaphore(2);
  const order: string[] = [];
  const run = async (name: string) => {
    using _permit = await semaphore.acquire();
    order.push(`${name} starts`);
    await Promise.resolve();
    order.push(`${name} ends`);
  };
  const first = await semaphore.acquire();
  const tasks = ["a", "b", "c"].map(run);
  await Promise.all(tasks);
  assert.deepEqual(order.map((it) => it[0]).sort().join(""), "aabbcc");
  assert.ok(order.indexOf("b starts") > order.indexOf("a ends"));
  assert.ok(order.indexOf("c starts") > order.indexOf("b ends"));
  first.release();
});

Deno.test("Permit.release() gives its permit back only once", async () => {
  const semaphore = new Semaphore(1);
  {
    using permit = await semaphore.acquire();
    permit.release();
    permit.release();
  }
  await semaphore.acquire();
  let isAcquired = false;
  semaphore.acquire().then(() => isAcquired = true);
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(isAcquired, false);
});

Deno.test("Semaphore.acquire() passes a permit on if a task fails", async () => {
  const semaphore = new Semaphore(1);
  const failing = async () => {
    using _permit = await semaphore.acquire();
    throw new Error("failed");
  };
  await Promise.all([1, 2].map(() => assert.rejects(failing)));
  await semaphore.acquire();
});

Deno.test("Semaphore.acquire() lets nothing pass a large task that waits for its units", async () => {
  const semaphore = new Semaphore(3);
  const first = await semaphore.acquire();
  const second = await semaphore.acquire();
  const started: string[] = [];
  const acquire = async (name: string, units: number) => {
    const permit = await semaphore.acquire(units);
    started.push(name);
    return permit;
  };
  const large = acquire("large", 3);
  const small = acquire("small", 1);
  first.release();
  await Promise.resolve();
  assert.deepEqual(started, []);
  second.release();
  (await large).release();
  await small;
  assert.deepEqual(started, ["large", "small"]);
});
