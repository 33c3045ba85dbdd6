/**
 * Answers the requests of clients within limits, which begin at the end of the headers:
 * passes each message on to the SDK, and the SDK's answer on to the client.
 */

import {
  type McpHttpHandler,
  ProtocolErrorCode,
  readRequestBody,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import {
  isListenRequest,
  readMessage,
  shortenError,
} from "../wire/messages.ts";
import type { Sender } from "./access.ts";
import type { Refusals } from "./refusals.ts";

/** The maximum number of requests that are handled at once, besides listeners. */
const MAX_REQUESTS = 64;

/** The maximum number of clients that listen for changes at once. */
export const MAX_LISTENERS = 256;

/** The maximum time for a request, its body, and the sending of a long answer, in seconds. */
const MAX_REQUEST_SECONDS = 60;

/** The maximum size of the body of a request, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** The size of the pieces of a long answer, in bytes. Sending all in pieces would take longer. */
const PIECE_SIZE = 64 * 1024;

/** The statuses of errors other than 400, as in the SDK. */
const STATUSES: Readonly<Record<number, number>> = {
  [ProtocolErrorCode.InvalidParams]: 200,
  [ProtocolErrorCode.MethodNotFound]: 404,
};

/** Answers requests with the SDK's handler, which limits the listeners. */
export class Exchange {
  readonly #mcp: McpHttpHandler;
  readonly #refusals: Refusals;
  #handled = 0;

  constructor(mcp: McpHttpHandler, refusals: Refusals) {
    this.#mcp = mcp;
    this.#refusals = refusals;
  }

  /**
   * Answers a request within the limits. It counts until its answer begins or, if that is
   * long, until the client has read it.
   */
  async respond(request: Request, sender: Sender): Promise<Response> {
    if (this.#handled >= MAX_REQUESTS) {
      const reason = "The server is busy: try again in a second";
      const headers = { "Retry-After": "1" };
      return this.#refusals.refuse(503, reason, sender.label, headers);
    }
    this.#handled++;
    using slot = new DisposableStack();
    slot.defer(() => this.#handled--);
    const timeout = new AbortController();
    const late = Promise.withResolvers<Response>();
    const timer = setTimeout(() => {
      timeout.abort();
      const reason =
        `The request timed out after ${MAX_REQUEST_SECONDS} seconds: ask for less, or try again`;
      late.resolve(this.#refusals.refuse(504, reason, sender.label));
    }, MAX_REQUEST_SECONDS * 1_000);
    // The timer would keep the response in memory.
    slot.defer(() => clearTimeout(timer));
    const answer = this.#answer(request, sender, timeout.signal, slot);
    return await Promise.race([answer, late.promise]);
  }

  /**
   * Answers a listener with a stream, and other requests with JSON.
   *
   * @param signal Aborted when the time for the request is over.
   * @param slot Moved to a long answer, which disposes of it.
   * @throws {DOMException} If the signal is aborted before the body has arrived.
   */
  async #answer(
    request: Request,
    { label, removal }: Sender,
    signal: AbortSignal,
    slot: DisposableStack,
  ): Promise<Response> {
    // Nobody gets the response if the client aborted the upload.
    const body = await readRequestBody(request, MAX_BODY_SIZE)
      .catch(() => ({ tooLarge: false, text: "" }) as const);
    // Nobody would end a listener that began now.
    signal.throwIfAborted();
    if (body.tooLarge) {
      const reason =
        `The request is too large: the limit is ${MAX_BODY_SIZE} bytes; send less at a time`;
      return this.#refusals.refuse(413, reason, label);
    }
    const incoming = readMessage(body.text);
    if ("error" in incoming) {
      const status = STATUSES[incoming.error.error.code] ?? 400;
      return Response.json(incoming.error, { status });
    }
    const { message } = incoming;
    const listens = isListenRequest(message);
    const passed = toSdkRequest(request, listens ? removal : signal);
    // The SDK passes only this on to the handlers.
    const authInfo = { token: "", clientId: label ?? "", scopes: [] };
    const response = await this.#mcp
      .fetch(passed, { authInfo, parsedBody: message });
    if (listens && !isJson(response)) return response;
    const json = await toJson(response, signal, slot);
    return listens ? await this.#refuseListener(json, label) : json;
  }

  /** Refuses one listener too many, whom the SDK answers with an internal error. */
  async #refuseListener(
    response: Response,
    sender: string | undefined,
  ): Promise<Response> {
    const { error } = await response.clone().json();
    if (error.code !== ProtocolErrorCode.InternalError) return response;
    const reason = "Too many clients listen for changes: try again in a minute";
    const headers = { "Retry-After": "60" };
    return this.#refusals.refuse(503, reason, sender, headers);
  }
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
async function toJson(
  response: Response,
  signal: AbortSignal,
  slot: DisposableStack,
): Promise<Response> {
  const { body, status } = response;
  if (body === null) return response;
  const text = await response.text();
  const [, json = text] = /(?:^|\n)data: ([^\n]*)/.exec(text) ?? [];
  // Quotation marks in a string are escaped, and most answers are no errors.
  const shortened = json.includes('"error":{')
    ? JSON.stringify(shortenError(JSON.parse(json)))
    : json;
  const headers = { "content-type": "application/json" };
  if (shortened.length <= PIECE_SIZE) {
    return new Response(shortened, { status, headers });
  }
  const bytes = new TextEncoder().encode(shortened);
  // If the answer ends early, this tells the client, and Deno closes the connection.
  const length = { "content-length": String(bytes.length) };
  const pieces = inPieces(bytes, signal, slot.move());
  return new Response(pieces, { status, headers: { ...headers, ...length } });
}

/** Sends bytes as fast as the client reads them, until the signal is aborted. */
function inPieces(
  bytes: Uint8Array,
  signal: AbortSignal,
  slot: DisposableStack,
): ReadableStream<Uint8Array> {
  let rest = bytes;
  const end = (controller: ReadableStreamDefaultController) => {
    controller.close();
    slot.dispose();
  };
  return new ReadableStream({
    start: (controller) => {
      signal.onabort = () => end(controller);
    },
    pull: (controller) => {
      controller.enqueue(rest.subarray(0, PIECE_SIZE));
      rest = rest.subarray(PIECE_SIZE);
      if (rest.length === 0) end(controller);
    },
    cancel: () => slot.dispose(),
  }, { highWaterMark: 0 });
}
