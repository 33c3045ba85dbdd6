/**
 * The exchange of a request and its reply over HTTP, within the budget of its client:
 * the body is read, waits for a slot, and is handled, and the reply is sent as fast as
 * the client reads it.
 *
 * @module
 */

import { attempt } from "../attempt.ts";
import { LISTEN } from "../protocol/requests.ts";
import type { Permit } from "../protocol/semaphore.ts";
import { isObject } from "../text.ts";
import { createRefusal } from "./access.ts";
import { Amount, Slots } from "./budget.ts";

const MIB = 1024 * 1024;

/** The budget. Sizes are in bytes, and times in milliseconds. */
export const LIMITS = {
  /** Requests that are handled at a time. */
  slots: 8,
  /** The size of all requests that wait. */
  waiting: 16 * MIB,
  /** The size of all unsent replies. With more, requests wait. */
  unsent: 16 * MIB,
  listeners: 1_024,
  bodySize: MIB,
  bodyMs: 10_000,
  replyMs: 60_000,
};

/** What a request takes besides its body, in bytes. */
const REQUEST_SIZE = 4 * 1024;

/** What a part of a body counts as at least, in bytes. Smaller ones cost as much work. */
const MIN_PART_SIZE = 256;

/** The size of a body that is parsed before it has a slot, in bytes. A ping is smaller. */
const PEEK_SIZE = 4 * 1024;

/** How much of a reply is sent at a time, in bytes. */
const CHUNK_SIZE = 64 * 1024;

/**
 * Handles a message: the parsed body, or `undefined` if it is not JSON and the request
 * still has it. The signal of the request is aborted if the client is gone.
 */
type Handle = (request: Request, message: unknown) => Promise<Response>;

/** Who sends a request, and what ends the exchange, with a response as the reason. */
interface Exchange {
  readonly client: string;
  readonly ending: AbortController;
}

/** Exchanges requests and replies with clients. */
export class Exchanges {
  readonly #limits: typeof LIMITS;
  readonly #bodies: Amount;
  readonly #slots: Slots;
  /** Those of pings and listeners, which never wait for other requests. */
  readonly #quickSlots: Slots;
  readonly #listeners: Amount;

  /** Creates exchanges that share one budget. */
  constructor(limits: typeof LIMITS = LIMITS) {
    this.#limits = limits;
    this.#bodies = new Amount(limits.waiting);
    this.#slots = new Slots(limits.slots, limits.unsent);
    this.#quickSlots = new Slots(limits.slots, limits.unsent);
    this.#listeners = new Amount(limits.listeners);
  }

  /** What is used of the budget. */
  get used(): Record<"bodies" | "handled" | "unsent" | "listeners", number> {
    const { unsent } = this.#slots;
    const handled = this.#slots.handled + this.#quickSlots.handled;
    const [bodies, listeners] = [this.#bodies.total, this.#listeners.total];
    return { bodies, handled, unsent, listeners };
  }

  /** Responds to a request of a client with what a function returns for its message. */
  async respond(
    request: Request,
    client: string,
    handle: Handle,
  ): Promise<Response> {
    const ending = new AbortController();
    const leave = () => ending.abort(createRefusal(499, "The client is gone"));
    request.signal.addEventListener("abort", leave);
    try {
      return await this.#respond(request, { client, ending }, handle);
    } catch (error) {
      if (error instanceof Response) return error;
      throw error;
    } finally {
      // The request lasts until the reply is sent, and would keep all of its work.
      request.signal.removeEventListener("abort", leave);
    }
  }

  /** @throws {Response} If the request is refused, or the client is gone. */
  async #respond(
    request: Request,
    exchange: Exchange,
    handle: Handle,
  ): Promise<Response> {
    const { client, ending: { signal } } = exchange;
    const { text, slot } = await this.#receive(request, exchange);
    using _slot = slot;
    const message = parse(text);
    const { url, method, headers } = request;
    const rest = message === undefined ? { body: text } : {};
    const passed = new Request(url, { method, headers, signal, ...rest });
    const isListener = methodOf(message) === LISTEN;
    if (isListener && !this.#listeners.take(client, 1)) throw crowded();
    using listener = new DisposableStack();
    if (isListener) listener.defer(() => this.#listeners.add(client, -1));
    const response = await handle(passed, message);
    signal.throwIfAborted();
    // Only a request gets a stream, and a notification gets no body.
    return isListener && response.body !== null
      ? passOn(response, listener.move())
      : await this.#send(response, client);
  }

  /** Reads a body, which counts as waiting until it has a slot. */
  async #receive(
    request: Request,
    { client, ending }: Exchange,
  ): Promise<{ text: string; slot: Permit }> {
    let size = 0;
    const take = (more: number) => {
      if (!this.#bodies.take(client, more)) throw crowded();
      size += more;
    };
    const { bodySize, bodyMs } = this.#limits;
    const late = `The request must arrive within ${
      bodyMs / 1_000
    } seconds: send a smaller one`;
    const timer = setTimeout(
      () => ending.abort(createRefusal(408, late)),
      bodyMs,
    );
    try {
      take(REQUEST_SIZE);
      const text = await readText(request, ending.signal, { bodySize, take });
      // Waiting for a slot has no time limit.
      clearTimeout(timer);
      const isQuick = text.length <= PEEK_SIZE &&
        ["ping", LISTEN].includes(methodOf(parse(text)));
      const slots = isQuick ? this.#quickSlots : this.#slots;
      return { text, slot: await slots.enter(client, ending.signal) };
    } finally {
      clearTimeout(timer);
      this.#bodies.add(client, -size);
    }
  }

  /** Sends a reply while the client reads it, and counts what is unsent. */
  async #send(response: Response, client: string): Promise<Response> {
    if (response.body === null) return response;
    let unsent = await response.bytes();
    const { status, headers } = response;
    // If the stream ends before, Deno closes the connection.
    headers.set("content-length", `${unsent.length}`);
    this.#slots.addUnsent(client, unsent.length);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      this.#slots.addUnsent(client, -unsent.length);
      unsent = new Uint8Array();
    };
    const close = (controller: ReadableStreamDefaultController) => {
      end();
      controller.close();
    };
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        timer = setTimeout(() => close(controller), this.#limits.replyMs);
      },
      pull: (controller) => {
        // A copy, so that the rest can be freed while Deno has a part.
        const part = unsent.slice(0, CHUNK_SIZE);
        controller.enqueue(part);
        unsent = unsent.subarray(part.length);
        this.#slots.addUnsent(client, -part.length);
        if (unsent.length === 0) close(controller);
      },
      cancel: end,
    }, { highWaterMark: 0 });
    return new Response(stream, { status, headers });
  }
}

/** Refuses a request because too many others wait. */
function crowded(): Response {
  const message = "The server is busy: try again in a second";
  return createRefusal(503, message, { "Retry-After": "1" });
}

const NOT_ONE_LENGTH =
  "The Content-Length of the request is not one number: send one";

/** @throws {Response} If the body is too large, or cannot be read. */
async function readText(
  { body, headers }: Request,
  signal: AbortSignal,
  { bodySize, take }: { bodySize: number; take: (more: number) => void },
): Promise<string> {
  const tooLarge =
    `The request must not exceed ${bodySize} bytes: send a smaller one`;
  const tooManyParts =
    "The request arrives in too many small parts: send it in larger ones";
  const declared = Number(headers.get("content-length"));
  // Deno joins several values.
  if (Number.isNaN(declared)) throw createRefusal(400, NOT_ONE_LENGTH);
  if (declared > bodySize) throw createRefusal(413, tooLarge);
  // Refused at once, a request takes no memory.
  take(declared);
  const decoder = new TextDecoder();
  let text = "";
  let [size, counted] = [0, 0];
  const write = (part: Uint8Array) => {
    const counts = Math.max(part.length, MIN_PART_SIZE);
    size += part.length;
    counted += counts;
    if (size > bodySize) throw createRefusal(413, tooLarge);
    if (counted > bodySize) throw createRefusal(413, tooManyParts);
    if (declared === 0) take(counts);
    text += decoder.decode(part, { stream: true });
  };
  await body?.pipeTo(new WritableStream({ write }), { signal }).catch(
    (error) => {
      throw error instanceof Response ? error : createRefusal(
        400,
        "Cannot read the body of the request: send it again, whole",
      );
    },
  );
  return text + decoder.decode();
}

/** Passes a stream on, and disposes of what it uses when it ends. */
function passOn(
  { body, status, headers }: Response,
  used: Disposable,
): Response {
  const end = () => used[Symbol.dispose]();
  const stream = new TransformStream({ flush: end, cancel: end });
  return new Response(body!.pipeThrough(stream), { status, headers });
}

/** Returns the message in a body, or `undefined` if it is not JSON. */
function parse(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

function methodOf(message: unknown): string {
  const method = isObject(message) ? message.method : undefined;
  return typeof method === "string" ? method : "";
}
