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
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  InitializeRequestSchema,
  listRequestSchema,
  PingRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "./requests.ts";
import {
  cachingOf,
  checkModern,
  type ClientInfo,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
} from "./eras.ts";
import { errorReply, replaceReply, type Reply } from "./errors.ts";
import {
  type ListName,
  LISTS,
  RequestDispatcher,
  type ServerDescription,
} from "./handlers.ts";
import { RunningRequest } from "./running_request.ts";
import type { StdioTransport } from "./stdio_transport.ts";
import {
  ListenRequestSchema,
  type SubscriptionFilter,
  Subscriptions,
} from "./subscriptions.ts";
import { wait } from "../time_slice.ts";

const DiscoverRequestSchema = listRequestSchema("server/discover");

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

/** How long to wait for the final replies to listeners to be written, in milliseconds. */
const CLOSE_TIMEOUT_MS = 200;

/**
 * The legacy client as a subscriber. It has at most one subscription per
 * resource, no matter how often it subscribes.
 */
const LEGACY_CLIENT = Symbol("the legacy client");

type Subscriber = RunningRequest | typeof LEGACY_CLIENT;

/** What a handler returns: no result if it defers its reply. */
type Output = Result | undefined | Promise<Result | undefined>;

/**
 * An MCP server for clients of both eras.
 *
 * It implements only the parts of the SDK's `Server` that are needed here. The
 * SDK's class also sends requests to clients and manages tasks. To do so, it
 * loads a JSON Schema validator and two more variants of zod, which would take a
 * quarter of the startup time.
 */
export class McpServer extends RequestDispatcher<RunningRequest, Output> {
  /**
   * Called with the URI of a resource when the first client subscribes to it.
   * Returns a function that ends the subscription, or throws an error if there
   * is no such resource.
   */
  onsubscribe?: (uri: string) => Promise<() => void>;

  readonly #description: ServerDescription;
  /** The pending requests by ID, including those of listeners. */
  readonly #requests = new Map<RequestId, RunningRequest>();
  readonly #subscriptions = new Subscriptions<Subscriber>((uri) =>
    this.onsubscribe!(uri)
  );
  #transport: StdioTransport | undefined;
  #ready: Promise<unknown> | undefined;
  /** Fulfilled when the server is ready, or when clients have waited long enough. */
  #readySoon: Promise<void> = Promise.resolve();
  /** The client that sent `initialize`, if any. */
  #legacyClient: ClientInfo | undefined;

  /** Creates a server that handles only the protocol's own requests. */
  constructor(description: ServerDescription) {
    super();
    this.#description = description;
    this.setRequestHandler(PingRequestSchema, () => ({}));
    this.setRequestHandler(InitializeRequestSchema, async ({ params }) => {
      const { protocolVersion: wanted, clientInfo } = params;
      const isKnown = LEGACY_VERSIONS.includes(wanted);
      this.#legacyClient = clientInfo;
      return {
        protocolVersion: isKnown ? wanted : LEGACY_VERSIONS[0],
        serverInfo: description.serverInfo,
        ...await this.#introduce(),
      };
    });
    this.setRequestHandler(DiscoverRequestSchema, async () => ({
      supportedVersions: MODERN_VERSIONS,
      ...await this.#introduce(),
    }));
    this.setRequestHandler(
      ListenRequestSchema,
      ({ params }, request) => this.#listen(params.notifications, request),
    );
    this.setRequestHandler(
      SubscribeRequestSchema,
      ({ params }, request) => this.#subscribe(params.uri, request),
    );
    this.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
      for (const subscriber of this.#subscriptions.subscribers(uri)) {
        if (subscriber === LEGACY_CLIENT || !subscriber.isModern) {
          this.#subscriptions.remove(uri, subscriber);
        }
      }
      return {};
    });
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
    this.#ready = ready;
    const closed = Promise.withResolvers<void>();
    transport.onmessage = (message) => this.#receive(message);
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
    await wait(CLOSE_TIMEOUT_MS, this.#endListening());
    this.#transport?.close();
  }

  /** Notifies the clients that listen to a list that it changed. */
  async notifyListChanged(list: ListName): Promise<void> {
    const subscribers: Subscriber[] = this.#legacyClient ? [LEGACY_CLIENT] : [];
    for (const request of this.#requests.values()) {
      if (request.filter?.[`${list}ListChanged`]) subscribers.push(request);
    }
    await this.#notify(subscribers, `notifications/${list}/list_changed`);
  }

  /** Notifies the subscribers to a resource that it changed. */
  async notifyUpdated(uri: string): Promise<void> {
    const subscribers = this.#subscriptions.subscribers(uri);
    await this.#notify(subscribers, "notifications/resources/updated", { uri });
  }

  /** Sends a notification. For modern clients, adds the ID of the subscription. */
  async #notify(
    subscribers: Iterable<Subscriber>,
    method: string,
    params?: { uri: string },
  ): Promise<void> {
    await Promise.all(Array.from(subscribers, (subscriber) => {
      if (subscriber === LEGACY_CLIENT) return this.#send({ method, params });
      if (subscriber.filter === undefined) return undefined;
      const _meta = subscriptionMeta(subscriber);
      return this.#send({ method, params: { ...params, _meta } });
    }));
  }

  /** Handles a message. Replies to a request, unless it is cancelled first. */
  async #receive(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) return;
    if (!("id" in message)) return this.#receiveNotification(message);
    const request = this.#begin(message);
    try {
      if (request.isModern) checkModern(message);
      if (!EARLY_METHODS.includes(request.method)) {
        await this.#ready;
        // It may have been cancelled in the meantime.
        if (request.signal.aborted) return;
      }
      const result = await this.handle(message, request);
      if (result !== undefined) this.#reply(request, { result });
    } catch (error) {
      this.#reply(request, errorReply(error));
    }
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

  /** Replies to a request, unless it was cancelled. */
  async #reply(request: RunningRequest, reply: Reply): Promise<void> {
    const { id, method, signal } = request;
    if (this.#requests.get(id) === request) this.#requests.delete(id);
    if (signal.aborted) return;
    let sent;
    try {
      sent = this.#sendReply(request, reply);
    } catch (error) {
      sent = this.#sendReply(request, replaceReply(method, error as Error));
    }
    request.settle();
    await sent;
  }

  /** Sends a reply, with the fields that the era of the request requires. */
  #sendReply(
    { id, method, isModern }: RunningRequest,
    { result, error }: Reply,
  ): Promise<void> | undefined {
    if (!isModern || !result) return this.#send({ id, result, error });
    const { serverInfo, ttlMs } = this.#description;
    const caching = cachingOf(method, ttlMs);
    const _meta = { ...result._meta, [META.serverInfo]: serverInfo };
    return this.#send({
      id,
      result: { resultType: "complete", ...result, ...caching, _meta },
    });
  }

  /** Sends a message. Throws an error if it cannot be sent. */
  #send(message: object): Promise<void> | undefined {
    const complete = { jsonrpc: "2.0", ...message } as JSONRPCMessage;
    return this.#transport?.send(complete);
  }

  /** Returns what a client learns about the server first. */
  async #introduce(): Promise<Result> {
    await this.#readySoon;
    const { capabilities, instructions } = this.#description;
    return { capabilities, instructions: instructions() };
  }

  /**
   * Subscribes the legacy client. Defers the reply, so that other messages need
   * not wait for it.
   */
  #subscribe(uri: string, request: RunningRequest): Result | undefined {
    if (this.#subscriptions.subscribers(uri).has(LEGACY_CLIENT)) return {};
    // Until it is set up, each request is a subscriber that can be cancelled.
    this.#subscriptions.add(uri, request).then(
      () => {
        this.#subscriptions.replace(uri, request, LEGACY_CLIENT);
        this.#reply(request, { result: {} });
      },
      (error) => this.#reply(request, errorReply(error)),
    );
    return undefined;
  }

  /** Starts a listener, and acknowledges the flags and the known resources of its filter. */
  async #listen(
    wanted: SubscriptionFilter,
    request: RunningRequest,
  ): Promise<Result | undefined> {
    const filter: SubscriptionFilter = {};
    for (const list of LISTS) {
      const flag = `${list}ListChanged` as const;
      if (wanted[flag]) filter[flag] = true;
    }
    const { resourceSubscriptions: uris } = wanted;
    if (uris !== undefined) {
      const known = this.#subscriptions.addKnown(new Set(uris), request);
      filter.resourceSubscriptions = await known;
    }
    if (request.signal.aborted) return undefined;
    const _meta = subscriptionMeta(request);
    this.#send({
      method: "notifications/subscriptions/acknowledged",
      params: { _meta, notifications: filter },
    });
    request.filter = filter;
    request.settle();
    return undefined;
  }

  /** Ends the listeners, and waits for the replies to all other requests, which can be listeners too. */
  async #end(): Promise<void> {
    await this.#endListening();
    const requests = [...this.#requests.values()];
    await Promise.all(requests.map(({ settled }) => settled));
    await this.#endListening();
  }

  /** Replies to the listeners, which ends their subscriptions. */
  async #endListening(): Promise<void> {
    const listeners = [...this.#requests.values()].filter(({ filter }) =>
      filter !== undefined
    );
    await Promise.all(listeners.map((request) => {
      const _meta = subscriptionMeta(request);
      return this.#reply(request, { result: { _meta } });
    }));
  }
}

/** Returns the `_meta` with the ID of the subscription that a message belongs to. */
function subscriptionMeta({ id }: RunningRequest): Record<string, unknown> {
  return { [META.subscriptionId]: id };
}
