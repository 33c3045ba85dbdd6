/**
 * Lists derived from a catalog: kept until it changes, paged, and with a
 * notification when they change. Pages and files read together fit into a message.
 *
 * @module
 */

import { invalidParams } from "../protocol/errors.ts";
import type { ListName, RequestHandlers } from "../protocol/handlers.ts";
import { MAX_MESSAGE_SIZE } from "../protocol/json_rpc.ts";
import type { listRequestSchema } from "../protocol/requests.ts";
import { byCodeUnits, quote, stringifyJson } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import type {
  Skill,
  SkillCatalog,
  SkillFile,
  SkillSource,
} from "../skills/types.ts";

/** The maximum number of entries on a page. Many clients read only the first page. */
const PAGE_SIZE = 1_000;

/** The maximum total length of the items on a page, in characters of JSON. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;

/** The start of a cursor. The key of the previous item follows. */
const AFTER = "after:";

/** An item of a list: a value and its sort key, which is not empty. */
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
 * Returns the page of a sorted list that starts at a cursor. A cursor contains
 * the key of the previous item. If the list changes between two pages, the
 * items that remain are neither skipped nor repeated.
 *
 * @param options The cursor, and a function that returns the entry of the page
 *   for a value, or `undefined` to leave it out.
 * @throws {Error} If the cursor is invalid.
 */
export async function loadPage<T, Entry>(
  items: readonly ListItem<T>[],
  { cursor = AFTER, load }: {
    cursor: string | undefined;
    load: (value: T) => Entry | undefined | Promise<Entry | undefined>;
  },
): Promise<{ entries: Entry[]; nextCursor?: string }> {
  if (!cursor.startsWith(AFTER)) refuseCursor(cursor);
  let last = cursor.slice(AFTER.length);
  const rest = items.filter(({ key }) => key > last);
  const entries: Entry[] = [];
  let length = 0;
  const slice = new TimeSlice();
  for (const { key, value } of rest) {
    if (entries.length === PAGE_SIZE) break;
    if (slice.isOver) await slice.pause();
    const entry = await load(value);
    if (entry !== undefined) {
      length += stringifyJson(entry).length;
      if (length > MAX_PAGE_LENGTH && entries.length > 0) break;
      entries.push(entry);
    }
    last = key;
  }
  const hasMore = rest.length > 0 && last !== rest.at(-1)!.key;
  return { entries, ...(hasMore && { nextCursor: AFTER + last }) };
}

/**
 * Rejects any cursor. Used for lists that always have a single page.
 *
 * @throws {Error} If there is a cursor.
 */
export function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  throw invalidParams(
    `Unknown cursor ${
      quote(cursor)
    }: pass the nextCursor of the previous page, or omit the cursor`,
  );
}

/**
 * Makes a function derive a value only once from each catalog or skill. A scan
 * keeps the objects of unchanged skills, so that a change to one skill derives only
 * the value of that skill. A WeakMap, because what is gone needs no value.
 */
export function deriveOnce<Source extends SkillCatalog | Skill, T>(
  derive: (source: Source) => T,
): (source: Source) => T {
  const values = new WeakMap<Source, T>();
  return (source) => {
    const value = values.get(source) ?? derive(source);
    values.set(source, value);
    return value;
  };
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
  registry.onChange(async ({ catalog, previous }) => {
    const slice = new TimeSlice();
    await slice.pause();
    const before = list(previous);
    await slice.pause();
    if (isSameList(list(catalog), before)) return;
    // This fails if no client is connected.
    notify().catch(() => {});
  });
}

/** Serves a paged list derived from the catalog, and notifies clients when it changes. */
export function serveList<T>(
  server: RequestHandlers,
  registry: SkillSource,
  { name, schema, itemsOf }: {
    name: ListName;
    schema: ReturnType<typeof listRequestSchema>;
    itemsOf: (catalog: SkillCatalog) => ListItem<T>[];
  },
): void {
  const list = deriveOnce((catalog: SkillCatalog) =>
    sortList(itemsOf(catalog))
  );
  server.setRequestHandler(schema, async ({ params }) => {
    const { entries, nextCursor } = await loadPage(list(registry.catalog), {
      cursor: params?.cursor,
      load: (value) => value,
    });
    return { [name]: entries, nextCursor };
  });
  notifyWhenChanged(
    registry,
    (catalog) => list(catalog).map(({ value }) => value),
    () => server.notifyListChanged(name),
  );
}

/** Whether two lists have equal values. Most of them are the same objects. */
function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length &&
    a.every((value, index) =>
      value === b[index] || JSON.stringify(value) === JSON.stringify(b[index])
    );
}

/**
 * Reads files of a skill for one message.
 *
 * @param read Returns what the message contains for a file.
 * @throws {Error} If they do not fit into one message. If their sizes show that,
 *   none of them is read.
 */
export async function readTogether<T>(
  files: readonly SkillFile[],
  read: (file: SkillFile) => Promise<T>,
): Promise<T[]> {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const needed = files.reduce((sum, { path }) => sum + path.length, size);
  const slice = new TimeSlice();
  const contents: T[] = [];
  // In JSON, a byte of a file takes one to six bytes.
  let length = needed > MAX_MESSAGE_SIZE ? needed : 0;
  for (const file of files) {
    if (length > MAX_MESSAGE_SIZE) break;
    if (slice.isOver) await slice.pause();
    const content = await read(file);
    length += stringifyJson(content).length;
    contents.push(content);
  }
  if (length <= MAX_MESSAGE_SIZE) return contents;
  throw new Error(
    `Cannot read ${files.length} files at once: they have ${size} bytes in total, and the limit for a message, with their names, is ${MAX_MESSAGE_SIZE}; read them one at a time`,
  );
}
