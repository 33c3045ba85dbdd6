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

import type {
  JSONRPCMessage,
  JSONRPCRequest,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  createMcpHandler,
  type McpRequestContext,
  Server,
  type ServerCapabilities,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { stringifyJson } from "../text.ts";
import { type ListName, RequestDispatcher } from "./dispatcher.ts";
import {
  cachingOf,
  isKnownVersion,
  toModernResult,
  unknownToModern,
  unsupportedVersion,
} from "./eras.ts";
import { requireReadableSize, toErrorObject } from "./json_rpc.ts";
import { LISTEN } from "./requests.ts";

/** A request that the SDK has accepted. */
interface Accepted {
  readonly request: JSONRPCRequest;
  readonly isModern: boolean;
  readonly client: string | undefined;
}

/** An MCP server over HTTP that keeps nothing between requests. */
export class McpHttpServer extends RequestDispatcher {
  readonly #mcp = createMcpHandler((context) => this.#createServer(context));
  readonly #accepted = new WeakMap<Request, Accepted>();

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
    const method = "method" in message ? message.method : "";
    const id = "id" in message ? message.id : undefined;
    const version = request.headers.get("mcp-protocol-version");
    if (version !== null && !isKnownVersion(version)) {
      const error = toErrorObject(unsupportedVersion(version));
      return toResponse({ jsonrpc: "2.0", id, error }, 400);
    }
    const response = await this.#mcp.fetch(request, { parsedBody: message });
    // Its stream stays open.
    if (method === LISTEN) return response;
    const { status } = response;
    // Once it is read, the SDK closes the server of the request.
    const body = await response.text();
    const accepted = this.#accepted.get(request);
    if (accepted !== undefined) {
      const { signal } = request;
      return toResponse(await this.#answer(accepted, signal, sender), status);
    }
    // The SDK's own message does not say what exists.
    if (status === 404) {
      const error = toErrorObject(unknownToModern(method));
      return toResponse({ jsonrpc: "2.0", id, error }, status);
    }
    // Some statuses do not allow a body, not even an empty one.
    if (body === "") return new Response(null, response);
    const [, event = body] = /^data: (.*)$/m.exec(body) ?? [];
    return toResponse(JSON.parse(event), status);
  }

  async close(): Promise<void> {
    await this.#mcp.close();
  }

  /** Creates the server that decides whether a request is accepted. */
  #createServer({ era, requestInfo }: McpRequestContext): Server {
    const { serverInfo, instructions, ttlMs } = this.description;
    const isModern = era === "modern";
    const server = new Server(serverInfo, {
      capabilities: this.#capabilities(isModern),
      instructions: instructions(),
      cacheHints: { "server/discover": cachingOf("server/discover", ttlMs) },
    });
    const method = requestInfo!.headers.get("mcp-method") ?? "";
    // Without a handler, the SDK replies to a modern client with the status 404.
    if (isModern && !this.hasHandler(method)) return server;
    // The request is answered afterwards, because the SDK would copy a large result several
    // times, and would change the code of an error.
    server.fallbackRequestHandler = (request) => {
      const client = server.getClientVersion()?.name;
      this.#accepted.set(requestInfo!, { request, isModern, client });
      return Promise.resolve({});
    };
    return server;
  }

  async #answer(
    { request, isModern, client }: Accepted,
    signal: AbortSignal,
    sender: string | undefined,
  ): Promise<object> {
    const { id, method } = request;
    try {
      signal.throwIfAborted();
      const context = { id, signal, client, sender };
      const result = await this.handle(request, context);
      requireReadableSize(result);
      const sent = isModern
        ? toModernResult(result, method, this.description)
        : result;
      return { jsonrpc: "2.0", id, result: sent };
    } catch (error) {
      const reported = toErrorObject(error as Error, { isModern });
      return { jsonrpc: "2.0", id, error: reported };
    }
  }

  #capabilities(isModern: boolean): ServerCapabilities {
    const list = { listChanged: isModern };
    const capabilities = this.description.capabilities as ServerCapabilities;
    const resources = { ...list, subscribe: false };
    return { ...capabilities, tools: list, prompts: list, resources };
  }
}

function toResponse(reply: object, status: number): Response {
  const headers = { "content-type": "application/json" };
  return new Response(stringifyJson(reply), { status, headers });
}
