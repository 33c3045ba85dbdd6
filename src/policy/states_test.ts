import assert from "node:assert/strict";
import { listCode, read } from "../../tests/testing/pages.ts";
import { STATES } from "../policy/states.ts";

const PAGE = read("docs/policy.md");

Deno.test("docs/policy.md says which state is stricter", () => {
  const [, listed = ""] = /answer\s+wins: (.*?), or else/s.exec(PAGE) ?? [];
  const stricter = Object.entries(STATES)
    .filter(([, { strictness }]) => strictness > 0)
    .sort(([, a], [, b]) => b.strictness - a.strictness);
  assert.deepEqual(listCode(listed), stricter.map(([state]) => state));
});

Deno.test("docs/policy.md says what each state means, and which comes first in lists", () => {
  const rows = PAGE.matchAll(/^\| `([\w-]+)` +\| (.*?) +\|$/gm);
  const meanings = new Map(
    Array.from(rows, ([, state, meaning]) => [state!, meaning!]),
  );
  assert.deepEqual([...meanings.keys()], Object.keys(STATES));
  const unseen = {
    everyone: /^not served;/,
    model: /not through the tools/,
    nobody: /^(?!.*\bnot\b)/,
  };
  for (const [state, { isFirst, hiddenFrom }] of Object.entries(STATES)) {
    assert.match(meanings.get(state)!, unseen[hiddenFrom], state);
    const saysFirst = meanings.get(state)!.startsWith("before the others");
    assert.equal(saysFirst, isFirst, state);
  }
});

Deno.test("docs/architecture.md says which states hide a skill", () => {
  const [sentence = ""] = /^- \*\*Hidden\*\*: .*(?:\n {2}.*)*/m
    .exec(read("docs/architecture.md")) ?? [];
  for (const [state, { hiddenFrom }] of Object.entries(STATES)) {
    const isNamed = sentence.includes(`(\`${state}\`)`);
    assert.equal(isNamed, hiddenFrom !== "nobody", state);
  }
});
