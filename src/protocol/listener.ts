/** The listeners for notifications, and their subscriptions to resources. */

import type { SubscriptionFilter } from "./requests.ts";

type End = () => void;

/** The legacy client, or a request of a modern client to listen. */
export class Listener implements Disposable {
  /** The notifications that it gets, once they are acknowledged. */
  filter?: SubscriptionFilter;
  readonly _meta: Record<string, unknown> | undefined;
  /** The notifications that wait for room. */
  readonly unsent = new Set<string>();
  readonly #subscriptions = new Map<string, Promise<End>>();

  constructor(_meta?: Record<string, unknown>) {
    this._meta = _meta;
  }

  /** The number of its subscriptions. */
  get size(): number {
    return this.#subscriptions.size;
  }

  has(uri: string): boolean {
    return this.#subscriptions.has(uri);
  }

  /** @throws {Error} If there is no such resource. */
  async subscribe(uri: string, start: () => Promise<End>): Promise<void> {
    const started = this.#subscriptions.get(uri) ?? start();
    this.#subscriptions.set(uri, started);
    await started.catch((error) => {
      this.#subscriptions.delete(uri);
      throw error;
    });
  }

  /** Ends the subscription to a resource, even if it is still starting. */
  unsubscribe(uri: string): void {
    this.#subscriptions.get(uri)?.then((end) => end(), () => {});
    this.#subscriptions.delete(uri);
  }

  [Symbol.dispose](): void {
    for (const uri of this.#subscriptions.keys()) this.unsubscribe(uri);
  }
}
