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
  Result,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  cachingOf,
  checkModern,
  type ClientInfo,
  clientOf,
  isModern,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
} from "./eras.ts";
import { errorReply, replaceReply, type Reply } from "./errors.ts";
import {
  type ListName,
  type RequestContext,
  RequestDispatcher,
  type ServerDescription,
} from "./handlers.ts";
import { Places } from "./places.ts";
import {
  DiscoverRequestSchema,
  InitializeRequestSchema,
  ListenRequestSchema,
  PingRequestSchema,
  SubscribeRequestSchema,
  type SubscriptionFilter,
  UnsubscribeRequestSchema,
} from "./requests.ts";
import type { StdioTransport } from "./stdio_transport.ts";
import { wait } from "../time_slice.ts";

/**
 * When the first requests of a client are answered even if the server is not
 * ready, in milliseconds after the start of the process. A common client library
 * waits for a second, and a busy machine needs some of it.
 */
const HANDSHAKE_TIME_MS = 350;

/** How long the first requests wait at least for the server to be ready, in milliseconds. */
const MIN_HANDSHAKE_WAIT_MS = 100;

/** The requests that are answered even if the server is not ready. */
const EARLY_METHODS = ["initialize", "ping", "server/discover"];

/** The requests that take no place. Listeners would take it for long. */
const UNLIMITED_METHODS = [...EARLY_METHODS, "subscriptions/listen"];

/** The time after which a request leaves its place to another one, in milliseconds. */
const SLOW_MS = 50;

/** The maximum number of resources that one listener gets notifications about. */
const MAX_LISTENED = 1_000;

/** A request that has no reply yet. */
interface Running {
  readonly message: JSONRPCRequest;
  /** Set when it has started. */
  controller?: AbortController;
}

/** A request for notifications. It ends when it is cancelled or the server ends. */
interface Listener {
  /** The notifications that it gets, once they are acknowledged. */
  filter?: SubscriptionFilter;
  /** The `_meta` of each notification. */
  readonly _meta: Record<string, unknown>;
  readonly end: () => void;
}

/**
 * An MCP server for clients of both eras.
 *
 * It implements only the parts of the SDK's `Server` that are needed here. The
 * SDK's class also sends requests to clients and manages tasks. To do so, it
 * loads a JSON Schema validator and two more variants of zod, which would take a
 * quarter of the startup time.
 */
export class McpServer extends RequestDispatcher {
  /**
   * Called when a client subscribes to a resource, with a function that notifies
   * it of a change. Returns a function that ends the subscription, or throws an
   * error if there is no such resource.
   */
  onsubscribe?: (uri: string, notify: () => void) => Promise<() => void>;

  readonly #description: ServerDescription;
  readonly #running = new Set<Running>();
  readonly #places = new Places({
    isOpen: () => this.#isReady && !this.#transport?.isFull,
    slowMs: SLOW_MS,
  });
  readonly #listeners = new Set<Listener>();
  /** For each URI that the legacy client subscribed to, what ends the subscription once it has begun. */
  readonly #subscriptions = new Map<string, Promise<() => void>>();
  #transport: StdioTransport | undefined;
  #ready: Promise<unknown> = Promise.resolve();
  #isReady = false;
  /** Fulfilled when the server is ready, or when clients have waited long enough. */
  #readySoon: Promise<void> = Promise.resolve();
  /** The client that sent `initialize`, if any. */
  #legacyClient: ClientInfo | undefined;
  /** Resolved after the end of the input, when no request is running anymore. */
  #idle: PromiseWithResolvers<void> | undefined;

  /** Creates a server that handles only the protocol's own requests. */
  constructor(description: ServerDescription) {
    super();
    this.#description = description;
    this.setRequestHandler(PingRequestSchema, () => ({}));
    this.setRequestHandler(InitializeRequestSchema, ({ params }) => {
      const { protocolVersion: wanted, clientInfo } = params;
      const isKnown = LEGACY_VERSIONS.includes(wanted);
      const protocolVersion = isKnown ? wanted : LEGACY_VERSIONS[0];
      this.#legacyClient = clientInfo;
      const { serverInfo } = description;
      return this.#introduce({ protocolVersion, serverInfo });
    });
    this.setRequestHandler(
      DiscoverRequestSchema,
      () => this.#introduce({ supportedVersions: MODERN_VERSIONS }),
    );
    this.setRequestHandler(
      ListenRequestSchema,
      ({ params }, context) => this.#listen(params.notifications, context),
    );
    this.setRequestHandler(
      SubscribeRequestSchema,
      ({ params }) => this.#subscribe(params.uri),
    );
    this.setRequestHandler(
      UnsubscribeRequestSchema,
      ({ params }) => this.#unsubscribe(params.uri),
    );
  }

  /**
   * Starts a transport and serves its clients until the transport closes.
   *
   * @param transport A transport that has not been started.
   * @param ready Requests are answered once this is fulfilled. Pings are answered
   *   immediately, and the first requests of clients a moment later even if it is
   *   not.
   */
  async connect(
    transport: StdioTransport,
    ready: Promise<unknown> = Promise.resolve(),
  ): Promise<void> {
    this.#transport = transport;
    const rest = HANDSHAKE_TIME_MS - performance.now();
    this.#readySoon = wait(Math.max(rest, MIN_HANDSHAKE_WAIT_MS), ready);
    this.#ready = ready.then(() => {
      this.#isReady = true;
      this.#places.fill();
    });
    const closed = Promise.withResolvers<void>();
    transport.onmessage = (message) => this.#receive(message);
    transport.ondrain = () => this.#places.fill();
    transport.onend = () => this.#end();
    transport.onclose = () => {
      for (const { controller } of this.#running) controller?.abort();
      this.#running.clear();
      closed.resolve();
    };
    await transport.start();
    await closed.promise;
  }

  /**
   * Closes the connection once the requests that have arrived are answered. Closes
   * it immediately if it is ending already.
   */
  close(): void {
    if (this.#idle === undefined) this.#transport?.end();
    else this.#transport?.close();
  }

  /** Notifies the clients that listen to a list that it changed. */
  async notifyListChanged(list: ListName): Promise<void> {
    const method = `notifications/${list}/list_changed`;
    if (this.#legacyClient) await this.#send({ method });
    for (const { filter, _meta } of this.#listeners) {
      if (!filter?.[`${list}ListChanged`]) continue;
      await this.#send({ method, params: { _meta } });
    }
  }

  #notifyUpdated(uri: string, _meta?: Listener["_meta"]): void {
    const params = { uri, _meta };
    this.#send({ method: "notifications/resources/updated", params });
  }

  /** Handles a message. Returns a promise if it is a request that has to wait. */
  #receive(message: JSONRPCMessage): Promise<void> | void {
    if (!("method" in message)) return;
    if (!("id" in message)) return this.#receiveNotification(message);
    const request: Running = { message };
    this.#running.add(request);
    const isLimited = !UNLIMITED_METHODS.includes(message.method);
    if (!isLimited) return void this.#answer(request);
    return new Promise((resolve) =>
      this.#places.enter((leave) => {
        resolve();
        this.#answer(request).finally(leave);
      })
    );
  }

  #receiveNotification({ method, params }: JSONRPCNotification): void {
    if (method !== "notifications/cancelled") return;
    for (const request of this.#running) {
      if (request.message.id !== params?.requestId) continue;
      request.controller?.abort();
      this.#settle(request);
    }
  }

  /** Replies to a request, unless it is cancelled first. */
  async #answer(request: Running): Promise<void> {
    const { message } = request;
    if (!EARLY_METHODS.includes(message.method)) await this.#ready;
    // It may have been cancelled while it waited.
    if (!this.#running.has(request)) return;
    const { signal } = request.controller = new AbortController();
    const reply = await this.#respond(message, signal)
      .then((result): Reply => ({ result }), errorReply);
    this.#settle(request);
    if (signal.aborted) return;
    try {
      this.#reply(message, reply);
    } catch (error) {
      this.#reply(message, replaceReply(message.method, error as Error));
    }
  }

  async #respond(
    message: JSONRPCRequest,
    signal: AbortSignal,
  ): Promise<Result> {
    if (isModern(message)) checkModern(message);
    const client = clientOf(message) ?? this.#legacyClient;
    return await this.handle(message, { id: message.id, signal, client });
  }

  #settle(request: Running): void {
    this.#running.delete(request);
    if (this.#running.size === 0) this.#idle?.resolve();
  }

  /** Sends a reply, with the fields that the era of the request requires. */
  #reply(message: JSONRPCRequest, { result, error }: Reply): void {
    const { id, method } = message;
    if (!isModern(message) || !result) {
      this.#send({ id, result, error });
      return;
    }
    const { serverInfo, ttlMs } = this.#description;
    const caching = cachingOf(method, ttlMs);
    const _meta = { ...result._meta, [META.serverInfo]: serverInfo };
    this.#send({
      id,
      result: { resultType: "complete", ...result, ...caching, _meta },
    });
  }

  /** Sends a message. Throws an error if it cannot be sent. */
  #send(message: object): Promise<void> | undefined {
    const complete = { jsonrpc: "2.0", ...message } as JSONRPCMessage;
    return this.#transport?.send(complete);
  }

  /** Adds to a result what a client learns about the server first. */
  async #introduce(result: Result): Promise<Result> {
    await this.#readySoon;
    const { capabilities, instructions } = this.#description;
    return { ...result, capabilities, instructions: instructions() };
  }

  /** Subscribes the legacy client, even if it cancels the request. */
  async #subscribe(uri: string): Promise<Result> {
    const begun = this.#subscriptions.get(uri) ??
      this.onsubscribe!(uri, () => this.#notifyUpdated(uri));
    this.#subscriptions.set(uri, begun);
    try {
      await begun;
    } catch (error) {
      if (this.#subscriptions.get(uri) === begun) {
        this.#subscriptions.delete(uri);
      }
      throw error;
    }
    return {};
  }

  #unsubscribe(uri: string): Result {
    // A subscription that could not begin does not need to be ended.
    this.#subscriptions.get(uri)?.then((end) => end(), () => {});
    this.#subscriptions.delete(uri);
    return {};
  }

  /** Acknowledges the flags and the known resources of a filter, and listens. */
  async #listen(
    wanted: SubscriptionFilter,
    { id, signal }: RequestContext,
  ): Promise<Result> {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const _meta = { [META.subscriptionId]: id };
    const listener: Listener = { _meta, end: () => resolve() };
    this.#listeners.add(listener);
    signal.addEventListener("abort", listener.end);
    const uris = [...new Set(wanted.resourceSubscriptions)]
      .slice(0, MAX_LISTENED);
    const ends = await Promise.all(uris.map((uri) => {
      const notify = () => listener.filter && this.#notifyUpdated(uri, _meta);
      return this.onsubscribe!(uri, notify).catch(() => undefined);
    }));
    if (!signal.aborted) {
      const filter = honor(wanted, uris.filter((_, index) => ends[index]));
      const method = "notifications/subscriptions/acknowledged";
      this.#send({ method, params: { _meta, notifications: filter } });
      listener.filter = filter;
    }
    if (this.#idle === undefined) await ended;
    this.#listeners.delete(listener);
    for (const end of ends) end?.();
    return { _meta };
  }

  /** Ends the listeners, and waits until no request is running anymore. */
  async #end(): Promise<void> {
    this.#idle = Promise.withResolvers();
    for (const { end } of this.#listeners) end();
    if (this.#running.size > 0) await this.#idle.promise;
  }
}

/** Returns the part of a filter that the server honors. */
function honor(
  { resourceSubscriptions, ...flags }: SubscriptionFilter,
  known: string[],
): SubscriptionFilter {
  const set = Object.entries(flags).filter(([, isSet]) => isSet);
  const resources = resourceSubscriptions && { resourceSubscriptions: known };
  return { ...Object.fromEntries(set), ...resources };
}
