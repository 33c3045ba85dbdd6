/**
 * An MCP transport over Deno's standard streams, with one JSON-RPC message per
 * line.
 *
 * Messages are delivered as they arrive, so that cancellations, pings, and the end
 * of the input are noticed while requests wait. Replies are gathered while others
 * are being written.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio}
 */

import type { JSONRPCMessage } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { wait } from "../tasks.ts";
import {
  ID_SEARCH_LENGTH,
  MAX_LINE_LENGTH,
  parseMessage,
  serializeMessage,
} from "./json_rpc.ts";

/** How much to read at a time, in bytes. */
const READ_SIZE = 64 * 1024;

/** How much to write at a time, in bytes. Meanwhile, other requests are handled. */
const WRITE_SIZE = 256 * 1024;

/** The maximum length of the output that waits to be written, in characters. */
const MAX_UNSENT_SIZE = 4 * 1024 * 1024;

/** The overhead of a line in memory, in characters. */
const LINE_OVERHEAD = 256;

/** How long to wait for each write after the end, in milliseconds. */
const WRITE_GRACE_MS = 2_000;

/** How long to wait until a full pipe may have room again, in milliseconds. */
const RETRY_MS = 10;

export type ByteReader = Pick<typeof Deno.stdin, "read">;

export type ByteWriter = Pick<typeof Deno.stdout, "write">;

/**
 * A transport closes by itself when nobody reads the output, or when the input
 * has ended and the pending replies are written. It replies to an invalid
 * message with an error, and stays open.
 */
export class StdioTransport {
  /** Called with an error with which reading or writing ends. */
  onError?: (error: Error) => void;
  /**
   * Called with each message, and its length as JSON. Reading pauses until the promise
   * that it returns is fulfilled.
   */
  onMessage?: (message: JSONRPCMessage, length: number) => Promise<void> | void;
  /**
   * Called when no more messages follow. The transport stays open for replies
   * until the promise that it returns is fulfilled.
   */
  onEnd?: () => Promise<void>;

  readonly #input: ByteReader;
  readonly #output: ByteWriter;
  readonly #closed = Promise.withResolvers<void>();
  #isClosed = false;
  #isEnding = false;
  readonly #encoder = new TextEncoder();
  readonly #buffer = new Uint8Array(WRITE_SIZE);
  #unsent: string[] = [];
  #unsentSize = 0;
  /** Fulfilled when all lines so far have been written. */
  #written: Promise<void> = Promise.resolve();
  /** Runs after the end, until something is written. */
  #grace: ReturnType<typeof setTimeout> | undefined;

  constructor(
    input: ByteReader = Deno.stdin,
    output: ByteWriter = Deno.stdout,
  ) {
    this.#input = input;
    this.#output = output;
  }

  async run(): Promise<void> {
    this.#read().catch((error) =>
      this.#fail("read messages", error, "start the server from a client")
    ).then(() => this.end());
    await this.#closed.promise;
  }

  /**
   * Writes a message after all earlier ones. In place of one that is larger than clients
   * can read, writes an error. Throws no error.
   */
  send(message: JSONRPCMessage): Promise<void> {
    const line = `${serializeMessage(message)}\n`;
    if (this.#unsent.length === 0) {
      this.#written = this.#written.then(() => this.#write());
    }
    this.#unsent.push(line);
    this.#unsentSize += LINE_OVERHEAD + line.length;
    return this.#written;
  }

  /** Waits while so much output is unsent that no more should be created. */
  async room(): Promise<void> {
    while (this.#unsentSize > MAX_UNSENT_SIZE) await this.#written;
  }

  /**
   * Takes no more messages, and closes once the pending replies are written. It
   * closes sooner if nothing can be written for two seconds, because a reply does
   * not come or because nobody reads.
   */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#restartGrace();
    Promise.resolve(this.onEnd?.()).then(() => this.#written)
      .then(() => this.close());
  }

  close(): void {
    clearTimeout(this.#grace);
    this.#isClosed = true;
    this.#closed.resolve();
  }

  async #read(): Promise<void> {
    const buffer = new Uint8Array(READ_SIZE);
    const decoder = new TextDecoder();
    let [line, tail] = ["", ""];
    for (;;) {
      const size = await this.#input.read(buffer);
      if (size === null) break;
      // Later, the end of the input would not be noticed.
      await this.room();
      const text = decoder.decode(buffer.subarray(0, size), { stream: true });
      const [end, ...starts] = text.split("\n");
      // Of the rest of a line that is too long, only the end is needed.
      if (line.length <= MAX_LINE_LENGTH) line += end;
      else tail = `${tail}${end}`.slice(-ID_SEARCH_LENGTH);
      for (const start of starts) {
        await this.#accept(line + tail);
        [line, tail] = [start, ""];
      }
    }
    await this.#accept(line + tail);
  }

  async #accept(line: string): Promise<void> {
    if (this.#isEnding || line.trim() === "") return;
    const parsed = parseMessage(line);
    if ("errorResponse" in parsed) this.send(parsed.errorResponse);
    else await this.onMessage?.(parsed.message, line.length);
  }

  async #write(): Promise<void> {
    const text = this.#unsent.join("");
    const size = LINE_OVERHEAD * this.#unsent.length + text.length;
    this.#unsent = [];
    try {
      if (this.#isClosed) return;
      await this.#writeText(text);
    } catch (error) {
      const isReaderGone = error instanceof Deno.errors.BrokenPipe;
      if (!isReaderGone) {
        this.#fail("write replies", error, "check what stdout leads to");
      }
      this.close();
    } finally {
      this.#unsentSize -= size;
    }
  }

  /** Writes a text in parts, with one buffer, so that much output takes little memory. */
  async #writeText(text: string): Promise<void> {
    for (let sent = 0; sent < text.length;) {
      const rest = text.slice(sent);
      const { read, written } = this.#encoder.encodeInto(rest, this.#buffer);
      await writeAll(this.#output, this.#buffer.subarray(0, written));
      sent += read;
      this.#restartGrace();
    }
  }

  #fail(task: string, error: unknown, fix: string): void {
    const { message } = error as Error;
    this.onError?.(new Error(`Cannot ${task}: ${message}; ${fix}`));
  }

  #restartGrace(): void {
    clearTimeout(this.#grace);
    if (!this.#isEnding || this.#isClosed) return;
    this.#grace = setTimeout(() => this.close(), WRITE_GRACE_MS);
  }
}

/** @throws {Deno.errors.BrokenPipe} If nobody reads what is written. */
export async function writeAll(
  output: ByteWriter,
  bytes: Uint8Array,
): Promise<void> {
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += await output.write(bytes.subarray(sent));
    } catch (error) {
      // The client made the pipe non-blocking, and it is full.
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      await wait(RETRY_MS);
    }
  }
}
