import assert from "node:assert/strict";
import { Listener } from "./listener.ts";

function createListener() {
  const listener = new Listener();
  const gate = Promise.withResolvers<void>();
  const counts = { started: 0, ended: 0 };
  const subscribe = (uri: string) =>
    listener.subscribe(uri, async () => {
      counts.started++;
      await gate.promise;
      return () => counts.ended++;
    });
  return { listener, subscribe, counts, open: gate.resolve };
}

Deno.test("Listener starts one subscription for a resource, and ends it even if it is still starting", async () => {
  const { listener, subscribe, counts, open } = createListener();
  const first = [subscribe("a"), subscribe("a")];
  listener.unsubscribe("a");
  const second = subscribe("a");
  open();
  await Promise.all([...first, second]);
  assert.deepEqual(counts, { started: 2, ended: 1 });
  await subscribe("b");
  listener[Symbol.dispose]();
  await Promise.resolve();
  assert.deepEqual(counts, { started: 3, ended: 3 });
});

Deno.test("Listener subscribes to a resource that it did not find earlier", async () => {
  const { listener, subscribe, counts, open } = createListener();
  const fail = () => Promise.reject(new Error("unknown"));
  await assert.rejects(listener.subscribe("a", fail), /unknown/);
  open();
  await subscribe("a");
  assert.equal(counts.started, 1);
});
