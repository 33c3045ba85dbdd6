/**
 * The base of the servers on all transports: their description, and the dispatch of
 * requests to handlers.
 */

import type {
  JSONRPCRequest,
  RequestId,
  Result,
  ServerCapabilities,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { invalidParams, unknownMethod } from "./json_rpc.ts";
import {
  formatIssues,
  type Method,
  type Params,
  PARSE_OPTIONS,
  REQUESTS,
} from "./requests.ts";
import type { Permit } from "./semaphore.ts";

export interface ServerDescription {
  readonly serverInfo: { name: string; title: string; version: string };
  readonly capabilities: ServerCapabilities;
  readonly instructions: () => string;
  /** How long a client can cache a result, in milliseconds. */
  readonly ttlMs: number;
}

export interface RequestContext {
  readonly id: RequestId;
  /** Aborted when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** The name of the client that sent the request, if it identified itself. */
  readonly client: string | undefined;
  /** The network address of the client, if known, and the name of its token, for the log. */
  readonly sender?: string | undefined;
  /**
   * The permit to handle the request, if there is a limit. A handler that waits for
   * something slow releases it, so that the next request starts.
   */
  readonly permit?: Permit | undefined;
}

/** The lists whose changes clients can listen for. */
export type ListName = "tools" | "prompts" | "resources";

/** Returns the result of a request, or throws the error to reply with its `code` and `data`. */
type Handler<Name extends Method> = (
  params: Params<Name>,
  context: RequestContext,
) => Result | Promise<Result>;

/** A server without a transport: passes requests to their handlers. */
export abstract class RequestDispatcher {
  protected readonly description: ServerDescription;
  readonly #handlers = new Map<string, Handler<Method>>();

  constructor(description: ServerDescription) {
    this.description = description;
  }

  abstract notifyListChanged(list: ListName): void;

  /** Sets the handler for the requests with a method. Invalid params do not reach it. */
  setRequestHandler<Name extends Method>(
    method: Name,
    handler: Handler<Name>,
  ): void {
    this.#handlers.set(method, handler as Handler<Method>);
  }

  protected hasHandler(method: string): boolean {
    return this.#handlers.has(method);
  }

  /** @throws {Error} The reply, if there is no handler or the params are invalid. */
  protected handle(
    { method, params = {} }: JSONRPCRequest,
    context: RequestContext,
  ): Result | Promise<Result> {
    const handler = this.#handlers.get(method);
    if (handler === undefined) throw unknownMethod(method);
    const { success, data, error } = REQUESTS[method as Method]
      .safeParse(params, PARSE_OPTIONS);
    if (success) return handler(data as Params<Method>, context);
    throw invalidParams(`Invalid params: ${formatIssues(error)}`);
  }
}
