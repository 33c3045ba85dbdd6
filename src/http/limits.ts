/**
 * Limits the memory and time that HTTP requests take.
 *
 * 1. Each request body has a size limit and a time limit. Large request bodies
 *    share a byte budget.
 * 2. Only a few requests are handled at a time, and the others wait, except for
 *    pings. Handlers share one thread, so handling more at a time would only take
 *    more memory.
 * 3. `Deno.serve` keeps a response body in memory until the client has read it.
 *    Large responses share a byte budget, and end early if the client stops
 *    reading. A large response waits for its part of the budget before it is
 *    serialized, and makes room for other requests to be handled. Only so many can
 *    wait, and only for so long. They are serialized one after the other.
 *
 * Small bodies and small responses never wait for large ones.
 *
 * @module
 */

import type { MakeRoom } from "../protocol/http_server.ts";
import { isObject } from "../text.ts";
import { wait } from "../time_slice.ts";

/** The maximum size of a request body, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** The time limit for receiving a request body, in milliseconds. */
const BODY_TIMEOUT_MS = 10_000;

/** The maximum size of a small request body, in bytes. Only large ones share a budget. */
const SMALL_BODY_SIZE = 64 * 1024;

/** The maximum total size of the large request bodies in memory, in bytes. */
const MAX_BODIES_SIZE = 32 * 1024 * 1024;

/** The maximum number of requests that are handled at a time. */
const MAX_HANDLED = 8;

/** The maximum length of a small response, in characters. Small responses are not limited. */
const SMALL_RESPONSE_LENGTH = 64 * 1024;

/** The maximum total size of the large responses that are being read, in bytes. */
const MAX_RESPONSES_SIZE = 64 * 1024 * 1024;

/** The maximum total size of the large responses that wait until others have been read, in bytes. */
const MAX_WAITING_SIZE = 64 * 1024 * 1024;

/** The time limit for this wait, in milliseconds. */
const WAIT_TIMEOUT_MS = 10_000;

/** The time limit for a client to read the next part of a large response, in milliseconds. */
const READ_TIMEOUT_MS = 10_000;

/** The size of the parts in which a large response is written, in bytes. */
const CHUNK_SIZE = 64 * 1024;

/** Thrown for a request that is not accepted, or whose response cannot be sent. */
export class LimitError extends Error {
  /** Creates an error with the HTTP status and the JSON-RPC code of the response. */
  constructor(
    message: string,
    readonly status: number,
    readonly code?: number,
  ) {
    super(message);
  }
}

function bodyError(reason: string, status: number, code?: number): LimitError {
  return new LimitError(`Cannot read the request: ${reason}`, status, code);
}

/** The text, status, and headers of a response. */
export interface ResponseParts {
  readonly text: string;
  readonly status: number;
  readonly headers: Headers;
}

/** Handles requests within the limits. */
export class RequestLimits {
  readonly #bodies = new Budget(MAX_BODIES_SIZE);
  readonly #handled = new Budget(MAX_HANDLED);
  readonly #responses = new Budget(MAX_RESPONSES_SIZE);
  /** Lent to the large response that is being serialized. */
  readonly #largeTurn = new Budget(1);
  readonly #waiting = new Budget(MAX_WAITING_SIZE);

  /**
   * Parses the body of a request as JSON and passes the message to a handler.
   * Limits the response if the handler returns its parts.
   *
   * @throws {LimitError} If the body is too large, arrives too slowly, or is not a
   *   single message, or if there is no room for the response.
   */
  async handle(
    request: Request,
    handler: (
      message: unknown,
      makeRoom: MakeRoom,
    ) => Promise<Response | ResponseParts>,
  ): Promise<Response> {
    using turn = new DisposableStack();
    using room = new DisposableStack();
    using largeTurn = new DisposableStack();
    let refusal: unknown;
    const makeRoom = async (size: number) => {
      if (size <= SMALL_RESPONSE_LENGTH || turn.disposed) return;
      turn.dispose();
      try {
        room.use(await this.#waitForRoom(size));
      } catch (error) {
        // The handler may turn it into a response.
        refusal = error;
        throw error;
      }
      largeTurn.use(await this.#largeTurn.borrow(1));
    };
    const message = await this.#receive(request, turn);
    // A ping takes no memory, and asks whether the server still answers.
    const isPing = isObject(message) && message.method === "ping";
    turn.use(await this.#handled.borrow(isPing ? 0 : 1));
    const response = await handler(message, makeRoom);
    if (refusal !== undefined) throw refusal;
    if (response instanceof Response) return response;
    const { text, status, headers } = response;
    await makeRoom(text.length);
    if (text.length <= SMALL_RESPONSE_LENGTH) {
      // Some statuses do not allow a body, not even an empty one.
      return new Response(text || null, { status, headers });
    }
    const bytes = new TextEncoder().encode(text);
    headers.set("content-length", String(bytes.length));
    const body = streamBytes(bytes, room.move());
    return new Response(body, { status, headers });
  }

  async #receive(
    { body, headers }: Request,
    loans: DisposableStack,
  ): Promise<unknown> {
    const size = Number(headers.get("content-length") ?? MAX_BODY_SIZE);
    if (size > MAX_BODY_SIZE) throw tooLarge();
    const borrowed = size > SMALL_BODY_SIZE ? size : 0;
    loans.use(await this.#bodies.borrow(borrowed));
    return parseBody(await readText(body));
  }

  /** Borrows a part of the budget for large responses. */
  async #waitForRoom(size: number): Promise<Disposable> {
    using _place = await this.#waiting.borrow(size, 0);
    return await this.#responses.borrow(size, WAIT_TIMEOUT_MS);
  }

  /** Waits until nothing is being received, handled, or written. */
  async whenIdle(): Promise<void> {
    const budgets = [this.#bodies, this.#handled, this.#responses];
    await Promise.all(budgets.map((budget) => budget.borrow(Infinity)));
  }
}

/** An amount that can be borrowed in parts. A loan of more than is left waits in line. */
class Budget {
  readonly #total: number;
  readonly #waiting = new Set<{ amount: number; resolve: () => void }>();
  #left: number;

  constructor(total: number) {
    this.#total = total;
    this.#left = total;
  }

  /**
   * Borrows an amount, or the total if that is less. Disposing the loan returns
   * the amount. A loan of 0 never waits.
   *
   * @param timeout The time limit for the wait in milliseconds. Default: none.
   * @throws {LimitError} If the time limit passes.
   */
  async borrow(wanted: number, timeout?: number): Promise<Disposable> {
    const amount = Math.min(wanted, this.#total);
    if (amount > 0 && (this.#waiting.size > 0 || amount > this.#left)) {
      await this.#wait(amount, timeout);
    } else {
      this.#left -= amount;
    }
    return { [Symbol.dispose]: () => this.#giveBack(amount) };
  }

  async #wait(amount: number, timeout: number | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const loan = { amount, resolve };
    this.#waiting.add(loan);
    await (timeout === undefined ? promise : wait(timeout, promise));
    const isLent = !this.#waiting.delete(loan);
    if (isLent) return;
    // The next in line may need less.
    this.#giveBack(0);
    throw noRoom();
  }

  #giveBack(amount: number): void {
    this.#left += amount;
    for (const loan of this.#waiting) {
      if (loan.amount > this.#left) return;
      this.#waiting.delete(loan);
      this.#left -= loan.amount;
      loan.resolve();
    }
  }
}

function noRoom(): LimitError {
  return new LimitError(
    "Cannot send the response: too many large responses have not been read; try again later",
    503,
  );
}

async function readText(body: Request["body"]): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    reader.cancel();
  }, BODY_TIMEOUT_MS);
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(failDisconnected);
      if (done) break;
      size += value.length;
      if (size > MAX_BODY_SIZE) throw tooLarge();
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
  }
  if (!isLate) return text + decoder.decode();
  throw bodyError("it arrived too slowly", 408);
}

/** Replaces Deno's own error. */
function failDisconnected(): never {
  throw bodyError("the client disconnected", 400);
}

function tooLarge(): LimitError {
  return bodyError(`it has more than ${MAX_BODY_SIZE} bytes`, 413);
}

function parseBody(text: string): unknown {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    throw bodyError("it is not JSON", 400, -32700);
  }
  if (!Array.isArray(message)) return message;
  // A batch could use as many resources as any number of requests.
  throw bodyError("batches are not supported", 400, -32600);
}

/** Creates a byte stream that ends early if nothing is read from it within the time limit. */
function streamBytes(
  bytes: Uint8Array,
  loan: Disposable,
): ReadableStream<Uint8Array> {
  let start = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    loan[Symbol.dispose]();
  };
  const startTimer = (controller: ReadableStreamDefaultController) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      end();
      // The Content-Length header shows the client that bytes are missing. An
      // error would be logged.
      controller.close();
    }, READ_TIMEOUT_MS);
  };
  return new ReadableStream({
    start: startTimer,
    pull(controller) {
      startTimer(controller);
      controller.enqueue(bytes.subarray(start, start += CHUNK_SIZE));
      if (start < bytes.length) return;
      end();
      controller.close();
    },
    cancel: end,
  }, { highWaterMark: 0 });
}
