import assert from "node:assert/strict";
import { SharedTask } from "./shared_task.ts";

Deno.test("SharedTask.run() runs a task once at a time, and calls while it runs share the next run", async () => {
  const task = new SharedTask<number>();
  let runs = 0;
  let running = 0;
  const run = () =>
    task.run(async () => {
      assert.equal(++running, 1);
      await Promise.resolve();
      running--;
      return ++runs;
    });
  assert.deepEqual(await Promise.all([run(), run(), run()]), [1, 2, 2]);
  assert.equal(await run(), 3);
});

Deno.test("SharedTask.run() fails for the callers of a failed run, and not for those of the next one", async () => {
  const task = new SharedTask<string>();
  const failing = task.run(() => Promise.reject(new Error("failed")));
  const next = task.run(() => Promise.resolve("done"));
  await assert.rejects(failing, /^Error: failed$/);
  assert.equal(await next, "done");
});
