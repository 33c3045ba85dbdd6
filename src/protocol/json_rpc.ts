/**
 * JSON-RPC messages as lines of text, and their size limits.
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
import { isObject, stringifyJson } from "../text.ts";

/** The maximum size of a line that is read, in bytes. The SDK's clients have the same limit. */
export const MAX_LINE_SIZE = 10 * 1024 * 1024;

/**
 * The maximum size of a message that is sent, in bytes. It is somewhat smaller
 * than {@linkcode MAX_LINE_SIZE}, because the SDK's clients also count the bytes
 * after the line that they read in the same chunk as its end.
 */
export const MAX_MESSAGE_SIZE = MAX_LINE_SIZE - 128 * 1024;

/** The maximum length of the ID of a request, in characters. */
const MAX_ID_LENGTH = 1_000;

/**
 * Serializes a message as a line of well-formed Unicode, without a line break.
 *
 * @throws {RangeError} If the message is larger than clients can read.
 * @throws {TypeError} If the message cannot be represented in JSON.
 */
export function serializeMessage(message: JSONRPCMessage): string {
  const line = stringifyJson(message);
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  if (line.length * 3 <= MAX_MESSAGE_SIZE) return line;
  const { length } = new TextEncoder().encode(line);
  if (length <= MAX_MESSAGE_SIZE) return line;
  throw new RangeError(
    `it has ${length} bytes as a message, and clients read at most ${MAX_MESSAGE_SIZE}`,
  );
}

/**
 * Returns about how many bytes a value takes in JSON. The real size is up to six
 * times as much, if every character has to be escaped.
 */
export function estimateSize(value: unknown): number {
  let size = 0;
  // Not recursive, because frontmatter can be deeply nested.
  const values = [value];
  while (values.length > 0) {
    const next = values.pop();
    size += typeof next === "string" ? next.length : 1;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, item] of Object.entries(next)) {
      size += key.length;
      values.push(item);
    }
  }
  return size;
}

/**
 * Parses the message in a line. If the line is invalid, returns an error
 * response to send instead.
 *
 * @param line The line, or `undefined` for one that is too long.
 */
export function parseMessage(
  line: string | undefined,
): { message?: JSONRPCMessage; errorResponse?: JSONRPCErrorResponse } {
  if (line === undefined) {
    return createErrorResponse(
      -32600,
      `A message can have at most ${MAX_LINE_SIZE} bytes`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return createErrorResponse(-32700, "A message must be one line of JSON");
  }
  if (isMessage(value)) return { message: value };
  const id = isObject(value) && isId(value.id) ? value.id : undefined;
  const message = "The line is not a JSON-RPC message of MCP";
  return createErrorResponse(-32600, message, id);
}

/**
 * Whether a value is a JSON-RPC message. Checks only that the params are an
 * object; the schema of the method checks the rest.
 */
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

function createErrorResponse(
  code: number,
  message: string,
  id?: RequestId,
): { errorResponse: JSONRPCErrorResponse } {
  return { errorResponse: { jsonrpc: "2.0", id, error: { code, message } } };
}
