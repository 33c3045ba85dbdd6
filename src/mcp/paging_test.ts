import assert from "node:assert/strict";
import type { Skill } from "../skills/types.ts";
import type { SkillEntry } from "./entries.ts";
import { loadPage, orderForPages } from "./paging.ts";

Deno.test("loadPage() returns 1,000 items at a time, and a cursor while there are more", async () => {
  const items = Array.from({ length: 2_001 }, (_, index) => index);
  const found: unknown[] = [];
  const lengths: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await loadPage(items, cursor);
    found.push(...page.entries);
    lengths.push(page.entries.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assert.deepEqual(found, items);
  assert.deepEqual(lengths, [1_000, 1_000, 1]);
});

Deno.test("loadPage() leaves out what cannot be loaded", async () => {
  const load = (value: number) => value === 2 ? undefined : `${value}`;
  const { entries } = await loadPage([1, 2, 3], undefined, load);
  assert.deepEqual(entries, ["1", "3"]);
});

Deno.test("loadPage() refuses a cursor that it did not give", async () => {
  for (const cursor of ["", "x", "0", "-1", "1.5", "1e3", " 1"]) {
    await assert.rejects(loadPage([1], cursor), { code: -32602 }, cursor);
  }
});

Deno.test("orderForPages() puts global skills on the first page if there are several", () => {
  const entry = (scope: Skill["scope"]) => ({ skill: { scope } }) as SkillEntry;
  const entries = [entry("project"), entry("global")];
  assert.deepEqual(orderForPages(entries), entries);
  assert.deepEqual(orderForPages(entries, 500), entries.toReversed());
});
