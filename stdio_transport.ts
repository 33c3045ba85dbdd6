// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * The wire: JSON-RPC messages, a line each, on Deno's own standard streams, and
 * over them both eras of the protocol.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio}
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
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
  Result,
  ServerCapabilities,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";

/** Longest line that is read, in bytes. */
const MAX_LINE_SIZE = STDIO_DEFAULT_MAX_BUFFER_SIZE;

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

/** How long those who listen are given to hear that it ends, in milliseconds. */
const FAREWELL_MS = 200;

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
export class StdioTransport implements Transport {
  /** Called once, when it has ended. */
  onclose?: () => void;
  /** Called with what went wrong. */
  onerror?: (error: Error) => void;
  /** Called with each message. */
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called when all of the input was given out, while replies may still be under way. */
  oninputend?: () => void;

  readonly #input: ByteReader;
  readonly #output: ByteWriter;
  readonly #lines = new LineQueue(MAX_LINE_SIZE);
  readonly #pending = new Set<RequestId>();
  readonly #firstMessage = Promise.withResolvers<void>();
  #isWorking = false;
  #allReplied: (() => void) | undefined;
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

  /** Begins to read. */
  start(): Promise<void> {
    this.#read();
    return Promise.resolve();
  }

  /** Writes a message. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const line = serializeMessage(message);
    const { lines, written } = this.#unsent;
    lines.push(line);
    this.#unsentSize += line.length;
    if (this.#sending === undefined) this.#write();
    if (!("method" in message) && message.id !== undefined) {
      this.#settle(message.id);
    }
    return written.promise;
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
    if (this.#pending.size > 0) {
      await new Promise<void>((resolve) => this.#allReplied = resolve);
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

  #isFull(): boolean {
    return this.#pending.size >= MAX_PENDING_REQUESTS ||
      this.#unsentSize > MAX_UNSENT_SIZE;
  }

  /** Lets replies be made and written before more is given out, so that they cannot pile up. */
  async #makeRoom(): Promise<void> {
    if (this.#pending.size >= MAX_PENDING_REQUESTS) {
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

// ---------------------------------------------------------------------------
// Eras
// ---------------------------------------------------------------------------

/** The protocol versions of the modern era that are spoken. */
export const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];

/** Keys of `_meta` that the protocol keeps for itself. */
const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
};

/** Methods of the legacy era that the modern one has no more. */
const LEGACY_METHODS = [
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
];

/** Methods whose results a client may keep for a while. */
const CACHEABLE_METHODS = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/directory/read",
  "skills/list",
  "skills/get",
];

/** Notifications that a modern client has to ask for, and what it asks for them by. */
const LIST_NOTIFICATIONS = {
  "notifications/tools/list_changed": {
    flag: "toolsListChanged",
    capability: "tools",
  },
  "notifications/prompts/list_changed": {
    flag: "promptsListChanged",
    capability: "prompts",
  },
  "notifications/resources/list_changed": {
    flag: "resourcesListChanged",
    capability: "resources",
  },
} as const;

/** What a modern client wants to be told of. */
interface SubscriptionFilter {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
  resourceSubscriptions?: string[];
}

/** What the server tells of itself. */
export interface ServerDescription {
  /** Its name and version. */
  readonly serverInfo: { name: string; title: string; version: string };
  /** What it can do. */
  readonly capabilities: ServerCapabilities;
  /** What a model should know before it uses it. */
  readonly instructions: string;
  /** How long a client may keep a result, in milliseconds. */
  readonly ttlMs: number;
}

/**
 * Serves the clients of both eras of the protocol over one transport, for a
 * server that knows the legacy one.
 *
 * A legacy client opens with `initialize`; what it says and hears goes through
 * as it is. A modern client (2026-07-28) never does: each of its requests
 * carries the protocol version and the client's capabilities, each result tells
 * who made it and how long it may be kept, and it hears of changes only what it
 * asked for by `subscriptions/listen`, marked with the id of that request.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning}
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions}
 */
export class EraTransport implements Transport {
  /** Called once, when it has ended. */
  onclose?: () => void;
  /** Called with what went wrong. */
  onerror?: (error: Error) => void;
  /** Called with each message for the server. */
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #wire: StdioTransport;
  readonly #server: ServerDescription;
  /** The methods of the modern requests under way, by their ids. */
  readonly #modern = new Map<RequestId, string>();
  /** What modern clients listen to, by the ids of their requests. */
  readonly #listening = new Map<RequestId, SubscriptionFilter>();
  /** Who wants to be told of a resource: a modern request's id, or `undefined` for the legacy client. */
  readonly #subscribers = new Map<string, Set<RequestId | undefined>>();
  /** Who waits to hear whether a request of a legacy client was done, by its id. */
  readonly #waiting = new Map<RequestId, () => void>();
  /** Who waits for the answers to requests that this made itself, by their ids. */
  readonly #own = new Map<RequestId, (isDone: boolean) => void>();
  #hasLegacyClient = false;
  #isEnding = false;

  /**
   * Puts both eras on a wire.
   *
   * @param wire The transport, not yet started.
   * @param server What the server tells of itself.
   */
  constructor(wire: StdioTransport, server: ServerDescription) {
    this.#wire = wire;
    this.#server = server;
  }

  /** Begins to read. */
  start(): Promise<void> {
    const { onclose } = this.#wire;
    this.#wire.onclose = () => {
      onclose?.();
      this.onclose?.();
    };
    this.#wire.onerror = (error) => this.onerror?.(error);
    this.#wire.onmessage = (message) => this.#receive(message);
    this.#wire.oninputend = () => this.#endListening();
    return this.#wire.start();
  }

  /** Ends it, and tells those who listen, unless that takes long. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, FAREWELL_MS);
    await Promise.race([this.#endListening(), late.promise]);
    clearTimeout(timer);
    await this.#wire.close();
  }

  /** Writes a message of the server in the words of those it is for. */
  async send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message) return await this.#notify(message);
    const id = message.id!;
    const isDone = "result" in message;
    const own = this.#own.get(id);
    if (own !== undefined) {
      this.#own.delete(id);
      return own(isDone);
    }
    if (isDone) this.#waiting.get(id)?.();
    this.#waiting.delete(id);
    const method = this.#modern.get(id);
    this.#modern.delete(id);
    await this.#wire.send(
      method !== undefined && "result" in message
        ? { ...message, result: this.#modernResult(method, message.result) }
        : message,
    );
  }

  #receive(message: JSONRPCMessage): void {
    if (!("method" in message)) return this.onmessage?.(message);
    if (!("id" in message)) return this.#receiveNotification(message);
    if (isModern(message)) return this.#receiveModern(message);
    const { id, method, params } = message;
    if (method === "initialize") {
      this.#waiting.set(id, () => this.#hasLegacyClient = true);
    }
    const uri = params?.uri;
    if (method === "resources/subscribe" && typeof uri === "string") {
      this.#waiting.set(id, () => this.#add(uri));
    }
    if (method === "resources/unsubscribe" && this.#drop(String(uri))) {
      // Others still want to be told of it.
      this.#wire.send({ jsonrpc: "2.0", id, result: {} });
      return;
    }
    this.onmessage?.(message);
  }

  #receiveNotification(message: JSONRPCNotification): void {
    const id = message.params?.requestId as RequestId;
    if (message.method === "notifications/cancelled") {
      this.#waiting.delete(id);
      this.#modern.delete(id);
      this.#stopListening(id);
    }
    this.onmessage?.(message);
  }

  #receiveModern(request: JSONRPCRequest): void {
    const { id, method, params = {} } = request;
    const refusal = refuseModern(request);
    if (refusal !== undefined) {
      this.#wire.send({ jsonrpc: "2.0", id, error: refusal });
    } else if (method === "server/discover") {
      const { capabilities, instructions } = this.#server;
      const supportedVersions = MODERN_VERSIONS;
      const result = { supportedVersions, capabilities, instructions };
      this.#wire.send({
        jsonrpc: "2.0",
        id,
        result: this.#modernResult(method, result),
      });
    } else if (method === "subscriptions/listen") {
      this.#listen(id, params.notifications);
    } else {
      this.#modern.set(id, method);
      this.onmessage?.(request);
    }
  }

  /** Adds to a result what a modern client wants to know. */
  #modernResult(method: string, result: Result): Result {
    const { serverInfo, ttlMs } = this.#server;
    const caching = CACHEABLE_METHODS.includes(method)
      ? { ttlMs, cacheScope: "private" }
      : {};
    const _meta = { ...result._meta, [META.serverInfo]: serverInfo };
    return { resultType: "complete", ...result, ...caching, _meta };
  }

  async #listen(id: RequestId, wanted: unknown): Promise<void> {
    const filter = filterOf(wanted, this.#server.capabilities);
    if (filter === undefined) {
      const message =
        "subscriptions/listen takes notifications: flags, and resourceSubscriptions, a list of URIs";
      const error = { code: INVALID_PARAMS, message };
      return await this.#wire.send({ jsonrpc: "2.0", id, error });
    }
    this.#modern.set(id, "subscriptions/listen");
    const { resourceSubscriptions: uris } = filter;
    if (uris) {
      const known = await Promise.all(
        uris.map((uri) => this.#subscribe(uri, id)),
      );
      filter.resourceSubscriptions = uris.filter((_, index) => known[index]);
    }
    // It may have been taken back meanwhile.
    if (!this.#modern.delete(id)) return this.#stopListening(id);
    const method = "notifications/subscriptions/acknowledged";
    const _meta = { [META.subscriptionId]: id };
    const params = { _meta, notifications: { ...filter } };
    this.#wire.send({ jsonrpc: "2.0", method, params });
    this.#listening.set(id, filter);
    if (this.#isEnding) await this.#endListening();
  }

  /** Subscribes at the server, in the words of the legacy era, and tells whether it knows the resource. */
  async #subscribe(uri: string, id: RequestId): Promise<boolean> {
    const isDone = await this.#request("resources/subscribe", uri);
    if (isDone) this.#add(uri, id);
    return isDone;
  }

  #request(method: string, uri: string): Promise<boolean> {
    const id = crypto.randomUUID();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#own.set(id, resolve);
    this.onmessage?.({ jsonrpc: "2.0", id, method, params: { uri } });
    return promise;
  }

  #add(uri: string, id?: RequestId): void {
    const ids = this.#subscribers.get(uri) ?? new Set();
    this.#subscribers.set(uri, ids.add(id));
  }

  /** Takes a subscriber away and tells whether there are others. */
  #drop(uri: string, id?: RequestId): boolean {
    const ids = this.#subscribers.get(uri);
    ids?.delete(id);
    if (ids?.size === 0) this.#subscribers.delete(uri);
    return this.#subscribers.has(uri);
  }

  #stopListening(id: RequestId): void {
    this.#listening.delete(id);
    for (const [uri, ids] of [...this.#subscribers]) {
      if (ids.has(id) && !this.#drop(uri, id)) {
        this.#request("resources/unsubscribe", uri);
      }
    }
  }

  /** Tells those who listen that no more will come. */
  async #endListening(): Promise<void> {
    this.#isEnding = true;
    const ids = [...this.#listening.keys()];
    this.#listening.clear();
    await Promise.all(ids.map((id) => {
      const _meta = { [META.subscriptionId]: id };
      const result = this.#modernResult("subscriptions/listen", { _meta });
      return this.#wire.send({ jsonrpc: "2.0", id, result });
    }));
  }

  /** Sends a notification of the server to those it is for. */
  async #notify(message: JSONRPCMessage & { method: string }): Promise<void> {
    const { method, params = {} } = message as JSONRPCNotification;
    const uri = method === "notifications/resources/updated"
      ? params.uri as string
      : undefined;
    const sent = [];
    if (
      this.#hasLegacyClient &&
      (uri === undefined || this.#subscribers.get(uri)?.has(undefined))
    ) sent.push(this.#wire.send(message));
    for (const [id, filter] of this.#listening) {
      if (!isWanted(filter, method, uri)) continue;
      const _meta = { ...params._meta, [META.subscriptionId]: id };
      const marked = { ...message, params: { ...params, _meta } };
      sent.push(this.#wire.send(marked));
    }
    await Promise.all(sent);
  }
}

/** JSON-RPC's "invalid params". */
const INVALID_PARAMS = -32602;

/** Whether a request is one of the modern era. */
function isModern({ method, params }: JSONRPCRequest): boolean {
  const { _meta = {} } = params ?? {};
  return method === "server/discover" || method === "subscriptions/listen" ||
    META.protocolVersion in _meta || META.clientCapabilities in _meta ||
    META.clientInfo in _meta;
}

/** Returns the error that a modern request is answered with, if it is not proper. */
function refuseModern(
  { method, params }: JSONRPCRequest,
): { code: number; message: string; data?: unknown } | undefined {
  const meta: Record<string, unknown> = params?._meta ?? {};
  const requested = meta[META.protocolVersion];
  if (typeof requested !== "string") {
    const message = `_meta needs ${META.protocolVersion}, a text`;
    return { code: INVALID_PARAMS, message };
  }
  if (!MODERN_VERSIONS.includes(requested)) {
    return {
      code: -32022,
      message: "Unsupported protocol version",
      data: { supported: MODERN_VERSIONS, requested },
    };
  }
  const { [META.clientCapabilities]: capabilities, [META.clientInfo]: info } =
    meta;
  if (!isObject(capabilities)) {
    const message = `_meta needs ${META.clientCapabilities}, an object`;
    return { code: INVALID_PARAMS, message };
  }
  if (info !== undefined && !isObject(info)) {
    const message = `_meta has ${META.clientInfo}, which must be an object`;
    return { code: INVALID_PARAMS, message };
  }
  if (LEGACY_METHODS.includes(method)) {
    return { code: -32601, message: `Method not found in ${requested}` };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns what is wanted, as far as it can be had, or `undefined` if it makes no sense. */
function filterOf(
  wanted: unknown,
  capabilities: ServerDescription["capabilities"],
): SubscriptionFilter | undefined {
  if (!isObject(wanted)) return undefined;
  const { resourceSubscriptions: uris, ...flags } = wanted;
  const filter: SubscriptionFilter = {};
  for (const { flag, capability } of Object.values(LIST_NOTIFICATIONS)) {
    if (!["boolean", "undefined"].includes(typeof flags[flag])) {
      return undefined;
    }
    if (flags[flag] === true && capabilities[capability]?.listChanged) {
      filter[flag] = true;
    }
  }
  if (uris === undefined || !capabilities.resources?.subscribe) return filter;
  const isList = Array.isArray(uris) &&
    uris.every((uri) => typeof uri === "string");
  return isList
    ? { ...filter, resourceSubscriptions: [...new Set<string>(uris)] }
    : undefined;
}

/** Whether a notification is one of those that were asked for. */
function isWanted(
  filter: SubscriptionFilter,
  method: string,
  uri: string | undefined,
): boolean {
  if (uri !== undefined) {
    return filter.resourceSubscriptions?.includes(uri) ?? false;
  }
  const name = method as keyof typeof LIST_NOTIFICATIONS;
  const flag = LIST_NOTIFICATIONS[name]?.flag;
  return flag !== undefined && filter[flag] === true;
}
