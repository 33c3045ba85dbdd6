/**
 * A request from its arrival until nothing waits for it anymore.
 *
 * @module
 */

import type {
  JSONRPCRequest,
  RequestId,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { type ClientInfo, clientOf, META, metaOf } from "./eras.ts";
import type { RequestContext } from "./handlers.ts";
import type { SubscriptionFilter } from "./subscriptions.ts";

export class RunningRequest implements RequestContext {
  readonly id: RequestId;
  readonly method: string;
  readonly client: ClientInfo | undefined;
  readonly isModern: boolean;
  /** The filter of a listener, once it has been acknowledged. */
  filter: SubscriptionFilter | undefined;
  readonly #controller = new AbortController();
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #settled = Promise.withResolvers<void>();
  /**
   * Fulfilled when nothing needs to wait for the request anymore: it has a
   * reply, was cancelled, or is an acknowledged listener.
   */
  readonly settled: Promise<void> = this.#settled.promise;

  constructor(
    message: JSONRPCRequest,
    legacyClient: ClientInfo | undefined,
  ) {
    const { id, method, params } = message;
    const meta = metaOf(params);
    this.id = id;
    this.method = method;
    this.client = clientOf(message) ?? legacyClient;
    this.isModern = method === "server/discover" || this.isListener ||
      META.protocolVersion in meta || META.clientCapabilities in meta ||
      META.clientInfo in meta;
  }

  get isListener(): boolean {
    return this.method === "subscriptions/listen";
  }

  settle(): void {
    this.#settled.resolve();
  }

  cancel(): void {
    this.#controller.abort();
    this.settle();
  }
}
