/**
 * Reads the JSON-RPC messages that clients send, lines on stdin and bodies over HTTP, and
 * shortens the errors that they get.
 */

import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { attempt } from "../attempt.ts";
import { isObject, truncate } from "../text.ts";
import { sizeOf } from "../views/results.ts";

/** The method with which a client of 2026-07-28 listens for changes. */
export const LISTEN = "subscriptions/listen";

/**
 * The maximum number of values in the params of a message. Each wrong one would cost the
 * schema library an explanation.
 */
const MAX_VALUES = 10_000;

/** The maximum length of the message of an error, in characters. */
const MAX_ERROR_LENGTH = 2_000;

/** The maximum size of the data of an error, in bytes of JSON. */
const MAX_ERROR_DATA_SIZE = 2_000;

/** A message, or the error to reply with if the text is not one. */
type Incoming =
  | { readonly message: JSONRPCMessage }
  | { readonly error: JSONRPCErrorResponse };

export function readMessage(text: string): Incoming {
  const value: unknown = attempt(() => JSON.parse(text));
  if (value === undefined) {
    const reason =
      "The message is not valid JSON: send one JSON-RPC message at a time";
    return refuse(ProtocolErrorCode.ParseError, reason);
  }
  if (Array.isArray(value)) {
    const reason = "Batches are not supported: send one message at a time";
    return refuse(ProtocolErrorCode.InvalidRequest, reason);
  }
  const cleaned = attempt(() => cleanMessage(value));
  if (cleaned === undefined) {
    const reason =
      `The params are nested too deeply, or have more than ${MAX_VALUES} values: send fewer`;
    return refuse(ProtocolErrorCode.InvalidRequest, reason, idOf(value));
  }
  try {
    return { message: parseJSONRPCMessage(cleaned) };
  } catch {
    const reason =
      'The message is not JSON-RPC: it needs "jsonrpc": "2.0", a "method", "params" that are an object, if any, and an "id" that is text or an integer if it is a request';
    return refuse(ProtocolErrorCode.InvalidRequest, reason, idOf(value));
  }
}

/**
 * Cleans the params of a message: removes members that are `null`, which JSON libraries
 * of Go, C#, and Java write for absent ones, and replaces lone surrogates, which strict
 * parsers of the answer refuse.
 *
 * @throws {RangeError} If the params are nested too deeply, or have too many values.
 */
function cleanMessage(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { params, ...rest } = message;
  let values = 0;
  const count = (more: number) => {
    values += more;
    if (values > MAX_VALUES) throw new RangeError();
  };
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return value.toWellFormed();
    if (Array.isArray(value)) {
      count(value.length);
      return value.map(clean);
    }
    if (!isObject(value)) return value;
    const names = Object.keys(value);
    count(names.length);
    return Object.fromEntries(
      names.filter((name) => value[name] !== null)
        .map((name) => [name, clean(value[name])]),
    );
  };
  return params === null || params === undefined
    ? rest
    : { ...rest, params: clean(params) };
}

function idOf(value: unknown): RequestId | undefined {
  const id = isObject(value) ? value.id : undefined;
  return typeof id === "string" || Number.isSafeInteger(id)
    ? id as RequestId
    : undefined;
}

function refuse(code: number, message: string, id?: RequestId): Incoming {
  return { error: { jsonrpc: "2.0", id, error: { code, message } } };
}

/**
 * Shortens the message of an error, and drops large data. Both can repeat what the client
 * sent, also in the SDK's own errors.
 */
export function shortenError(message: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in message)) return message;
  const { code, message: text, data } = message.error;
  const isKept = data !== undefined && sizeOf(data) <= MAX_ERROR_DATA_SIZE;
  const short = { code, message: truncate(text, MAX_ERROR_LENGTH) };
  return { ...message, error: isKept ? { ...short, data } : short };
}
