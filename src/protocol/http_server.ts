/**
 * A Model Context Protocol server over Streamable HTTP, for clients of both
 * eras. It does not depend on skills.
 *
 * Version 2 of the SDK does the work: it detects the era, checks headers against
 * bodies, and streams notifications to modern clients. It creates a server for
 * each request. All these servers share one set of handlers, which have the same
 * form as those of the server on stdio.
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
import { serializeMessage } from "./json_rpc.ts";
import { cachingOf, clientOf } from "./eras.ts";
import { replaceReply } from "./errors.ts";
import {
  type ListName,
  LISTS,
  type RequestContext,
  RequestDispatcher,
  type ServerDescription,
} from "./handlers.ts";
import { Places } from "./places.ts";
import { isObject } from "../text.ts";

/** A request for the SDK, which passes it on, with its parsed body. */
class ParsedRequest extends Request {
  message: unknown;
}

/** An MCP server over HTTP that keeps nothing between requests. */
export class McpHttpServer extends RequestDispatcher {
  readonly #description: ServerDescription;
  readonly #places = new Places();
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
   */
  async fetch(
    { url, method, headers }: Request,
    message: unknown,
  ): Promise<Response> {
    // Deno aborts the signal of a request after each response. The SDK would take
    // that for a disconnect, so it gets a request without the signal.
    const request = new ParsedRequest(url, { method, headers });
    request.message = message;
    return await this.#mcp.fetch(request, { parsedBody: message });
  }

  /** Closes the streams of the listeners. */
  async close(): Promise<void> {
    await this.#mcp.close();
  }

  #createServer({ era, requestInfo }: McpRequestContext): Server {
    const { serverInfo, instructions, ttlMs } = this.#description;
    const { message } = requestInfo as ParsedRequest;
    const isModern = era === "modern";
    const server = new Server(serverInfo, {
      capabilities: this.#capabilities(isModern),
      instructions: instructions(),
      cacheHints: { "server/discover": cachingOf("server/discover", ttlMs) },
    });
    // To a modern client, the SDK replies with the status 404 by itself.
    if (!isObject(message) || !this.hasHandler(message.method)) return server;
    const client = clientOf(message as JSONRPCRequest);
    // Handlers that are set one by one would get requests only after the SDK's
    // own checks, whose errors are long.
    server.fallbackRequestHandler = async (
      request,
      { mcpReq: { signal } },
    ) => ({
      ...await this.#respond(request, { id: request.id, signal, client }),
      ...(isModern ? cachingOf(request.method, ttlMs) : {}),
    });
    return server;
  }

  /** Returns the result of a request, or a replacement if it is too large. */
  async #respond(
    request: { method: string },
    context: RequestContext,
  ): Promise<Result> {
    const leave = await new Promise<() => void>((enter) =>
      this.#places.enter(enter)
    );
    try {
      const result = await this.handle(request, context);
      const error = findSendingError(result);
      if (error === undefined) return result;
      const reply = replaceReply(request.method, error);
      if (reply.result !== undefined) return reply.result;
      throw Object.assign(new Error(), reply.error);
    } finally {
      leave();
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

function findSendingError(result: Result): Error | undefined {
  try {
    serializeMessage({ jsonrpc: "2.0", id: 0, result });
  } catch (error) {
    return error as Error;
  }
}
