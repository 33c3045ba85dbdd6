/**
 * JSON-RPC messages as lines of text, their size limits, and their errors.
 *
 * @see {@link https://www.jsonrpc.org/specification}
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

/** The maximum length of a line or body that is read, in characters. */
export const MAX_LINE_LENGTH = 2 * 1024 * 1024;

/**
 * The maximum size of a message that is sent, in bytes. The SDK's clients read lines
 * of 10 MiB, and count what follows in the same chunk.
 */
export const MAX_MESSAGE_SIZE = 10 * 1024 * 1024 - 128 * 1024;

/** The maximum length of an ID that is read, in characters. */
const MAX_ID_LENGTH = 1_024;

/** The maximum number of values in a message that is read, and how deep they can be. */
const MAX_VALUES = 10_000;
const MAX_LEVELS = 100;

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

/** @throws {Error} If clients could not read a result. Its JSON is not assembled for that. */
export function requireReadableSize(result: unknown): void {
  // A character takes at most six bytes, and most results are small.
  const limit = sizeOfJson(result, ({ length }) => 6 * length);
  if (limit <= MAX_MESSAGE_SIZE) return;
  const size = sizeOfJson(result, sizeOfText);
  if (size > MAX_MESSAGE_SIZE) throw tooLarge(size);
}

/** Returns the size of a value as JSON, in bytes. */
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

function findId(line: string): RequestId | undefined {
  const [, text = ""] = FIRST_ID.exec(line.slice(0, ID_SEARCH_LENGTH)) ??
    LAST_ID.exec(line.slice(-ID_SEARCH_LENGTH).trimEnd()) ?? [];
  const id = attempt(() => JSON.parse(text));
  return isId(id) ? id : undefined;
}

/**
 * Parses a message, whose params the schema of its method checks later. If the text is not
 * a message, returns an error response to send, with an ID only if one can be read.
 */
export function parseMessage(
  text: string,
): { message: JSONRPCMessage } | { errorResponse: JSONRPCErrorResponse } {
  const sizeReason = findSizeReason(text);
  if (sizeReason !== undefined) {
    return refuse(CODES.invalidRequest, sizeReason, findId(text));
  }
  const value: unknown = attempt(() => JSON.parse(text));
  if (value === undefined) {
    return refuse(CODES.parseError, "The message is not JSON: send one object");
  }
  if (Array.isArray(value)) {
    const message = "Batches are not supported: send each message by itself";
    return refuse(CODES.invalidRequest, message);
  }
  const reason = findMessageReason(value);
  if (reason === undefined) return { message: value as JSONRPCMessage };
  const id = isObject(value) && isId(value.id) ? value.id : undefined;
  return refuse(CODES.invalidRequest, `Cannot read the message: ${reason}`, id);
}

function refuse(code: number, message: string, id?: RequestId) {
  const error = { code, message };
  return { errorResponse: { jsonrpc: "2.0", id, error } as const };
}

function findSizeReason(text: string): string | undefined {
  if (text.length > MAX_LINE_LENGTH) {
    return `A message can have at most ${MAX_LINE_LENGTH} characters: send a shorter one`;
  }
  return isWithinLimits(text)
    ? undefined
    : `Cannot read the message: it has more than ${MAX_VALUES} values, or more than ${MAX_LEVELS} levels; send a smaller one`;
}

/**
 * Whether JSON has at most as many values and levels as the limits allow. Each value begins
 * a list or an object, or follows a comma in one. Parsing would take much more memory.
 */
function isWithinLimits(json: string): boolean {
  let values = 0;
  let levels = 0;
  let isInText = false;
  for (let index = 0; index < json.length; index++) {
    const character = json[index]!;
    if (character === '"') isInText = !isInText;
    else if (isInText) index += character === "\\" ? 1 : 0;
    else if ("]}".includes(character)) levels--;
    else if (",[{".includes(character)) {
      values++;
      if (character !== ",") levels++;
      if (values > MAX_VALUES || levels > MAX_LEVELS) return false;
    }
  }
  return true;
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

export function rpcError(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

export function unknownMethod(
  method: string,
  fix = "the capabilities of the server say what it can do",
): Error {
  const message = `Unknown method ${quote(echo(method))}: ${fix}`;
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

export function toErrorObject(
  { code, legacyCode = code, message, data }: ThrownError,
  { isModern = true } = {},
): JSONRPCErrorResponse["error"] {
  const sent = isModern ? code : legacyCode;
  const isCode = Number.isSafeInteger(sent);
  return { code: isCode ? sent as number : CODES.internalError, message, data };
}
