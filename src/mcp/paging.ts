/** Serves lists in pages. */

import type { Result } from "npm:@modelcontextprotocol/server@^2.4.0";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { inTurns } from "../tasks.ts";
import { quote } from "../text.ts";
import { globalFirst, type SkillEntry } from "./entries.ts";
import { invalidParams } from "./requests.ts";

/** The maximum number of items on a page. Many clients read only the first page. */
const PAGE_SIZE = 1_000;

/**
 * Returns the page of a list that starts at a cursor: the number of items before it. A
 * client whose list changed between two pages is told to list again.
 *
 * @param load Returns what is listed for an item, or `undefined` to leave it out.
 * @throws {ProtocolError} If the cursor is invalid.
 */
export async function loadPage<T>(
  items: readonly T[],
  cursor: string | undefined,
  load: (item: T) => unknown = (item) => item,
): Promise<{ entries: unknown[]; nextCursor?: string }> {
  if (cursor !== undefined && !/^[1-9]\d{0,8}$/.test(cursor)) {
    const fix = "pass the nextCursor of the previous page, or omit the cursor";
    throw invalidParams(`Unknown cursor ${quote(cursor)}: ${fix}`);
  }
  const start = Number(cursor ?? 0);
  const end = start + PAGE_SIZE;
  const entries: unknown[] = [];
  for await (const item of inTurns(items.slice(start, end))) {
    const entry = await load(item);
    if (entry !== undefined) entries.push(entry);
  }
  return end < items.length ? { entries, nextCursor: `${end}` } : { entries };
}

/** Creates the handler that serves the pages of a list. */
export function createListHandler<T>(
  registry: SkillSource,
  name: "prompts" | "resources" | "skills",
  listItems: (catalog: SkillCatalog) => readonly T[],
  load?: (item: T) => unknown,
): (params?: { cursor?: string | undefined }) => Promise<Result> {
  return async ({ cursor } = {}) => {
    const items = listItems(registry.catalog);
    const { entries, nextCursor } = await loadPage(items, cursor, load);
    return { [name]: entries, ...nextCursor && { nextCursor } };
  };
}

/**
 * Returns the order of the entries in a list with pages: if there are several, the
 * first one begins with global skills.
 */
export function orderForPages(
  entries: readonly SkillEntry[],
  itemsPerEntry = 1,
): readonly SkillEntry[] {
  const isOnePage = entries.length * itemsPerEntry < PAGE_SIZE;
  return isOnePage ? entries : globalFirst(entries);
}
