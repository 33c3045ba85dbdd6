/** Passes the message in a request on to the SDK, and the SDK's answer on to the client. */

import {
  type McpHttpHandler,
  ProtocolErrorCode,
  readRequestBody,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { isListener, readMessage, shortenError } from "../wire/messages.ts";
import type { Sender } from "./access.ts";
import type { Refusals } from "./refusals.ts";

/** The maximum size of the body of a request, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** The status of errors that is not 400, as the SDK has it. */
const STATUSES: Readonly<Record<number, number>> = {
  [ProtocolErrorCode.InvalidParams]: 200,
  [ProtocolErrorCode.MethodNotFound]: 404,
};

interface ExchangeContext {
  readonly sender: Sender;
  /** Aborted when the time for the request is over, unless it is a listener. */
  readonly signal: AbortSignal;
  readonly refusals: Refusals;
}

/**
 * Answers a request: a listener with a stream, and others with JSON.
 *
 * @param mcp The SDK's handler.
 * @throws {DOMException} If the signal is aborted before the body has arrived.
 */
export async function exchange(
  mcp: McpHttpHandler,
  request: Request,
  { sender: { name, removal }, signal, refusals }: ExchangeContext,
): Promise<Response> {
  // Nobody gets the response if the client aborted the upload.
  const body = await readRequestBody(request, MAX_BODY_SIZE)
    .catch(() => ({ tooLarge: false, text: "" }) as const);
  // Nobody would end a listener that began now.
  signal.throwIfAborted();
  if (body.tooLarge) {
    const reason =
      `The request is too large: the limit is ${MAX_BODY_SIZE} bytes; send less at a time`;
    return refusals.refuse(413, reason, name);
  }
  const incoming = readMessage(body.text);
  if ("error" in incoming) {
    const { code } = incoming.error.error;
    const status = STATUSES[code] ?? 400;
    return Response.json(incoming.error, { status });
  }
  const { message } = incoming;
  const listens = isListener(message);
  const passed = toSdkRequest(request, listens ? removal : signal);
  // The SDK passes only this on to the handlers.
  const authInfo = { token: "", clientId: name ?? "", scopes: [] };
  const response = await mcp.fetch(passed, { authInfo, parsedBody: message });
  if (!listens) return await toJson(response);
  if (!isJson(response)) return response;
  const json = await toJson(response);
  const { error } = await json.clone().json();
  // This is how the SDK refuses one listener too many.
  if (error.code !== ProtocolErrorCode.InternalError) return json;
  const reason = "Too many clients listen for changes: try again in a minute";
  return refusals.refuse(503, reason, name, { "Retry-After": "60" });
}

/** Creates the request for the SDK, which does not read the body again. */
function toSdkRequest(
  { url, method, headers }: Request,
  signal: AbortSignal | undefined,
): Request {
  // Deno would log a warning about the signal of the original request.
  const passed = new Request(url, { method, headers, signal });
  // Some clients accept only JSON or do not say what, and the SDK refuses that.
  passed.headers.set("accept", "application/json, text/event-stream");
  return passed;
}

function isJson({ headers }: Response): boolean {
  return headers.get("content-type") === "application/json";
}

/**
 * Reads the SDK's answer to the end, so that the request keeps its slot until then.
 * Clients of earlier revisions get a stream with one event from the SDK.
 */
async function toJson(response: Response): Promise<Response> {
  const { body, status } = response;
  if (body === null) return response;
  const text = await response.text();
  const [, json = text] = /^data: (.*)$/m.exec(text) ?? [];
  // Quotation marks in a string are escaped, and most answers are no errors.
  const shortened = json.includes('"error":{')
    ? JSON.stringify(shortenError(JSON.parse(json)))
    : json;
  const headers = { "content-type": "application/json" };
  return new Response(shortened, { status, headers });
}
