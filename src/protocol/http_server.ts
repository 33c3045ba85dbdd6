/**
 * A Model Context Protocol server over Streamable HTTP, for clients of both
 * eras. It does not depend on skills.
 *
 * Version 2 of the SDK does the work: it reads bodies, detects the era, checks headers
 * against bodies, and streams notifications to modern clients. It creates a server for
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
import { type ListName, RequestDispatcher } from "./dispatcher.ts";
import { cachingOf } from "./eras.ts";
import { toWellFormedJson } from "../text.ts";

/** The header of a request in this process that contains the address of the client. */
const ADDRESS_HEADER = "skill-server-client-address";

/** The maximum size of a body, in bytes. */
const MAX_BODY_SIZE = 1024 * 1024;

/** An MCP server over HTTP that keeps nothing between requests. */
export class McpHttpServer extends RequestDispatcher {
  readonly #mcp = createMcpHandler((context) => this.#createServer(context), {
    maxRequestBodySize: MAX_BODY_SIZE,
  });

  /** Notifies the listeners that a list changed. */
  notifyListChanged(list: ListName): void {
    this.#mcp.bus.publish({ kind: `${list}_list_changed` });
  }

  /**
   * Handles a request.
   *
   * @param address The network address of the client.
   */
  async fetch(
    { url, method, headers, body }: Request,
    address?: string,
  ): Promise<Response> {
    // Deno aborts the signal of a request after each response. The SDK would take
    // that for a disconnect, so it gets a request without the signal.
    const request = new Request(url, { method, headers, body });
    // The SDK passes only the headers on. Whatever the client sent is replaced.
    request.headers.set(ADDRESS_HEADER, address ?? "");
    const response = await this.#mcp.fetch(request);
    // A stream that stays open.
    if (headers.get("mcp-method") === "subscriptions/listen") return response;
    // Some statuses do not allow a body, not even an empty one.
    const text = toWellFormedJson(await response.text()) || null;
    return new Response(text, response);
  }

  /** Closes the streams of the listeners. */
  async close(): Promise<void> {
    await this.#mcp.close();
  }

  #createServer({ era, requestInfo }: McpRequestContext): Server {
    const { serverInfo, instructions, ttlMs } = this.description;
    const isModern = era === "modern";
    const server = new Server(serverInfo, {
      capabilities: this.#capabilities(isModern),
      instructions: instructions(),
      cacheHints: { "server/discover": cachingOf("server/discover", ttlMs) },
    });
    // Without a handler, the SDK replies to a modern client with the status 404.
    const method = requestInfo?.headers.get("mcp-method") ?? "";
    if (isModern && !this.hasHandler(method)) return server;
    // Handlers that are set one by one would get requests only after the SDK's
    // own checks, whose errors are long.
    server.fallbackRequestHandler = async (
      request,
      { mcpReq: { signal } },
    ) => {
      using permit = await this.permits.acquire();
      const client = server.getClientVersion()?.name;
      const address = requestInfo?.headers.get(ADDRESS_HEADER) || undefined;
      const context = { id: request.id, signal, client, address, permit };
      const result = await this.handle(request, context);
      const caching = isModern ? cachingOf(request.method, ttlMs) : {};
      return { ...result, ...caching };
    };
    return server;
  }

  /** Returns the capabilities that the server has over HTTP. */
  #capabilities(isModern: boolean): ServerCapabilities {
    const list = isModern ? { listChanged: true } : {};
    const capabilities = this.description.capabilities as ServerCapabilities;
    return { ...capabilities, tools: list, prompts: list, resources: list };
  }
}
