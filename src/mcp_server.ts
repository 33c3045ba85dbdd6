// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * A server of the Model Context Protocol that speaks both of its eras over one
 * transport. It knows nothing of skills.
 *
 * 1. A legacy client (up to 2025-11-25) opens with `initialize`.
 * 2. A modern client (2026-07-28) never does. Each of its requests carries the
 *    protocol version and the client's capabilities. Each result says which
 *    server made it and how long it may be cached. Notifications come only for
 *    what the client asked for with `subscriptions/listen`, tagged with the id
 *    of that request.
 * 3. Both may use one process, even at the same time.
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
import { quote } from "./text.ts";

/** What a client says about itself. */
export interface ClientInfo {
  /** The client's name. */
  readonly name: string;
  /** The client's version, if it gives one. */
  readonly version?: string;
}

/** What a server says about itself. */
export interface ServerDescription {
  /** The server's name and version. */
  readonly serverInfo: { name: string; title: string; version: string };
  /** What the server can do. */
  readonly capabilities: ServerCapabilities;
  /** Returns what a client's model should know before it uses the server. */
  readonly instructions: (client: ClientInfo | undefined) => string;
  /** How long a client may cache a result, in milliseconds. */
  readonly ttlMs: number;
}

/** What a handler knows about the request that it handles. */
export interface RequestContext {
  /** Aborted when the client cancels the request, or goes. */
  readonly signal: AbortSignal;
  /** The client that sent the request, if it said who it is. */
  readonly client: ClientInfo | undefined;
}

/** Handles a request. An error that it throws is the reply, with the error's `code` and `data`. */
export type RequestHandler<Request> = (
  request: Request,
  context: RequestContext,
) => Result | Promise<Result>;

/** The schema of the requests of one method. */
export type RequestSchema = z.ZodObject<{ method: z.ZodLiteral<string> }>;

/** Where request handlers are set: {@linkcode McpServer}, or a stand-in for another server. */
export interface RequestHandlers {
  /** Sets the handler of the requests that a schema accepts. */
  setRequestHandler<Schema extends RequestSchema>(
    schema: Schema,
    handler: RequestHandler<z.infer<Schema>>,
  ): void;
  /** Sends a notification to the clients that want it. */
  notify(method: string, params?: Record<string, unknown>): Promise<void>;
}

/** Ends a subscription to a resource. */
export type EndSubscription = () => void | Promise<void>;

/** Creates JSON-RPC's error "invalid params". */
export function invalidParams(message: string, data?: unknown): Error {
  return rpcError(-32602, message, data);
}

function rpcError(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

/**
 * Returns a request as a schema reads it.
 *
 * @throws {Error} "Invalid params", and what is wrong with them, if it does not fit.
 */
export function parseRequest<Schema extends RequestSchema>(
  schema: Schema,
  request: unknown,
): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(request);
  if (success) return data;
  throw invalidParams(`Invalid params: ${describeIssues(error)}`);
}

/** Returns the client that a request names: a modern one in `_meta`, a legacy one in `initialize`. */
export function clientOf(
  { method, params }: Pick<JSONRPCRequest, "method" | "params">,
): ClientInfo | undefined {
  return clientInfoOf(
    method === "initialize"
      ? params?.clientInfo
      : metaOf(params)[META.clientInfo],
  );
}

/** Returns how a modern client may cache the results of a method, if it may. */
export function cachingOf(
  method: string,
  ttlMs: number,
): { ttlMs?: number; cacheScope?: "private" } {
  return CACHEABLE_METHODS.includes(method)
    ? { ttlMs, cacheScope: "private" }
    : {};
}

/** Returns what takes the place of a reply that cannot be sent. Failures of tools are results, which models read. */
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

/** How much is said about what is wrong with a value, in characters. */
const MAX_ISSUES_LENGTH = 5_000;

/** Says what is wrong with a value, and where in it. */
export function describeIssues({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) =>
    path.length > 0 ? `${quote(path.join("."))}: ${message}` : message
  ).join("; ").slice(0, MAX_ISSUES_LENGTH);
}

/** The protocol versions of the modern era that the server speaks. */
const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];

/** Keys of `_meta` that the protocol reserves. */
const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
};

/** Methods of the legacy era that the modern one dropped. */
const LEGACY_METHODS = [
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
];

/** Methods whose results a modern client may cache. */
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

/** How many subscriptions to resources there may be. */
const MAX_SUBSCRIPTIONS = 10_000;

/** Longest URI that can be subscribed to, and how long all of them may be together, in characters. */
const MAX_URI_LENGTH = 8 * 1024;
const MAX_URIS_LENGTH = 1024 * 1024;

const flag = z.boolean().optional();

/** What a modern client asks to be notified of. */
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

/** The flag that asks for a notification, and the capability that it needs. */
const LIST_NOTIFICATIONS = {
  "notifications/tools/list_changed": ["toolsListChanged", "tools"],
  "notifications/prompts/list_changed": ["promptsListChanged", "prompts"],
  "notifications/resources/list_changed": ["resourcesListChanged", "resources"],
} as const;

/** How long listeners may take to read that the server ends, in milliseconds. */
const FAREWELL_MS = 200;

/** A handler that may also leave the reply for later: then it has no result. */
type OwnHandler<Request> = (
  request: Request,
  context: RunningRequest,
) => Result | undefined | Promise<Result | undefined>;

/**
 * An MCP server for clients of both eras.
 *
 * It does what is needed here of the SDK's `Server`. That one also sends
 * requests to clients and keeps tasks, and loads a validator of JSON schemas
 * and two more forms of zod for it: a quarter of the start time.
 */
export class McpServer implements RequestHandlers {
  /** Called with what went wrong. */
  onerror?: (error: Error) => void;
  /**
   * Called with the URI of a resource when the first client subscribes to it.
   * Returns what ends the subscription; throws if there is no such resource.
   */
  onsubscribe?: (uri: string) => EndSubscription | Promise<EndSubscription>;

  readonly #description: ServerDescription;
  readonly #handlers = new Map<string, [RequestSchema, OwnHandler<unknown>]>();
  /** The requests under way by their ids, those that listen included. */
  readonly #requests = new Map<RequestId, RunningRequest>();
  readonly #subscriptions = new Subscriptions(async (uri) => {
    if (this.onsubscribe) return await this.onsubscribe(uri);
    throw rpcError(-32601, "Method not found");
  });
  #transport: StdioTransport | undefined;
  /** The client that sent `initialize`, if one did. */
  #legacyClient: ClientInfo | undefined;
  #isEnding = false;

  /** Creates a server that only answers what the protocol itself asks. */
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

  /** Sets the handler of the requests that a schema accepts. Other params are answered with "invalid params". */
  setRequestHandler<Schema extends RequestSchema>(
    schema: Schema,
    handler: OwnHandler<z.infer<Schema>>,
  ): void {
    const { value: method } = schema.shape.method;
    this.#handlers.set(method, [schema, handler as OwnHandler<unknown>]);
  }

  /**
   * Serves the clients of a transport, not yet started, until it closes.
   *
   * @param transport The transport.
   * @param ready Messages are read at once, and handled when this is fulfilled.
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

  /** Ends the connection. Listeners are told so, unless that takes long. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, FAREWELL_MS);
    await Promise.race([this.#endListening(), late.promise]);
    clearTimeout(timer);
    await this.#transport?.close();
  }

  /** Sends a notification: to the legacy client as it is, to modern clients that asked for it. */
  async notify(
    method: string,
    params?: Record<string, unknown>,
  ): Promise<void> {
    const uri = method === "notifications/resources/updated"
      ? params?.uri as string
      : undefined;
    const wanting = uri === undefined
      ? this.#listenersTo(method)
      : this.#subscriptions.subscribers(uri);
    const sent = [];
    for (const subscriber of wanting) {
      if (subscriber === LEGACY_CLIENT) {
        sent.push(this.#send({ method, ...(params && { params }) }));
      } else if (subscriber.filter !== undefined) {
        const _meta = subscriptionMeta(subscriber);
        sent.push(this.#send({ method, params: { ...params, _meta } }));
      }
    }
    await Promise.all(sent);
  }

  /** Sends the notification that the list of tools changed, under the name that the SDK's `Server` has for it. */
  sendToolListChanged(): Promise<void> {
    return this.notify("notifications/tools/list_changed");
  }

  /** Handles a message. A request is answered, unless it is cancelled first. */
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
      reply = { result: this.#inEra(request, result) };
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
    const former = this.#requests.get(request.id);
    // One that listens would never be found again under its id.
    if (former?.isListener) this.#cancel(former);
    this.#requests.set(request.id, request);
    return request;
  }

  #cancel(request: RunningRequest): void {
    this.#requests.delete(request.id);
    this.#subscriptions.removeAll(request);
    request.cancel();
  }

  /** Adds to a result what a modern client expects. */
  #inEra({ isModern, method }: RunningRequest, result: Result): Result {
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
      const whole = { jsonrpc: "2.0", id, ...reply } as JSONRPCMessage;
      sent = this.#transport?.send(whole);
    } catch (error) {
      sent = this.#send({ id, ...this.#unsendable(request, error as Error) });
    }
    request.settle();
    await sent;
  }

  /** Returns what takes the place of a reply that cannot be sent, in the era of the request. */
  #unsendable(request: RunningRequest, error: Error): object {
    const reply = replaceReply(request.method, error);
    return "result" in reply
      ? { result: this.#inEra(request, reply.result) }
      : reply;
  }

  /** Sends a message, or throws if it cannot be sent. */
  #send(message: object): Promise<void> | undefined {
    const whole = { jsonrpc: "2.0", ...message } as JSONRPCMessage;
    return this.#transport?.send(whole);
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

  /** Subscribes the legacy client. The reply comes later, for other messages need not wait for it. */
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

  /** Ends the legacy client's subscription, one that is still being made too. */
  #unsubscribe(uri: string): Result {
    for (const subscriber of this.#subscriptions.subscribers(uri)) {
      if (subscriber === LEGACY_CLIENT || !subscriber.isModern) {
        this.#subscriptions.remove(uri, subscriber);
      }
    }
    return {};
  }

  /** Acknowledges what a request listens to, as far as the server knows it. */
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

  /** Lists who wants a notification that is not about one resource. */
  #listenersTo(method: string): Subscriber[] {
    const [flag] =
      LIST_NOTIFICATIONS[method as keyof typeof LIST_NOTIFICATIONS] ?? [];
    const listeners: Subscriber[] = this.#legacyClient ? [LEGACY_CLIENT] : [];
    for (const request of this.#requests.values()) {
      if (flag && request.filter?.[flag]) listeners.push(request);
    }
    return listeners;
  }

  /** Ends the subscriptions, and waits for the replies to all other requests. */
  async #end(): Promise<void> {
    await this.#endListening();
    const requests = [...this.#requests.values()];
    await Promise.all(requests.map(({ settled }) => settled));
  }

  /** Tells those who listen that no more will come. */
  async #endListening(): Promise<void> {
    this.#isEnding = true;
    const listeners = [...this.#requests.values()].filter(({ filter }) =>
      filter !== undefined
    );
    await Promise.all(listeners.map((request) => {
      const _meta = subscriptionMeta(request);
      return this.#reply(request, { result: this.#inEra(request, { _meta }) });
    }));
  }
}

/** A request under way. */
class RunningRequest implements RequestContext {
  readonly id: RequestId;
  readonly method: string;
  readonly client: ClientInfo | undefined;
  readonly isModern: boolean;
  /** What it listens to, once that is acknowledged. */
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

  /** Fulfilled when nothing waits for it any more. */
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

/** The legacy client as a subscriber: it has one subscription a resource, however often it asks. */
const LEGACY_CLIENT = Symbol("the legacy client");

type Subscriber = RunningRequest | typeof LEGACY_CLIENT;

/** Who subscribed to which resource. */
class Subscriptions {
  readonly #begin: (uri: string) => Promise<EndSubscription>;
  readonly #resources = new Map<string, {
    readonly subscribers: Set<Subscriber>;
    readonly end: Promise<EndSubscription>;
  }>();
  #size = 0;
  #urisLength = 0;

  /** Creates subscriptions that `begin` with the first subscriber of a resource. */
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
   * @throws {Error} If there is no such resource, or there are too many subscriptions.
   */
  async add(uri: string, subscriber: Subscriber): Promise<void> {
    this.#checkRoom(uri);
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

  /** Adds a subscriber to those resources that there are, and returns their URIs. */
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

  /** Gives a subscription to another subscriber, unless it ended meanwhile. */
  replace(uri: string, subscriber: Subscriber, other: Subscriber): void {
    const { subscribers } = this.#resources.get(uri) ?? {};
    if (!subscribers?.has(subscriber)) return;
    if (subscribers.has(other)) this.#size--;
    subscribers.add(other).delete(subscriber);
  }

  /** Removes a subscriber. Its resource's subscription ends with the last one. */
  remove(uri: string, subscriber: Subscriber): void {
    const resource = this.#resources.get(uri);
    if (!resource?.subscribers.delete(subscriber)) return;
    this.#size--;
    if (resource.subscribers.size > 0) return;
    this.#resources.delete(uri);
    this.#urisLength -= uri.length;
    // One that never began has nothing to end.
    resource.end.then((end) => end()).catch(() => {});
  }

  /** Removes a subscriber from all resources. */
  removeAll(subscriber: Subscriber): void {
    for (const uri of this.#resources.keys()) this.remove(uri, subscriber);
  }

  #checkRoom(uri: string): void {
    if (uri.length > MAX_URI_LENGTH) {
      throw invalidParams(
        `Cannot subscribe to a URI of more than ${MAX_URI_LENGTH} characters; subscribe to one that comprises it`,
      );
    }
    const isFull = this.#size >= MAX_SUBSCRIPTIONS ||
      this.#urisLength + uri.length > MAX_URIS_LENGTH;
    if (isFull) {
      throw invalidParams(
        `Cannot subscribe to ${
          quote(uri)
        }: there are ${this.#size} subscriptions already; end some, or subscribe to a URI that comprises several`,
        { uri },
      );
    }
  }
}

/** Throws the error that answers a modern request that is not proper. */
function checkModern({ method, params }: JSONRPCRequest): void {
  const {
    [META.protocolVersion]: version,
    [META.clientCapabilities]: capabilities,
    [META.clientInfo]: info = {},
  } = metaOf(params);
  if (typeof version !== "string") {
    throw invalidParams(`_meta needs ${META.protocolVersion}, a string`);
  }
  if (!MODERN_VERSIONS.includes(version)) {
    throw rpcError(-32022, "Unsupported protocol version", {
      supported: MODERN_VERSIONS,
      requested: version,
    });
  }
  if (!isObject(capabilities)) {
    throw invalidParams(`_meta needs ${META.clientCapabilities}, an object`);
  }
  if (!isObject(info)) {
    throw invalidParams(
      `_meta has ${META.clientInfo}, which must be an object`,
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

/** Returns the `_meta` that tells which subscription a message belongs to. */
function subscriptionMeta({ id }: RunningRequest): Record<string, unknown> {
  return { [META.subscriptionId]: id };
}

/** Returns the JSON-RPC error object of whatever was thrown. */
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
