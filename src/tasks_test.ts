import assert from "node:assert/strict";
import { inTurns, SharedTask } from "./tasks.ts";

Deno.test("inTurns() lets sockets be read between items, also those appended meanwhile", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await accepted;
  const reading = server.read(new Uint8Array(1)).then(() => true);
  await client.write(new Uint8Array(1));
  let isRead = false;
  reading.then(() => isRead = true);
  const queue = [0];
  for await (const item of inTurns(queue)) {
    const start = Date.now();
    while (Date.now() - start < 5);
    if (!isRead) queue.push(item + 1);
  }
  assert.ok(queue.length < 100, `${queue.length} items`);
  assert.deepEqual(queue, [...queue.keys()]);
});

Deno.test("SharedTask.run() fails only for the callers of a failed run", async () => {
  const task = new SharedTask<string>();
  const failing = task.run(() => Promise.reject(new Error("failed")));
  const next = task.run(() => Promise.resolve("done"));
  await assert.rejects(failing, /^Error: failed$/);
  assert.equal(await next, "done");
});
