/**
 * The resources that a legacy client subscribed to.
 *
 * @module
 */

interface Subscription {
  /** Fulfilled with a function that ends the subscription. */
  readonly begun: Promise<() => void>;
  /** The number of requests for it that were not cancelled. */
  requests: number;
}

/** Subscriptions by URI. Subscribing again to the same resource costs nothing. */
export class Subscriptions {
  readonly #begin: (uri: string) => Promise<() => void>;
  readonly #subscriptions = new Map<string, Subscription>();

  /**
   * Creates an empty set of subscriptions.
   *
   * @param begin Subscribes to a resource, and returns a function that ends the
   *   subscription. Throws an error if there is no such resource.
   */
  constructor(begin: (uri: string) => Promise<() => void>) {
    this.#begin = begin;
  }

  /**
   * Subscribes to a resource. If all requests for that are cancelled, the
   * subscription ends as soon as it has begun.
   *
   * @throws {Error} If there is no such resource.
   */
  async add(uri: string, signal: AbortSignal): Promise<void> {
    const subscription = this.#subscriptions.get(uri) ??
      { begun: this.#begin(uri), requests: 0 };
    this.#subscriptions.set(uri, subscription);
    subscription.requests++;
    try {
      await subscription.begun;
      if (signal.aborted) subscription.requests--;
    } catch (error) {
      subscription.requests = 0;
      throw error;
    } finally {
      const isCurrent = this.#subscriptions.get(uri) === subscription;
      if (isCurrent && subscription.requests === 0) this.remove(uri);
    }
  }

  /** Ends the subscription to a resource, if there is one. */
  remove(uri: string): void {
    const { begun } = this.#subscriptions.get(uri) ?? {};
    this.#subscriptions.delete(uri);
    // A subscription that could not begin does not need to be ended.
    begun?.then((end) => end(), () => {});
  }
}
