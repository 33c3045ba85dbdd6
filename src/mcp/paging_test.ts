import assert from "node:assert/strict";
import type { Skill } from "../skills/types.ts";
import type { SkillEntry } from "./entries.ts";
import { orderForPages, takePage } from "./paging.ts";

Deno.test("takePage() returns 1,000 items at a time, and a cursor while there are more", () => {
  const items = Array.from({ length: 2_001 }, (_, index) => index);
  const found: unknown[] = [];
  const lengths: number[] = [];
  let cursor: string | undefined;
  do {
    const { page, next } = takePage(items, cursor);
    found.push(...page);
    lengths.push(page.length);
    cursor = next.nextCursor;
  } while (cursor !== undefined);
  assert.deepEqual(found, items);
  assert.deepEqual(lengths, [1_000, 1_000, 1]);
});

Deno.test("takePage() refuses a cursor that it did not give", () => {
  for (const cursor of ["", "x", "0", "-1", "1.5", "1e3", " 1"]) {
    assert.throws(() => takePage([1], cursor), { code: -32602 }, cursor);
  }
});

Deno.test("orderForPages() puts global skills on the first page if there are several", () => {
  const entry = (scope: Skill["scope"]) => ({ skill: { scope } }) as SkillEntry;
  const entries = [entry("project"), entry("global")];
  assert.deepEqual(orderForPages(entries), entries);
  assert.deepEqual(orderForPages(entries, 500), entries.toReversed());
});
