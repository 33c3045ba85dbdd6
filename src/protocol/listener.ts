/**
 * A client that gets notifications: the legacy one, or a modern one for each of its
 * requests to listen.
 *
 * @module
 */

import type { SubscriptionFilter } from "./requests.ts";

/** Ends a subscription. */
type End = () => void;

/** What a client listens to. */
export class Listener {
  /** The notifications that it gets, once it knows that it gets them. */
  filter?: SubscriptionFilter;
  /** The `_meta` of each notification. */
  readonly _meta: Record<string, unknown> | undefined;
  readonly #subscriptions = new Map<string, Promise<End>>();

  /** Creates a listener that gets nothing yet. */
  constructor(_meta?: Record<string, unknown>) {
    this._meta = _meta;
  }

  /**
   * Subscribes to a resource, unless it has.
   *
   * @param start Starts the subscription.
   * @throws {Error} If there is no such resource.
   */
  async subscribe(uri: string, start: () => Promise<End>): Promise<void> {
    const started = this.#subscriptions.get(uri) ?? start();
    this.#subscriptions.set(uri, started);
    try {
      await started;
    } catch (error) {
      if (this.#subscriptions.get(uri) === started) {
        this.#subscriptions.delete(uri);
      }
      throw error;
    }
  }

  /** Ends the subscription to a resource, even if it is still starting. */
  unsubscribe(uri: string): void {
    this.#subscriptions.get(uri)?.then((end) => end(), () => {});
    this.#subscriptions.delete(uri);
  }

  /** Ends all subscriptions. */
  end(): void {
    for (const uri of this.#subscriptions.keys()) this.unsubscribe(uri);
  }
}
