/**
 * What requests over HTTP may take: memory, and time of clients that send or
 * read slowly.
 *
 * 1. Bodies are read within a budget of bytes and a time limit.
 * 2. Few requests are handled at a time, the others wait in line: handlers share
 *    one thread, so more at a time would only take more memory.
 * 3. Large answers are written within a budget of bytes. `Deno.serve` keeps a
 *    body in memory until the client has read it, so it is given as a stream
 *    that ends when the client reads no more.
 *
 * @module
 */

/** How much a body may have, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** How long a client may take to send a body, in milliseconds. */
const BODY_TIMEOUT_MS = 10_000;

/** How much the bodies of requests under way may have together, in bytes. */
const MAX_BODIES_SIZE = 32 * 1024 * 1024;

/** How many requests are handled at a time. */
const MAX_HANDLED = 8;

/** Up to this length an answer is left to `Deno.serve`, in characters. */
const SMALL_ANSWER_LENGTH = 64 * 1024;

/** How much the answers that clients have yet to read may have together, in bytes. */
const MAX_ANSWERS_SIZE = 64 * 1024 * 1024;

/** How long a client may read nothing of its answer, in milliseconds. */
const STALL_TIMEOUT_MS = 10_000;

/** How much of an answer is written at a time, in bytes. */
const CHUNK_SIZE = 64 * 1024;

/** A request that cannot be read. */
export class BodyError extends Error {
  /** The status of the answer. */
  readonly status: number;

  /** Creates an error that is answered with a status. */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Handles requests within limits. */
export class RequestLimits {
  readonly #bodies = new Budget(MAX_BODIES_SIZE);
  readonly #handled = new Budget(MAX_HANDLED);
  readonly #answers = new Budget(MAX_ANSWERS_SIZE);

  /**
   * Answers a request with what `handle` makes of the JSON in its body.
   *
   * @throws {BodyError} If the body is too large, too slow or not JSON.
   */
  async answer(
    request: Request,
    handle: (message: unknown) => Promise<Response>,
  ): Promise<Response> {
    const { body, headers } = request;
    const size = Number(headers.get("content-length") ?? MAX_BODY_SIZE);
    if (size > MAX_BODY_SIZE) throw bodyTooLarge();
    using _body = await this.#bodies.borrow(size);
    const message = parseJson(await readText(body));
    using _turn = await this.#handled.borrow(1);
    return await handle(message);
  }

  /** Creates a response that ends when its client stops reading. */
  async write(
    text: string,
    { status, headers }: { status: number; headers: Headers },
  ): Promise<Response> {
    // An empty body is none: some statuses allow no other.
    if (text.length <= SMALL_ANSWER_LENGTH) {
      return new Response(text || null, { status, headers });
    }
    const bytes = new TextEncoder().encode(text);
    const loan = await this.#answers.borrow(bytes.length);
    headers.set("content-length", String(bytes.length));
    return new Response(streamOf(bytes, loan), { status, headers });
  }

  /** Waits until nothing is being read, handled or written. */
  async whenIdle(): Promise<void> {
    const budgets = [this.#bodies, this.#handled, this.#answers];
    await Promise.all(budgets.map((budget) => budget.borrow(Infinity)));
  }
}

/** A quantity that is lent in parts. Borrowers of more than is left wait in line. */
class Budget {
  readonly #total: number;
  readonly #waiting: { amount: number; resolve: () => void }[] = [];
  #left: number;

  constructor(total: number) {
    this.#total = total;
    this.#left = total;
  }

  /** Borrows an amount, or the total where that is less. */
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

/** Reads a body as text, up to a size and for a time. */
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
      if (size > MAX_BODY_SIZE) throw bodyTooLarge();
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
  }
  if (!isLate) return text + decoder.decode();
  throw new BodyError(408, "Cannot read the request: it arrived too slowly");
}

function bodyTooLarge(): BodyError {
  return new BodyError(
    413,
    `Cannot read the request: it has more than ${MAX_BODY_SIZE} bytes`,
  );
}

function parseJson(text: string): unknown {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    throw new BodyError(400, "Cannot read the request: it is not JSON");
  }
  // One would take as much as a hundred requests.
  if (!Array.isArray(message)) return message;
  throw new BodyError(400, "Cannot read the request: it is a batch");
}

/** Streams bytes, and ends early when nothing of them is read for a while. */
function streamOf(
  bytes: Uint8Array,
  loan: Disposable,
): ReadableStream<Uint8Array> {
  let start = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(timer);
    loan[Symbol.dispose]();
  };
  const wait = (controller: ReadableStreamDefaultController) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      end();
      // The length that was announced tells the client that something is missing.
      controller.close();
    }, STALL_TIMEOUT_MS);
  };
  return new ReadableStream({
    start: wait,
    pull(controller) {
      wait(controller);
      controller.enqueue(bytes.subarray(start, start += CHUNK_SIZE));
      if (start < bytes.length) return;
      end();
      controller.close();
    },
    cancel: end,
  }, { highWaterMark: 0 });
}
