/**
 * Lists derived from a catalog: kept until it changes, paged, and with a
 * notification when they change.
 *
 * @module
 */

import { invalidParams } from "../protocol/errors.ts";
import { byCodeUnits, quote, stringifyJson } from "../text.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";

/** The maximum number of items on a page. Many clients read only the first page. */
const PAGE_SIZE = 1_000;

/** The maximum total length of the items on a page, in characters of JSON. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;

/** An item of a list: a value and its sort key. */
export interface ListItem<T> {
  readonly key: string;
  readonly value: T;
}

/** Sorts a list by key, in place. */
export function sortList<T>(items: ListItem<T>[]): ListItem<T>[] {
  return items.sort((a, b) => byCodeUnits(a.key, b.key));
}

/** A page of a list. */
interface Page<T> {
  readonly items: T[];
  /** The cursor of the next page, if there is one. */
  readonly nextCursor?: string;
}

/**
 * Returns the page of a sorted list that starts at a cursor. A cursor contains
 * the key of the previous item. If the list changes between two pages, the
 * items that remain are neither skipped nor repeated.
 *
 * @throws {Error} If the cursor is invalid.
 */
export function getPage<T>(
  items: readonly ListItem<T>[],
  cursor: string | undefined,
): Page<T> {
  const last = cursor === undefined ? undefined : parseCursor(cursor);
  const rest = last === undefined
    ? items
    : items.filter(({ key }) => key > last);
  const room = new PageRoom();
  const page = rest.slice(0, PAGE_SIZE)
    .filter(({ value }) => room.take(stringifyJson(value).length));
  return {
    items: page.map(({ value }) => value),
    ...(rest.length > page.length &&
      { nextCursor: createCursor(page.at(-1)!.key) }),
  };
}

/** The remaining room on a page. A page must fit into a message. */
export class PageRoom {
  #taken = 0;

  /**
   * Takes room for an item and returns whether it fits. The first item always
   * fits. After an item that does not fit, no other item fits.
   *
   * @param length The length of the item in characters of JSON.
   */
  take(length: number): boolean {
    const isFirst = this.#taken === 0;
    this.#taken += length;
    return isFirst || this.#taken <= MAX_PAGE_LENGTH;
  }
}

/** Creates the cursor of the page that starts after the item with a key. */
export function createCursor(key: string): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ after: key }));
  return bytes.toBase64({ alphabet: "base64url" });
}

function parseCursor(cursor: string): string {
  try {
    const bytes = Uint8Array.fromBase64(cursor, { alphabet: "base64url" });
    const text = new TextDecoder().decode(bytes);
    const { after } = JSON.parse(text) as { after?: unknown };
    if (typeof after === "string") return after;
  } catch {
    // The cursor is invalid.
  }
  throw unknownCursor(cursor);
}

/**
 * Rejects any cursor. Used for lists that always have a single page.
 *
 * @throws {Error} If there is a cursor.
 */
export function refuseCursor(cursor: string | undefined): void {
  if (cursor !== undefined) throw unknownCursor(cursor);
}

function unknownCursor(cursor: string): Error {
  return invalidParams(
    `Unknown cursor ${
      quote(cursor)
    }: pass the nextCursor of the previous page, or omit the cursor`,
  );
}

/** A value that is derived from the catalog, and kept until the catalog changes. */
export class CatalogView<T> {
  readonly #derive: (catalog: SkillCatalog) => T;
  #current: { catalog: SkillCatalog; value: T } | undefined;

  constructor(derive: (catalog: SkillCatalog) => T) {
    this.#derive = derive;
  }

  /** Returns the value for a catalog. */
  of(catalog: SkillCatalog): T {
    if (this.#current?.catalog !== catalog) {
      this.#current = { catalog, value: this.#derive(catalog) };
    }
    return this.#current.value;
  }
}

/** Notifies the client when a list derived from the catalog changes. */
export function notifyWhenChanged(
  registry: SkillSource,
  list: (catalog: SkillCatalog) => unknown,
  notify: () => Promise<void>,
): void {
  registry.onChange(({ catalog, previous }) => {
    // A view keeps one value, so the previous list comes first.
    const before = JSON.stringify(list(previous));
    if (JSON.stringify(list(catalog)) === before) return;
    // This fails if no client is connected.
    notify().catch(() => {});
  });
}

/** Returns the values of the items of a list. */
export function valuesOf<T>(items: readonly ListItem<T>[]): T[] {
  return items.map(({ value }) => value);
}
