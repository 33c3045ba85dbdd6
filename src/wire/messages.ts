/**
 * Reads the JSON-RPC messages that clients send, lines on stdin and bodies over HTTP, and
 * shortens the errors that they get.
 */

import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  parseJSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  UnsupportedProtocolVersionError,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { attempt } from "../attempt.ts";
import { requireParams } from "../features/methods.ts";
import { isObject, truncate } from "../text.ts";
import { sizeOf } from "../views/results.ts";
import { cleanParams, MAX_VALUES } from "./params.ts";

const LISTEN = "subscriptions/listen";

/** The revision that a client names in each request. Earlier ones are negotiated. */
const MODERN_REVISION = "2026-07-28";

/** The maximum length of the message of an error, in characters. */
const MAX_ERROR_LENGTH = 2_000;

/** The maximum size of the data of an error, in bytes of JSON. */
const MAX_ERROR_DATA_SIZE = 2_000;

/** A message, or the error if the text is not one that the server understands. */
type Incoming =
  | { readonly message: JSONRPCMessage }
  | {
    readonly error: JSONRPCErrorResponse;
    /** Whether the text is a notification, which gets no answer. */
    readonly isNotification: boolean;
  };

export function readMessage(text: string): Incoming {
  const value: unknown = attempt(() => JSON.parse(text));
  try {
    return { message: toMessage(value) };
  } catch (error) {
    return {
      error: createErrorResponse(error as ProtocolError, idOf(value)),
      isNotification: isObject(value) && "method" in value && !("id" in value),
    };
  }
}

/** @throws {ProtocolError} If the value is no message, or its params are wrong. */
function toMessage(value: unknown): JSONRPCMessage {
  if (value === undefined) {
    throw new ProtocolError(
      ProtocolErrorCode.ParseError,
      "The message is not valid JSON: send one JSON-RPC message at a time",
    );
  }
  if (Array.isArray(value)) {
    throw invalidRequest(
      "Batches are not supported: send one message at a time",
    );
  }
  const cleaned = attempt(() => cleanMessage(value));
  if (cleaned === undefined) {
    throw invalidRequest(
      `The params are nested too deeply, or have more than ${MAX_VALUES} values: send fewer`,
    );
  }
  const message = attempt(() => parseJSONRPCMessage(cleaned));
  if (message === undefined) {
    throw invalidRequest(
      'The message is not JSON-RPC: it needs "jsonrpc": "2.0", a "method", "params" that are an object with a valid "_meta", if any, and an "id" that is text or an integer if it is a request',
    );
  }
  if (isRequest(message)) {
    const { method, params } = message;
    if (method === "initialize" && revisionOf(message) === MODERN_REVISION) {
      const reason =
        `There is no method initialize in ${MODERN_REVISION}: send server/discover, or name an earlier revision`;
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, reason);
    }
    requireParams(method, params);
  }
  return message;
}

function cleanMessage(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { params, ...rest } = message;
  return params === null || params === undefined
    ? rest
    : { ...rest, params: cleanParams(rest.method, params) };
}

/** Whether the answer to a message is a stream of notifications. */
export function isListenRequest(message: JSONRPCMessage): boolean {
  return isRequest(message) && message.method === LISTEN &&
    revisionOf(message) === MODERN_REVISION;
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

/** Returns the revision that a request names, as all requests of 2026-07-28 do. */
function revisionOf({ params }: JSONRPCRequest): unknown {
  return params?._meta?.[PROTOCOL_VERSION_META_KEY];
}

/**
 * Checks the revision that a request names. On stdio, the SDK does so only until it
 * knows the client.
 *
 * @throws {ProtocolError} If the server does not speak it.
 */
export function requireRevision(request: JSONRPCRequest): void {
  const requested = revisionOf(request);
  if (typeof requested !== "string" || requested === MODERN_REVISION) return;
  const supported = [MODERN_REVISION];
  throw new UnsupportedProtocolVersionError({ supported, requested });
}

function invalidRequest(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
}

function idOf(value: unknown): RequestId | undefined {
  const id = isObject(value) ? value.id : undefined;
  return typeof id === "string" || Number.isSafeInteger(id)
    ? id as RequestId
    : undefined;
}

/**
 * Creates the response to a request that failed, or to a text without an ID. Shortens the
 * message, and drops large data: both can repeat what the client sent.
 */
export function createErrorResponse(
  { code, message, data }: Pick<ProtocolError, "code" | "message" | "data">,
  id: RequestId | undefined,
): JSONRPCErrorResponse {
  const isKept = data !== undefined && sizeOf(data) <= MAX_ERROR_DATA_SIZE;
  const short = { code, message: truncate(message, MAX_ERROR_LENGTH) };
  const error = isKept ? { ...short, data } : short;
  return { jsonrpc: "2.0", id, error };
}

/** Shortens a message if it is an error, such as the SDK's own ones. */
export function shortenError(message: JSONRPCMessage): JSONRPCMessage {
  return "error" in message
    ? createErrorResponse(message.error, message.id)
    : message;
}
