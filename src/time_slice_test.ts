import assert from "node:assert/strict";
import { TimeSlice } from "./time_slice.ts";

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
