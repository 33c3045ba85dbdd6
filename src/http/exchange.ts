/** Passes the message in a request on to the SDK, and the SDK's answer on to the client. */

import {
  type JSONRPCErrorResponse,
  type McpHttpHandler,
  ProtocolErrorCode,
  readRequestBody,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { LISTEN, readMessage, shortenError } from "../wire/messages.ts";
import { createRefusal, type Sender } from "./access.ts";

/** The maximum size of the body of a request, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/**
 * Answers a request: a listener with a stream, and others with JSON.
 *
 * @param mcp The SDK's handler.
 * @param signal Aborted when the time for the request is over, unless it is a listener.
 * @throws {DOMException} If the signal is aborted before the body has arrived.
 */
export async function exchange(
  mcp: McpHttpHandler,
  request: Request,
  { name = "", removal }: Sender,
  signal: AbortSignal,
): Promise<Response> {
  // Nobody gets the response if the client aborted the upload.
  const body = await readRequestBody(request, MAX_BODY_SIZE)
    .catch(() => ({ tooLarge: false, text: "" }) as const);
  // Nobody would end a listener that began now.
  signal.throwIfAborted();
  if (body.tooLarge) {
    const reason =
      `The request is too large: the limit is ${MAX_BODY_SIZE} bytes; send less at a time`;
    return createRefusal(413, reason);
  }
  const incoming = readMessage(body.text);
  if ("error" in incoming) {
    const error = shortenError(incoming.error);
    return Response.json(error, { status: statusOf(incoming.error) });
  }
  const { message } = incoming;
  const isListener = "method" in message && message.method === LISTEN;
  // The SDK reads no body, and Deno would log a warning about the signal of the
  // original request.
  const { url, method, headers } = request;
  const passed = new Request(url, {
    method,
    headers,
    signal: isListener ? removal : signal,
  });
  // The SDK passes nothing else of ours on to the handlers.
  const authInfo = { token: "", clientId: name, scopes: [] };
  const response = await mcp.fetch(passed, { authInfo, parsedBody: message });
  return isListener ? response : await toJson(response);
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

/** Returns the status that the SDK would send with an error. */
function statusOf({ error: { code } }: JSONRPCErrorResponse): number {
  switch (code) {
    case ProtocolErrorCode.InvalidParams:
      return 200;
    case ProtocolErrorCode.MethodNotFound:
      return 404;
    default:
      return 400;
  }
}
