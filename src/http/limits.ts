/** Limits the number and the time of requests over HTTP, from the end of their headers. */

import type { McpHttpHandler } from "npm:@modelcontextprotocol/server@^2.4.0";
import type { Sender } from "./access.ts";
import { exchange } from "./exchange.ts";
import type { Refusals } from "./refusals.ts";

/** The maximum number of requests that are handled at once, besides listeners. */
const MAX_REQUESTS = 64;

/** The maximum number of clients that listen for changes at once. */
export const MAX_LISTENERS = 256;

/** The maximum time for a request and its body, in milliseconds. */
const MAX_REQUEST_MS = 60_000;

/**
 * Returns a function that answers the requests of clients within the limits. A listener
 * counts until its body is read.
 *
 * @param mcp The SDK's handler, which limits the listeners.
 */
export function limitRequests(
  mcp: McpHttpHandler,
  refusals: Refusals,
): (request: Request, sender: Sender) => Promise<Response> {
  let handled = 0;
  return async (request, sender) => {
    if (handled >= MAX_REQUESTS) {
      const reason = "The server is busy: try again in a second";
      const headers = { "Retry-After": "1" };
      return refusals.refuse(503, reason, sender.name, headers);
    }
    handled++;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), MAX_REQUEST_MS);
    try {
      const { signal } = timeout;
      return await Promise.race([
        exchange(mcp, request, { sender, signal, refusals }),
        aborted(signal).then(() => refuseLate(sender, refusals)),
      ]);
    } finally {
      // The timer would keep the response in memory.
      clearTimeout(timer);
      handled--;
    }
  };
}

function refuseLate({ name }: Sender, refusals: Refusals): Response {
  const limit = MAX_REQUEST_MS / 1_000;
  const reason =
    `The request timed out after ${limit} seconds: ask for less, or try again`;
  return refusals.refuse(504, reason, name);
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", resolve));
}
