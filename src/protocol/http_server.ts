/**
 * A Model Context Protocol server over Streamable HTTP, for clients of both
 * eras. It does not depend on skills.
 *
 * Version 2 of the SDK does the work: it detects the era, checks headers
 * against bodies, and streams notifications to modern clients. It creates a server for
 * each request. All these servers share one set of handlers, which have the same
 * form as those of the server on stdio.
 *
 * Only modern clients can listen for changes, and only for changes to lists.
 * Nothing is kept between the requests of a legacy client, and the handlers do
 * not learn which resources a modern client listens to.
 */

import type { JSONRPCMessage } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  createMcpHandler,
  type McpRequestContext,
  Server,
  type ServerCapabilities,
  type Transport,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { stringifyJson, toWellFormedJson } from "../text.ts";
import { type ListName, RequestDispatcher } from "./dispatcher.ts";
import {
  cachingOf,
  isKnownVersion,
  unknownToModern,
  unsupportedVersion,
} from "./eras.ts";
import {
  type ErrorObject,
  requireReadableSize,
  toErrorObject,
} from "./json_rpc.ts";
import { LISTEN } from "./requests.ts";

interface Handling {
  readonly sender: string | undefined;
  /** Fulfilled when its handler has ended. */
  ended?: Promise<unknown>;
  /** The error to reply with in place of the SDK's. */
  error?: ErrorObject;
  reply?: object;
}

/** An MCP server over HTTP that keeps nothing between requests. */
export class McpHttpServer extends RequestDispatcher {
  readonly #mcp = createMcpHandler((context) => this.#createServer(context));
  readonly #handlings = new WeakMap<Request, Handling>();

  notifyListChanged(list: ListName): void {
    this.#mcp.bus.publish({ kind: `${list}_list_changed` });
  }

  /**
   * Handles a request. If its signal is aborted, so is that of the handler, and this
   * waits only until the handler has ended.
   */
  async fetch(
    request: Request,
    { message, sender }: {
      message: JSONRPCMessage;
      sender?: string | undefined;
    },
  ): Promise<Response> {
    const version = request.headers.get("mcp-protocol-version");
    if (version !== null && !isKnownVersion(version)) {
      const id = "id" in message ? message.id : undefined;
      const error = toErrorObject(unsupportedVersion(version));
      return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
    }
    const handling: Handling = { sender };
    this.#handlings.set(request, handling);
    const response = await this.#mcp.fetch(request, { parsedBody: message });
    const isListener = "method" in message && message.method === LISTEN;
    // Its stream stays open.
    if (isListener) return response;
    const body = await response.text();
    await handling.ended;
    const { reply } = handling;
    if (reply !== undefined) {
      const { status } = response;
      const headers = { "content-type": "application/json" };
      return new Response(stringifyJson(reply), { status, headers });
    }
    // Some statuses do not allow a body, not even an empty one.
    return new Response(body === "" ? null : toWellFormedJson(body), response);
  }

  async close(): Promise<void> {
    await this.#mcp.close();
  }

  #createServer({ era, requestInfo }: McpRequestContext): Server {
    const { serverInfo, instructions, ttlMs } = this.description;
    const isModern = era === "modern";
    const handling = this.#handlings.get(requestInfo!)!;
    const server = new RequestServer(handling, serverInfo, {
      capabilities: this.#capabilities(isModern),
      instructions: instructions(),
      cacheHints: { "server/discover": cachingOf("server/discover", ttlMs) },
    });
    // Without a handler, the SDK replies to a modern client with the status 404.
    const method = requestInfo!.headers.get("mcp-method") ?? "";
    if (isModern && !this.hasHandler(method)) {
      handling.error = toErrorObject(unknownToModern(method));
      return server;
    }
    // Handlers that are set one by one would get requests only after the SDK's
    // own checks, whose errors are long.
    server.fallbackRequestHandler = async (
      request,
      { mcpReq: { signal } },
    ) => {
      const client = server.getClientVersion()?.name;
      const { sender } = handling;
      const context = { id: request.id, signal, client, sender };
      signal.throwIfAborted();
      const handled = (async () => await this.handle(request, context))();
      handling.ended = handled.catch(() => {});
      const result = await handled.catch((error) => {
        handling.error = toErrorObject(error, { isModern });
        throw error;
      });
      requireReadableSize(result);
      const caching = isModern ? cachingOf(request.method, ttlMs) : {};
      return { ...result, ...caching };
    };
    return server;
  }

  #capabilities(isModern: boolean): ServerCapabilities {
    const list = { listChanged: isModern };
    const capabilities = this.description.capabilities as ServerCapabilities;
    const resources = { ...list, subscribe: false };
    return { ...capabilities, tools: list, prompts: list, resources };
  }
}

/**
 * The server of one request. It keeps its reply, and sends an empty result through the SDK,
 * which would copy a large one several times, and would change the code of an error.
 */
class RequestServer extends Server {
  readonly #handling: Handling;

  constructor(
    handling: Handling,
    ...description: ConstructorParameters<typeof Server>
  ) {
    super(...description);
    this.#handling = handling;
  }

  override async connect(transport: Transport): Promise<void> {
    const handling = this.#handling;
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      const isResult = "result" in message;
      if (isResult) handling.reply = message;
      else if ("error" in message) {
        const { error = message.error } = handling;
        handling.reply = { ...message, error };
      }
      await send(isResult ? { ...message, result: {} } : message, options);
    };
    await super.connect(transport);
  }
}
