import assert from "node:assert/strict";
import { attempt } from "./attempt.ts";

Deno.test("attempt() returns a result, or nothing for any error", () => {
  assert.equal(attempt(() => 0), 0);
  assert.equal(
    attempt(() => {
      throw undefined;
    }),
    undefined,
  );
});
