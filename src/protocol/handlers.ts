/**
 * What the servers of all transports share: how a server describes itself, and how
 * it handles requests.
 *
 * @module
 */

import type {
  RequestId,
  Result,
  ServerCapabilities,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import type * as z from "npm:zod@^4/mini";
import type { ClientInfo } from "./eras.ts";
import {
  describeIssues,
  IN_ENGLISH,
  invalidParams,
  rpcError,
} from "./errors.ts";
import { methodOf, type RequestSchema } from "./requests.ts";

/** A server's description of itself. */
export interface ServerDescription {
  readonly serverInfo: { name: string; title: string; version: string };
  /** What the server can do. */
  readonly capabilities: ServerCapabilities;
  /** Returns what the model should know before it uses the server. */
  readonly instructions: () => string;
  /** How long a client can cache a result, in milliseconds. */
  readonly ttlMs: number;
}

/** What a handler knows about the request that it handles. */
export interface RequestContext {
  readonly id: RequestId;
  /** Aborted when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** The client that sent the request, if it identified itself. */
  readonly client: ClientInfo | undefined;
}

/** The lists whose changes clients can listen for. */
export const LISTS = ["tools", "prompts", "resources"] as const;

export type ListName = typeof LISTS[number];

/** Returns the result of a request. */
type Handler<Request> = (
  request: Request,
  context: RequestContext,
) => Result | Promise<Result>;

/** A server on which request handlers can be set, such as `McpServer`. */
export interface RequestHandlers {
  /** If the handler throws an error, the reply is that error, with its `code` and `data`. */
  setRequestHandler<Schema extends RequestSchema>(
    schema: Schema,
    handler: Handler<z.infer<Schema>>,
  ): void;
  /** Notifies the clients that listen to a list that it changed. */
  notifyListChanged(list: ListName): Promise<void>;
}

/** Passes requests to their handlers. Each server extends it with a transport. */
export class RequestDispatcher {
  readonly #handlers = new Map<string, Handler<unknown>>();

  /**
   * Sets the handler for the requests that a schema accepts. The reply to a
   * request with other params is the error "invalid params".
   */
  setRequestHandler<Schema extends RequestSchema>(
    schema: Schema,
    handler: Handler<z.infer<Schema>>,
  ): void {
    this.#handlers.set(methodOf(schema), (request, context) => {
      const { success, data, error } = schema.safeParse(request, IN_ENGLISH);
      if (success) return handler(data, context);
      throw invalidParams(`Invalid params: ${describeIssues(error)}`);
    });
  }

  /** Whether requests with a method have a handler. */
  protected hasHandler(method: unknown): boolean {
    return this.#handlers.has(method as string);
  }

  /**
   * Calls the handler of a request.
   *
   * @throws {Error} The reply, if there is no handler or the params are invalid.
   */
  protected handle(
    request: { method: string },
    context: RequestContext,
  ): Result | Promise<Result> {
    const handler = this.#handlers.get(request.method);
    if (handler === undefined) throw rpcError(-32601, "Method not found");
    return handler(request, context);
  }
}
