/**
 * Limits the memory and time that HTTP requests take.
 *
 * 1. Each request body has a size limit and a time limit. All request bodies
 *    share a byte budget.
 * 2. Only a few requests are handled at a time, and the others wait. Handlers
 *    share one thread, so handling more at a time would only take more memory.
 * 3. `Deno.serve` keeps a response body in memory until the client has read it.
 *    Large responses share a byte budget, and end early if the client stops
 *    reading.
 *
 * @module
 */

/** The maximum size of a request body, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** The time limit for receiving a request body, in milliseconds. */
const BODY_TIMEOUT_MS = 10_000;

/** The maximum total size of the request bodies in memory, in bytes. */
const MAX_BODIES_SIZE = 32 * 1024 * 1024;

/** The maximum number of requests that are handled at a time. */
const MAX_HANDLED = 8;

/** The maximum length of a small response, in characters. Small responses are not limited. */
const SMALL_RESPONSE_LENGTH = 64 * 1024;

/** The maximum total size of the large responses in memory, in bytes. */
const MAX_RESPONSES_SIZE = 64 * 1024 * 1024;

/** The time limit for a client to read the next part of a large response, in milliseconds. */
const READ_TIMEOUT_MS = 10_000;

/** The size of the parts in which a large response is written, in bytes. */
const CHUNK_SIZE = 64 * 1024;

/** Thrown for a request body that is not accepted. */
export class BodyError extends Error {
  /** The HTTP status of the response. */
  readonly status: number;
  /** The JSON-RPC code of the error. */
  readonly code: number | undefined;

  /** Creates an error with the HTTP status and the JSON-RPC code of the response. */
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
  readonly #responses = new Budget(MAX_RESPONSES_SIZE);

  /**
   * Parses the body of a request as JSON and passes the message to a handler.
   *
   * @throws {BodyError} If the body is too large, arrives too slowly, or is not a single message.
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

  /** Creates a response. Large responses end early if the client stops reading. */
  async respond(
    text: string,
    { status, headers }: { status: number; headers: Headers },
  ): Promise<Response> {
    if (text.length <= SMALL_RESPONSE_LENGTH) {
      // Some statuses do not allow a body, not even an empty one.
      return new Response(text || null, { status, headers });
    }
    const bytes = new TextEncoder().encode(text);
    const loan = await this.#responses.borrow(bytes.length);
    headers.set("content-length", String(bytes.length));
    return new Response(streamBytes(bytes, loan), { status, headers });
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
  readonly #waiting: { amount: number; resolve: () => void }[] = [];
  #left: number;

  constructor(total: number) {
    this.#total = total;
    this.#left = total;
  }

  /** Borrows an amount, or the total if that is less. Disposing the loan returns the amount. */
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
  // A batch could use as many resources as any number of requests.
  throw new BodyError("batches are not supported", 400, -32600);
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
