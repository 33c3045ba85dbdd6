/**
 * The exchange of a request and its reply over HTTP, within the budget of its client:
 * the body is read, waits for a slot, and is handled, and the reply is sent as fast as
 * the client reads it.
 *
 * @module
 */

import { attempt } from "../attempt.ts";
import { LISTEN } from "../protocol/requests.ts";
import { isObject } from "../text.ts";
import { createRefusal } from "./access.ts";
import { Amount, Slots } from "./budget.ts";

const MIB = 1024 * 1024;

/** The budget. Sizes are in bytes, and times in milliseconds. */
export const LIMITS = {
  /** Requests that are handled at a time. */
  slots: 8,
  /** The size of all requests that wait or are handled. */
  waiting: 16 * MIB,
  /** The size of all unsent large replies. With more, the next ones wait. */
  unsent: 16 * MIB,
  listeners: 1_024,
  bodySize: MIB,
  bodyMs: 10_000,
  replyMs: 60_000,
  /** The time for a part of a reply while another request needs its room. */
  partMs: 5_000,
};

/** What a request takes besides its body, in bytes. */
const REQUEST_SIZE = 4 * 1024;

/** What a part of a body counts as at least, in bytes. Smaller ones cost as much work. */
const MIN_PART_SIZE = 256;

/** The size of a body that is parsed before it has a slot, in bytes. A ping is smaller. */
const PEEK_SIZE = 4 * 1024;

/** How much of a reply is sent at a time, in bytes. A smaller reply needs no room. */
const PART_SIZE = 64 * 1024;

/**
 * Handles a message: the parsed body, or `undefined` if it is not JSON and the request
 * still has it. The signal of the request is aborted if the client is gone. Returns
 * nothing if the reply has certainly more bytes than the maximum size.
 */
type Handle = (
  request: Request,
  message: unknown,
  maxSize: number,
) => Promise<Response | undefined>;

/** Who sends a request, and what ends the exchange, with a response as the reason. */
interface Exchange {
  readonly client: string;
  readonly ending: AbortController;
}

/** An exchange whose request has been read. */
interface Received extends Exchange {
  readonly request: Request;
  readonly text: string;
  readonly handle: Handle;
}

/** Exchanges requests and replies with clients. */
export class Exchanges {
  readonly #limits: typeof LIMITS;
  readonly #bodies: Amount;
  readonly #slots: Slots;
  /** Those of pings and listeners, which never wait for other requests. */
  readonly #quickSlots: Slots;
  /** The only one of requests whose reply was too large for the room. */
  readonly #largeSlots: Slots;
  readonly #listeners: Amount;

  /** Creates exchanges that share one budget. */
  constructor(limits: typeof LIMITS = LIMITS) {
    this.#limits = limits;
    this.#bodies = new Amount(limits.waiting);
    this.#slots = new Slots(limits.slots);
    this.#quickSlots = new Slots(limits.slots);
    this.#largeSlots = new Slots(1, limits.unsent);
    this.#listeners = new Amount(limits.listeners);
  }

  /** What is used of the budget. */
  get used(): Record<"bodies" | "handled" | "unsent" | "listeners", number> {
    const { unsent } = this.#largeSlots;
    const handled = this.#slots.handled + this.#quickSlots.handled +
      this.#largeSlots.handled;
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
    using counted = new DisposableStack();
    const text = await this.#read(request, exchange, counted);
    const isQuick = text.length <= PEEK_SIZE &&
      ["ping", LISTEN].includes(methodOf(parse(text)));
    const respondIn = (slots: Slots) =>
      this.#respondIn(slots, { request, text, handle, ...exchange });
    // A large reply that waits for room would take memory and a slot.
    return await respondIn(isQuick ? this.#quickSlots : this.#slots) ??
      (await respondIn(this.#largeSlots))!;
  }

  /** Returns nothing if the reply is large, and there is no room for it. */
  async #respondIn(
    slots: Slots,
    { request, text, handle, client, ending: { signal } }: Received,
  ): Promise<Response | undefined> {
    using _slot = await slots.enter(client, signal);
    const message = parse(text);
    const rest = message === undefined ? { body: text } : {};
    // The signal of the exchange would keep all work until the reply is sent.
    const ending = new AbortController();
    const end = () => ending.abort(signal.reason);
    signal.addEventListener("abort", end);
    using work = new DisposableStack();
    work.defer(() => signal.removeEventListener("abort", end));
    const { url, method, headers } = request;
    const init = { method, headers, signal: ending.signal, ...rest };
    const respond = (maxSize = Infinity) =>
      handle(new Request(url, init), message, maxSize);
    if (methodOf(message) === LISTEN) {
      return await this.#listen(client, respond);
    }
    const hasRoom = slots === this.#largeSlots ||
      this.#largeSlots.hasRoom(client);
    const response = await respond(hasRoom ? Infinity : PART_SIZE);
    signal.throwIfAborted();
    if (!response?.body) return response;
    const reply = await response.bytes();
    return reply.length <= PART_SIZE
      ? new Response(reply, response)
      : this.#send(reply, response, client);
  }

  /** Reads a body, which counts until it is disposed of. */
  async #read(
    request: Request,
    { client, ending }: Exchange,
    counted: DisposableStack,
  ): Promise<string> {
    const take = (more: number) => {
      if (!this.#bodies.take(client, more)) throw crowded();
      counted.defer(() => this.#bodies.add(client, -more));
    };
    const { bodySize, bodyMs } = this.#limits;
    const late = `The request must arrive within ${
      bodyMs / 1_000
    } seconds: send a smaller one`;
    const timer = setTimeout(
      () => ending.abort(createRefusal(408, late)),
      bodyMs,
    );
    counted.defer(() => clearTimeout(timer));
    take(REQUEST_SIZE);
    const text = await readText(request, ending.signal, { bodySize, take });
    // Waiting for a slot has no time limit.
    clearTimeout(timer);
    return text;
  }

  /** Returns the stream that a listener gets. */
  async #listen(
    client: string,
    respond: () => Promise<Response | undefined>,
  ): Promise<Response | undefined> {
    const { listeners, unsent } = this.#limits;
    if (!this.#listeners.take(client, 1)) throw crowded();
    using listener = new DisposableStack();
    listener.defer(() => this.#listeners.add(client, -1));
    const response = await respond();
    // Only a request gets a stream, and a notification gets no body.
    if (!response?.body) return response;
    const used = listener.move();
    const end = () => used.dispose();
    const outflow = createOutflow(client, this.#largeSlots, this.#limits);
    const counting = new TransformStream<Uint8Array, Uint8Array>(
      {
        transform: (part, controller) => {
          controller.enqueue(part);
          const waiting = outflow.count(part.length);
          if (waiting > unsent / listeners) outflow.end();
        },
        flush: end,
        cancel: end,
      },
      undefined,
      { highWaterMark: Infinity },
    );
    const counted = response.body.pipeThrough(counting);
    return new Response(counted.pipeThrough(outflow.stream), response);
  }

  /** Sends a reply. If its stream ends before, Deno closes the connection. */
  #send(
    reply: Uint8Array,
    { status, headers }: Response,
    client: string,
  ): Response {
    headers.set("content-length", `${reply.length}`);
    const outflow = createOutflow(client, this.#largeSlots, this.#limits);
    outflow.count(reply.length);
    const parts = ReadableStream.from(partsOf(reply));
    const body = parts.pipeThrough(outflow.stream);
    return new Response(body, { status, headers });
  }
}

/** Copies a reply in parts, so that the rest can be freed while Deno has one. */
function* partsOf(reply: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < reply.length; start += PART_SIZE) {
    yield reply.slice(start, start + PART_SIZE);
  }
}

/**
 * Creates a stream to a client, which passes on what the client reads, and a function
 * that counts what waits in it, in bytes, and returns how much that is. The stream ends
 * if something waits for too long, or if less than a part leaves while another request
 * needs the room.
 */
function createOutflow(client: string, slots: Slots, limits: typeof LIMITS) {
  let [waiting, earlier, latest] = [0, 0, 0];
  let timer: ReturnType<typeof setInterval> | undefined;
  let terminate = () => {};
  const count = (size: number) => {
    if (waiting === 0) {
      [earlier, latest] = [size, Date.now() + limits.replyMs];
      timer = setInterval(endIfSlow, limits.partMs);
    }
    waiting += size;
    slots.addUnsent(client, size);
    if (waiting === 0) clearInterval(timer);
    return waiting;
  };
  const end = () => {
    if (waiting > 0) count(-waiting);
    terminate();
  };
  const endIfSlow = () => {
    const isSlow = earlier - waiting < PART_SIZE && slots.isRoomNeeded;
    if (isSlow || Date.now() >= latest) end();
    earlier = waiting;
  };
  const stream = new TransformStream<Uint8Array, Uint8Array>(
    {
      start: (controller) => {
        terminate = () => controller.terminate();
      },
      transform: (part, controller) => {
        controller.enqueue(part);
        count(-part.length);
      },
      flush: end,
      cancel: end,
    },
    undefined,
    { highWaterMark: 0 },
  );
  return { stream, count, end };
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

/** Returns the message in a body, or `undefined` if it is not JSON. */
function parse(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

function methodOf(message: unknown): string {
  const method = isObject(message) ? message.method : undefined;
  return typeof method === "string" ? method : "";
}
