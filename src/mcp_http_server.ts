// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * A server of the Model Context Protocol over Streamable HTTP, for clients of
 * both eras. It knows nothing of skills.
 *
 * The second version of the SDK does the work: it tells the eras apart, checks
 * headers against bodies, and streams what modern clients listen to. It creates
 * a server for each request. Here they all share one set of handlers, the same
 * that {@linkcode McpServer} takes.
 *
 * Only a modern client can listen, and only to lists: nothing is kept between
 * the requests of a legacy client, and no handler learns to which resources a
 * modern one listens.
 *
 * @module
 */

import {
  createMcpHandler,
  type McpRequestContext,
  Server,
  type ServerCapabilities,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import type { Result } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import * as z from "npm:zod@^4";
import { isObject, serializeMessage } from "./json_rpc.ts";
import {
  cachingOf,
  type ClientInfo,
  clientOf,
  parseRequest,
  replaceReply,
  type RequestContext,
  type RequestHandler,
  type RequestHandlers,
  type RequestSchema,
  type ServerDescription,
} from "./mcp_server.ts";

/** What the SDK calls the notifications that it sends to those who listen. */
const EVENTS = {
  "notifications/tools/list_changed": "tools_list_changed",
  "notifications/prompts/list_changed": "prompts_list_changed",
  "notifications/resources/list_changed": "resources_list_changed",
} as const;

/** The handlers check the params themselves. */
const ANY_PARAMS = { params: z.looseObject({}) };

/** An MCP server over HTTP that keeps nothing between requests. */
export class McpHttpServer implements RequestHandlers {
  readonly #description: ServerDescription;
  readonly #handlers = new Map<
    string,
    [RequestSchema, RequestHandler<unknown>]
  >();
  /** The clients that requests name. */
  readonly #clients = new WeakMap<Request, ClientInfo>();
  readonly #mcp = createMcpHandler((context) => this.#createServer(context));

  /** Creates a server that only answers what the protocol itself asks. */
  constructor(description: ServerDescription) {
    this.#description = description;
  }

  /** Sets the handler of the requests that a schema accepts. Other params are answered with "invalid params". */
  setRequestHandler<Schema extends RequestSchema>(
    schema: Schema,
    handler: RequestHandler<z.infer<Schema>>,
  ): void {
    const { value: method } = schema.shape.method;
    this.#handlers.set(method, [schema, handler as RequestHandler<unknown>]);
  }

  /** Sends a notification that a list changed to the clients that listen. */
  notify(method: string): Promise<void> {
    const kind = EVENTS[method as keyof typeof EVENTS];
    if (kind !== undefined) this.#mcp.bus.publish({ kind });
    return Promise.resolve();
  }

  /** Sends the notification that the list of tools changed, under the name that the SDK's `Server` has for it. */
  sendToolListChanged(): Promise<void> {
    return this.notify("notifications/tools/list_changed");
  }

  /**
   * Answers a request.
   *
   * @param request The request. Only its head is read.
   * @param message The JSON in its body, if it has one.
   */
  async fetch(
    { url, method, headers }: Request,
    message?: unknown,
  ): Promise<Response> {
    // Deno ends the signal of a request with each answer; the SDK would take that for the client's going.
    const head = new Request(url, { method, headers });
    const client = isRequest(message) ? clientOf(message) : undefined;
    if (client !== undefined) this.#clients.set(head, client);
    return await this.#mcp.fetch(head, { parsedBody: message });
  }

  /** Ends what clients listen to. */
  async close(): Promise<void> {
    await this.#mcp.close();
  }

  /** Creates the server of one request. */
  #createServer({ era, requestInfo }: McpRequestContext): Server {
    const { serverInfo, instructions, ttlMs } = this.#description;
    const isModern = era === "modern";
    const client = requestInfo && this.#clients.get(requestInfo);
    const server = new Server(serverInfo, {
      capabilities: this.#capabilities(isModern),
      instructions: instructions(client),
      cacheHints: { "server/discover": cachingOf("server/discover", ttlMs) },
    });
    for (const method of this.#handlers.keys()) {
      const caching = isModern ? cachingOf(method, ttlMs) : {};
      server.setRequestHandler(
        method,
        ANY_PARAMS,
        async (params, { mcpReq: { signal } }) => ({
          ...await this.#handle({ method, params }, { signal, client }),
          ...caching,
        }),
      );
    }
    return server;
  }

  /** Returns the result of a request, or what takes its place if it is too large. */
  async #handle(
    request: { method: string; params: unknown },
    context: RequestContext,
  ): Promise<Result> {
    const [schema, handler] = this.#handlers.get(request.method)!;
    const result = await handler(parseRequest(schema, request), context);
    try {
      serializeMessage({ jsonrpc: "2.0", id: 0, result });
      return result;
    } catch (error) {
      const reply = replaceReply(request.method, error as Error);
      if ("result" in reply) return reply.result;
      throw Object.assign(new Error(reply.error.message), reply.error);
    }
  }

  /** Returns the capabilities that hold over HTTP. */
  #capabilities(listChanged: boolean): ServerCapabilities {
    const { tools, prompts, resources, ...others } = this.#description
      .capabilities as ServerCapabilities;
    const lists = Object.entries({ tools, prompts, resources })
      .filter(([, capability]) => capability !== undefined)
      .map(([name]) => [name, listChanged ? { listChanged } : {}]);
    return { ...others, ...Object.fromEntries(lists) };
  }
}

/** Whether a value looks like a request. The SDK checks the rest. */
function isRequest(
  value: unknown,
): value is { method: string; params?: Record<string, unknown> } {
  if (!isObject(value)) return false;
  const { method, params = {} } = value;
  return typeof method === "string" && isObject(params);
}
