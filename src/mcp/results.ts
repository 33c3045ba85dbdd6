/** Measures results, because each client accepts and keeps only so much of one. */

import type { ToolOptions } from "./options.ts";
import { profileFor } from "./clients.ts";
import type { RequestContext } from "./requests.ts";

/** The largest result that is sent, in bytes of JSON. The SDK's clients read 10 MiB. */
export const MAX_RESULT_SIZE: number = 8 * 1024 * 1024;

/** A client, by its name, and the options that may choose a profile for it. */
export interface ResultReader extends Pick<RequestContext, "client"> {
  readonly options: ToolOptions;
}

/** Returns the size of the largest tool result that a client accepts, in bytes of JSON. */
export function maxResultSize({ client, options }: ResultReader): number {
  return profileFor(client, options).maxResultSize ?? MAX_RESULT_SIZE;
}

/** Whether a client is known to cut a text of this length when a tool returns it. */
export function isCut(
  text: string,
  { client, options }: ResultReader,
): boolean {
  return text.length > profileFor(client, options).keepsResultsTo;
}

/**
 * Returns the size of a value as JSON in bytes, or a smaller number than the limit if
 * the value is certainly smaller: most results need not be serialized to know that.
 */
export function sizeUpTo(limit: number, value: unknown): number {
  // A character takes at most six bytes.
  const bound = countCharacters(value) * 6;
  return bound <= limit
    ? bound
    : new TextEncoder().encode(JSON.stringify(value)).length;
}

/** Counts the characters of all texts in a value, with some for punctuation. */
function countCharacters(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  return Object.entries(value).reduce(
    (sum, [key, part]) => sum + key.length + 4 + countCharacters(part),
    2,
  );
}
