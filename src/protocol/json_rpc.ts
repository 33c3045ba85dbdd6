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
  const size = sizeOf(line, MAX_MESSAGE_SIZE);
  if (size <= MAX_MESSAGE_SIZE) return line;
  throw new RangeError(
    `it has ${size} bytes as a message, and clients read at most ${MAX_MESSAGE_SIZE}`,
  );
}

/**
 * Parses the message in a line. If the line is invalid, returns an error
 * response to send instead.
 */
export function parseMessage(
  line: string,
): { message?: JSONRPCMessage; errorResponse?: JSONRPCErrorResponse } {
  if (sizeOf(line, MAX_LINE_SIZE) > MAX_LINE_SIZE) {
    const message = `A message can have at most ${MAX_LINE_SIZE} bytes`;
    return createErrorResponse(-32600, message);
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

/** Returns the size of a text in bytes, or an upper limit of it that is within a limit. */
function sizeOf(text: string, limit: number): number {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  const most = text.length * 3;
  return most <= limit ? most : new TextEncoder().encode(text).length;
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
