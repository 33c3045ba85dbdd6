// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * MCP with both protocol eras. It knows nothing of skills.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning}
 *
 * @module
 */

import type { Transport } from "npm:@modelcontextprotocol/sdk@^1.32.2/shared/transport";
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  Request,
  RequestId,
  Result,
  ServerCapabilities,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import {
  InitializeRequestSchema,
  LATEST_PROTOCOL_VERSION,
  PingRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import * as z from "npm:zod@^4";
import type { StdioTransport } from "./stdio_transport.ts";
import { quote } from "./text.ts";

/**
 * Sets the handler of a request. Params that do not fit the schema are answered
 * with "invalid params" and what is wrong with them.
 */
export function handleRequest<Schema extends RequestSchema>(
  server: RequestHandlers,
  schema: Schema,
  handler: RequestHandler<z.infer<Schema>>,
): void {
  const any = z.looseObject({ method: schema.shape.method });
  plainSetRequestHandler(server).call(server, any, (request, extra) => {
    const { success, data, error } = schema.safeParse(request);
    if (success) return handler(data, extra);
    throw invalidParams(`Invalid params: ${describeIssues(error)}`);
  });
}

/** Says what is wrong with a value, and where in it. */
export function describeIssues({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) =>
    path.length > 0 ? `${quote(path.join("."))}: ${message}` : message
  ).join("; ");
}

/**
 * Returns the method that sets a handler and does no more. The SDK's `Server`
 * has one of its own over that: it checks calls of tools once more, before and
 * after, and answers with a list of zod's issues.
 */
function plainSetRequestHandler(server: RequestHandlers): SetRequestHandler {
  let found: unknown;
  for (let type = server; type !== null; type = Object.getPrototypeOf(type)) {
    if (Object.hasOwn(type, "setRequestHandler")) {
      found = type.setRequestHandler;
    }
  }
  return found as SetRequestHandler;
}

/** Sets the handler of the requests that a schema takes. */
type SetRequestHandler = (
  this: RequestHandlers,
  schema: RequestSchema,
  handler: RequestHandler,
) => void;

/**
 * Handles a request. What it throws is answered with, by its code if it has one.
 */
type RequestHandler<Request = unknown> = (
  request: Request,
  extra: { signal: AbortSignal },
) => Result | Promise<Result>;

/** What handles requests: any server of the SDK. */
interface RequestHandlers {
  setRequestHandler(requestSchema: never, handler: never): void;
}

/**
 * The schema of a request.
 */
type RequestSchema = z.ZodObject<{ method: z.ZodLiteral<string> }>;

/**
 * Makes an error that the SDK answers with as it is: JSON-RPC's "invalid params".
 */
export function invalidParams(message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code: -32602, data });
}

/**
 * The server's side of the protocol's legacy era: what of the SDK's `Server` is
 * needed here. That one also asks clients back and keeps tasks, for which it
 * loads a validator of JSON schemas and two more forms of zod: a quarter of the
 * start.
 */
export class Server {
  /** Called with what went wrong. */
  onerror?: (error: Error) => void;

  readonly #handlers = new Map<string, RequestHandler>();
  /** What takes the requests under way back, by their ids. */
  readonly #running = new Map<RequestId, AbortController>();
  #transport: Transport | undefined;

  constructor({ serverInfo, capabilities, instructions }: ServerDescription) {
    handleRequest(this, PingRequestSchema, () => ({}));
    handleRequest(this, InitializeRequestSchema, ({ params }) => {
      const { protocolVersion: wanted } = params;
      const protocolVersion = SUPPORTED_PROTOCOL_VERSIONS.includes(wanted)
        ? wanted
        : LATEST_PROTOCOL_VERSION;
      return { protocolVersion, capabilities, serverInfo, instructions };
    });
  }

  /** Sets the handler of the requests that a schema takes. */
  setRequestHandler(
    schema: RequestSchema,
    handler: RequestHandler,
  ): void {
    this.#handlers.set(schema.shape.method.value, handler);
  }

  /** Answers what comes by a transport. */
  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message) => this.#receive(message);
    transport.onerror = (error) => this.onerror?.(error);
    transport.onclose = () => {
      for (const controller of this.#running.values()) controller.abort();
    };
    await transport.start();
  }

  sendToolListChanged(): Promise<void> {
    return this.#notify("notifications/tools/list_changed");
  }

  sendPromptListChanged(): Promise<void> {
    return this.#notify("notifications/prompts/list_changed");
  }

  sendResourceListChanged(): Promise<void> {
    return this.#notify("notifications/resources/list_changed");
  }

  sendResourceUpdated(params: { uri: string }): Promise<void> {
    return this.#notify("notifications/resources/updated", params);
  }

  async #notify(
    method: string,
    params?: Record<string, unknown>,
  ): Promise<void> {
    await this.#transport?.send({
      jsonrpc: "2.0",
      method,
      ...(params && { params }),
    });
  }

  #receive(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message) this.#answer(message);
    else if (message.method === "notifications/cancelled") {
      this.#running.get(message.params?.requestId as RequestId)?.abort();
    }
  }

  /** Answers a request, unless it is taken back before. */
  async #answer({ id, method, params }: JSONRPCRequest): Promise<void> {
    const controller = new AbortController();
    this.#running.set(id, controller);
    const { signal } = controller;
    const reply = await this.#handle({ method, params }, signal).then(
      (result) => ({ result }),
      (error) => ({ error: errorOf(error) }),
    );
    if (this.#running.get(id) === controller) this.#running.delete(id);
    if (signal.aborted) return;
    try {
      await this.#transport?.send({ jsonrpc: "2.0", id, ...reply });
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  async #handle(request: Request, signal: AbortSignal): Promise<Result> {
    const handler = this.#handlers.get(request.method);
    if (handler !== undefined) return await handler(request, { signal });
    throw Object.assign(new Error("Method not found"), { code: -32601 });
  }
}

/** Returns what JSON-RPC tells of an error. */
function errorOf(
  { code, message, data }: Error & { code?: unknown; data?: unknown },
): { code: number; message: string; data?: unknown } {
  return {
    code: Number.isSafeInteger(code) ? code as number : -32603,
    message,
    ...(data !== undefined && { data }),
  };
}

/** The protocol versions of the modern era that are spoken. */
const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];

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

/** How long those who listen are given to hear that it ends, in milliseconds. */
const FAREWELL_MS = 200;
