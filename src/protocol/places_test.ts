import assert from "node:assert/strict";
import { Places } from "./places.ts";
import { eventually } from "../../tests/testing/waiting.ts";

/** Enters places a number of times, and records who has started and how to leave. */
function enter(places: Places, count: number): (() => void)[] {
  const started: (() => void)[] = [];
  for (let index = 0; index < count; index++) {
    places.enter((leave) => {
      started[index] = leave;
    });
  }
  return started;
}

Deno.test("Places passes eight places on in the order of arrival", async () => {
  const places = new Places();
  const started = enter(places, 20);
  for (let index = 0; index < 20; index++) {
    const expected = Math.min(index + 8, 20);
    await eventually(() => started.length === expected, "the next to start");
    started[index]!();
    // Leaving twice frees no other place.
    started[index]!();
  }
});

Deno.test("Places starts nothing while it is not open", () => {
  let isOpen = false;
  const places = new Places({ isOpen: () => isOpen });
  const started = enter(places, 3);
  assert.equal(started.length, 0);
  isOpen = true;
  places.fill();
  assert.equal(started.length, 3);
});

Deno.test("Places takes places back from those that are slow, however many there are", async () => {
  const places = new Places({ slowMs: 5 });
  const started = enter(places, 50);
  await eventually(() => started.length === 50, "all to start");
  for (const leave of started) leave();
  // The places that were left late are not free twice.
  const others = enter(places, 9);
  assert.equal(others.length, 8);
  await eventually(() => others.length === 9, "the last one to start");
});
