import assert from "node:assert/strict";
import { read } from "../../tests/testing/docs.ts";
import { STATE_NAMES } from "./states.ts";

Deno.test("docs/policy.md explains each state", () => {
  const [, section = ""] = read("docs/policy.md").split(/^## .*$/m);
  const items = section.matchAll(/^- `([\w-]+)`: /gm);
  assert.deepEqual(Array.from(items, ([, state]) => state), STATE_NAMES);
});
