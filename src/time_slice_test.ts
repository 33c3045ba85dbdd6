import assert from "node:assert/strict";
import { sortInSlices, TimeSlice } from "./time_slice.ts";

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
    assert.ok(yields < 20, `${yields} yields`);
  }
});

Deno.test("sortInSlices() sorts like Array.sort() and lets other tasks run", async () => {
  const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
  for (const length of [0, 1, 2_000, 2_001, 6_000, 9_999]) {
    // Many items have the same key and must keep their order.
    const items = Array.from({ length }, (_, index) => ({
      key: index * 7_919 % 1_000,
      index,
    }));
    let turns = 0;
    const count = () => turn = setImmediate(() => (turns++, count()));
    let turn: ReturnType<typeof setImmediate>;
    count();
    const slice = new TimeSlice(0);
    const sorted = await sortInSlices(items, { compare, slice });
    clearImmediate(turn!);
    assert.deepEqual(sorted, items.toSorted(compare));
    assert.ok(turns >= length / 2_000);
  }
});
