/**
 * A Model Context Protocol server over Streamable HTTP, for clients of both
 * eras. It does not depend on skills.
 *
 * Version 2 of the SDK does the work: it detects the era, checks headers against
 * bodies, and streams notifications to modern clients. It creates a server for
 * each request. All these servers share one set of handlers, which have the same
 * form as those of {@linkcode McpServer}.
 *
 * Only modern clients can listen for changes, and only for changes to lists.
 * Nothing is kept between the requests of a legacy client, and the handlers do
 * not learn which resources a modern client listens to.
 *
 * @module
 */

import {
  createMcpHandler,
  type McpRequestContext,
  Server,
  type ServerCapabilities,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import type {
  JSONRPCRequest,
  Result,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { estimateSize, serializeMessage } from "./json_rpc.ts";
import { cachingOf, type ClientInfo, clientOf } from "./eras.ts";
import { replaceReply } from "./errors.ts";
import {
  type ListName,
  LISTS,
  type RequestContext,
  RequestDispatcher,
  type ServerDescription,
} from "./handlers.ts";
import { isObject } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";

/**
 * Called with the approximate size of a result in bytes. The result is serialized
 * after the promise that it returns.
 */
export type MakeRoom = (size: number) => Promise<void>;

/** A request for the SDK, which passes it on, with what the handlers need. */
class KnownRequest extends Request {
  client: ClientInfo | undefined;
  hasHandler = false;
  makeRoom: MakeRoom = () => Promise.resolve();
}

/** An MCP server over HTTP that keeps nothing between requests. */
export class McpHttpServer
  extends RequestDispatcher<RequestContext, Result | Promise<Result>> {
  readonly #description: ServerDescription;
  readonly #mcp = createMcpHandler((context) => this.#createServer(context));

  /** Creates a server that handles only the protocol's own requests. */
  constructor(description: ServerDescription) {
    super();
    this.#description = description;
  }

  /** Notifies the listeners that a list changed. */
  notifyListChanged(list: ListName): Promise<void> {
    this.#mcp.bus.publish({ kind: `${list}_list_changed` });
    return Promise.resolve();
  }

  /**
   * Handles a request.
   *
   * @param request The request. Its body is not read.
   * @param message The parsed JSON of the body.
   * @param makeRoom Makes room for the response.
   */
  async fetch(
    { url, method, headers }: Request,
    message: unknown,
    makeRoom?: MakeRoom,
  ): Promise<Response> {
    // Deno aborts the signal of a request after each response. The SDK would take
    // that for a disconnect, so it gets a request without the signal.
    const head = new KnownRequest(url, { method, headers });
    if (isObject(message)) {
      head.client = clientOf(message as JSONRPCRequest);
      head.hasHandler = this.hasHandler(message.method);
    }
    if (makeRoom !== undefined) head.makeRoom = makeRoom;
    return await this.#mcp.fetch(head, { parsedBody: message });
  }

  /** Closes the streams of the listeners. */
  async close(): Promise<void> {
    await this.#mcp.close();
  }

  #createServer({ era, requestInfo }: McpRequestContext): Server {
    const { serverInfo, instructions, ttlMs } = this.#description;
    const isModern = era === "modern";
    const { client, hasHandler, makeRoom } = requestInfo as KnownRequest;
    const server = new Server(serverInfo, {
      capabilities: this.#capabilities(isModern),
      instructions: instructions(),
      cacheHints: { "server/discover": cachingOf("server/discover", ttlMs) },
    });
    // To a modern client, the SDK replies with the status 404 by itself.
    if (!hasHandler) return server;
    // Handlers that are set one by one would get requests only after the SDK's
    // own checks, whose errors are long.
    server.fallbackRequestHandler = async (
      request,
      { mcpReq: { signal } },
    ) => ({
      ...await this.#respond(request, { signal, client }, makeRoom),
      ...(isModern ? cachingOf(request.method, ttlMs) : {}),
    });
    return server;
  }

  /** Returns the result of a request, or a replacement if it is too large. */
  async #respond(
    request: { method: string },
    context: RequestContext,
    makeRoom: MakeRoom,
  ): Promise<Result> {
    const slice = new TimeSlice();
    const result = await this.handle(request, context);
    await makeRoom(estimateSize(result));
    if (slice.isOver) await slice.pause();
    try {
      serializeMessage({ jsonrpc: "2.0", id: 0, result });
      // The SDK serializes it again.
      if (slice.isOver) await slice.pause();
      return result;
    } catch (error) {
      const reply = replaceReply(request.method, error as Error);
      if (reply.result !== undefined) return reply.result;
      throw Object.assign(new Error(), reply.error);
    }
  }

  /** Returns the capabilities that the server has over HTTP. */
  #capabilities(isModern: boolean): ServerCapabilities {
    const lists = LISTS.map((name) =>
      [name, isModern ? { listChanged: true } : {}] as const
    );
    const capabilities = this.#description.capabilities as ServerCapabilities;
    return { ...capabilities, ...Object.fromEntries(lists) };
  }
}
