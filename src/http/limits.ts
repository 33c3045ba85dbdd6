/** Limits the size, the number, and the time of requests over HTTP. */

import {
  type McpHttpHandler,
  readRequestBody,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { LISTEN, readMessage } from "../mcp/messages.ts";
import { type Client, createRefusal } from "./access.ts";

/** The maximum size of the body of a request, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** The maximum number of requests that are handled at once, besides listeners. */
const MAX_REQUESTS = 64;

/** The maximum number of clients that listen for changes at once. */
export const MAX_LISTENERS = 256;

/** The maximum time for a request that is not a listener, in seconds. */
const MAX_REQUEST_SECONDS = 60;

/**
 * Returns a function that passes the requests of clients on to the SDK, within the
 * limits.
 *
 * @param mcp The SDK's handler, which limits the listeners.
 */
export function limitRequests(
  mcp: McpHttpHandler,
): (request: Request, client: Client) => Promise<Response> {
  let handled = 0;
  return async (request, { sender = "", removal }) => {
    // Nobody gets the response if the client aborted the upload.
    const body = await readRequestBody(request, MAX_BODY_SIZE)
      .catch(() => ({ tooLarge: false, text: "" }) as const);
    if (body.tooLarge) {
      const reason = `A request can have at most ${MAX_BODY_SIZE} bytes`;
      return createRefusal(413, reason);
    }
    const incoming = readMessage(body.text);
    if ("error" in incoming) {
      return Response.json(incoming.error, { status: 400 });
    }
    const { message } = incoming;
    const authInfo = { token: "", clientId: sender, scopes: [] };
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
    try {
      const timeout = AbortSignal.timeout(MAX_REQUEST_SECONDS * 1_000);
      const answer = pass(timeout).then(readWhole);
      return await Promise.race([answer, answerWhenAborted(timeout)]);
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

function answerWhenAborted(signal: AbortSignal): Promise<Response> {
  const reason = `The request took longer than ${MAX_REQUEST_SECONDS} seconds`;
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(createRefusal(504, reason)));
  });
}
