// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * JSON-RPC messages, one per line, on Deno's own standard streams.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio}
 *
 * @module
 */

import type { JSONRPCMessage } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { MAX_LINE_SIZE, parseMessage, serializeMessage } from "./json_rpc.ts";
import { TimeSlice } from "./time_slice.ts";

/** How much is read at a time, in bytes. */
const READ_SIZE = 64 * 1024;

/** How much is read ahead of what is being worked on, in bytes. */
const MAX_READ_AHEAD = 1024 * 1024;

/** No message is given out while this much is still to be written, in characters. */
const MAX_UNSENT_LENGTH = 8 * 1024 * 1024;

/** How much is written at a time, in characters. Only a longer line is more. */
const BATCH_LENGTH = 1024 * 1024;

/** How many messages are handled at a time. */
const MAX_PARALLEL = 8;

/** Messages that take about this long to handle wait for something and no longer count, in milliseconds. */
const SLOW_MS = 50;

/** How long each reply is waited for when the input has ended, in milliseconds. */
const GRACE_MS = 2_000;

/** Input that ends this long after the last message ends because the client is gone, in milliseconds. */
const PIPE_MS = 250;

/** How long until a write is tried again that would have had to wait, in milliseconds. */
const RETRY_MS = 5;

/** Where bytes are read. */
export interface ByteReader {
  /** Reads some bytes and tells how many, or `null` at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
}

/** Where bytes are written. */
export interface ByteWriter {
  /** Writes some of the bytes and tells how many. */
  write(bytes: Uint8Array): Promise<number>;
}

/**
 * An MCP transport over bytes in and bytes out, by default stdin and stdout.
 *
 * It ends by itself when the input ends, after the replies under way are
 * written, or when nobody reads the output any more. What is no message is
 * answered with an error and never ends it.
 */
export class StdioTransport {
  /** Called once, when it has ended. */
  onclose?: () => void;
  /** Called with what went wrong. */
  onerror?: (error: Error) => void;
  /** Called with each message. While the promises that it returns are pending, no more than a few messages follow. */
  onmessage?: (message: JSONRPCMessage) => Promise<void> | void;
  /** Called when all of the input was given out. Replies are written until the promise that it returns is fulfilled. */
  oninputend?: () => Promise<void>;

  readonly #input: ByteReader;
  readonly #output: ByteWriter;
  readonly #lines = new LineQueue(MAX_LINE_SIZE);
  readonly #firstMessage = Promise.withResolvers<void>();
  #isReady = false;
  #isWorking = false;
  #handling = new Crowd();
  /** Runs while messages wait for those that are being handled. */
  #patience: ReturnType<typeof setTimeout> | undefined;
  readonly #unsent: Batch[] = [];
  #unsentLength = 0;
  /** What is being written. */
  #sending: Batch | undefined;
  #grace: ReturnType<typeof setTimeout> | undefined;
  #inputEnded = false;
  #isClosed = false;

  /** Creates a transport that reads nothing until it is started. */
  constructor(
    input: ByteReader = Deno.stdin,
    output: ByteWriter = Deno.stdout,
  ) {
    this.#input = input;
    this.#output = output;
  }

  /** Fulfilled when the first message is written. */
  get firstMessage(): Promise<void> {
    return this.#firstMessage.promise;
  }

  /** Begins to read. Gives messages out when `ready` is fulfilled. */
  async start(ready: Promise<unknown> = Promise.resolve()): Promise<void> {
    this.#read();
    await ready;
    this.#isReady = true;
    this.#work();
  }

  /**
   * Writes a message.
   *
   * @throws {Error} If it cannot be serialized, or is longer than clients read.
   */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const line = `${serializeMessage(message)}\n`;
    this.#unsentLength += line.length;
    let batch = this.#unsent.at(-1);
    if (batch === undefined || batch.length > BATCH_LENGTH) {
      this.#unsent.push(batch = new Batch());
    }
    batch.add(line);
    if (this.#sending === undefined) this.#write();
    return batch.written.promise;
  }

  /** Ends it at once. May be called again. */
  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      clearTimeout(this.#grace);
      clearTimeout(this.#patience);
      this.#handling.disperse();
      this.onclose?.();
    }
    return Promise.resolve();
  }

  /**
   * Reads somewhat ahead of the work, so that it sees the end of the input even
   * while it answers nothing because nobody reads the answers.
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
        while (this.#lines.size > MAX_READ_AHEAD) await this.#lines.taken;
      }
    } catch (error) {
      this.onerror?.(error as Error);
    }
    const isGone = performance.now() - lastTime > PIPE_MS;
    if (isGone && !this.#isReady) await this.close();
    else await this.#end();
  }

  /** Gives the rest of the input out, and closes when the replies are written. */
  async #end(): Promise<void> {
    this.#inputEnded = true;
    this.#renewGrace();
    this.#lines.end();
    this.#work();
    while (this.#lines.size > 0 && !this.#isClosed) await this.#lines.taken;
    await this.oninputend?.();
    while (this.#sending !== undefined) await this.#sending.written.promise;
    await this.close();
  }

  /** From the end of the input, and from each write after it, the next reply has a while. */
  #renewGrace(): void {
    clearTimeout(this.#grace);
    if (this.#isClosed) return;
    this.#grace = setTimeout(() => {
      if (!this.#isReady) {
        const reason = "the input ended before the server was ready";
        this.onerror?.(new Error(`${reason}: keep it open to get replies`));
      }
      this.close();
    }, GRACE_MS);
  }

  /** Gives out the messages in the lines that were read. */
  async #work(): Promise<void> {
    if (this.#isWorking || !this.#isReady) return;
    this.#isWorking = true;
    const slice = new TimeSlice();
    for (const line of this.#lines) {
      if (this.#isClosed) break;
      if (line?.trim() === "") continue;
      const { message, refusal } = parseMessage(line);
      if (refusal !== undefined) this.send(refusal);
      const handled = message && this.onmessage?.(message);
      if (handled) this.#handling.add(handled);
      if (this.#handling.size >= MAX_PARALLEL) await this.#makeRoom();
      while (this.#unsentLength > MAX_UNSENT_LENGTH && this.#sending) {
        await this.#sending.written.promise;
      }
      if (slice.isOver) await slice.yield();
    }
    this.#isWorking = false;
  }

  /** Lets replies be made before more is given out, so that they cannot pile up. */
  async #makeRoom(): Promise<void> {
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      this.#handling.disperse();
      this.#handling = new Crowd();
    }, SLOW_MS);
    await this.#handling.dispersed;
  }

  /** Writes what is unsent, and what comes meanwhile. */
  async #write(): Promise<void> {
    try {
      for (let batch; (batch = this.#unsent.shift()) !== undefined;) {
        this.#sending = batch;
        await writeAll(this.#output, batch.bytes());
        this.#unsentLength -= batch.length;
        this.#firstMessage.resolve();
        if (this.#inputEnded) this.#renewGrace();
        batch.written.resolve();
      }
    } catch (error) {
      const isRead = !(error instanceof Deno.errors.BrokenPipe);
      if (isRead) this.onerror?.(error as Error);
      this.#sending?.written.resolve();
      await this.close();
    }
    this.#sending = undefined;
  }
}

/** Messages that are being handled. */
class Crowd {
  #size = 0;
  #dispersed = Promise.withResolvers<void>();

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** Fulfilled when half as many are left as may be handled at a time. */
  get dispersed(): Promise<void> {
    return this.#dispersed.promise;
  }

  /** Adds a message, which leaves when it is handled. */
  async add(handled: Promise<void>): Promise<void> {
    this.#size++;
    await handled;
    this.#size--;
    if (this.#size === MAX_PARALLEL / 2) this.disperse();
  }

  /** Ends the wait for it. */
  disperse(): void {
    this.#dispersed.resolve();
    this.#dispersed = Promise.withResolvers();
  }
}

/**
 * Lines that are written at once. Each batch has its own promise: one for all
 * would, under load, hold on to all that ever waited for it.
 */
class Batch {
  readonly written = Promise.withResolvers<void>();
  readonly #lines: string[] = [];
  #length = 0;

  /** How many characters the lines have. */
  get length(): number {
    return this.#length;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
  }

  bytes(): Uint8Array {
    return encoder.encode(this.#lines.join(""));
  }
}

const encoder = new TextEncoder();

/** Splits bytes into lines. For a line that is longer than the limit there comes `undefined`. */
class LineQueue {
  readonly #limit: number;
  /** The lines that are whole, and their sizes in bytes. */
  #lines: { text: string | undefined; size: number }[] = [];
  /** Where the line is gathered that is not, with room for more. */
  #buffer = new Uint8Array();
  /** How many bytes that line has, those past the limit too. */
  #partSize = 0;
  #size = 0;
  #taken = Promise.withResolvers<void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many bytes of whole lines there are. */
  get size(): number {
    return this.#size;
  }

  /** Fulfilled when the next lines are taken. */
  get taken(): Promise<void> {
    return this.#taken.promise;
  }

  /** Adds bytes, which the caller may overwrite afterwards. */
  add(bytes: Uint8Array): void {
    let start = 0;
    for (let end; (end = bytes.indexOf(0x0a, start)) !== -1; start = end + 1) {
      const part = bytes.subarray(start, end);
      if (this.#partSize === 0) this.#put(part, part.length);
      else {
        this.#gather(part);
        this.end();
      }
    }
    this.#gather(bytes.subarray(start));
  }

  /** Ends the line that is not whole, if there is any of it. */
  end(): void {
    const size = this.#partSize;
    this.#put(this.#buffer.subarray(0, size), size);
    this.#buffer = new Uint8Array();
    this.#partSize = 0;
  }

  /** Takes out the lines, also those that come meanwhile. */
  *[Symbol.iterator](): Generator<string | undefined> {
    while (this.#lines.length > 0) {
      const lines = this.#lines;
      this.#lines = [];
      for (const { text, size } of lines) {
        yield text;
        this.#size -= size;
      }
      this.#taken.resolve();
      this.#taken = Promise.withResolvers();
    }
  }

  #put(bytes: Uint8Array, size: number): void {
    if (size === 0) return;
    const text = size > this.#limit ? undefined : decoder.decode(bytes);
    this.#lines.push({ text, size });
    this.#size += size;
  }

  /** Adds to the line that is not whole, in a buffer that doubles, so that each byte is copied but a few times. */
  #gather(part: Uint8Array): void {
    const size = this.#partSize + part.length;
    if (size > this.#limit) this.#buffer = new Uint8Array();
    else if (size > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(2 * size, this.#limit));
      larger.set(this.#buffer.subarray(0, this.#partSize));
      this.#buffer = larger;
    }
    if (size <= this.#limit) this.#buffer.set(part, this.#partSize);
    this.#partSize = size;
  }
}

const decoder = new TextDecoder();

/**
 * Writes bytes to the last.
 *
 * @throws {Deno.errors.BrokenPipe} If nobody reads them any more.
 */
export async function writeAll(
  output: ByteWriter,
  bytes: Uint8Array,
): Promise<void> {
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += await output.write(bytes.subarray(sent));
    } catch (error) {
      // The other side made the pipe such that a write does not wait.
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
