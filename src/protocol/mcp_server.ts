/**
 * A Model Context Protocol server that supports both eras of the protocol over
 * one transport. It does not depend on skills.
 *
 * 1. A legacy client (up to 2025-11-25) starts with `initialize`.
 * 2. A modern client (2026-07-28) never sends `initialize`. Each of its requests
 *    contains the protocol version and the client's capabilities. Each result
 *    names the server, and cacheable results also state how long they can be
 *    cached. The client receives only the notifications that it requested with
 *    `subscriptions/listen`, tagged with the ID of that request.
 * 3. Both kinds of clients can use one process, even at the same time.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning}
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions}
 *
 * @module
 */

import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
  Result,
  ServerCapabilities,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import {
  InitializeRequestSchema,
  LATEST_PROTOCOL_VERSION,
  PingRequestSchema,
  SubscribeRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  UnsubscribeRequestSchema,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import * as z from "npm:zod@^4";
import { isObject } from "./json_rpc.ts";
import type { StdioTransport } from "./stdio_transport.ts";
import { quote } from "../text.ts";

/** A client's description of itself. */
export interface ClientInfo {
  /** The client's name. */
  readonly name: string;
  /** The client's version, if it gives one. */
  readonly version?: string;
}

/** A server's description of itself. */
export interface ServerDescription {
  /** The server's name and version. */
  readonly serverInfo: { name: string; title: string; version: string };
  /** What the server can do. */
  readonly capabilities: ServerCapabilities;
  /** Returns what a client's model should know before it uses the server. */
  readonly instructions: (client: ClientInfo | undefined) => string;
  /** How long a client can cache a result, in milliseconds. */
  readonly ttlMs: number;
}

/** What a handler knows about the request that it handles. */
export interface RequestContext {
  /** Aborted when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** The client that sent the request, if it identified itself. */
  readonly client: ClientInfo | undefined;
}

/**
 * Handles a request. If it throws an error, the reply is that error, with its
 * `code` and `data`.
 */
export type RequestHandler<Request> = (
  request: Request,
  context: RequestContext,
) => Result | Promise<Result>;

/** The schema of the requests of one method. */
export type RequestSchema = z.ZodObject<{ method: z.ZodLiteral<string> }>;

/** A server on which request handlers can be set, such as {@linkcode McpServer}. */
export interface RequestHandlers {
  /** Sets the handler for the requests that a schema accepts. */
  setRequestHandler<Schema extends RequestSchema>(
    schema: Schema,
    handler: RequestHandler<z.infer<Schema>>,
  ): void;
  /** Sends a notification to its subscribers. */
  notify(method: string, params?: Record<string, unknown>): Promise<void>;
}

/** Ends a subscription to a resource. */
export type EndSubscription = () => void | Promise<void>;

/** Creates the JSON-RPC error "invalid params". */
export function invalidParams(message: string, data?: unknown): Error {
  return rpcError(-32602, message, data);
}

/** Creates a JSON-RPC error. */
export function rpcError(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

/**
 * Parses a request with a schema.
 *
 * @throws {Error} If the request does not match the schema. The error means
 *   invalid params, and its message says what is wrong with them.
 */
export function parseRequest<Schema extends RequestSchema>(
  schema: Schema,
  request: unknown,
): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(request);
  if (success) return data;
  throw invalidParams(`Invalid params: ${describeIssues(error)}`);
}

/**
 * Returns the client that a request names: in `_meta` for a modern client, in
 * the params of `initialize` for a legacy client.
 */
export function clientOf(
  { method, params }: Pick<JSONRPCRequest, "method" | "params">,
): ClientInfo | undefined {
  return clientInfoOf(
    method === "initialize"
      ? params?.clientInfo
      : metaOf(params)[META.clientInfo],
  );
}

/**
 * Returns the fields that declare to a modern client how to cache the results
 * of a method. Returns none if the results are not cacheable.
 */
export function cachingOf(
  method: string,
  ttlMs: number,
): { ttlMs?: number; cacheScope?: "private" } {
  return CACHEABLE_METHODS.includes(method)
    ? { ttlMs, cacheScope: "private" }
    : {};
}

/**
 * Creates a replacement for a reply that cannot be sent. For a tool call, it is
 * a result, so that the model can read it.
 */
export function replaceReply(
  method: string,
  { name, message }: Error,
): { result: Result } | { error: { code: number; message: string } } {
  const advice = name === "RangeError" ? "; ask for less at a time" : "";
  const text = `Cannot send the reply: ${message}${advice}`;
  return method === "tools/call"
    ? { result: { content: [{ type: "text", text }], isError: true } }
    : { error: { code: -32603, message: text } };
}

/** The maximum length of a description of what is wrong with a value, in characters. */
const MAX_ISSUES_LENGTH = 5_000;

/** Describes what is wrong with a value, and where. */
export function describeIssues({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) =>
    path.length > 0 ? `${quote(path.join("."))}: ${message}` : message
  ).join("; ").slice(0, MAX_ISSUES_LENGTH);
}

/** The protocol versions of the modern era that the server supports. */
const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];

/** Keys of `_meta` that the protocol reserves. */
const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
};

/** Methods of the legacy era that do not exist in the modern era. */
const LEGACY_METHODS = [
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
];

/** Methods whose results a modern client can cache. */
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

const DiscoverRequestSchema = z.object({
  method: z.literal("server/discover"),
});

/** The maximum number of subscriptions to resources. */
const MAX_SUBSCRIPTIONS = 10_000;

/** The maximum length of the URI of a subscription, in characters. */
const MAX_URI_LENGTH = 8 * 1024;

/** The maximum total length of all URIs with subscriptions, in characters. */
const MAX_URIS_LENGTH = 1024 * 1024;

const flag = z.boolean().optional();

/** The notifications that a modern client requests. */
const SubscriptionFilterSchema = z.object({
  toolsListChanged: flag,
  promptsListChanged: flag,
  resourcesListChanged: flag,
  resourceSubscriptions: z.array(z.string()).max(MAX_SUBSCRIPTIONS).optional(),
});

type SubscriptionFilter = z.infer<typeof SubscriptionFilterSchema>;

const ListenRequestSchema = z.object({
  method: z.literal("subscriptions/listen"),
  params: z.object({ notifications: SubscriptionFilterSchema }),
});

/** For each notification, the flag that requests it and the capability that it requires. */
const LIST_NOTIFICATIONS = {
  "notifications/tools/list_changed": ["toolsListChanged", "tools"],
  "notifications/prompts/list_changed": ["promptsListChanged", "prompts"],
  "notifications/resources/list_changed": ["resourcesListChanged", "resources"],
} as const;

/** How long to wait for the final replies to listeners to be written, in milliseconds. */
const CLOSE_TIMEOUT_MS = 200;

/** A handler that can also defer its reply, in which case it returns no result. */
type DeferrableHandler<Request> = (
  request: Request,
  context: RunningRequest,
) => Result | undefined | Promise<Result | undefined>;

/**
 * An MCP server for clients of both eras.
 *
 * It implements only the parts of the SDK's `Server` that are needed here. The
 * SDK's class also sends requests to clients and manages tasks. To do so, it
 * loads a JSON Schema validator and two more variants of zod, which would take a
 * quarter of the startup time.
 */
export class McpServer implements RequestHandlers {
  /** Called with each error of the transport. */
  onerror?: (error: Error) => void;
  /**
   * Called with the URI of a resource when the first client subscribes to it.
   * Returns a function that ends the subscription, or throws an error if there
   * is no such resource.
   */
  onsubscribe?: (uri: string) => EndSubscription | Promise<EndSubscription>;

  readonly #description: ServerDescription;
  readonly #handlers = new Map<
    string,
    [RequestSchema, DeferrableHandler<unknown>]
  >();
  /** The pending requests by ID, including those of listeners. */
  readonly #requests = new Map<RequestId, RunningRequest>();
  readonly #subscriptions = new Subscriptions(async (uri) => {
    if (this.onsubscribe) return await this.onsubscribe(uri);
    throw rpcError(-32601, "Method not found");
  });
  #transport: StdioTransport | undefined;
  /** The client that sent `initialize`, if any. */
  #legacyClient: ClientInfo | undefined;
  #isEnding = false;

  /** Creates a server that handles only the protocol's own requests. */
  constructor(description: ServerDescription) {
    this.#description = description;
    this.setRequestHandler(PingRequestSchema, () => ({}));
    this.setRequestHandler(
      InitializeRequestSchema,
      ({ params }) => this.#initialize(params),
    );
    this.setRequestHandler(DiscoverRequestSchema, (_, { client }) => ({
      supportedVersions: MODERN_VERSIONS,
      capabilities: description.capabilities,
      instructions: description.instructions(client),
    }));
    this.setRequestHandler(
      ListenRequestSchema,
      ({ params }, request) => this.#listen(params.notifications, request),
    );
    this.setRequestHandler(
      SubscribeRequestSchema,
      ({ params }, request) => this.#subscribe(params.uri, request),
    );
    this.setRequestHandler(
      UnsubscribeRequestSchema,
      ({ params }) => this.#unsubscribe(params.uri),
    );
  }

  /**
   * Sets the handler for the requests that a schema accepts. The reply to a
   * request with other params is the error "invalid params".
   */
  setRequestHandler<Schema extends RequestSchema>(
    schema: Schema,
    handler: DeferrableHandler<z.infer<Schema>>,
  ): void {
    const { value: method } = schema.shape.method;
    this.#handlers.set(method, [schema, handler as DeferrableHandler<unknown>]);
  }

  /**
   * Starts a transport and serves its clients until the transport closes.
   *
   * @param transport A transport that has not been started.
   * @param ready Messages are read immediately, and handled once this is fulfilled.
   */
  async connect(
    transport: StdioTransport,
    ready: Promise<unknown> = Promise.resolve(),
  ): Promise<void> {
    this.#transport = transport;
    const closed = Promise.withResolvers<void>();
    transport.onmessage = (message) => this.#receive(message);
    transport.onerror = (error) => this.onerror?.(error);
    transport.oninputend = () => this.#end();
    transport.onclose = () => {
      for (const request of this.#requests.values()) request.cancel();
      closed.resolve();
    };
    transport.start(ready);
    await closed.promise;
  }

  /** Closes the connection. First replies to the listeners, unless that takes too long. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, CLOSE_TIMEOUT_MS);
    await Promise.race([this.#endListening(), late.promise]);
    clearTimeout(timer);
    await this.#transport?.close();
  }

  /**
   * Sends a notification to its subscribers. For modern clients, adds the ID of
   * the subscription.
   */
  async notify(
    method: string,
    params?: Record<string, unknown>,
  ): Promise<void> {
    const uri = method === "notifications/resources/updated"
      ? params?.uri as string
      : undefined;
    const subscribers = uri === undefined
      ? this.#subscribersTo(method)
      : this.#subscriptions.subscribers(uri);
    const sent = [];
    for (const subscriber of subscribers) {
      if (subscriber === LEGACY_CLIENT) {
        sent.push(this.#send({ method, ...(params && { params }) }));
      } else if (subscriber.filter !== undefined) {
        const _meta = subscriptionMeta(subscriber);
        sent.push(this.#send({ method, params: { ...params, _meta } }));
      }
    }
    await Promise.all(sent);
  }

  /** Handles a message. Replies to a request, unless it is cancelled first. */
  async #receive(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) return;
    if (!("id" in message)) return this.#receiveNotification(message);
    const request = this.#begin(message);
    let reply;
    try {
      if (request.isModern) checkModern(message);
      const [schema, handler] = this.#handlers.get(request.method) ?? [];
      if (schema === undefined) throw rpcError(-32601, "Method not found");
      const result = await handler!(parseRequest(schema, message), request);
      if (result === undefined) return;
      reply = { result: this.#completeResult(request, result) };
    } catch (error) {
      reply = { error: errorObject(error) };
    }
    this.#reply(request, reply);
  }

  #receiveNotification({ method, params }: JSONRPCNotification): void {
    if (method !== "notifications/cancelled") return;
    const request = this.#requests.get(params?.requestId as RequestId);
    if (request !== undefined) this.#cancel(request);
  }

  #begin(message: JSONRPCRequest): RunningRequest {
    const request = new RunningRequest(message, this.#legacyClient);
    const previous = this.#requests.get(request.id);
    // Once another request has the same ID, a listener can no longer be found.
    if (previous?.isListener) this.#cancel(previous);
    this.#requests.set(request.id, request);
    return request;
  }

  #cancel(request: RunningRequest): void {
    this.#requests.delete(request.id);
    this.#subscriptions.removeAll(request);
    request.cancel();
  }

  /** Adds the fields that a modern client expects, if the request is from one. */
  #completeResult(
    { isModern, method }: RunningRequest,
    result: Result,
  ): Result {
    if (!isModern) return result;
    const { serverInfo, ttlMs } = this.#description;
    const caching = cachingOf(method, ttlMs);
    const _meta = { ...result._meta, [META.serverInfo]: serverInfo };
    return { resultType: "complete", ...result, ...caching, _meta };
  }

  async #reply(request: RunningRequest, reply: object): Promise<void> {
    const { id, signal } = request;
    if (this.#requests.get(id) === request) this.#requests.delete(id);
    if (signal.aborted) return;
    let sent;
    try {
      const complete = { jsonrpc: "2.0", id, ...reply } as JSONRPCMessage;
      sent = this.#transport?.send(complete);
    } catch (error) {
      const replacement = this.#createReplacement(request, error as Error);
      sent = this.#send({ id, ...replacement });
    }
    request.settle();
    await sent;
  }

  /**
   * Creates a replacement for a reply that cannot be sent, in the form that the
   * era of the request requires.
   */
  #createReplacement(request: RunningRequest, error: Error): object {
    const reply = replaceReply(request.method, error);
    return "result" in reply
      ? { result: this.#completeResult(request, reply.result) }
      : reply;
  }

  /** Sends a message. Throws an error if it cannot be sent. */
  #send(message: object): Promise<void> | undefined {
    const complete = { jsonrpc: "2.0", ...message } as JSONRPCMessage;
    return this.#transport?.send(complete);
  }

  #initialize(
    { protocolVersion, clientInfo }: z.infer<
      typeof InitializeRequestSchema
    >["params"],
  ): Result {
    this.#legacyClient = clientInfo;
    const { capabilities, serverInfo, instructions } = this.#description;
    return {
      protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)
        ? protocolVersion
        : LATEST_PROTOCOL_VERSION,
      capabilities,
      serverInfo,
      instructions: instructions(clientInfo),
    };
  }

  /**
   * Subscribes the legacy client. Defers the reply, so that other messages need
   * not wait for it.
   */
  #subscribe(uri: string, request: RunningRequest): Result | undefined {
    if (this.#subscriptions.subscribers(uri).has(LEGACY_CLIENT)) return {};
    this.#subscriptions.add(uri, request).then(
      () => {
        this.#subscriptions.replace(uri, request, LEGACY_CLIENT);
        this.#reply(request, { result: {} });
      },
      (error) => this.#reply(request, { error: errorObject(error) }),
    );
  }

  /** Ends the legacy client's subscription, even if it is still being set up. */
  #unsubscribe(uri: string): Result {
    for (const subscriber of this.#subscriptions.subscribers(uri)) {
      if (subscriber === LEGACY_CLIENT || !subscriber.isModern) {
        this.#subscriptions.remove(uri, subscriber);
      }
    }
    return {};
  }

  /** Starts a listener, and acknowledges the part of its filter that the server supports. */
  async #listen(
    wanted: SubscriptionFilter,
    request: RunningRequest,
  ): Promise<Result | undefined> {
    const { capabilities } = this.#description;
    const filter: SubscriptionFilter = {};
    for (const [flag, capability] of Object.values(LIST_NOTIFICATIONS)) {
      const isHonored = wanted[flag] && capabilities[capability]?.listChanged;
      if (isHonored) filter[flag] = true;
    }
    const { resourceSubscriptions: uris } = wanted;
    const known = uris && capabilities.resources?.subscribe &&
      await this.#subscriptions.addKnown(new Set(uris), request);
    if (request.signal.aborted) return undefined;
    const _meta = subscriptionMeta(request);
    const notifications = {
      ...filter,
      ...(known && { resourceSubscriptions: known }),
    };
    this.#send({
      method: "notifications/subscriptions/acknowledged",
      params: { _meta, notifications },
    });
    if (this.#isEnding) return { _meta };
    request.filter = filter;
    request.settle();
    return undefined;
  }

  /** Lists the subscribers to a notification that is not about a single resource. */
  #subscribersTo(method: string): Subscriber[] {
    const [flag] =
      LIST_NOTIFICATIONS[method as keyof typeof LIST_NOTIFICATIONS] ?? [];
    const subscribers: Subscriber[] = this.#legacyClient ? [LEGACY_CLIENT] : [];
    for (const request of this.#requests.values()) {
      if (flag && request.filter?.[flag]) subscribers.push(request);
    }
    return subscribers;
  }

  /** Replies to the listeners, and waits for the replies to all other requests. */
  async #end(): Promise<void> {
    await this.#endListening();
    const requests = [...this.#requests.values()];
    await Promise.all(requests.map(({ settled }) => settled));
  }

  /** Replies to the listeners, which ends their subscriptions. */
  async #endListening(): Promise<void> {
    this.#isEnding = true;
    const listeners = [...this.#requests.values()].filter(({ filter }) =>
      filter !== undefined
    );
    await Promise.all(listeners.map((request) => {
      const _meta = subscriptionMeta(request);
      return this.#reply(request, {
        result: this.#completeResult(request, { _meta }),
      });
    }));
  }
}

/** A pending request. */
class RunningRequest implements RequestContext {
  readonly id: RequestId;
  readonly method: string;
  readonly client: ClientInfo | undefined;
  readonly isModern: boolean;
  /** The filter of a listener, once it has been acknowledged. */
  filter: SubscriptionFilter | undefined;
  readonly #controller = new AbortController();
  readonly #settled = Promise.withResolvers<void>();

  constructor(
    message: JSONRPCRequest,
    legacyClient: ClientInfo | undefined,
  ) {
    const { id, method, params } = message;
    const meta = metaOf(params);
    this.id = id;
    this.method = method;
    this.client = clientOf(message) ?? legacyClient;
    this.isModern = method === "server/discover" || this.isListener ||
      META.protocolVersion in meta || META.clientCapabilities in meta ||
      META.clientInfo in meta;
  }

  get isListener(): boolean {
    return this.method === "subscriptions/listen";
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Fulfilled when nothing needs to wait for the request anymore: it has a
   * reply, was cancelled, or is an acknowledged listener.
   */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  settle(): void {
    this.#settled.resolve();
  }

  cancel(): void {
    this.#controller.abort();
    this.settle();
  }
}

/**
 * The legacy client as a subscriber. It has at most one subscription per
 * resource, no matter how often it subscribes.
 */
const LEGACY_CLIENT = Symbol("the legacy client");

type Subscriber = RunningRequest | typeof LEGACY_CLIENT;

/** The subscribers of each resource. */
class Subscriptions {
  readonly #begin: (uri: string) => Promise<EndSubscription>;
  readonly #resources = new Map<string, {
    readonly subscribers: Set<Subscriber>;
    readonly end: Promise<EndSubscription>;
  }>();
  #size = 0;
  #urisLength = 0;

  /**
   * Creates an empty set of subscriptions.
   *
   * @param begin Called when a resource gets its first subscriber.
   */
  constructor(begin: (uri: string) => Promise<EndSubscription>) {
    this.#begin = begin;
  }

  /** Returns the subscribers of a resource. */
  subscribers(uri: string): ReadonlySet<Subscriber> {
    return this.#resources.get(uri)?.subscribers ?? new Set();
  }

  /**
   * Adds a subscriber.
   *
   * @throws {Error} If there is no such resource, or if there are too many subscriptions.
   */
  async add(uri: string, subscriber: Subscriber): Promise<void> {
    this.#checkLimits(uri);
    let resource = this.#resources.get(uri);
    if (resource === undefined) {
      resource = { subscribers: new Set(), end: this.#begin(uri) };
      this.#resources.set(uri, resource);
      this.#urisLength += uri.length;
    }
    resource.subscribers.add(subscriber);
    this.#size++;
    try {
      await resource.end;
    } catch (error) {
      this.remove(uri, subscriber);
      throw error;
    }
  }

  /**
   * Adds a subscriber to each resource that exists and is within the limits,
   * and returns their URIs.
   */
  async addKnown(
    uris: ReadonlySet<string>,
    subscriber: Subscriber,
  ): Promise<string[]> {
    const added = await Promise.all(
      [...uris].map((uri) =>
        this.add(uri, subscriber).then(() => [uri], () => [])
      ),
    );
    return added.flat();
  }

  /** Transfers a subscription to another subscriber, unless it has ended in the meantime. */
  replace(uri: string, subscriber: Subscriber, other: Subscriber): void {
    const { subscribers } = this.#resources.get(uri) ?? {};
    if (!subscribers?.has(subscriber)) return;
    if (subscribers.has(other)) this.#size--;
    subscribers.add(other).delete(subscriber);
  }

  /** Removes a subscriber. The subscription to a resource ends with its last subscriber. */
  remove(uri: string, subscriber: Subscriber): void {
    const resource = this.#resources.get(uri);
    if (!resource?.subscribers.delete(subscriber)) return;
    this.#size--;
    if (resource.subscribers.size > 0) return;
    this.#resources.delete(uri);
    this.#urisLength -= uri.length;
    // A subscription that could not begin does not need to be ended.
    resource.end.then((end) => end()).catch(() => {});
  }

  /** Removes a subscriber from all resources. */
  removeAll(subscriber: Subscriber): void {
    for (const uri of this.#resources.keys()) this.remove(uri, subscriber);
  }

  #checkLimits(uri: string): void {
    if (uri.length > MAX_URI_LENGTH) {
      throw invalidParams(
        `Cannot subscribe to the URI: it has more than ${MAX_URI_LENGTH} characters; subscribe to a resource that contains this one`,
      );
    }
    const isFull = this.#size >= MAX_SUBSCRIPTIONS ||
      this.#urisLength + uri.length > MAX_URIS_LENGTH;
    if (isFull) {
      throw invalidParams(
        `Cannot subscribe to ${
          quote(uri)
        }: there are already ${this.#size} subscriptions; end some, or subscribe to a resource that contains several others`,
        { uri },
      );
    }
  }
}

/**
 * Checks the metadata and the method of a modern request.
 *
 * @throws {Error} If they are invalid. The error is the reply to the request.
 */
function checkModern({ method, params }: JSONRPCRequest): void {
  const {
    [META.protocolVersion]: version,
    [META.clientCapabilities]: capabilities,
    [META.clientInfo]: info = {},
  } = metaOf(params);
  if (typeof version !== "string") {
    throw invalidParams(`_meta must contain ${META.protocolVersion}, a string`);
  }
  if (!MODERN_VERSIONS.includes(version)) {
    throw rpcError(-32022, "Unsupported protocol version", {
      supported: MODERN_VERSIONS,
      requested: version,
    });
  }
  if (!isObject(capabilities)) {
    throw invalidParams(
      `_meta must contain ${META.clientCapabilities}, an object`,
    );
  }
  if (!isObject(info)) {
    throw invalidParams(
      `${META.clientInfo} in _meta must be an object`,
    );
  }
  if (LEGACY_METHODS.includes(method)) {
    throw rpcError(-32601, `Method not found in ${version}`);
  }
}

function metaOf(params: JSONRPCRequest["params"]): Record<string, unknown> {
  const meta: unknown = params?._meta;
  return isObject(meta) ? meta : {};
}

function clientInfoOf(value: unknown): ClientInfo | undefined {
  if (!isObject(value) || typeof value.name !== "string") return undefined;
  const { name, version } = value;
  return typeof version === "string" ? { name, version } : { name };
}

/** Returns the `_meta` with the ID of the subscription that a message belongs to. */
function subscriptionMeta({ id }: RunningRequest): Record<string, unknown> {
  return { [META.subscriptionId]: id };
}

/** Returns the JSON-RPC error object for a thrown value. */
function errorObject(
  thrown: unknown,
): { code: number; message: string; data?: unknown } {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { code, message, data } = error as Error & Record<string, unknown>;
  return {
    code: Number.isSafeInteger(code) ? code as number : -32603,
    message,
    ...(data !== undefined && { data }),
  };
}
