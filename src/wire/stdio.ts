/** Serves MCP over stdin and stdout, and fills the gaps in what the SDK does there. */

import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  type ProtocolError,
  type RequestId,
  serializeMessage,
  type Transport,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@^2.4.0/stdio";
import { log } from "../log.ts";
import { writeAll } from "../output.ts";
import { wait } from "../tasks.ts";
import { isObject } from "../text.ts";
import {
  createErrorResponse,
  isListenRequest,
  isRequest,
  readMessage,
  requireRevision,
  shortenError,
} from "./messages.ts";
import type { SkillService } from "./server.ts";

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
 * Sends messages to stdout, and keeps track of unanswered requests.
 * {@linkcode receiveAll} reads stdin and passes the messages on, so that they are not
 * parsed twice.
 */
class StdioTransport implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: () => void;
  readonly closed = Promise.withResolvers<void>();
  /** The exit code of the process: 2 if stdin or stdout fails. */
  exitCode = 0;
  /** The last write. Each waits for the one before it. */
  #written: Promise<void> = Promise.resolve();
  readonly #unanswered = new Set<RequestId>();
  readonly #onSettled: (id: RequestId) => void;
  #onAllAnswered = () => {};
  #isClosed = false;

  /** @param onSettled Called when a request is answered or canceled. */
  constructor(onSettled: (id: RequestId) => void) {
    this.#onSettled = onSettled;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  receive(message: JSONRPCMessage): void {
    if ("method" in message) {
      if (message.method === "notifications/cancelled") {
        this.#settle(message.params?.requestId as RequestId);
      } else if (isRequest(message) && !isListenRequest(message)) {
        // The answer to a listener is the end of its notifications.
        this.#unanswered.add(message.id);
      }
    }
    this.onmessage?.(message);
  }

  /** Sends a message, and waits if the client does not read. */
  async send(message: JSONRPCMessage): Promise<void> {
    const line = serializeMessage(shortenError(message));
    // The stream of `node:process` would block, and loading it would delay the start.
    this.#written = this.#written
      .then(() => writeAll(Deno.stdout, encoder.encode(line)))
      .catch((error) => this.#end(error));
    await this.#written;
    if (!("method" in message)) this.#settle(message.id);
  }

  /** A client that closes its end of the pipe has disconnected. */
  #end(error: Error): void {
    if (this.#isClosed) return;
    if (!(error instanceof Deno.errors.BrokenPipe)) {
      this.fail(`Cannot write to stdout: ${error.message}`);
    }
    this.close();
  }

  fail(reason: string): void {
    log(`${reason}; start the server from an MCP client`);
    this.exitCode = 2;
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.onclose?.();
      this.closed.resolve();
    }
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
    await wait(GRACE_MS, this.#written);
  }

  #settle(id: RequestId | undefined): void {
    if (id !== undefined) {
      this.#unanswered.delete(id);
      this.#onSettled(id);
    }
    if (this.#unanswered.size === 0) this.#onAllAnswered();
  }
}

/**
 * Serves the client until its input ends, or until the signal is aborted.
 *
 * @returns The exit code.
 */
export async function serveOnStdio(
  service: SkillService,
  signal: AbortSignal,
): Promise<number> {
  const transport = new StdioTransport(service.unsubscribe);
  const handle = serveStdio(async (context) => {
    await wait(HANDSHAKE_MS, service.ready);
    return service.createServer(context);
  }, { transport });
  const end = async () => {
    // Closing sends each subscription a result. A client that does not read would block
    // that.
    await wait(GRACE_MS, handle.close());
    await transport.close();
  };
  receiveAll(transport, service)
    .catch(({ message }: Error) =>
      transport.fail(`Cannot read stdin: ${message}`)
    )
    .then(end);
  signal.addEventListener("abort", end);
  await transport.closed.promise;
  await transport.flush();
  return transport.exitCode;
}

/**
 * Receives the messages in stdin until it ends, and waits until all are answered.
 *
 * @throws {Error} If stdin cannot be read.
 */
async function receiveAll(
  transport: StdioTransport,
  service: SkillService,
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
  service: SkillService,
): Promise<void> {
  const incoming = readMessage(line);
  if ("error" in incoming) {
    log(incoming.error.error.message);
    // Not awaited: if the client does not read, the end of its input must still be seen.
    if (!incoming.isNotification) transport.send(incoming.error);
    return;
  }
  const { message } = incoming;
  if (isRequest(message)) {
    try {
      await prepare(message, service);
    } catch (error) {
      const { id } = message;
      transport.send(createErrorResponse(error as ProtocolError, id));
      return;
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
 * Does what the SDK leaves out: checks the revision, and subscribes a client of
 * 2026-07-28 to URIs.
 *
 * @throws {ProtocolError} If the revision or a URI is unknown.
 */
async function prepare(
  request: JSONRPCRequest,
  { ready, subscribe }: SkillService,
): Promise<void> {
  requireRevision(request);
  const uris = urisOf(request);
  if (uris.length === 0) return;
  // Otherwise, the first scan would count as a change.
  await ready;
  await subscribe(request.id, uris);
}

/** Returns the URIs that a client of 2026-07-28 subscribes to. The SDK does not pass them on. */
function urisOf(request: JSONRPCRequest): readonly string[] {
  const filter = isListenRequest(request)
    ? request.params?.notifications
    : undefined;
  const uris = isObject(filter) ? filter.resourceSubscriptions : undefined;
  return Array.isArray(uris)
    ? uris.filter((uri) => typeof uri === "string")
    : [];
}
