// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * JSON-RPC messages as lines of text, and the limits of both.
 *
 * @see {@link https://www.jsonrpc.org/specification}
 *
 * @module
 */

import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  RequestId,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { stringifyJson } from "./text.ts";

/** Longest line that is read, in bytes. The SDK's clients read no longer ones either. */
export const MAX_LINE_SIZE = 10 * 1024 * 1024;

/**
 * Longest message that is sent, in bytes. It is somewhat less, because the
 * SDK's clients count what they read together with the end of a line.
 */
export const MAX_MESSAGE_SIZE = MAX_LINE_SIZE - 128 * 1024;

/** Longest id of a request, in characters. */
const MAX_ID_LENGTH = 1_000;

/**
 * Returns a message as a line of well-formed Unicode, without its line break.
 *
 * @throws {RangeError} If it is longer than clients read.
 * @throws {TypeError} If JSON cannot hold it.
 */
export function serializeMessage(message: JSONRPCMessage): string {
  const line = stringifyJson(message);
  // A UTF-16 code unit has three bytes at most.
  if (line.length * 3 <= MAX_MESSAGE_SIZE) return line;
  const { length } = new TextEncoder().encode(line);
  if (length <= MAX_MESSAGE_SIZE) return line;
  throw new RangeError(
    `it has ${length} bytes as a message, more than the ${MAX_MESSAGE_SIZE} that clients read`,
  );
}

/**
 * Returns the message in a line, or the error to answer with if there is none.
 *
 * @param line The line, or `undefined` for one that is too long.
 */
export function parseMessage(
  line: string | undefined,
): { message?: JSONRPCMessage; refusal?: JSONRPCErrorResponse } {
  if (line === undefined) {
    return refuse(-32600, `A message has ${MAX_LINE_SIZE} bytes at most`);
  }
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refuse(-32700, "A message is one line of JSON");
  }
  return isMessage(value)
    ? { message: value }
    : refuse(-32600, "This is not a JSON-RPC message of MCP", idOf(value));
}

/** Whether a value is an object in the sense of JSON. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a JSON-RPC message. The params are left to those who know the method. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isObject(value) || value.jsonrpc !== "2.0") return false;
  if ("id" in value && !isId(value.id)) return false;
  const { method, params = {} } = value;
  return "method" in value
    ? typeof method === "string" && isObject(params)
    : "result" in value || "error" in value;
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string"
    ? value.length <= MAX_ID_LENGTH
    : Number.isSafeInteger(value);
}

function refuse(
  code: number,
  message: string,
  id?: RequestId,
): { refusal: JSONRPCErrorResponse } {
  return { refusal: { jsonrpc: "2.0", id, error: { code, message } } };
}

/** Returns the id of what is not a message, if it has one. */
function idOf(value: unknown): RequestId | undefined {
  const id = isObject(value) ? value.id : undefined;
  return isId(id) || Number.isInteger(id) ? id as RequestId : undefined;
}
