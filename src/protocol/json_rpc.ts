/**
 * JSON-RPC messages as lines of text, their size limits, and their errors.
 *
 * @see {@link https://www.jsonrpc.org/specification}
 *
 * @module
 */

import { Buffer } from "node:buffer";
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  RequestId,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { attempt } from "../attempt.ts";
import { echo, isObject, quote, stringifyJson } from "../text.ts";

/** The codes of errors: of JSON-RPC, and of MCP for resources and versions. */
export const CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  resourceNotFound: -32002,
  unsupportedVersion: -32022,
} as const;

/** The maximum length of a line that is read, in characters. */
export const MAX_LINE_LENGTH = 2 * 1024 * 1024;

/**
 * The maximum size of a message that is sent, in bytes. The SDK's clients read lines
 * of 10 MiB, and count what follows in the same chunk.
 */
export const MAX_MESSAGE_SIZE = 10 * 1024 * 1024 - 128 * 1024;

/** The maximum length of an ID that is read, in characters. */
const MAX_ID_LENGTH = 1_024;

/** The maximum number of values and keys in a message that is read. */
const MAX_VALUES = 10_000;

const MAX_LEVELS = 100;

const TOO_MANY_VALUES =
  `it has more than ${MAX_VALUES} values and keys, or more than ${MAX_LEVELS} levels; send a smaller one`;

/**
 * Serializes a message as a line of well-formed Unicode, without a line break. In place
 * of a message that cannot be sent, returns an error response, because the client waits
 * for a reply.
 */
export function serializeMessage(message: JSONRPCMessage): string {
  try {
    return serializeWithinLimit(message);
  } catch (error) {
    return stringifyJson({
      jsonrpc: "2.0",
      id: "id" in message ? message.id : undefined,
      error: toErrorObject(error as Error),
    });
  }
}

/** @throws {Error} If the message cannot be serialized, or is larger than clients can read. */
function serializeWithinLimit(message: JSONRPCMessage): string {
  const line = stringifyJson(message);
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  if (line.length * 3 <= MAX_MESSAGE_SIZE) return line;
  const size = Buffer.byteLength(line);
  if (size <= MAX_MESSAGE_SIZE) return line;
  throw tooLarge(size);
}

/**
 * Requires a result that clients can read, before its JSON is assembled.
 *
 * @throws {Error} If it is too large.
 */
export function requireReadableSize(result: unknown): void {
  // A character takes at most six bytes, and most results are small.
  const limit = sizeOfJson(result, ({ length }) => 6 * length);
  if (limit <= MAX_MESSAGE_SIZE) return;
  const size = sizeOfJson(result, sizeOfText);
  if (size > MAX_MESSAGE_SIZE) throw tooLarge(size);
}

/** Returns the size of a value as JSON, in bytes, from the sizes of its texts. */
function sizeOfJson(value: unknown, sizeOf: (text: string) => number): number {
  let size = 0;
  const rest = JSON.stringify(value, (_key, part) => {
    if (typeof part !== "string") return part;
    size += sizeOf(part);
    return "";
  });
  return size + Buffer.byteLength(rest);
}

function sizeOfText(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

function tooLarge(size: number): Error {
  return new Error(
    `Cannot send the reply: it has ${size} bytes as a message, and clients read at most ${MAX_MESSAGE_SIZE}; ask for less at a time`,
  );
}

/** The ID of a message, where clients write it: before the params, or last. */
const FIRST_ID =
  /^\{(?:"(?:jsonrpc|method)": ?"[^"\\]*", ?)*"id": ?("[^"\\]*"|\d+),/;
const LAST_ID = /, ?"id": ?("[^"\\]*"|\d+)\}$/;

/** How much of the beginning and of the end of a line is searched for an ID, in characters. */
export const ID_SEARCH_LENGTH = 1024;

/** Finds the ID of a message that is not parsed. */
function findId(line: string): RequestId | undefined {
  const [, text = ""] = FIRST_ID.exec(line.slice(0, ID_SEARCH_LENGTH)) ??
    LAST_ID.exec(line.slice(-ID_SEARCH_LENGTH).trimEnd()) ?? [];
  const id = attempt(() => JSON.parse(text));
  return isId(id) ? id : undefined;
}

/**
 * Parses the message in a line. If the line is invalid, returns an error
 * response to send instead.
 */
export function parseMessage(
  line: string,
): { message: JSONRPCMessage } | { errorResponse: JSONRPCErrorResponse } {
  const message = findSizeReason(line);
  if (message !== undefined) {
    const id = findId(line);
    return { errorResponse: toResponse(CODES.invalidRequest, message, id) };
  }
  const value: unknown = attempt(() => JSON.parse(line));
  const errorResponse = findErrorResponse(value);
  return errorResponse
    ? { errorResponse }
    : { message: value as JSONRPCMessage };
}

function findSizeReason(line: string): string | undefined {
  if (line.length > MAX_LINE_LENGTH) {
    return `A message can have at most ${MAX_LINE_LENGTH} characters: send a shorter one`;
  }
  return hasMoreValues(line, MAX_VALUES)
    ? `Cannot read the message: ${TOO_MANY_VALUES}`
    : undefined;
}

/** Whether JSON has more values than a limit, without parsing it: each begins or follows one. */
function hasMoreValues(json: string, limit: number): boolean {
  let values = 0;
  let isInText = false;
  for (let index = 0; index < json.length && values <= limit; index++) {
    const character = json[index]!;
    if (character === '"') isInText = !isInText;
    else if (!isInText) values += ",[{".includes(character) ? 1 : 0;
    else if (character === "\\") index++;
  }
  return values > limit;
}

/**
 * Returns the error response to a value that is not a JSON-RPC message, or that has so
 * many parts that checking them would take long. It has an ID only if one can be read.
 * `undefined` stands for what is not JSON. The schema of the method checks the rest.
 */
export function findErrorResponse(
  value: unknown,
): JSONRPCErrorResponse | undefined {
  if (value === undefined) {
    const message = "The message is not JSON: send one object";
    return toResponse(CODES.parseError, message);
  }
  if (Array.isArray(value)) {
    const message = "Batches are not supported: send each message by itself";
    return toResponse(CODES.invalidRequest, message);
  }
  const reason = countParts(value) > MAX_VALUES
    ? TOO_MANY_VALUES
    : findMessageReason(value);
  if (reason === undefined) return undefined;
  const id = isObject(value) && isId(value.id) ? value.id : undefined;
  const message = `Cannot read the message: ${reason}`;
  return toResponse(CODES.invalidRequest, message, id);
}

/**
 * Counts the values and keys in a value, until they are too many. Nesting that is too
 * deep counts as too many.
 */
function countParts(value: unknown, levels = MAX_LEVELS): number {
  if (typeof value !== "object" || value === null) return 1;
  if (levels === 0) return Infinity;
  const parts = Object.values(value);
  let count = Array.isArray(value) ? 1 : 1 + parts.length;
  for (const part of parts) {
    if (count > MAX_VALUES) break;
    count += countParts(part, levels - 1);
  }
  return count;
}

function findMessageReason(value: unknown): string | undefined {
  if (!isObject(value)) return "it is not an object";
  const { jsonrpc, id, method, params = {} } = value;
  if (jsonrpc !== "2.0") return '"jsonrpc" must be "2.0"';
  if ("id" in value && !isId(id)) {
    return `"id" must be a string of at most ${MAX_ID_LENGTH} characters, or an integer`;
  }
  if (!("method" in value)) {
    const isReply = "result" in value || "error" in value;
    return isReply ? undefined : '"method" is missing';
  }
  if (typeof method !== "string") return '"method" must be a string';
  return isObject(params) ? undefined : '"params" must be an object';
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string"
    ? value.length <= MAX_ID_LENGTH
    : Number.isSafeInteger(value);
}

function toResponse(
  code: number,
  message: string,
  id?: RequestId,
): JSONRPCErrorResponse {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** Creates an error with the code of JSON-RPC that its reply contains. */
export function rpcError(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

export function unknownMethod(
  method: string,
  hint = "the capabilities of the server say what it can do",
): Error {
  const message = `Unknown method ${quote(echo(method))}: ${hint}`;
  return rpcError(CODES.methodNotFound, message);
}

export function invalidParams(message: string, data?: unknown): Error {
  return rpcError(CODES.invalidParams, message, data);
}

/**
 * Creates the error for a resource that does not exist. Its code is -32002 up to the
 * revision 2025-11-25, and "invalid params" from 2026-07-28 on.
 */
export function resourceNotFound(message: string, uri: string): Error {
  const error = invalidParams(message, { uri: echo(uri) });
  return Object.assign(error, { legacyCode: CODES.resourceNotFound });
}

type ThrownError = Error & {
  code?: unknown;
  legacyCode?: unknown;
  data?: unknown;
};

/** An error as a reply contains it. */
export type ErrorObject = JSONRPCErrorResponse["error"];

/** Returns what a reply reports about an error, to a client of the modern era or not. */
export function toErrorObject(
  { code, legacyCode = code, message, data }: ThrownError,
  { isModern = true } = {},
): ErrorObject {
  const sent = isModern ? code : legacyCode;
  const isCode = Number.isSafeInteger(sent);
  return { code: isCode ? sent as number : CODES.internalError, message, data };
}
