/**
 * Limits the memory and the time that requests over HTTP take.
 *
 * 1. A request body has a size limit and a time limit. All bodies together share
 *    a budget of bytes.
 * 2. Few requests are handled at a time, and the others wait. Handlers share one
 *    thread, so handling more at a time would only take more memory.
 * 3. `Deno.serve` keeps a body in memory until the client has read it. Large
 *    answers share a budget of bytes, and end early if the client stops reading.
 *
 * @module
 */

/** Size limit of a request body, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** Time limit for receiving a request body, in milliseconds. */
const BODY_TIMEOUT_MS = 10_000;

/** Size limit of all request bodies together, in bytes. */
const MAX_BODIES_SIZE = 32 * 1024 * 1024;

/** How many requests are handled at a time. */
const MAX_HANDLED = 8;

/** Answers of up to this length are not limited, in characters. */
const SMALL_ANSWER_LENGTH = 64 * 1024;

/** Size limit of all large answers together, in bytes. */
const MAX_ANSWERS_SIZE = 64 * 1024 * 1024;

/** How long a client may leave an answer unread, in milliseconds. */
const READ_TIMEOUT_MS = 10_000;

/** How much of a large answer is written at a time, in bytes. */
const CHUNK_SIZE = 64 * 1024;

/** A request body that is not accepted. */
export class BodyError extends Error {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The JSON-RPC code of the error. */
  readonly code: number | undefined;

  /** Creates an error for a response with an HTTP status and a JSON-RPC code. */
  constructor(message: string, status: number, code?: number) {
    super(`Cannot read the request: ${message}`);
    this.status = status;
    this.code = code;
  }
}

/** Handles requests within the limits. */
export class RequestLimits {
  readonly #bodies = new Budget(MAX_BODIES_SIZE);
  readonly #handled = new Budget(MAX_HANDLED);
  readonly #answers = new Budget(MAX_ANSWERS_SIZE);

  /**
   * Passes the JSON in the body of a request to a handler.
   *
   * @throws {BodyError} If the body is too large, too slow, or not one message.
   */
  async handle(
    { body, headers }: Request,
    handler: (message: unknown) => Promise<Response>,
  ): Promise<Response> {
    const size = Number(headers.get("content-length") ?? MAX_BODY_SIZE);
    if (size > MAX_BODY_SIZE) throw tooLarge();
    using _body = await this.#bodies.borrow(size);
    const message = parseMessage(await readText(body));
    using _turn = await this.#handled.borrow(1);
    return await handler(message);
  }

  /** Creates a response that ends early if the client stops reading. */
  async respond(
    text: string,
    { status, headers }: { status: number; headers: Headers },
  ): Promise<Response> {
    if (text.length <= SMALL_ANSWER_LENGTH) {
      // Some statuses allow no body, not even an empty one.
      return new Response(text || null, { status, headers });
    }
    const bytes = new TextEncoder().encode(text);
    const loan = await this.#answers.borrow(bytes.length);
    headers.set("content-length", String(bytes.length));
    return new Response(streamBytes(bytes, loan), { status, headers });
  }

  /** Waits until nothing is being received, handled, or written. */
  async whenIdle(): Promise<void> {
    const budgets = [this.#bodies, this.#handled, this.#answers];
    await Promise.all(budgets.map((budget) => budget.borrow(Infinity)));
  }
}

/** An amount that can be borrowed in parts. Who asks for more than is left waits in line. */
class Budget {
  readonly #total: number;
  readonly #waiting: { amount: number; resolve: () => void }[] = [];
  #left: number;

  constructor(total: number) {
    this.#total = total;
    this.#left = total;
  }

  /** Borrows an amount, or the total if that is less. */
  async borrow(wanted: number): Promise<Disposable> {
    const amount = Math.min(wanted, this.#total);
    if (this.#waiting.length > 0 || amount > this.#left) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push({ amount, resolve });
      await promise;
    } else {
      this.#left -= amount;
    }
    return { [Symbol.dispose]: () => this.#giveBack(amount) };
  }

  #giveBack(amount: number): void {
    this.#left += amount;
    while (this.#waiting.length > 0 && this.#waiting[0]!.amount <= this.#left) {
      const { amount, resolve } = this.#waiting.shift()!;
      this.#left -= amount;
      resolve();
    }
  }
}

/** Reads a body as text. */
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
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MAX_BODY_SIZE) throw tooLarge();
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
  }
  if (!isLate) return text + decoder.decode();
  throw new BodyError("it arrived too slowly", 408);
}

function tooLarge(): BodyError {
  return new BodyError(`it has more than ${MAX_BODY_SIZE} bytes`, 413);
}

function parseMessage(text: string): unknown {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    throw new BodyError("it is not JSON", 400, -32700);
  }
  if (!Array.isArray(message)) return message;
  // A batch could take as much as any number of requests.
  throw new BodyError("batches are not supported", 400, -32600);
}

/** Creates a stream of bytes that ends early if nothing is read from it for a while. */
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
      // The client notices by the Content-Length header. An error would be logged.
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
