/**
 * The exchange of a request and its reply over HTTP, within the budget of its client:
 * the body is read, waits for a permit, and is handled, and the reply is sent as fast as
 * the client reads it.
 */

import type { JSONRPCMessage } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { parseMessage } from "../protocol/json_rpc.ts";
import { LISTEN } from "../protocol/requests.ts";
import { createRefusal } from "./access.ts";
import { Amount, SharedSemaphore } from "./budget.ts";

const MIB = 1024 * 1024;

/** The budget. Sizes are in bytes, and times in milliseconds. */
export const LIMITS = {
  /** Requests that are handled at a time. */
  handled: 8,
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

/** The size of a body that is parsed before it has a permit, in bytes. A ping is smaller. */
const PEEK_SIZE = 4 * 1024;

const LONG_LISTENER =
  `A request to listen must not exceed ${PEEK_SIZE} characters: send a shorter one`;

/** How much of a reply is sent at a time, in bytes. A smaller reply needs no room. */
const PART_SIZE = 64 * 1024;

/** Handles a message. The signal of the request is aborted if the client is gone. */
type Handle = (request: Request, message: JSONRPCMessage) => Promise<Response>;

interface Incoming {
  readonly request: Request;
  readonly client: string;
  readonly text: string;
  readonly handle: Handle;
}

export class Exchanges {
  readonly #limits: typeof LIMITS;
  readonly #bodies: Amount;
  readonly #permits: SharedSemaphore;
  /** The permits of pings and listeners, which never wait for other requests. */
  readonly #quickPermits: SharedSemaphore;
  /**
   * The permits of clients that cannot be told apart, which wait for room only if a reply
   * is large.
   */
  readonly #trialPermits: SharedSemaphore;
  readonly #listeners: Amount;

  constructor(limits: typeof LIMITS = LIMITS) {
    this.#limits = limits;
    this.#bodies = new Amount(limits.waiting);
    this.#permits = new SharedSemaphore(limits.handled, limits.unsent);
    this.#quickPermits = new SharedSemaphore(limits.handled);
    this.#trialPermits = new SharedSemaphore(limits.handled);
    this.#listeners = new Amount(limits.listeners);
  }

  get used(): Record<"bodies" | "handled" | "unsent" | "listeners", number> {
    const handled = this.#permits.handled + this.#quickPermits.handled +
      this.#trialPermits.handled;
    return {
      bodies: this.#bodies.total,
      handled,
      unsent: this.#permits.unsent,
      listeners: this.#listeners.total,
    };
  }

  async respond(
    request: Request,
    client: string,
    handle: Handle,
  ): Promise<Response> {
    using counted = new DisposableStack();
    try {
      const text = await this.#read(request, client, counted);
      return await this.#respond({ request, client, text, handle });
    } catch (error) {
      if (error instanceof Response) return error;
      throw error;
    }
  }

  async #respond(incoming: Incoming): Promise<Response> {
    if (isQuick(incoming.text)) {
      return (await this.#respondWith(this.#quickPermits, incoming))!;
    }
    // The reply may be small, and clients that leave theirs unread must not delay it. If it
    // is not, the request is handled again once there is room.
    const reply = incoming.client === ""
      ? await this.#respondWith(this.#trialPermits, incoming)
      : undefined;
    return reply ?? (await this.#respondWith(this.#permits, incoming))!;
  }

  /**
   * Handles a request once it has a permit. Returns nothing if the reply is large, and must
   * wait for room.
   *
   * @throws {Response} If the request is refused, or the client is gone.
   */
  async #respondWith(
    permits: SharedSemaphore,
    { request, client, text, handle }: Incoming,
  ): Promise<Response | undefined> {
    using work = new DisposableStack();
    const { signal } = endingOf(request, work);
    work.use(await permits.acquire(client, signal));
    const message = parse(text);
    const isListener = methodOf(message) === LISTEN;
    using listener = new DisposableStack();
    if (isListener) this.#addListener(client, text, listener);
    const { url, method, headers } = request;
    const passed = new Request(url, { method, headers, signal });
    const response = await handle(passed, message);
    signal.throwIfAborted();
    // Only a request gets a stream, and a notification gets no body.
    return isListener && response.body !== null
      ? this.#passOn(response, client, listener.move())
      : await this.#send(response, client, permits === this.#trialPermits);
  }

  /** Counts a listener until it is disposed of. */
  #addListener(client: string, text: string, listener: DisposableStack): void {
    // It is kept as long as the listener lasts.
    if (text.length > PEEK_SIZE) throw createRefusal(413, LONG_LISTENER);
    if (!this.#listeners.take(client, 1)) throw crowded();
    listener.defer(() => this.#listeners.add(client, -1));
  }

  /** Reads a body, which counts until it is disposed of. */
  async #read(
    request: Request,
    client: string,
    counted: DisposableStack,
  ): Promise<string> {
    const take = (more: number) => {
      if (!this.#bodies.take(client, more)) throw crowded();
      counted.defer(() => this.#bodies.add(client, -more));
    };
    const ending = endingOf(request, counted);
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
    // Waiting for a permit has no time limit.
    clearTimeout(timer);
    return text;
  }

  /** Sends a reply. Returns nothing if it is large, and must wait for room. */
  async #send(
    response: Response,
    client: string,
    isTrial: boolean,
  ): Promise<Response | undefined> {
    if (response.body === null) return response;
    const reply = await response.bytes();
    if (reply.length <= PART_SIZE) return new Response(reply, response);
    if (isTrial && !this.#permits.hasRoom(client)) return undefined;
    // If the stream ends before, Deno closes the connection.
    response.headers.set("content-length", `${reply.length}`);
    const parts = ReadableStream.from(partsOf(reply));
    return this.#passOn(new Response(parts, response), client);
  }

  #passOn(response: Response, client: string, listener?: DisposableStack) {
    const permits = this.#permits;
    const { unsent, listeners } = this.#limits;
    const passage = new Passage({
      limits: this.#limits,
      isRoomNeeded: () => permits.isRoomNeeded,
      addUnsent: (size) => permits.addUnsent(client, size),
      maxWaiting: listener ? unsent / listeners : Infinity,
      onEnd: () => listener?.dispose(),
    });
    return passage.open(response);
  }
}

interface PassageOptions {
  readonly limits: typeof LIMITS;
  readonly isRoomNeeded: () => boolean;
  readonly addUnsent: (size: number) => void;
  /** How much can wait, in bytes. With more, the passage ends. */
  readonly maxWaiting: number;
  readonly onEnd: () => void;
}

/** Passes a stream on as fast as its client reads it. What waits counts as unsent. */
class Passage {
  readonly #options: PassageOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  #controller!: TransformStreamDefaultController<Uint8Array>;
  #waiting = 0;
  #waitingSince = 0;
  /** What was sent since the last check, in bytes. */
  #sent = 0;

  constructor(options: PassageOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), options.limits.partMs);
  }

  open(response: Response): Response {
    const end = () => this.#end();
    // All that arrives is taken, and counted by its size.
    const arriving = {
      highWaterMark: Infinity,
      size: (part: Uint8Array) => this.#receive(part),
    };
    const stream = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      transform: (part) => this.#send(part),
      flush: end,
      cancel: end,
    }, arriving);
    return new Response(response.body!.pipeThrough(stream), response);
  }

  #receive({ length }: Uint8Array): number {
    if (this.#waiting === 0) this.#waitingSince = Date.now();
    this.#count(length);
    if (this.#waiting > this.#options.maxWaiting) this.#end();
    return length;
  }

  #send(part: Uint8Array): void {
    // A copy, so that the rest can be freed while Deno has a part.
    this.#controller.enqueue(part.slice());
    this.#sent += part.length;
    this.#count(-part.length);
  }

  #count(size: number): void {
    this.#waiting += size;
    this.#options.addUnsent(size);
  }

  /**
   * Ends the stream if something waits for too long, or if less than a part was sent in its
   * time while another request needs the room.
   */
  #check(): void {
    const { limits: { replyMs, partMs }, isRoomNeeded } = this.#options;
    const time = this.#waiting > 0 ? Date.now() - this.#waitingSince : 0;
    const isSlow = time >= partMs && this.#sent < PART_SIZE;
    if (time >= replyMs || (isSlow && isRoomNeeded())) this.#end();
    this.#sent = 0;
  }

  #end(): void {
    clearInterval(this.#timer);
    this.#count(-this.#waiting);
    this.#options.onEnd();
    this.#controller.terminate();
  }
}

function* partsOf(reply: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < reply.length; start += PART_SIZE) {
    yield reply.subarray(start, start + PART_SIZE);
  }
}

/** Returns a controller that is aborted, with a response as the reason, when the client is gone. */
function endingOf(
  { signal }: Request,
  work: DisposableStack,
): AbortController {
  const ending = new AbortController();
  const end = () => ending.abort(createRefusal(499, "The client is gone"));
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  // The request lasts until the reply is sent, and would keep all of its work.
  work.defer(() => signal.removeEventListener("abort", end));
  return ending;
}

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

/** @throws {Response} If there is no message in a body. */
function parse(text: string): JSONRPCMessage {
  const parsed = parseMessage(text);
  if ("message" in parsed) return parsed.message;
  throw Response.json(parsed.errorResponse, { status: 400 });
}

function methodOf(message: JSONRPCMessage): string | undefined {
  return "method" in message ? message.method : undefined;
}

/** Whether a request never waits for others. */
function isQuick(text: string): boolean {
  return text.length <= PEEK_SIZE &&
    ["ping", LISTEN].includes(methodOf(parse(text)) ?? "");
}
