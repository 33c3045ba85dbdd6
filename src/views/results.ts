/** Creates the results of tools, and measures results, because clients limit their size. */

import { Buffer } from "node:buffer";
import type { CallToolResult } from "npm:@modelcontextprotocol/server@^2.4.0";

/** The largest result that is sent, in bytes of JSON. The SDK's clients read 10 MiB. */
export const MAX_RESULT_SIZE: number = 8 * 1024 * 1024;

export function createTextResult(...texts: string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

/** Returns the size of a value as JSON, in bytes. */
export function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * The largest size of a list or of an output, in bytes of JSON. Every client accepts a
 * result with two of them.
 */
export const MAX_PART_SIZE = 400_000;

/** Returns the size of a part of a text as JSON, without quotation marks, in bytes. */
export function sizeInText(part: string): number {
  return sizeOf(part) - '""'.length;
}

/** Returns the start of a text that takes at most a number of bytes in JSON. */
export function takeBytes(text: string, limit: number): string {
  if (sizeInText(text) <= limit) return text;
  let size = 0;
  let end = 0;
  for (const character of text) {
    size += sizeInText(character);
    if (size > limit) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** @param limit The largest size that the client accepts, in bytes of JSON. */
export function requireSize(
  value: unknown,
  what: string,
  instead: string,
  limit: number = MAX_RESULT_SIZE,
): void {
  const size = sizeOf(value);
  if (size <= limit) return;
  throw new Error(
    `Cannot return ${what}: it takes ${size} bytes as JSON, and the limit is ${limit}; ${instead}`,
  );
}
