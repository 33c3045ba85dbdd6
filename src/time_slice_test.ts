import assert from "node:assert/strict";
import { TimeSlice } from "./time_slice.ts";

Deno.test("TimeSlice.yield() lets timers and other tasks run", async () => {
  const slice = new TimeSlice(0);
  let isFired = false;
  setTimeout(() => isFired = true);
  while (!isFired) {
    assert.ok(slice.isOver);
    await slice.yield();
  }
});

Deno.test("TimeSlice.yield() lets sockets be read", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await accepted;
  const slice = new TimeSlice();
  for (let round = 0; round < 5; round++) {
    let isRead = false;
    server.read(new Uint8Array(1)).then(() => isRead = true);
    await slice.yield();
    await client.write(new Uint8Array(1));
    let yields = 0;
    for (; !isRead; yields++) await slice.yield();
    assert.ok(yields < 8, `${yields} yields`);
  }
});
