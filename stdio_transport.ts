// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * The wire: JSON-RPC messages, a line each, on Deno's own standard streams.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio}
 *
 * @module
 */

// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/shared/stdio"
import {
  serializeMessage,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/shared/stdio.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import { JSONRPCMessageSchema } from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import type { Transport } from "npm:@modelcontextprotocol/sdk@^1.32.2/shared/transport";
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  RequestId,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";

/** Longest line that is read, in bytes. */
const MAX_LINE_SIZE = STDIO_DEFAULT_MAX_BUFFER_SIZE;

/** How much is read ahead of what is being worked on, in bytes. */
const MAX_READ_AHEAD = 1024 * 1024;

/** No request is worked on while this much is still to be written, in bytes. */
const MAX_UNSENT_SIZE = 8 * 1024 * 1024;

/** With this many requests under way, replies go first. */
const MAX_PENDING_REQUESTS = 100;

/** How long each reply is waited for when the input has ended, in milliseconds. */
const GRACE_MS = 2_000;

/** How long until a write is tried again that would have had to wait, in milliseconds. */
const RETRY_MS = 5;

/** Where bytes are written. */
export interface ByteWriter {
  /** Writes some of the bytes and tells how many. */
  write(bytes: Uint8Array): Promise<number>;
}

/**
 * An MCP transport over a stream of bytes in and one out, by default stdin and
 * stdout.
 *
 * It ends by itself when the input ends, after the replies under way are
 * written, or when nobody reads the output any more. What is no message is
 * answered with an error and never ends it.
 */
export class StdioTransport implements Transport {
  /** Called once, when it has ended. */
  onclose?: () => void;
  /** Called with what went wrong. */
  onerror?: (error: Error) => void;
  /** Called with each message. */
  onmessage?: (message: JSONRPCMessage) => void;

  /** Called when the input has ended, while replies may still be under way. */
  oninputend?: () => void;

  readonly #input: ReadableStream<Uint8Array>;
  readonly #output: ByteWriter;
  readonly #pending = new Set<RequestId>();
  readonly #firstReply = Promise.withResolvers<void>();
  #allReplied: (() => void) | undefined;
  #unsent: string[] = [];
  #unsentSize = 0;
  #writing: Promise<void> | undefined;
  #grace: ReturnType<typeof setTimeout> | undefined;
  #inputEnded = false;
  #isClosed = false;

  /** Makes a transport that reads nothing until it is started. */
  constructor(
    input: ReadableStream<Uint8Array> = Deno.stdin.readable,
    output: ByteWriter = Deno.stdout,
  ) {
    // It reads somewhat ahead, so that it sees the end of the input even while
    // it makes no replies because nobody reads them.
    this.#input = input.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>(
        { flush: () => this.#endInput() },
        undefined,
        new ByteLengthQueuingStrategy({ highWaterMark: MAX_READ_AHEAD }),
      ),
    );
    this.#output = output;
  }

  /** Fulfilled when the first reply is written. */
  get firstReply(): Promise<void> {
    return this.#firstReply.promise;
  }

  /** Begins to read. */
  start(): Promise<void> {
    this.#read();
    return Promise.resolve();
  }

  /** Writes a message. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const line = serializeMessage(message);
    this.#unsent.push(line);
    this.#unsentSize += line.length;
    this.#writing ??= this.#write();
    if ("method" in message || message.id === undefined) return this.#writing;
    this.#settle(message.id);
    return this.#writing.then(this.#firstReply.resolve);
  }

  /** Ends it at once. May be called again. */
  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      clearTimeout(this.#grace);
      this.#allReplied?.();
      this.onclose?.();
    }
    return Promise.resolve();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of readLines(this.#input, MAX_LINE_SIZE)) {
        if (this.#isClosed) return;
        this.#receive(line);
        await this.#makeRoom();
      }
    } catch (error) {
      this.onerror?.(error as Error);
    }
    this.oninputend?.();
    if (this.#pending.size > 0) {
      await new Promise<void>((resolve) => this.#allReplied = resolve);
    }
    await this.#writing;
    await this.close();
  }

  #receive(line: string | undefined): void {
    if (line?.trim() === "") return;
    const parsed = parseMessage(line);
    if ("refusal" in parsed) {
      this.send(parsed.refusal);
      return;
    }
    const { message } = parsed;
    if ("method" in message) {
      if ("id" in message) this.#pending.add(message.id);
      // The reply to a request that is taken back never comes.
      if (message.method === "notifications/cancelled") {
        this.#settle(message.params?.requestId as RequestId);
      }
    }
    this.onmessage?.(message);
  }

  #settle(id: RequestId): void {
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#allReplied?.();
  }

  /** Lets replies be made and written before more is read, so that they cannot pile up. */
  async #makeRoom(): Promise<void> {
    if (this.#pending.size >= MAX_PENDING_REQUESTS) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    if (this.#unsentSize > MAX_UNSENT_SIZE) await this.#writing;
  }

  async #write(): Promise<void> {
    try {
      while (this.#unsent.length > 0) {
        const text = this.#unsent.join("");
        this.#unsent = [];
        await writeAll(this.#output, new TextEncoder().encode(text));
        this.#unsentSize -= text.length;
        if (this.#inputEnded) this.#endInput();
      }
      this.#writing = undefined;
    } catch (error) {
      const isRead = !(error instanceof Deno.errors.BrokenPipe);
      if (isRead) this.onerror?.(error as Error);
      await this.close();
    }
  }

  /** From the end of the input, and from each reply after it, the next one has a while. */
  #endInput(): void {
    this.#inputEnded = true;
    clearTimeout(this.#grace);
    if (!this.#isClosed) {
      this.#grace = setTimeout(() => this.close(), GRACE_MS);
    }
  }
}

/** Returns the message in a line, or the error to answer with if there is none. */
function parseMessage(
  line: string | undefined,
): { message: JSONRPCMessage } | { refusal: JSONRPCErrorResponse } {
  if (line === undefined) {
    return refuse(-32600, `A message has ${MAX_LINE_SIZE} bytes at most`);
  }
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refuse(-32700, "A message is one line of JSON");
  }
  const { success, data } = JSONRPCMessageSchema.safeParse(value);
  return success
    ? { message: data }
    : refuse(-32600, "This is no JSON-RPC message of MCP", idOf(value));
}

function refuse(
  code: number,
  message: string,
  id?: RequestId,
): { refusal: JSONRPCErrorResponse } {
  return { refusal: { jsonrpc: "2.0", id, error: { code, message } } };
}

/** Returns the id of what is not a proper request, if it has one. */
function idOf(value: unknown): RequestId | undefined {
  const id = (value as { id?: unknown } | null)?.id;
  return typeof id === "string" || Number.isInteger(id)
    ? id as RequestId
    : undefined;
}

/** Splits a stream into lines. For one that is longer than `limit` there comes `undefined`. */
async function* readLines(
  stream: ReadableStream<Uint8Array>,
  limit: number,
): AsyncGenerator<string | undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const take = (part: Uint8Array) => {
    size += part.length;
    if (size > limit) parts = [];
    else parts.push(part);
  };
  const line = () => {
    const text = size > limit ? undefined : decode(parts);
    parts = [];
    size = 0;
    return text;
  };
  for await (const chunk of stream) {
    let start = 0;
    for (let end; (end = chunk.indexOf(0x0a, start)) !== -1; start = end + 1) {
      take(chunk.subarray(start, end));
      yield line();
    }
    // A copy: what is kept of a large buffer would keep the whole of it.
    if (start < chunk.length) take(chunk.slice(start));
  }
  if (size > 0) yield line();
}

function decode(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  const texts = parts.map((part) => decoder.decode(part, { stream: true }));
  return texts.join("") + decoder.decode();
}

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
