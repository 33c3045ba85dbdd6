/**
 * Subscriptions: what a client can listen to, and who subscribed to which resource.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions}
 *
 * @module
 */

import * as z from "npm:zod@^4/mini";
import { invalidParams } from "./errors.ts";
import { requestSchema } from "./requests.ts";
import { quote } from "../text.ts";

const MAX_SUBSCRIPTIONS = 10_000;

/** The maximum length of the URI of a subscription, in characters. */
const MAX_URI_LENGTH = 8 * 1024;

/** The maximum total length of all URIs with subscriptions, in characters. */
const MAX_URIS_LENGTH = 1024 * 1024;

const flag = z.optional(z.boolean());

/** The notifications that a modern client requests. */
const SubscriptionFilterSchema = z.object({
  toolsListChanged: flag,
  promptsListChanged: flag,
  resourcesListChanged: flag,
  resourceSubscriptions: z.optional(
    z.array(z.string()).check(z.maxLength(MAX_SUBSCRIPTIONS)),
  ),
});

export type SubscriptionFilter = z.infer<typeof SubscriptionFilterSchema>;

export const ListenRequestSchema = requestSchema("subscriptions/listen", {
  notifications: SubscriptionFilterSchema,
});

export class Subscriptions<Subscriber> {
  readonly #begin: (uri: string) => Promise<() => void>;
  readonly #resources = new Map<string, {
    readonly subscribers: Set<Subscriber>;
    readonly end: Promise<() => void>;
  }>();
  #size = 0;
  #urisLength = 0;

  /**
   * Creates an empty set of subscriptions.
   *
   * @param begin Called when a resource gets its first subscriber. Returns a
   *   function that is called when it has lost its last one.
   */
  constructor(begin: (uri: string) => Promise<() => void>) {
    this.#begin = begin;
  }

  subscribers(uri: string): ReadonlySet<Subscriber> {
    return this.#resources.get(uri)?.subscribers ?? new Set();
  }

  /**
   * Adds a subscriber that is not one yet.
   *
   * @throws {Error} If there is no such resource, or if there are too many subscriptions.
   */
  async add(uri: string, subscriber: Subscriber): Promise<void> {
    this.#checkLimits(uri);
    let resource = this.#resources.get(uri);
    if (resource === undefined) {
      resource = { subscribers: new Set(), end: this.#begin(uri) };
      this.#resources.set(uri, resource);
      this.#urisLength += uri.length;
    }
    resource.subscribers.add(subscriber);
    this.#size++;
    try {
      await resource.end;
    } catch (error) {
      this.remove(uri, subscriber);
      throw error;
    }
  }

  /**
   * Adds a subscriber to each resource that exists and is within the limits,
   * and returns their URIs.
   */
  async addKnown(
    uris: ReadonlySet<string>,
    subscriber: Subscriber,
  ): Promise<string[]> {
    const added = await Promise.all(
      [...uris].map((uri) =>
        this.add(uri, subscriber).then(() => [uri], () => [])
      ),
    );
    return added.flat();
  }

  /** Transfers a subscription to another subscriber, unless it has ended in the meantime. */
  replace(uri: string, subscriber: Subscriber, other: Subscriber): void {
    const { subscribers } = this.#resources.get(uri) ?? {};
    if (!subscribers?.has(subscriber)) return;
    if (subscribers.has(other)) this.#size--;
    subscribers.add(other).delete(subscriber);
  }

  /** Removes a subscriber. The subscription to a resource ends with its last subscriber. */
  remove(uri: string, subscriber: Subscriber): void {
    const resource = this.#resources.get(uri);
    if (!resource?.subscribers.delete(subscriber)) return;
    this.#size--;
    if (resource.subscribers.size > 0) return;
    this.#resources.delete(uri);
    this.#urisLength -= uri.length;
    // A subscription that could not begin does not need to be ended.
    resource.end.then((end) => end()).catch(() => {});
  }

  removeAll(subscriber: Subscriber): void {
    for (const uri of this.#resources.keys()) this.remove(uri, subscriber);
  }

  #checkLimits(uri: string): void {
    if (uri.length > MAX_URI_LENGTH) {
      throw invalidParams(
        `Cannot subscribe to the URI: it has more than ${MAX_URI_LENGTH} characters; subscribe to a resource that contains this one`,
      );
    }
    const isFull = this.#size >= MAX_SUBSCRIPTIONS ||
      this.#urisLength + uri.length > MAX_URIS_LENGTH;
    if (isFull) {
      throw invalidParams(
        `Cannot subscribe to ${
          quote(uri)
        }: there are already ${this.#size} subscriptions; end some, or subscribe to a resource that contains several others`,
        { uri },
      );
    }
  }
}
