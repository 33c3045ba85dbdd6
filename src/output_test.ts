import assert from "node:assert/strict";
import { writeAll } from "./output.ts";

Deno.test("writeAll() goes on when a full pipe takes a part, or nothing", async () => {
  const written: number[] = [];
  let isFull = false;
  const write = (bytes: Uint8Array) => {
    isFull = !isFull;
    if (isFull) return Promise.reject(new Deno.errors.WouldBlock());
    const part = bytes.subarray(0, 2);
    written.push(...part);
    return Promise.resolve(part.length);
  };
  await writeAll({ write }, new Uint8Array([1, 2, 3, 4, 5]));
  assert.deepEqual(written, [1, 2, 3, 4, 5]);
  const error = new Deno.errors.BrokenPipe();
  const closed = { write: () => Promise.reject(error) };
  await assert.rejects(writeAll(closed, new Uint8Array(1)), error);
});
