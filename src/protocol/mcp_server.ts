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
 */

import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Result,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { wait } from "../tasks.ts";
import {
  type ListName,
  type RequestContext,
  RequestDispatcher,
  type ServerDescription,
} from "./dispatcher.ts";
import {
  clientOf,
  isModern,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
  requireModern,
  toModernResult,
} from "./eras.ts";
import { CODES, invalidParams, rpcError, toErrorObject } from "./json_rpc.ts";
import { LISTEN, type SubscriptionFilter } from "./requests.ts";
import { Listener } from "./listener.ts";
import { Permit, Semaphore } from "./semaphore.ts";
import type { StdioTransport } from "./stdio_transport.ts";

/**
 * How long the first reply to a client waits for the server to be ready, in
 * milliseconds. A common client library waits for a second, and the start of the
 * process on a busy machine takes most of it.
 */
const HANDSHAKE_TIME_MS = 200;

/**
 * The maximum number of requests that are handled at a time. All handlers share one
 * thread, so handling more at a time would only take more memory.
 */
const MAX_HANDLED = 8;

/**
 * The maximum number of requests without a reply, listeners apart. A large one counts as
 * one for each {@linkcode UNIT_LENGTH}.
 */
const MAX_UNANSWERED = 1_000;

/**
 * How long a request can be that counts as one, in characters of JSON. Parsed, it can take
 * 20 times as much.
 */
const UNIT_LENGTH = 1024;

/** The maximum length of what a listener wants, in characters of JSON. */
const MAX_LISTEN_LENGTH = 64 * 1024;

const MAX_LISTENERS = 1_024;

/** The maximum number of resources that all listeners together subscribe to. */
const MAX_SUBSCRIPTIONS = 4_096;

/** The methods that are answered even if the server is not ready. */
const EARLY_METHODS = /^(?:initialize|ping|server\/discover)$/;

/**
 * An MCP server with only the parts of the SDK's `Server` that are needed here. The SDK's
 * class also sends requests to clients and manages tasks. To do so, it loads a JSON Schema
 * validator and two more variants of zod, which would take a quarter of the startup time.
 */
export class McpServer extends RequestDispatcher {
  /**
   * Called when a client subscribes to a resource, with a function that notifies
   * it of a change. Returns a function that ends the subscription, or throws an
   * error if there is no such resource.
   */
  onSubscribe?: (uri: string, notify: () => void) => Promise<() => void>;

  /** The permits of requests without a reply. Reading stops while none is free. */
  readonly #unanswered = new Semaphore(MAX_UNANSWERED);
  /** The permits to handle a request. Requests without one wait in line. */
  readonly #handled = new Semaphore(MAX_HANDLED);
  readonly #running = new Map<RequestId, AbortController>();
  /** Each is fulfilled when a request has its reply. */
  readonly #answers = new Set<Promise<void>>();
  /** The name of the client that sent `initialize`, if any. */
  #legacyClient: string | undefined;
  readonly #legacyListener = new Listener();
  readonly #listeners = new Set([this.#legacyListener]);
  /** Aborted at the end of the input. */
  readonly #ending = new AbortController();
  #transport: StdioTransport | undefined;
  #ready: Promise<unknown> = Promise.resolve();

  constructor(description: ServerDescription) {
    super(description);
    this.setRequestHandler("ping", () => ({}));
    this.setRequestHandler("initialize", (params) => {
      const { protocolVersion: wanted, clientInfo } = params;
      const isKnown = LEGACY_VERSIONS.includes(wanted);
      const protocolVersion = isKnown ? wanted : LEGACY_VERSIONS[0];
      this.#legacyClient = clientInfo.name;
      this.#legacyListener.filter = {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
      };
      const { serverInfo } = description;
      return this.#introduce({ protocolVersion, serverInfo });
    });
    this.setRequestHandler(
      "server/discover",
      () => this.#introduce({ supportedVersions: MODERN_VERSIONS }),
    );
    this.setRequestHandler(
      LISTEN,
      ({ notifications }, context) => this.#listen(notifications, context),
    );
    this.setRequestHandler("resources/subscribe", async ({ uri }) => {
      await this.#subscribe(uri, this.#legacyListener);
      return {};
    });
    this.setRequestHandler("resources/unsubscribe", ({ uri }) => {
      this.#legacyListener.unsubscribe(uri);
      return {};
    });
  }

  /**
   * Serves the clients of a transport until it closes.
   *
   * @param ready Requests wait until this is fulfilled. Pings do not, and the first
   *   requests of clients wait only a moment.
   */
  async connect(
    transport: StdioTransport,
    ready: Promise<unknown> = Promise.resolve(),
  ): Promise<void> {
    this.#transport = transport;
    this.#ready = ready;
    transport.onMessage = (message, length) => this.#receive(message, length);
    transport.onEnd = async () => {
      this.#ending.abort();
      await Promise.all(this.#answers);
    };
    await transport.run();
    for (const controller of this.#running.values()) controller.abort();
  }

  /** Closes the connection once the requests that have arrived are answered. */
  close(): void {
    this.#transport?.end();
  }

  notifyListChanged(list: ListName): void {
    for (const listener of this.#listeners) {
      if (!listener.filter?.[`${list}ListChanged`]) continue;
      this.#notify(listener, `notifications/${list}/list_changed`);
    }
  }

  /** Notifies a listener once there is room. The same notification waits only once. */
  async #notify(
    listener: Listener,
    method: string,
    params: { uri?: string; notifications?: SubscriptionFilter } = {},
  ): Promise<void> {
    const { filter, _meta, unsent } = listener;
    const key = `${method} ${params.uri}`;
    if (!filter || unsent.has(key)) return;
    unsent.add(key);
    await this.#transport?.room();
    unsent.delete(key);
    if (!this.#listeners.has(listener)) return;
    this.#send({ method, params: { ...params, _meta } });
  }

  /** Handles a message. Reading stops until the promise that it returns is fulfilled. */
  async #receive(message: JSONRPCMessage, length: number): Promise<void> {
    if (!("method" in message)) return;
    if ("id" in message) {
      const units = Math.min(Math.ceil(length / UNIT_LENGTH), MAX_UNANSWERED);
      const permit = await this.#unanswered.acquire(units);
      const answer = this.#answer(message, permit);
      this.#answers.add(answer);
      answer.then(() => this.#answers.delete(answer));
    } else if (message.method === "notifications/cancelled") {
      const { requestId } = message.params ?? {};
      this.#running.get(requestId as RequestId)?.abort();
    }
  }

  /** Replies to a request, unless it is cancelled first. Never rejects. */
  async #answer(
    request: JSONRPCRequest,
    unanswered: Permit,
  ): Promise<void> {
    using _unanswered = unanswered;
    const { id } = request;
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(id, controller);
    using permit = await this.#permitFor(request, unanswered);
    const reply = await this.#respond(request, { id, signal, permit }).then(
      (result) => ({ id, result }),
      (error) => {
        const era = { isModern: isModern(request) };
        return { id, error: toErrorObject(error, era) };
      },
    );
    if (!signal.aborted) this.#send(reply);
    this.#running.delete(id);
  }

  /** Returns what a request holds while it is handled. */
  async #permitFor(
    request: JSONRPCRequest,
    unanswered: Permit,
  ): Promise<Permit> {
    const { method } = request;
    if (EARLY_METHODS.test(method)) return unanswered;
    if (method !== LISTEN) return await this.#handled.acquire();
    // Once it listens, it keeps neither a permit nor its params.
    return new Permit(() => {
      unanswered.release();
      delete request.params;
    });
  }

  async #respond(
    request: JSONRPCRequest,
    context: Omit<RequestContext, "client">,
  ): Promise<Result> {
    if (!EARLY_METHODS.test(request.method)) await this.#ready;
    await this.#transport!.room();
    // It may have been cancelled while it waited.
    context.signal.throwIfAborted();
    return isModern(request)
      ? await this.#respondToModern(request, context)
      : await this.handle(request, { ...context, client: this.#legacyClient });
  }

  async #respondToModern(
    request: JSONRPCRequest,
    context: Omit<RequestContext, "client">,
  ): Promise<Result> {
    requireModern(request);
    const client = clientOf(request) ?? this.#legacyClient;
    const result = await this.handle(request, { ...context, client });
    return toModernResult(result, request.method, this.description);
  }

  #send(message: object): void {
    const complete = { jsonrpc: "2.0", ...message } as JSONRPCMessage;
    this.#transport?.send(complete);
  }

  /** Adds to a result what a client learns about the server first. */
  async #introduce(result: Result): Promise<Result> {
    await wait(HANDSHAKE_TIME_MS, this.#ready);
    const { capabilities, instructions } = this.description;
    return { ...result, capabilities, instructions: instructions() };
  }

  async #subscribe(uri: string, listener: Listener): Promise<void> {
    const count = this.#listeners.values()
      .reduce((sum, { size }) => sum + size, 0);
    if (count >= MAX_SUBSCRIPTIONS && !listener.has(uri)) {
      throw rpcError(
        CODES.internalError,
        `Cannot subscribe: there are ${MAX_SUBSCRIPTIONS} subscriptions; unsubscribe from a resource first`,
      );
    }
    const method = "notifications/resources/updated";
    const notify = () => this.#notify(listener, method, { uri });
    await listener.subscribe(uri, () => this.onSubscribe!(uri, notify));
  }

  /** Acknowledges the flags and the known resources of a filter, and listens. */
  async #listen(
    wanted: SubscriptionFilter,
    { id, signal, permit }: RequestContext,
  ): Promise<Result> {
    if (this.#listeners.size > MAX_LISTENERS) {
      throw rpcError(
        CODES.internalError,
        `Cannot listen: there are ${MAX_LISTENERS} listeners; cancel one first`,
      );
    }
    if (JSON.stringify(wanted).length > MAX_LISTEN_LENGTH) {
      throw invalidParams(
        `Cannot listen: the filter has more than ${MAX_LISTEN_LENGTH} characters; listen with several requests`,
      );
    }
    const _meta = { [META.subscriptionId]: id };
    using listener = new Listener(_meta);
    this.#listeners.add(listener);
    const known = await this.#subscribeToKnown(
      new Set(wanted.resourceSubscriptions),
      listener,
    );
    if (!signal.aborted) {
      listener.filter = wanted.resourceSubscriptions === undefined
        ? wanted
        : { ...wanted, resourceSubscriptions: known };
      const method = "notifications/subscriptions/acknowledged";
      await this.#notify(listener, method, { notifications: listener.filter });
    }
    permit?.release();
    await aborted(AbortSignal.any([signal, this.#ending.signal]));
    this.#listeners.delete(listener);
    return { _meta };
  }

  async #subscribeToKnown(
    uris: ReadonlySet<string>,
    listener: Listener,
  ): Promise<string[]> {
    const subscribing = Array.from(uris, async (uri) => {
      await this.#subscribe(uri, listener);
      return uri;
    });
    const outcomes = await Promise.allSettled(subscribing);
    return outcomes.filter((it) => it.status === "fulfilled")
      .map(({ value }) => value);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}
