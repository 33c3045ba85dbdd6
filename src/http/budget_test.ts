import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { Amount, SharedSemaphore } from "./budget.ts";
import type { Permit } from "../protocol/semaphore.ts";

/** Lets those enter who can. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 300; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A request that waits for a permit, has one, or is over. */
class Visit {
  permit?: Permit;
  isGone = false;
  readonly client: string;
  readonly #abort = new AbortController();

  constructor(permits: SharedSemaphore, client: string, onEnter?: () => void) {
    this.client = client;
    permits.acquire(client, this.#abort.signal).then((permit) => {
      this.permit = permit;
      onEnter?.();
    }, () => this.isGone = true);
  }

  leave(): void {
    this.#abort.abort();
    this.permit?.release();
  }
}

const acquireAll = (permits: SharedSemaphore, client: string, count: number) =>
  Array.from({ length: count }, () => new Visit(permits, client));

const handledOf = (visits: readonly Visit[]) =>
  visits.filter(({ permit }) => permit !== undefined).length;

Deno.test("SharedSemaphore.acquire() gives a client that is the only one all permits, and another all but a quarter", async () => {
  for (const [client, count] of [["", 8], ["a", 6]] as const) {
    const permits = new SharedSemaphore(8, 100);
    const visits = acquireAll(permits, client, 10);
    await settle();
    assert.deepEqual([handledOf(visits), permits.handled], [count, count]);
    for (const visit of visits) visit.leave();
    await settle();
    assert.equal(permits.handled, 0);
  }
});

Deno.test("SharedSemaphore.acquire() gives each client a quarter in turns while others wait", async () => {
  const permits = new SharedSemaphore(8, 100);
  const many = acquireAll(permits, "a", 20);
  await settle();
  const order: string[] = [];
  const others = ["b", "c", "b", "c", "b"].map((client) =>
    new Visit(permits, client, () => order.push(client))
  );
  await settle();
  assert.deepEqual(order, ["b", "c"]);
  for (let left = 6; left > 2; left--) {
    many.find(({ permit, isGone }) => permit && !isGone)!.leave();
    many.splice(many.findIndex(({ permit }) => permit), 1);
    await settle();
  }
  // Of the four permits, none went to the client that has a quarter.
  assert.equal(handledOf(many), 2);
  assert.deepEqual(order, ["b", "c", "b", "c"]);
  for (const visit of [...many, ...others]) visit.leave();
});

Deno.test("SharedSemaphore.acquire() waits for room for the reply, but not if the client has none unsent", async () => {
  const permits = new SharedSemaphore(8, 100);
  permits.addUnsent("a", 300);
  const [large] = acquireAll(permits, "a", 1);
  const [other] = acquireAll(permits, "b", 1);
  await settle();
  assert.deepEqual([large!.permit, permits.handled], [undefined, 1]);
  assert.ok(other!.permit);
  permits.addUnsent("a", -280);
  await settle();
  assert.ok(large!.permit);
});

Deno.test("SharedSemaphore.isRoomNeeded is true only while someone waits for room who has no more than a part", async () => {
  const permits = new SharedSemaphore(1, 100);
  permits.addUnsent("a", 300);
  const [own] = acquireAll(permits, "a", 1);
  await settle();
  assert.deepEqual([own!.permit, permits.isRoomNeeded], [undefined, false]);
  const others = acquireAll(permits, "b", 2);
  await settle();
  // The second one waits for a permit.
  assert.deepEqual([handledOf(others), permits.isRoomNeeded], [1, false]);
  permits.addUnsent("b", 20);
  assert.equal(permits.isRoomNeeded, true);
  permits.addUnsent("a", -290);
  assert.equal(permits.isRoomNeeded, false);
  for (const visit of [own!, ...others]) visit.leave();
});

Deno.test("SharedSemaphore.acquire() gives up for who is gone", async () => {
  const permits = new SharedSemaphore(1, 100);
  const [first, second, third] = acquireAll(permits, "", 3);
  await settle();
  second!.leave();
  first!.permit!.release();
  await settle();
  assert.deepEqual([second!.isGone, second!.permit], [true, undefined]);
  assert.ok(third!.permit);
  await assert.rejects(
    permits.acquire("", AbortSignal.abort(new Error("gone"))),
    {
      message: "gone",
    },
  );
});

Deno.test("SharedSemaphore lets everyone in who stays, and never more than there are", async () => {
  const step = fc.record({
    client: fc.constantFrom("a", "b", "c", "d", "e"),
    action: fc.constantFrom("enter", "enter", "enter", "leave", "send", "read"),
    pick: fc.nat(),
  });
  const steps = fc.array(step, { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const permits = new SharedSemaphore(8, 100);
      const visits: Visit[] = [];
      const unsent = new Map<string, number>();
      const of = (client: string) =>
        visits.filter((it) => it.client === client);
      const isWaiting = ({ permit, isGone }: Visit) => !permit && !isGone;
      // Those who waited before the next one was chosen.
      let earlier: readonly Visit[] = [];
      const check = (client: string) => {
        const others = earlier.some((it) =>
          it.client !== client && visits.includes(it) && isWaiting(it)
        );
        assert.ok(handledOf(visits) <= 8);
        assert.ok(handledOf(of(client)) <= (others ? 2 : 6), client);
      };
      for (const { client, action, pick } of steps) {
        const handled = of(client).filter(({ permit }) => permit);
        if (action === "enter") {
          visits.push(new Visit(permits, client, () => check(client)));
        } else if (action === "leave") {
          const [gone] = visits.splice(pick % (visits.length || 1), 1);
          gone?.leave();
        } else if (action === "send" && handled.length > 0) {
          const size = 1 + pick % 60;
          unsent.set(client, (unsent.get(client) ?? 0) + size);
          permits.addUnsent(client, size);
          handled[0]!.leave();
          visits.splice(visits.indexOf(handled[0]!), 1);
        } else if (action === "read") {
          permits.addUnsent(client, -(unsent.get(client) ?? 0));
          unsent.delete(client);
        }
        if (pick % 3 > 0) continue;
        await settle();
        earlier = [...visits];
        assert.equal(permits.handled, handledOf(visits));
        // Whoever has nothing gets something.
        const isIdle = (visit: Visit) =>
          isWaiting(visit) && handledOf(of(visit.client)) === 0 &&
          !unsent.has(visit.client);
        assert.ok(permits.handled === 8 || !visits.some(isIdle));
      }
      for (const [client, size] of unsent) permits.addUnsent(client, -size);
      while (visits.length > 0) {
        await settle();
        const index = visits.findIndex(({ permit }) => permit);
        assert.ok(index >= 0, "nobody gets in");
        visits.splice(index, 1)[0]!.leave();
      }
      await settle();
      assert.deepEqual([permits.handled, permits.unsent], [0, 0]);
    }),
    { numRuns: 150 },
  );
});

Deno.test("Amount.take() gives a client at most a quarter, and all to the only one", () => {
  const client = fc.constantFrom("", "a", "b", "c", "d", "e");
  const step = fc.record({ client, size: fc.integer({ min: -12, max: 12 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const amount = new Amount(40);
      const sums: Record<string, number> = {};
      let total = 0;
      for (const { client, size } of steps) {
        const before = sums[client] ?? 0;
        const change = Math.max(size, -before);
        const limit = client === "" ? 40 : 10;
        const fits = before + change <= limit && total + change <= 40;
        if (change < 0) amount.add(client, change);
        else assert.equal(amount.take(client, change), fits);
        if (change >= 0 && !fits) continue;
        sums[client] = before + change;
        total += change;
        assert.equal(amount.total, total);
        assert.equal(amount.isUnusedBy(client), sums[client] === 0);
        assert.ok(total <= 40);
      }
    }),
    { numRuns: 5_000 },
  );
});
