import assert from "node:assert/strict";
import { CONTEXT, TestDispatcher } from "../../tests/testing/dispatcher.ts";

Deno.test("RequestDispatcher calls the handler that was set last with the params and the context", async () => {
  const server = new TestDispatcher();
  server.setRequestHandler("tools/call", () => assert.fail());
  server.setRequestHandler("tools/call", (params, context) => {
    assert.equal(context, CONTEXT);
    return Promise.resolve({ params });
  });
  const params = { name: "a", arguments: { b: ["c"] }, _meta: { d: 1 }, e: 2 };
  assert.deepEqual(await server.ask("tools/call", params), { params });
});

Deno.test("RequestDispatcher passes an object without fields for params that are missing", async () => {
  const server = new TestDispatcher();
  server.setRequestHandler("tools/list", (params) => ({ params }));
  assert.deepEqual(await server.ask("tools/list"), { params: {} });
});

Deno.test("RequestDispatcher refuses methods without a handler, even those that every object has", () => {
  const server = new TestDispatcher();
  server.setRequestHandler("tools/list", () => ({}));
  assert.ok(server.has("tools/list"));
  for (const method of ["tools/call", "x", "", "__proto__", "toString"]) {
    assert.ok(!server.has(method));
    const expected = { code: -32601, message: "Method not found" };
    assert.throws(() => server.ask(method), expected);
  }
});

Deno.test("RequestDispatcher calls no handler with invalid params, and names each field that is wrong", () => {
  const server = new TestDispatcher();
  server.setRequestHandler("tools/call", () => assert.fail());
  server.setRequestHandler("completion/complete", () => assert.fail());
  const cases: [method: string, params: Record<string, unknown>, RegExp][] = [
    ["tools/call", {}, /^Invalid params: "name": it is missing$/],
    ["tools/call", { name: 1, arguments: [] }, /"name": .*"arguments": /],
    ["tools/call", JSON.parse('{"__proto__":{"name":"a"}}'), /"name": it is/],
    ["completion/complete", { argument: {} }, /"ref": .*"argument\.name": /],
  ];
  for (const [method, params, message] of cases) {
    assert.throws(() => server.ask(method, params), { code: -32602, message });
  }
});

Deno.test("RequestDispatcher leaves the errors of handlers as they are", async () => {
  const server = new TestDispatcher();
  const error = new Deno.errors.NotFound("no file");
  server.setRequestHandler("tools/list", () => Promise.reject(error));
  await assert.rejects(async () => await server.ask("tools/list"), error);
});
