import assert from "node:assert/strict";
import { estimateSize } from "./json_rpc.ts";

Deno.test("estimateSize() is close to the size in JSON, however deeply a value is nested", () => {
  const value = {
    content: [{ type: "text", text: "x".repeat(1_000) }],
    isError: false,
  };
  const size = estimateSize(value);
  const { length } = JSON.stringify(value);
  assert.ok(size > 0.9 * length && size <= length, `${size} of ${length}`);

  let nested: unknown = "end";
  for (let depth = 0; depth < 100_000; depth++) nested = { nested };
  assert.ok(estimateSize(nested) > 600_000);
});
