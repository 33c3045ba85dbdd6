/** Limits the size, the number, and the time of requests over HTTP. */

import {
  type McpHttpHandler,
  readRequestBody,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { LISTEN, readMessage } from "../mcp/messages.ts";
import { createRefusal } from "./access.ts";

/** The maximum size of the body of a request, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** The maximum number of requests that are handled at once, besides listeners. */
const MAX_REQUESTS = 64;

/** The maximum number of clients that listen for changes at once. */
export const MAX_LISTENERS = 256;

/** The maximum time for a request that is not a listener, in milliseconds. */
const MAX_REQUEST_MS = 60_000;

/**
 * Returns a function that passes the requests of clients on to the SDK, within the
 * limits.
 *
 * @param mcp The SDK's handler, which limits the listeners.
 */
export function limitRequests(
  mcp: McpHttpHandler,
): (request: Request, sender?: string) => Promise<Response> {
  let handled = 0;
  return async (request, sender = "") => {
    // A client that is gone by then gets no answer.
    const body = await readRequestBody(request, MAX_BODY_SIZE)
      .catch(() => ({ tooLarge: false, text: "" }) as const);
    if (body.tooLarge) {
      const message = `A request can have at most ${MAX_BODY_SIZE} bytes`;
      return createRefusal(413, message);
    }
    const incoming = readMessage(body.text);
    if ("error" in incoming) {
      return Response.json(incoming.error, { status: 400 });
    }
    const { message } = incoming;
    const { url, method, headers } = request;
    const authInfo = { token: "", clientId: sender, scopes: [] };
    const parsed = { authInfo, parsedBody: message };
    // Without the signal of the request: Deno warns about each one that was looked at.
    if ("method" in message && message.method === LISTEN) {
      return await mcp.fetch(new Request(url, { method, headers }), parsed);
    }
    if (handled >= MAX_REQUESTS) {
      const message = "The server is busy: try again in a second";
      return createRefusal(503, message, { "Retry-After": "1" });
    }
    handled++;
    try {
      const signal = AbortSignal.timeout(MAX_REQUEST_MS);
      const passed = new Request(url, { method, headers, signal });
      const answer = mcp.fetch(passed, parsed).then(readWhole);
      return await Promise.race([answer, refuseWhenAborted(signal)]);
    } finally {
      handled--;
    }
  };
}

/** Reads the stream that the SDK answers older clients with, so that it counts as handled. */
async function readWhole(response: Response): Promise<Response> {
  if (response.body === null) return response;
  return new Response(await response.bytes(), response);
}

function refuseWhenAborted(signal: AbortSignal): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const message = `The request took longer than ${
    MAX_REQUEST_MS / 1000
  } seconds`;
  signal.addEventListener("abort", () => resolve(createRefusal(504, message)));
  return promise;
}
