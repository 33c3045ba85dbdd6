/**
 * Lists derived from a catalog: made once for each, paged, and reported when they change.
 *
 * @module
 */

import { invalidParams } from "./mcp_server.ts";
import { quote, stringifyJson } from "./text.ts";
import type { SkillCatalog, SkillSource } from "./types.ts";

/** How many entries a page of a list has. Many clients read the first page only. */
const PAGE_SIZE = 1_000;

/** How long the entries of a page may be together, in characters of JSON. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;

/** A page of a list. */
interface Page<T> {
  readonly items: T[];
  /** Where the next page begins, if there is one. */
  readonly nextCursor?: string;
}

/**
 * Returns the page of a list that a cursor leads to. A cursor tells the key of
 * the last item before it, so that a list which changes between two pages
 * neither skips nor repeats what stays.
 *
 * @throws {Error} If the cursor is none that this makes.
 */
export function pageOf<T>(
  items: readonly T[],
  cursor: string | undefined,
  keyOf: (item: T) => string,
): Page<T> {
  const last = cursor === undefined ? undefined : keyIn(cursor);
  const sorted = items
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => last === undefined || key > last)
    .sort((a, b) => a.key < b.key ? -1 : 1);
  const room = new PageRoom();
  const page = sorted.slice(0, PAGE_SIZE)
    .filter(({ item }) => room.take(stringifyJson(item).length));
  return {
    items: page.map(({ item }) => item),
    ...(sorted.length > page.length &&
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
