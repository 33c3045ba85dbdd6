/** Serves lists in pages. */

import { quoteSent } from "../text.ts";
import { globalFirst, type SkillEntry } from "../views/entries.ts";
import { invalidParams } from "./requests.ts";

/** The maximum number of items on a page. Many clients read only the first page. */
const PAGE_SIZE = 1_000;

interface Page<T> {
  readonly page: readonly T[];
  /** To add to the result: the cursor of the next page, if there is one. */
  readonly next: { readonly nextCursor?: string };
}

/**
 * Takes the page of a list that starts at a cursor: the number of items before it. If the
 * list changes between two pages, `list_changed` tells the client to start again.
 * `skills/list` ends a page sooner, so each position is a cursor.
 *
 * @throws {ProtocolError} If the cursor is invalid.
 */
export function takePage<T>(
  items: readonly T[],
  cursor: string | undefined,
): Page<T> {
  const start = Number(cursor ?? 0);
  const isKnown = cursor === undefined ||
    cursor === `${start}` && Number.isInteger(start) && start > 0 &&
      start < items.length;
  if (!isKnown) {
    throw invalidParams(
      `Unknown cursor ${
        quoteSent(cursor)
      }: pass the nextCursor of the previous page, or none to start at the first page`,
    );
  }
  const end = start + PAGE_SIZE;
  const next = end < items.length ? { nextCursor: `${end}` } : {};
  return { page: items.slice(start, end), next };
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
