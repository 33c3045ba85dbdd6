/** Reads the JSON-RPC messages that clients send: lines on stdin, and bodies over HTTP. */

import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { attempt } from "../attempt.ts";
import { isObject } from "../text.ts";

/** The method with which a client of 2026-07-28 listens for changes. */
export const LISTEN = "subscriptions/listen";

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
    const reason = "The params are nested too deeply: send flatter ones";
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

/** Cleans the params of a message. */
function cleanMessage(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { params, ...rest } = message;
  return params === null || params === undefined
    ? rest
    : { ...rest, params: cleanValue(params) };
}

/**
 * Removes members that are `null`, which JSON libraries of Go, C#, and Java write for
 * absent ones, and replaces lone surrogates, which strict parsers of the answer refuse.
 */
function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(cleanValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== null)
      .map(([name, member]) => [name, cleanValue(member)]),
  );
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
