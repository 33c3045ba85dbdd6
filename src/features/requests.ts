/** What handlers of requests have in common: their types, errors, and pages. */

import type {
  Result,
  StandardSchemaV1,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { quoteSent } from "../text.ts";
import { globalFirst, type SkillEntry } from "../views/entries.ts";
import type { RequestContext } from "../views/options.ts";
import type { METHODS } from "./methods.ts";

export type Method = keyof typeof METHODS;

export type Params<M extends Method> = StandardSchemaV1.InferOutput<
  typeof METHODS[M]
>;

/** Answers the requests of a method: returns the result, or throws the error. */
export type Handler<M extends Method> = (
  params: Params<M>,
  context: RequestContext,
) => Result | Promise<Result>;

export type Handlers = { readonly [M in Method]?: Handler<M> };

/** The error for params that name nothing or are malformed. The SDK sends it as it is. */
export class InvalidParamsError extends Error {
  /** The code of JSON-RPC for invalid params. */
  readonly code = -32602;
  readonly data: { readonly uri: string } | undefined;

  /** @param uri The URI of the resource that the request is about. */
  constructor(message: string, uri?: string) {
    super(message);
    this.name = "InvalidParamsError";
    this.data = uri === undefined ? undefined : { uri };
  }
}

/** @param kind What the value should name, as a noun. */
export function unknownName(
  kind: string,
  value: string,
  advice: string,
): InvalidParamsError {
  const message = `Unknown ${kind} ${quoteSent(value)}: ${advice}`;
  return new InvalidParamsError(message);
}

export function unknownUri(
  kind: string,
  uri: string,
  advice: string,
): InvalidParamsError {
  return new InvalidParamsError(unknownName(kind, uri, advice).message, uri);
}

/** The maximum number of items on a page. Many clients read only the first page. */
const PAGE_SIZE = 1_000;

/**
 * Takes the page of a list that starts at a cursor: the number of items before it. If the
 * list changes between two pages, `list_changed` tells the client to start again. Any
 * position is valid, because `skills/list` can end a page early.
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
    throw unknownName("cursor", cursor, advice);
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
