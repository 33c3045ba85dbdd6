/**
 * The budget that clients over HTTP share: the permits to handle a request, the room for
 * unsent replies, and other amounts.
 *
 * The client "" stands for all clients where they cannot be told apart, and can have
 * everything. Any other gets a quarter of each amount. It can have more permits, and room
 * for replies, while no other waits for them.
 */

import { Permit } from "../protocol/semaphore.ts";
import { nextTurn, SLICE_MS, TURNS } from "../tasks.ts";

/** The part of each amount that a client can have. */
const SHARE = 1 / 4;

export class Amount {
  readonly #limit: number;
  readonly #byClient = new Map<string, number>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get total(): number {
    return this.#total;
  }

  isUnusedBy(client: string): boolean {
    return !this.#byClient.has(client);
  }

  /** Whether a client has less than a part. */
  isWithin(client: string, part: number): boolean {
    return (this.#byClient.get(client) ?? 0) < this.#limit * part;
  }

  /** Whether some of it is left, and a client has less than a part. */
  isLeftFor(client: string, part: number): boolean {
    return this.#total < this.#limit && this.isWithin(client, part);
  }

  /** Takes some for a client, or gives some back, whatever is left. */
  add(client: string, size: number): void {
    const own = (this.#byClient.get(client) ?? 0) + size;
    this.#total += size;
    if (own === 0) this.#byClient.delete(client);
    else this.#byClient.set(client, own);
  }

  /** Takes some for a client, if it can have as much. */
  take(client: string, size: number): boolean {
    const own = (this.#byClient.get(client) ?? 0) + size;
    const limit = client === "" ? this.#limit : this.#limit * SHARE;
    if (this.#total + size > this.#limit || own > limit) return false;
    this.add(client, size);
    return true;
  }
}

/**
 * A semaphore that clients share. Those that wait for a permit take turns, but only while
 * there is room for the reply. A client without an unsent reply always has room for one.
 */
export class SharedSemaphore {
  readonly #handled: Amount;
  readonly #unsent: Amount;
  /** The waiting requests by client. The client that got a permit last is the last one. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #isAdmitting = false;
  /** How long the requests that got permits since the last pause took, in milliseconds. */
  #worked = 0;

  /** Creates a number of permits, and room for unsent replies in bytes. */
  constructor(permits: number, unsent = Infinity) {
    this.#handled = new Amount(permits);
    this.#unsent = new Amount(unsent);
  }

  get handled(): number {
    return this.#handled.total;
  }

  /** The size of all unsent replies, in bytes. */
  get unsent(): number {
    return this.#unsent.total;
  }

  /** Whether a request waits for room although its client has less than its share. */
  get isRoomNeeded(): boolean {
    return this.#waitingClients().some((client) =>
      !this.hasRoom(client) &&
      (client === "" || this.#unsent.isWithin(client, SHARE))
    );
  }

  /** Whether there is room for a reply to a client that can have a part of it. */
  hasRoom(client: string, part = 1): boolean {
    return this.#unsent.isUnusedBy(client) ||
      this.#unsent.isLeftFor(client, part);
  }

  /** @throws {unknown} The reason of the signal, if it is aborted. */
  async acquire(client: string, signal: AbortSignal): Promise<Permit> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(client) ?? new Set();
    this.#waiting.set(client, queue.add(resolve));
    signal.addEventListener("abort", () => {
      queue.delete(resolve);
      reject(signal.reason);
      this.#admit();
    });
    this.#admit();
    await promise;
    const permit = new Permit(() => {
      this.#handled.add(client, -1);
      this.#admit();
    });
    if (signal.aborted) permit.release();
    signal.throwIfAborted();
    return permit;
  }

  addUnsent(client: string, size: number): void {
    this.#unsent.add(client, size);
    this.#admit();
  }

  /**
   * Gives permits to the requests that can have one. Each starts before the next one is
   * chosen, so that other requests can arrive. Otherwise, many requests of one client
   * would go first.
   */
  async #admit(): Promise<void> {
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    while (this.#findNext() !== undefined) {
      if (this.#worked > SLICE_MS) await this.#pause();
      const start = Date.now();
      // During the pause, others may have come, or gone.
      this.#give(this.#findNext());
      await nextTurn();
      this.#worked += Date.now() - start;
    }
    this.#isAdmitting = false;
  }

  async #pause(): Promise<void> {
    const end = Date.now() + SLICE_MS;
    // While much arrives, the turns take long, and fewer are enough.
    for (let turn = 0; turn < TURNS && Date.now() < end; turn++) {
      await nextTurn();
    }
    this.#worked = 0;
  }

  #give(client: string | undefined): void {
    if (client === undefined) return;
    const queue = this.#waiting.get(client)!;
    const [start] = queue;
    queue.delete(start!);
    this.#waiting.delete(client);
    if (queue.size > 0) this.#waiting.set(client, queue);
    this.#handled.add(client, 1);
    start!();
  }

  #findNext(): string | undefined {
    const clients = this.#waitingClients();
    const part = partOf(clients);
    return clients.find((client) =>
      this.#handled.isLeftFor(client, part) && this.hasRoom(client, part)
    );
  }

  #waitingClients(): string[] {
    return [...this.#waiting.keys()]
      .filter((client) => this.#waiting.get(client)!.size > 0);
  }
}

/** Returns the part of each amount that a waiting client can have. */
function partOf(clients: readonly string[]): number {
  if (clients.length > 1) return SHARE;
  // The rest is for the next client, if there can be one.
  return clients[0] === "" ? 1 : 1 - SHARE;
}
