import assert from "node:assert/strict";
import { join } from "../files/paths.ts";
import { REPOSITORY } from "../../tests/testing/environment.ts";
import { STATES } from "../policy/states.ts";

Deno.test("docs/policy.md says what each state in the table means", () => {
  const page = Deno.readTextFileSync(join(REPOSITORY, "docs", "policy.md"));
  const rows = page.matchAll(/^\| `([\w-]+)` +\| (.*?) +\|$/gm);
  const documented = Array.from(rows, ([, state, meaning]) => [state, meaning]);
  const states = Object.entries(STATES)
    .map(([state, { meaning }]) => [state, meaning]);
  assert.deepEqual(documented, states);
});
