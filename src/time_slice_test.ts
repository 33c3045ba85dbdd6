import assert from "node:assert/strict";
import { TimeSlice } from "./time_slice.ts";

Deno.test("TimeSlice.yield() lets timers and other tasks run", async () => {
  const slice = new TimeSlice(0);
  let isFired = false;
  setTimeout(() => isFired = true);
  while (!isFired) {
    assert.ok(slice.isOver);
    await slice.pause();
  }
});

Deno.test("TimeSlice.isOver is true if the clock was set back", () => {
  const slice = new TimeSlice(1_000_000);
  assert.ok(!slice.isOver);
  const { now } = Date;
  Date.now = () => now() - 3_600_000;
  try {
    assert.ok(slice.isOver);
  } finally {
    Date.now = now;
  }
});

Deno.test("TimeSlice.yield() lets sockets be read, however many tasks wait", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await accepted;
  let slices = 0;
  let isEnded = false;
  const tasks = Array.from({ length: 5 }, async () => {
    for (const slice = new TimeSlice(0); !isEnded; slices++) {
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
