/** Creates the results of tools, and measures results, because clients limit their size. */

import { Buffer } from "node:buffer";
import type { CallToolResult } from "npm:@modelcontextprotocol/server@^2.4.0";
import { quote } from "../text.ts";
import type { ClientProfile } from "./clients.ts";

/** The largest result that is sent, in bytes of JSON. The SDK's clients read 10 MiB. */
export const MAX_RESULT_SIZE: number = 8 * 1024 * 1024;

export function createTextResult(...texts: string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

/** Returns the size of the largest tool result that a client accepts, in bytes of JSON. */
export function maxToolResultSize(
  { maxResultSize = MAX_RESULT_SIZE }: ClientProfile,
): number {
  return maxResultSize;
}

/** Returns the size of a value as JSON, in bytes. */
export function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * Checks the content of a file before a tool returns it.
 *
 * @param file Its name, and where else the client can open it: its path or URI.
 * @throws {Error} If the client accepts no result of its size.
 */
export function requireAccepted(
  content: unknown,
  { name, place }: { name: string; place: string },
  profile: ClientProfile,
): void {
  const size = sizeOf(content);
  const limit = maxToolResultSize(profile);
  if (size <= limit) return;
  throw new Error(
    `Cannot return ${
      quote(name)
    }: as JSON, it has ${size} bytes, and the client accepts ${limit}; open ${
      quote(place)
    } in another way`,
  );
}
