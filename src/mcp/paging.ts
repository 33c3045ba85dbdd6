/** Lists derived from a catalog: kept until it changes, and served in pages. */

import type { Result } from "npm:@modelcontextprotocol/server@^2.4.0";
import { invalidParams } from "./requests.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { byCodeUnits, quote, stringifyJson } from "../text.ts";
import { inTurns } from "../tasks.ts";
import { deriveOnce } from "./derive_once.ts";

/** The maximum number of entries on a page. Many clients read only the first page. */
const PAGE_SIZE = 1_000;

/** The maximum total length of the items on a page, in characters of JSON. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;

/** The start of a cursor. The key of the previous item follows. */
const AFTER = "after:";

/** A value, and its sort key, which is not empty. */
export interface ListItem<T> {
  readonly key: string;
  readonly value: T;
}

/** Sorts a list by key. Keys become well-formed, because messages with cursors are. */
export function sortList<T>(items: readonly ListItem<T>[]): ListItem<T>[] {
  return items.map(({ key, value }) => ({ key: key.toWellFormed(), value }))
    .sort((a, b) => byCodeUnits(a.key, b.key));
}

/**
 * Returns the page of a sorted list that starts at a cursor, which contains the key of the
 * previous item. So if the list changes between two pages, the items that remain are
 * neither skipped nor repeated.
 *
 * @param options.load Returns the entry for a value, or `undefined` to leave it out.
 * @throws {Error} If the cursor is invalid.
 */
export async function loadPage<T>(
  items: readonly ListItem<T>[],
  { cursor = AFTER, load = (value) => value }: {
    cursor: string | undefined;
    load?: ((value: T) => unknown) | undefined;
  },
): Promise<{ entries: unknown[]; nextCursor?: string }> {
  if (!cursor.startsWith(AFTER)) {
    const fix = "pass the nextCursor of the previous page, or omit the cursor";
    throw invalidParams(`Unknown cursor ${quote(cursor)}: ${fix}`);
  }
  let last = cursor.slice(AFTER.length);
  const rest = items.filter(({ key }) => key > last);
  const entries: unknown[] = [];
  let length = 0;
  for await (const { key, value } of inTurns(rest)) {
    if (entries.length === PAGE_SIZE) break;
    const entry = await load(value);
    if (entry !== undefined) {
      length += stringifyJson(entry).length;
      if (length > MAX_PAGE_LENGTH && entries.length > 0) break;
      entries.push(entry);
    }
    last = key;
  }
  const end = rest.at(-1)?.key ?? last;
  return last === end ? { entries } : { entries, nextCursor: AFTER + last };
}

/** Creates the handler that serves the pages of a list. */
export function createListHandler<T>(
  registry: SkillSource,
  { name, itemsOf, load }: {
    name: "prompts" | "resources" | "skills";
    itemsOf: (catalog: SkillCatalog) => ListItem<T>[];
    load?: (value: T) => unknown;
  },
): (params?: { cursor?: string | undefined }) => Promise<Result> {
  const list = deriveOnce((catalog: SkillCatalog) =>
    sortList(itemsOf(catalog))
  );
  return async ({ cursor } = {}) => {
    const { entries, nextCursor } = await loadPage(list(registry.catalog), {
      cursor,
      load,
    });
    return { [name]: entries, ...nextCursor && { nextCursor } };
  };
}

/** Renders a list as it is sent, to compare it with a later one. */
export function renderList(items: readonly ListItem<unknown>[]): string {
  return JSON.stringify(sortList(items).map(({ value }) => value));
}
