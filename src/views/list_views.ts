/**
 * Lists derived from a catalog: kept until it changes, paged, and with a
 * notification when they change.
 *
 * @module
 */

import { invalidParams } from "../protocol/errors.ts";
import { byCodeUnits, quote, stringifyJson } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";

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

  of(catalog: SkillCatalog): T {
    if (this.#current?.catalog !== catalog) {
      this.#current = { catalog, value: this.#derive(catalog) };
    }
    return this.#current.value;
  }
}

/**
 * The items of a list that skills contribute one by one. A scan keeps the objects
 * of unchanged skills, and these keep their items, so that a change to one skill
 * derives only the items of that skill.
 */
export class SkillItems<T> {
  readonly #derive: (skill: Skill) => readonly ListItem<T>[];
  #items: ReadonlyMap<Skill, readonly ListItem<T>[]> = new Map();

  constructor(derive: (skill: Skill) => readonly ListItem<T>[]) {
    this.#derive = derive;
  }

  /** Returns the items of some skills, and forgets those of all others. */
  of(skills: Iterable<Skill>): ListItem<T>[] {
    const items = new Map<Skill, readonly ListItem<T>[]>();
    for (const skill of skills) {
      items.set(skill, this.#items.get(skill) ?? this.#derive(skill));
    }
    this.#items = items;
    return [...items.values()].flat();
  }
}

/**
 * Notifies the client when a list derived from the catalog changes. Other tasks
 * run between the lists.
 */
export function notifyWhenChanged(
  registry: SkillSource,
  list: (catalog: SkillCatalog) => readonly unknown[],
  notify: () => Promise<void>,
): void {
  let last: { catalog: SkillCatalog; values: readonly unknown[] } | undefined;
  registry.onChange(async ({ catalog, previous }) => {
    const slice = new TimeSlice();
    await slice.yield();
    if (last?.catalog !== previous) {
      last = { catalog: previous, values: list(previous) };
      await slice.yield();
    }
    const { values } = last;
    last = { catalog, values: list(catalog) };
    if (isSameList(last.values, values)) return;
    // This fails if no client is connected.
    notify().catch(() => {});
  });
}

/** Whether two lists have equal values. Most of them are the same objects. */
function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length &&
    a.every((value, index) =>
      value === b[index] || JSON.stringify(value) === JSON.stringify(b[index])
    );
}

export function valuesOf<T>(items: readonly ListItem<T>[]): T[] {
  return items.map(({ value }) => value);
}
