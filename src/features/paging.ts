/** Serves lists in pages. */

import { globalFirst, type SkillEntry } from "../views/entries.ts";
import { unknown } from "./requests.ts";

/** The maximum number of items on a page. Many clients read only the first page. */
const PAGE_SIZE = 1_000;

/**
 * Takes the page of a list that starts at a cursor: the number of items before it. If the
 * list changes between two pages, `list_changed` tells the client to start again.
 * `skills/list` ends a page sooner, so each position is a cursor.
 *
 * @returns The page under the name of the list, and the cursor of the next one, if any.
 * @throws {InvalidParamsError} If the cursor is invalid.
 */
export function pageOf<Name extends string, T>(
  name: Name,
  items: readonly T[],
  cursor: string | undefined,
): Record<Name, readonly T[]> & { readonly nextCursor?: string } {
  const start = Number(cursor ?? 0);
  const isKnown = cursor === undefined ||
    cursor === `${start}` && Number.isInteger(start) && start > 0 &&
      start < items.length;
  if (!isKnown) {
    const advice =
      "pass the nextCursor of the previous page, or none to start at the first page";
    throw unknown("cursor", cursor, advice);
  }
  const end = start + PAGE_SIZE;
  const page = { [name]: items.slice(start, end) } as Record<Name, T[]>;
  return end < items.length ? { ...page, nextCursor: `${end}` } : page;
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
