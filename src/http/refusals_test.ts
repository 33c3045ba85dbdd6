import assert from "node:assert/strict";
import { Refusals } from "./refusals.ts";

Deno.test("Refusals sums up what follows the first refusal of a client and reason", () => {
  const lines: string[] = [];
  const refusals = new Refusals((line) => lines.push(line));
  for (const client of ["a@192.0.2.1", "192.0.2.2", "192.0.2.2"]) {
    refusals.refuse(401, "no token", client);
  }
  assert.equal(refusals.refuse(503, "busy").status, 503);
  assert.deepEqual(lines.splice(0), [
    "Refused a request from a@192.0.2.1: no token",
    "Refused a request from 192.0.2.2: no token",
    "Refused a request from an unknown address: busy",
  ]);
  refusals.sumUp();
  refusals.refuse(401, "no token", "192.0.2.2");
  refusals.refuse(401, "no token", "a@192.0.2.1");
  refusals.sumUp();
  refusals.sumUp();
  refusals.sumUp();
  assert.deepEqual(lines, [
    "Refused a request from 192.0.2.2: no token (1 more since the last line)",
    "Refused a request from a@192.0.2.1: no token",
    "Refused a request from 192.0.2.2: no token (1 more since the last line)",
  ]);
});

Deno.test("Refusals logs about the 101st client and others together", () => {
  const lines: string[] = [];
  const refusals = new Refusals((line) => lines.push(line));
  for (let client = 0; client < 200; client++) {
    refusals.refuse(401, "no token", `client ${client}`);
  }
  assert.equal(lines.length, 101);
  assert.equal(lines[100], "Refused a request from other clients: no token");
  refusals.sumUp();
  assert.equal(lines.length, 102);
  assert.match(lines[101]!, /other clients: no token \(99 more/);
});
