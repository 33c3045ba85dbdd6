/** Limits the size, the number, and the time of requests over HTTP. */

import {
  type McpHttpHandler,
  readRequestBody,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { LISTEN, readMessage } from "../wire/messages.ts";
import { createRefusal, type Sender } from "./access.ts";

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
): (request: Request, sender: Sender) => Promise<Response> {
  let handled = 0;
  return async (request, { name = "", removal }) => {
    // Nobody gets the response if the client aborted the upload.
    const body = await readRequestBody(request, MAX_BODY_SIZE)
      .catch(() => ({ tooLarge: false, text: "" }) as const);
    if (body.tooLarge) {
      const reason =
        `The request is too large: the limit is ${MAX_BODY_SIZE} bytes; send less at a time`;
      return createRefusal(413, reason);
    }
    const incoming = readMessage(body.text);
    if ("error" in incoming) {
      return Response.json(incoming.error, { status: 400 });
    }
    const { message } = incoming;
    // The SDK passes nothing else of ours on to the handlers.
    const authInfo = { token: "", clientId: name, scopes: [] };
    // The SDK reads no body, and Deno would log a warning about the signal of the
    // original request.
    const pass = (signal?: AbortSignal) => {
      const { url, method, headers } = request;
      const passed = new Request(url, { method, headers, signal });
      return mcp.fetch(passed, { authInfo, parsedBody: message });
    };
    if ("method" in message && message.method === LISTEN) {
      return await pass(removal);
    }
    if (handled >= MAX_REQUESTS) {
      const reason = "The server is busy: try again in a second";
      return createRefusal(503, reason, { "Retry-After": "1" });
    }
    handled++;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), MAX_REQUEST_MS);
    try {
      const answer = pass(timeout.signal).then(readWhole);
      return await Promise.race([answer, answerWhenAborted(timeout.signal)]);
    } finally {
      // The timer would keep the response in memory.
      clearTimeout(timer);
      handled--;
    }
  };
}

/** Reads the SDK's event stream to the end, so that the request keeps its slot until then. */
async function readWhole(response: Response): Promise<Response> {
  if (response.body === null) return response;
  return new Response(await response.bytes(), response);
}

function answerWhenAborted(signal: AbortSignal): Promise<Response> {
  const limit = MAX_REQUEST_MS / 1_000;
  const reason =
    `The request timed out after ${limit} seconds: ask for less, or try again`;
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(createRefusal(504, reason)));
  });
}
