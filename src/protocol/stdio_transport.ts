/**
 * An MCP transport over Deno's standard streams, with one JSON-RPC message per
 * line.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio}
 *
 * @module
 */

import type { JSONRPCMessage } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { MAX_LINE_SIZE, parseMessage, serializeMessage } from "./json_rpc.ts";
import { TimeSlice, wait } from "../time_slice.ts";

/** How much to read at a time, in bytes. */
const READ_SIZE = 64 * 1024;

/** Reading pauses while more than this much input waits to be handled, in bytes. */
const MAX_READ_AHEAD = 1024 * 1024;

/** Handling pauses while more than this much output waits to be written, in characters. */
const MAX_UNSENT_LENGTH = 8 * 1024 * 1024;

/** A batch of lines is full when it exceeds this length, in characters. */
const BATCH_LENGTH = 1024 * 1024;

/** The maximum number of messages that are handled at a time, not counting slow ones. */
const MAX_PARALLEL = 8;

/**
 * The approximate time after which a message counts as slow, in milliseconds. A
 * slow message is assumed to wait for something.
 */
const SLOW_MS = 50;

/** How long to wait for each reply after the input has ended, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * A pause in the input, in milliseconds. If the input ends after a longer pause,
 * the client has disconnected. Input that ends sooner may have been piped in as a
 * whole, so replies are expected.
 */
const DISCONNECT_MS = 250;

/** How long to wait before retrying a write that would have blocked, in milliseconds. */
const RETRY_MS = 5;

export type ByteReader = Pick<typeof Deno.stdin, "read">;

export type ByteWriter = Pick<typeof Deno.stdout, "write">;

/**
 * An MCP transport that reads and writes bytes, by default on stdin and stdout.
 *
 * It closes by itself when nobody reads the output anymore, or when the input
 * has ended and the pending replies are written. It replies to an invalid
 * message with an error, and stays open.
 */
export class StdioTransport {
  /** Called once, when the transport closes. */
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /**
   * Called with each message. While the promises that it returns are pending,
   * only a few more messages follow.
   */
  onmessage?: (message: JSONRPCMessage) => Promise<void> | void;
  /**
   * Called when the input has ended, after all of its messages. The transport
   * stays open for replies until the promise that it returns is fulfilled.
   */
  oninputend?: () => Promise<void>;

  readonly #input: ByteReader;
  readonly #output: ByteWriter;
  readonly #lines = new LineQueue();
  readonly #firstMessage = Promise.withResolvers<void>();
  /** Fulfilled when the first message has been written. */
  readonly firstMessage: Promise<void> = this.#firstMessage.promise;
  #ready: Promise<unknown> = Promise.resolve();
  #isReady = false;
  /** The total length of the messages that were handled before that, in characters. */
  #earlyLength = 0;
  /** Fulfilled when the messages in the lines so far have been handled. */
  #working: Promise<void> | undefined;
  /** The messages that are being handled, except for slow ones. */
  #handling = new Set<Promise<void>>();
  /** Resolved when enough of them have been handled. */
  #room: PromiseWithResolvers<void> | undefined;
  readonly #unsent: Batch[] = [];
  #unsentLength = 0;
  /** The batch that is being written. */
  #sending: Batch | undefined;
  /** The notifications that wait after the last reply, and when they are written. */
  readonly #notifications = new Map<string, Promise<void>>();
  /** Runs after the end of the input, while a reply is expected. */
  #grace: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** Creates a transport that reads nothing until it is started. */
  constructor(
    input: ByteReader = Deno.stdin,
    output: ByteWriter = Deno.stdout,
  ) {
    this.#input = input;
    this.#output = output;
  }

  /**
   * Starts reading.
   *
   * @param ready Fulfilled when the replies no longer wait for the start of the
   *   server. Until then, only a limited amount of input is handled. If a client
   *   disconnects sooner, the transport closes.
   */
  start(ready: Promise<unknown> = Promise.resolve()): void {
    this.#ready = ready.then(() => this.#isReady = true);
    this.#read();
  }

  /**
   * Writes a message. Ignores a notification if the same one waits to be written
   * and no reply follows it, so that notifications cannot fill the memory while
   * the client does not read.
   *
   * @throws {Error} If the message cannot be serialized, or is larger than clients can read.
   */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const line = `${serializeMessage(message)}\n`;
    const isNotification = !("id" in message);
    const waiting = isNotification && this.#notifications.get(line);
    if (waiting) return waiting;
    this.#unsentLength += line.length;
    let batch = this.#unsent.at(-1);
    if (batch === undefined || batch.text.length > BATCH_LENGTH) {
      batch = { text: "", written: Promise.withResolvers() };
      this.#unsent.push(batch);
    }
    batch.text += line;
    const { promise } = batch.written;
    // A reply that follows a notification can be outdated by the next notification.
    if (!isNotification) this.#notifications.clear();
    else this.#notifications.set(line, promise);
    if (this.#sending === undefined) this.#write();
    return promise;
  }

  /** Closes the transport immediately. Can be called more than once. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#grace);
    this.onclose?.();
  }

  /**
   * Reads ahead of the messages that are being handled, in order to notice the
   * end of the input even while handling is paused because nobody reads the
   * replies.
   */
  async #read(): Promise<void> {
    let lastTime = performance.now();
    try {
      const buffer = new Uint8Array(READ_SIZE);
      for (;;) {
        const length = await this.#input.read(buffer);
        if (length === null || this.#isClosed) break;
        lastTime = performance.now();
        this.#lines.add(buffer.subarray(0, length));
        this.#work();
        if (this.#lines.size > MAX_READ_AHEAD) await this.#work();
      }
    } catch (error) {
      this.onerror?.(error as Error);
    }
    const isDisconnected = performance.now() - lastTime > DISCONNECT_MS;
    if (isDisconnected && !this.#isReady) this.close();
    else await this.#end();
  }

  /** Handles the rest of the input, and closes the transport when the replies have been written. */
  async #end(): Promise<void> {
    this.#restartGrace();
    this.#lines.end();
    while (this.#lines.size > 0 && !this.#isClosed) await this.#work();
    await this.oninputend?.();
    while (this.#sending !== undefined) await this.#sending.written.promise;
    this.close();
  }

  /**
   * Restarts the time limit for the next reply, at the end of the input and
   * after each later write.
   */
  #restartGrace(): void {
    clearTimeout(this.#grace);
    if (this.#isClosed) return;
    this.#grace = setTimeout(() => {
      if (!this.#isReady) {
        const reason = "the input ended before the server was ready";
        this.onerror?.(new Error(`${reason}; keep it open to get replies`));
      }
      this.close();
    }, GRACE_MS);
  }

  /** Handles the messages in the lines that have been read, one line after another. */
  #work(): Promise<void> {
    this.#working ??= this.#handleLines().finally(() =>
      this.#working = undefined
    );
    return this.#working;
  }

  async #handleLines(): Promise<void> {
    const slice = new TimeSlice();
    for (const line of this.#lines) {
      if (line?.trim() === "") continue;
      if (!this.#isReady) {
        this.#earlyLength += line?.length ?? 0;
        if (this.#earlyLength > MAX_READ_AHEAD) await this.#ready;
      }
      if (this.#isClosed) break;
      const { message, errorResponse } = parseMessage(line);
      if (errorResponse !== undefined) this.send(errorResponse);
      const handled = message && this.onmessage?.(message);
      if (handled) {
        const handling = this.#handling.add(handled);
        handled.then(() => {
          handling.delete(handled);
          if (this.#handling.size <= MAX_PARALLEL / 2) this.#room?.resolve();
        });
      }
      if (this.#handling.size >= MAX_PARALLEL) await this.#makeRoom();
      while (this.#unsentLength > MAX_UNSENT_LENGTH && this.#sending) {
        await this.#sending.written.promise;
      }
      if (slice.isOver) await slice.pause();
    }
  }

  /**
   * Waits until enough messages have been handled or turn out to be slow, so
   * that replies cannot pile up.
   */
  async #makeRoom(): Promise<void> {
    this.#room = Promise.withResolvers();
    await wait(SLOW_MS, this.#room.promise);
    if (this.#handling.size > MAX_PARALLEL / 2) this.#handling = new Set();
  }

  /** Writes the unsent batches, including those that are added in the meantime. */
  async #write(): Promise<void> {
    try {
      for (let batch; (batch = this.#unsent.shift()) !== undefined;) {
        this.#sending = batch;
        this.#notifications.clear();
        await writeAll(this.#output, encoder.encode(batch.text));
        this.#unsentLength -= batch.text.length;
        this.#firstMessage.resolve();
        if (this.#grace !== undefined) this.#restartGrace();
        batch.written.resolve();
      }
    } catch (error) {
      const isReaderGone = error instanceof Deno.errors.BrokenPipe;
      if (!isReaderGone) this.onerror?.(error as Error);
      this.#sending?.written.resolve();
      this.close();
    }
    this.#sending = undefined;
  }
}

/**
 * Lines that are written together. Each batch has its own promise. Under load, a
 * single promise for all batches would keep everything that ever waited for it
 * in memory.
 */
interface Batch {
  text: string;
  readonly written: PromiseWithResolvers<void>;
}

const encoder = new TextEncoder();

/** Splits bytes into lines. A line that is too long becomes `undefined`. */
class LineQueue {
  /** The complete lines, and their sizes in bytes. */
  #lines: { text: string | undefined; size: number }[] = [];
  /** The start of the incomplete line, with room for more bytes. */
  #buffer = new Uint8Array();
  /** The size of the incomplete line in bytes, including those past the limit. */
  #partSize = 0;
  #size = 0;

  /** The total size of the complete lines, in bytes. */
  get size(): number {
    return this.#size;
  }

  /** Adds bytes. The caller can overwrite them afterward. */
  add(bytes: Uint8Array): void {
    let start = 0;
    for (let end; (end = bytes.indexOf(0x0a, start)) !== -1; start = end + 1) {
      this.#append(bytes.subarray(start, end));
      this.end();
    }
    this.#append(bytes.subarray(start));
  }

  /** Ends the incomplete line, if there is one. */
  end(): void {
    const size = this.#partSize;
    if (size === 0) return;
    const text = size > MAX_LINE_SIZE
      ? undefined
      : decoder.decode(this.#buffer.subarray(0, size));
    this.#lines.push({ text, size });
    this.#size += size;
    this.#partSize = 0;
    // A long line would keep its memory.
    if (this.#buffer.length > READ_SIZE) this.#buffer = new Uint8Array();
  }

  /** Takes out the lines, including those that are added in the meantime. */
  *[Symbol.iterator](): Generator<string | undefined> {
    while (this.#lines.length > 0) {
      const lines = this.#lines;
      this.#lines = [];
      for (const { text, size } of lines) {
        yield text;
        this.#size -= size;
      }
    }
  }

  /**
   * Adds to the incomplete line. The buffer doubles in size, so that each byte
   * is copied only a few times.
   */
  #append(part: Uint8Array): void {
    const size = this.#partSize + part.length;
    if (size > MAX_LINE_SIZE) this.#buffer = new Uint8Array();
    else if (size > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(2 * size, MAX_LINE_SIZE));
      larger.set(this.#buffer.subarray(0, this.#partSize));
      this.#buffer = larger;
    }
    if (size <= MAX_LINE_SIZE) this.#buffer.set(part, this.#partSize);
    this.#partSize = size;
  }
}

const decoder = new TextDecoder();

/**
 * Writes all bytes.
 *
 * @throws {Deno.errors.BrokenPipe} If nobody reads them anymore.
 */
export async function writeAll(
  output: ByteWriter,
  bytes: Uint8Array,
): Promise<void> {
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += await output.write(bytes.subarray(sent));
    } catch (error) {
      // The other side made the pipe non-blocking.
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      await wait(RETRY_MS);
    }
  }
}
