/** Serves MCP over stdin and stdout, and fills the gaps in what the SDK does there. */

import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpRequestContext,
  type ProtocolError,
  type RequestId,
  serializeMessage,
  type Server,
  type Transport,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@^2.4.0/stdio";
import { wait } from "../tasks.ts";
import { isObject, log } from "../text.ts";
import {
  createErrorResponse,
  isRequest,
  LISTEN,
  readMessage,
  requireRevision,
  shortenError,
} from "./messages.ts";

/** How long the server still answers after the end of input, in milliseconds. */
const GRACE_MS = 2_000;

/** A container whose stdin is closed would restart again and again without a word. */
const NO_INPUT =
  "Stdin ended before any message, so the server ends: start it from an MCP client, in a container with -i, or serve over HTTP (docs/http.md)";

/**
 * How long the first answer to a client waits for the first scan, in milliseconds. A
 * common client library waits one second, and the start of the process on a busy
 * machine takes most of that.
 */
const HANDSHAKE_MS = 200;

const encoder = new TextEncoder();

/**
 * Sends messages to stdout, and keeps track of unanswered requests. {@linkcode receiveAll}
 * reads stdin and passes the messages on, so that they are not parsed twice.
 */
class StdioTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  readonly closed = Promise.withResolvers<void>();
  /** Loading the stream of `node:process` would delay the start. */
  readonly #output = Deno.stdout.writable.getWriter();
  readonly #unanswered = new Set<RequestId>();
  #onAllAnswered = () => {};

  start(): Promise<void> {
    // A client that closes its end of the pipe has disconnected.
    this.#output.closed.catch(() => this.close());
    return Promise.resolve();
  }

  receive(message: JSONRPCMessage): void {
    if ("method" in message) {
      if (message.method === "notifications/cancelled") {
        this.#forget(message.params?.requestId as RequestId);
      } else if ("id" in message && message.method !== LISTEN) {
        // The answer to a listener is the end of its notifications.
        this.#unanswered.add(message.id);
      }
    }
    this.onmessage?.(message);
  }

  /** Sends a message, and waits if the client does not read. */
  async send(message: JSONRPCMessage): Promise<void> {
    const line = serializeMessage(shortenError(message));
    await this.#output.write(encoder.encode(line));
    if (!("method" in message)) this.#forget(message.id);
  }

  close(): Promise<void> {
    this.onclose?.();
    this.closed.resolve();
    return Promise.resolve();
  }

  /** Waits until everything is answered, or a time in milliseconds is over. */
  async waitForAnswers(limit: number): Promise<void> {
    if (this.#unanswered.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onAllAnswered = resolve;
    await wait(limit, promise);
  }

  /** Waits until everything is sent, or for a limited time if the client does not read. */
  async flush(): Promise<void> {
    await wait(GRACE_MS, this.#output.close().catch(() => {}));
  }

  #forget(id: RequestId | undefined): void {
    if (id !== undefined) this.#unanswered.delete(id);
    if (this.#unanswered.size === 0) this.#onAllAnswered();
  }
}

interface Service {
  /** Fulfilled after the first scan. */
  readonly ready: Promise<unknown>;
  readonly createServer: (connection: McpRequestContext) => Server;
  /** Follows the files with these URIs. */
  readonly subscribe: (uris: readonly string[]) => Promise<void>;
}

/**
 * Serves the client until its input ends, or until the signal is aborted.
 *
 * @returns The exit code: 2 if stdin cannot be read.
 */
export async function serveOnStdio(
  service: Service,
  signal: AbortSignal,
): Promise<number> {
  const transport = new StdioTransport();
  const handle = serveStdio(async (context) => {
    await wait(HANDSHAKE_MS, service.ready);
    return service.createServer(context);
  }, { transport });
  let code = 0;
  // Closing the handle ends the subscriptions of the client with a result.
  receiveAll(transport, service).catch(({ message }: Error) => {
    log(`Cannot read stdin: ${message}; start the server from an MCP client`);
    code = 2;
  }).then(() => handle.close());
  signal.addEventListener("abort", () => handle.close());
  await transport.closed.promise;
  await transport.flush();
  return code;
}

/**
 * Receives the messages in stdin until it ends, and waits until all are answered.
 *
 * @throws {Error} If stdin cannot be read.
 */
async function receiveAll(
  transport: StdioTransport,
  service: Service,
): Promise<void> {
  let isEmpty = true;
  for await (const line of readLines()) {
    if (line.trim() === "") continue;
    isEmpty = false;
    await receive(line, transport, service);
  }
  if (isEmpty) log(NO_INPUT);
  await transport.waitForAnswers(GRACE_MS);
}

/** Passes a message on to the transport, or answers one that the SDK would not refuse. */
async function receive(
  line: string,
  transport: StdioTransport,
  service: Service,
): Promise<void> {
  const incoming = readMessage(line);
  if ("error" in incoming) {
    log(incoming.error.error.message);
    if (!incoming.isNotification) await transport.send(incoming.error);
    return;
  }
  const { message } = incoming;
  if (isRequest(message)) {
    try {
      await prepare(message, service);
    } catch (error) {
      const { id } = message;
      const response = createErrorResponse(error as ProtocolError, id);
      return await transport.send(response);
    }
  }
  transport.receive(message);
}

/** How much of the input is read at a time, in bytes. */
const BUFFER_SIZE = 64 * 1024;

/** Yields the lines of stdin. A stream would take a quarter more time for each call. */
async function* readLines(): AsyncGenerator<string> {
  const buffer = new Uint8Array(BUFFER_SIZE);
  const decoder = new TextDecoder();
  let rest = "";
  let size = await Deno.stdin.read(buffer);
  while (size !== null) {
    const text = decoder.decode(buffer.subarray(0, size), { stream: true });
    const [end = "", ...lines] = text.split("\n");
    rest += end;
    for (const line of lines) {
      yield rest;
      rest = line;
    }
    size = await Deno.stdin.read(buffer);
  }
  yield rest;
}

/**
 * Does what the SDK leaves out: checks the revision, and subscribes a client of 2026-07-28
 * to URIs.
 *
 * @throws {ProtocolError} If the revision or a URI is unknown.
 */
async function prepare(
  request: JSONRPCRequest,
  { ready, subscribe }: Service,
): Promise<void> {
  requireRevision(request);
  const uris = urisOf(request);
  if (uris.length === 0) return;
  // Otherwise, the first scan would count as a change.
  await ready;
  await subscribe(uris);
}

/** Returns the URIs that a client of 2026-07-28 subscribes to. The SDK does not pass them on. */
function urisOf({ method, params }: JSONRPCRequest): readonly string[] {
  const filter = method === LISTEN ? params?.notifications : undefined;
  const uris = isObject(filter) ? filter.resourceSubscriptions : undefined;
  return Array.isArray(uris)
    ? uris.filter((uri) => typeof uri === "string")
    : [];
}
