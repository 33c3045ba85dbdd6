import assert from "node:assert/strict";
import { loadPage, sortList } from "./paging.ts";
import { stringifyJson } from "../text.ts";

Deno.test("loadPage() skips and repeats nothing after a key with an unpaired surrogate", async () => {
  const first = Array.from({ length: 999 }, (_, i) => `a${1_000 + i}`);
  const keys = [...first, "b\ud800", "b😀", "b\uff00", "c"];
  const items = sortList(keys.map((key, value) => ({ key, value })));
  const found: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await loadPage(items, { cursor, load: (value) => value });
    found.push(...page.entries as number[]);
    // As a client gets it and sends it back.
    cursor = JSON.parse(stringifyJson([page.nextCursor]))[0] ?? undefined;
  } while (cursor !== undefined);
  assert.deepEqual(found.toSorted((a, b) => a - b), [...keys.keys()]);
});

Deno.test("loadPage() continues after the last item of the previous page, even if the list changes", async () => {
  const pageOf = (keys: readonly string[], cursor?: string) => {
    const items = sortList(keys.map((key) => ({ key, value: key })));
    return loadPage(items, { cursor, load: (value) => value });
  };
  const keys = Array.from({ length: 1_050 }, (_, index) => `s${1_000 + index}`);
  const first = await pageOf(keys);
  assert.equal(first.entries.length, 1_000);
  const removed = [keys[7]!, keys[999]!];
  const changed = ["a-new-one", ...keys.filter((it) => !removed.includes(it))];
  const second = await pageOf(changed, first.nextCursor);
  assert.equal(second.nextCursor, undefined);
  assert.deepEqual([...first.entries, ...second.entries], keys);
});

Deno.test("loadPage() fills a page although some values have no entry", async () => {
  const items = sortList(
    Array.from({ length: 1_100 }, (_, value) => ({ key: `${value}`, value })),
  );
  const load = (value: number) => value < 1_050 ? undefined : value;
  const { entries, nextCursor } = await loadPage(items, {
    cursor: undefined,
    load,
  });
  assert.equal(entries.length, 50);
  assert.equal(nextCursor, undefined);
});

Deno.test("loadPage() ends a page before its entries are too large for a message, and gives a larger one a page", async () => {
  const items = sortList(
    Array.from({ length: 5 }, (_, value) => ({ key: `${value}`, value })),
  );
  for (const size of [1, 3]) {
    const load = (value: number) => `${value}`.repeat(size * 2 ** 20);
    const counts = [];
    let cursor: string | undefined;
    do {
      const page = await loadPage(items, { cursor, load });
      counts.push(page.entries.length);
      cursor = page.nextCursor;
    } while (cursor !== undefined && counts.length < 10);
    assert.deepEqual(counts, [1, 1, 1, 1, 1], `${size} MiB`);
  }
});
