// A stdio transport with input and output in the process of the tests.
import type { McpServer } from "../../src/protocol/mcp_server.ts";
import {
  type ByteReader,
  type ByteWriter,
  StdioTransport,
} from "../../src/protocol/stdio_transport.ts";
import type { Reply } from "./server.ts";
import { Inbox, within } from "./waiting.ts";

/** A transport with input that the test writes and output that the test reads. */
export class Pipe {
  /** The messages that the transport delivers, unless a server handles them. */
  readonly received = new Inbox<unknown>();
  readonly sent = new Inbox<Reply>();
  readonly closed = Promise.withResolvers<void>();
  readonly transport: StdioTransport;
  readonly #input = new TransformStream<Uint8Array, Uint8Array>();
  readonly #writer = this.#input.writable.getWriter();
  #rest = "";

  constructor({
    write = (bytes: Uint8Array) => Promise.resolve(bytes.length),
    server,
    ready,
  }: {
    /** Accepts bytes that the transport writes, and returns the number of accepted bytes. */
    write?: (bytes: Uint8Array) => Promise<number>;
    /** The server that handles the messages. By default, the test handles them. */
    server?: McpServer;
    /** The server answers most requests once this promise is fulfilled. */
    ready?: Promise<unknown>;
  } = {}) {
    const output: ByteWriter = {
      write: async (bytes) => {
        const length = await write(bytes);
        const text = new TextDecoder().decode(bytes.subarray(0, length));
        const lines = (this.#rest + text).split("\n");
        this.#rest = lines.pop()!;
        lines.forEach((line) => this.sent.put(JSON.parse(line)));
        return length;
      },
    };
    const input = this.#input.readable.getReader();
    this.transport = new StdioTransport(byteReader(input), output);
    if (server !== undefined) {
      server.connect(this.transport, ready).then(this.closed.resolve);
      return;
    }
    this.transport.onMessage = (message) => this.received.put(message);
    this.transport.run().then(this.closed.resolve);
  }

  /** Writes bytes in chunks of the given size. */
  async write(text: string | Uint8Array, size = Infinity): Promise<void> {
    const bytes = typeof text === "string"
      ? new TextEncoder().encode(text)
      : text;
    for (let start = 0; start < bytes.length; start += size) {
      await this.#writer.write(bytes.subarray(start, start + size));
    }
  }

  async end(): Promise<void> {
    await this.#writer.close();
    await within(this.closed.promise, "the transport to close");
  }
}

/** Creates a `ping` request. */
export const ping = (id: number | string) => ({
  jsonrpc: "2.0",
  id,
  method: "ping",
});

/** Reads the chunks of a stream into buffers. */
function byteReader(
  chunks: ReadableStreamDefaultReader<Uint8Array>,
): ByteReader {
  let rest: Uint8Array | undefined;
  return {
    read: async (buffer) => {
      rest = rest?.length ? rest : (await chunks.read()).value;
      if (rest === undefined) return null;
      const part = rest.subarray(0, buffer.length);
      buffer.set(part);
      rest = rest.subarray(part.length);
      return part.length;
    },
  };
}
