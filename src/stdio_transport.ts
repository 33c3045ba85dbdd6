// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * JSON-RPC messages, one per line, on Deno's own standard streams.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio}
 *
 * @module
 */

import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  RequestId,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";

/** Longest line that is read, in bytes. */
const MAX_LINE_SIZE = 10 * 1024 * 1024;

/** How much is read at a time, in bytes. */
const READ_SIZE = 64 * 1024;

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
  /** Called with each message. A promise that it returns is fulfilled when the message is dealt with. */
  onmessage?: (message: JSONRPCMessage) => Promise<void> | void;
  /** Called when all of the input was given out, while messages may still be dealt with. */
  oninputend?: () => void;

  readonly #input: ByteReader;
  readonly #output: ByteWriter;
  readonly #lines = new LineQueue(MAX_LINE_SIZE);
  readonly #firstMessage = Promise.withResolvers<void>();
  #isWorking = true;
  /** How many messages are not dealt with. */
  #pending = 0;
  #allDone: (() => void) | undefined;
  #unsent = new Batch();
  /** What is being written. */
  #sending: Batch | undefined;
  #unsentSize = 0;
  #grace: ReturnType<typeof setTimeout> | undefined;
  #inputEnded = false;
  #isClosed = false;

  /** Makes a transport that reads nothing until it is started. */
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
    this.#isWorking = false;
    this.#work();
  }

  /** Writes a message. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const line = `${JSON.stringify(message)}\n`;
    const { lines, written } = this.#unsent;
    lines.push(line);
    this.#unsentSize += line.length;
    if (this.#sending === undefined) this.#write();
    return written.promise;
  }

  /** Ends it at once. May be called again. */
  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      clearTimeout(this.#grace);
      this.#allDone?.();
      this.onclose?.();
    }
    return Promise.resolve();
  }

  /**
   * Reads somewhat ahead of the work, so that it sees the end of the input even
   * while it answers nothing because nobody reads the answers.
   */
  async #read(): Promise<void> {
    try {
      const buffer = new Uint8Array(READ_SIZE);
      for (;;) {
        const length = await this.#input.read(buffer);
        if (length === null || this.#isClosed) break;
        this.#lines.add(buffer.subarray(0, length));
        this.#work();
        while (this.#lines.size > MAX_READ_AHEAD) await this.#lines.taken;
      }
    } catch (error) {
      this.onerror?.(error as Error);
    }
    this.#endInput();
    this.#lines.end();
    this.#work();
    while (this.#lines.size > 0 && !this.#isClosed) await this.#lines.taken;
    this.oninputend?.();
    if (this.#pending > 0) {
      await new Promise<void>((resolve) => this.#allDone = resolve);
    }
    while (this.#sending !== undefined) await this.#sending.written.promise;
    await this.close();
  }

  /** Gives out the lines that were read. */
  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (const line of this.#lines) {
      if (this.#isClosed) break;
      this.#receive(line);
      if (this.#isFull()) await this.#makeRoom();
    }
    this.#isWorking = false;
  }

  #receive(line: string | undefined): void {
    if (line?.trim() === "") return;
    const parsed = parseMessage(line);
    if ("refusal" in parsed) {
      this.send(parsed.refusal);
      return;
    }
    const done = this.onmessage?.(parsed.message);
    if (done !== undefined) this.#waitFor(done);
  }

  async #waitFor(done: Promise<void>): Promise<void> {
    this.#pending++;
    await done;
    this.#pending--;
    if (this.#pending === 0) this.#allDone?.();
  }

  #isFull(): boolean {
    return this.#pending >= MAX_PENDING_REQUESTS ||
      this.#unsentSize > MAX_UNSENT_SIZE;
  }

  /** Lets replies be made and written before more is given out, so that they cannot pile up. */
  async #makeRoom(): Promise<void> {
    if (this.#pending >= MAX_PENDING_REQUESTS) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    while (this.#unsentSize > MAX_UNSENT_SIZE && this.#sending) {
      await this.#sending.written.promise;
    }
  }

  /** Writes what is unsent, and what comes meanwhile. */
  async #write(): Promise<void> {
    try {
      while (this.#unsent.lines.length > 0) {
        const batch = this.#sending = this.#unsent;
        this.#unsent = new Batch();
        const text = batch.lines.join("");
        await writeAll(this.#output, new TextEncoder().encode(text));
        this.#unsentSize -= text.length;
        this.#firstMessage.resolve();
        if (this.#inputEnded) this.#endInput();
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

  /** From the end of the input, and from each reply after it, the next one has a while. */
  #endInput(): void {
    this.#inputEnded = true;
    clearTimeout(this.#grace);
    if (!this.#isClosed) {
      this.#grace = setTimeout(() => this.close(), GRACE_MS);
    }
  }
}

/**
 * Lines that are written at once. Each has its own promise: one for all would,
 * under load, hold on to all that ever waited for it.
 */
class Batch {
  readonly lines: string[] = [];
  readonly written = Promise.withResolvers<void>();
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
  return isMessage(value)
    ? { message: value }
    : refuse(-32600, "This is not a JSON-RPC message of MCP", idOf(value));
}

/** Whether a value is a JSON-RPC message. The params are left to those who know the method. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isObject(value) || value.jsonrpc !== "2.0") return false;
  if ("id" in value && !isId(value.id)) return false;
  const { method, params = {} } = value;
  return "method" in value
    ? typeof method === "string" && isObject(params)
    : "result" in value || "error" in value;
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function refuse(
  code: number,
  message: string,
  id?: RequestId,
): { refusal: JSONRPCErrorResponse } {
  return { refusal: { jsonrpc: "2.0", id, error: { code, message } } };
}

/** Returns the id of what is not a message, if it has one. */
function idOf(value: unknown): RequestId | undefined {
  const id = isObject(value) ? value.id : undefined;
  return typeof id === "string" || Number.isInteger(id)
    ? id as RequestId
    : undefined;
}

/** Whether a value is an object in the sense of JSON. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Splits bytes into lines. For a line that is longer than the limit there comes `undefined`. */
class LineQueue {
  readonly #limit: number;
  /** The lines that are whole, and their sizes in bytes. */
  #lines: { text: string | undefined; size: number }[] = [];
  /** The parts of the line that is not. */
  #parts: Uint8Array[] = [];
  #partsSize = 0;
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
      this.#addPart(bytes.subarray(start, end));
      this.end();
    }
    // A copy, for the rest of the line comes later.
    if (start < bytes.length) this.#addPart(bytes.slice(start));
  }

  /** Ends the line that is not whole, if there is any of it. */
  end(): void {
    const size = this.#partsSize;
    if (size === 0) return;
    const text = size > this.#limit ? undefined : decode(this.#parts);
    this.#lines.push({ text, size });
    this.#size += size;
    this.#parts = [];
    this.#partsSize = 0;
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

  #addPart(part: Uint8Array): void {
    this.#partsSize += part.length;
    if (this.#partsSize > this.#limit) this.#parts = [];
    else this.#parts.push(part);
  }
}

function decode(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  if (parts.length === 1) return decoder.decode(parts[0]);
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
