import assert from "node:assert/strict";
import { SharedTask, TimeSlice } from "./tasks.ts";

Deno.test("TimeSlice.pause() lets timers and other tasks run", async () => {
  const slice = new TimeSlice();
  let isFired = false;
  setTimeout(() => isFired = true, 20);
  while (!slice.isOver);
  while (!isFired) await slice.pause();
  assert.ok(!slice.isOver);
});

Deno.test("TimeSlice.pause() lets sockets be read, however many tasks wait", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await accepted;
  let slices = 0;
  let isEnded = false;
  const tasks = Array.from({ length: 5 }, async () => {
    for (const slice = new TimeSlice(); !isEnded; slices++) {
      await slice.pause();
    }
  });
  for (let round = 0; round < 20; round++) {
    const read = server.read(new Uint8Array(1));
    await client.write(new Uint8Array(1));
    const start = slices;
    await read;
    assert.ok(slices - start <= 2, `${slices - start} slices`);
  }
  isEnded = true;
  await Promise.all(tasks);
});

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
