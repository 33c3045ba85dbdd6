/**
 * Lists derived from a catalog: made once for each, paged, and reported when they change.
 *
 * @module
 */

import { invalidParams } from "./mcp_server.ts";
import { byCodeUnits, quote, stringifyJson } from "./text.ts";
import type { SkillCatalog, SkillSource } from "./types.ts";

/** How many entries a page of a list has. Many clients read the first page only. */
const PAGE_SIZE = 1_000;

/** How long the entries of a page may be together, in characters of JSON. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;
/** An item of a list, and the key that it is sorted by. */
export interface ListItem<T> {
  readonly key: string;
  readonly value: T;
}

/** Sorts a list by its keys. */
export function sortList<T>(items: ListItem<T>[]): ListItem<T>[] {
  return items.sort((a, b) => byCodeUnits(a.key, b.key));
}

/** A page of a list. */
interface Page<T> {
  readonly items: T[];
  /** Where the next page begins, if there is one. */
  readonly nextCursor?: string;
}

/**
 * Returns the page of a sorted list that a cursor leads to. A cursor tells the
 * key of the last item before it, so that a list which changes between two
 * pages neither skips nor repeats what stays.
 *
 * @throws {Error} If the cursor is none that this makes.
 */
export function pageOf<T>(
  items: readonly ListItem<T>[],
  cursor: string | undefined,
): Page<T> {
  const last = cursor === undefined ? undefined : keyIn(cursor);
  const rest = last === undefined
    ? items
    : items.filter(({ key }) => key > last);
  const room = new PageRoom();
  const page = rest.slice(0, PAGE_SIZE)
    .filter(({ value }) => room.take(stringifyJson(value).length));
  return {
    items: page.map(({ value }) => value),
    ...(rest.length > page.length &&
      { nextCursor: cursorAfter(page.at(-1)!.key) }),
  };
}

/** The room on a page, which has to fit into a message. */
export class PageRoom {
  #taken = 0;

  /** Whether an entry fits, by the length of its JSON in characters. The first always does, and none after one that does not. */
  take(length: number): boolean {
    const isFirst = this.#taken === 0;
    this.#taken += length;
    return isFirst || this.#taken <= MAX_PAGE_LENGTH;
  }
}

/** Returns the cursor of the page that follows an entry. */
export function cursorAfter(key: string): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ after: key }));
  return bytes.toBase64({ alphabet: "base64url" });
}

function keyIn(cursor: string): string {
  try {
    const bytes = Uint8Array.fromBase64(cursor, { alphabet: "base64url" });
    const text = new TextDecoder().decode(bytes);
    const { after } = JSON.parse(text) as { after?: unknown };
    if (typeof after === "string") return after;
  } catch {
    // It is not one of ours.
  }
  throw invalidParams(
    `Unknown cursor ${quote(cursor)}: take the nextCursor of a list, or none`,
  );
}

/**
 * Refuses a cursor of a list that has but one page.
 * @throws {Error} If there is one.
 */
export function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  throw invalidParams(
    `Unknown cursor ${quote(cursor)}: take the nextCursor of a list, or none`,
  );
}

/**
 * Derives something from a catalog, once for each catalog.
 */
export function perCatalog<T>(
  derive: (catalog: SkillCatalog) => T,
): (catalog: SkillCatalog) => T {
  const derived = new WeakMap<SkillCatalog, { value: T }>();
  return (catalog) => {
    let entry = derived.get(catalog);
    if (entry === undefined) {
      derived.set(catalog, entry = { value: derive(catalog) });
    }
    return entry.value;
  };
}

/**
 * Notifies the client when what is derived from the catalog is another.
 */
export function tellWhenChanged(
  registry: SkillSource,
  list: (catalog: SkillCatalog) => unknown,
  notify: () => Promise<void>,
): void {
  registry.onChange(({ catalog, previous }) => {
    if (JSON.stringify(list(catalog)) === JSON.stringify(list(previous))) {
      return;
    }
    // Where no client is connected the notice has no way to go.
    notify().catch(() => {});
  });
}

/** Returns the values of the items of a list. */
export function valuesOf<T>(items: readonly ListItem<T>[]): T[] {
  return items.map(({ value }) => value);
}
