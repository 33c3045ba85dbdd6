/** A seeded source of choices. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to 1, by the algorithm mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = this.#state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  weighted<Key extends string>(weights: Record<Key, number>): Key {
    const entries = Object.entries(weights) as [Key, number][];
    const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
    let rest = this.next() * total;
    return entries.find(([, weight]) => (rest -= weight) < 0)![0];
  }
}
