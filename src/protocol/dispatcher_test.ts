import assert from "node:assert/strict";
import { CONTEXT, TestDispatcher } from "../../tests/testing/dispatcher.ts";
import type { Method } from "./requests.ts";

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
    const message =
      `Unknown method "${method}": the capabilities of the server say what it can do`;
    const expected = { code: -32601, message };
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

/** For each limit, params that reach it by a text of a length. */
const LIMITED: [
  method: string,
  limit: number,
  paramsOf: (text: string) => Record<string, unknown>,
][] = [
  ["prompts/list", 1_024, (cursor) => ({ cursor })],
  ["resources/directory/read", 1_024, (cursor) => ({ uri: "a:b", cursor })],
  ["resources/read", 65_536, (uri) => ({ uri })],
  ["skills/get", 65_536, (uri) => ({ uri })],
  ["tools/call", 1_024, (name) => ({ name })],
  ["prompts/get", 1_024, (name) => ({ name })],
  ["completion/complete", 1_024, (value) => ({
    ref: { type: "ref/prompt", name: "a" },
    argument: { name: "name", value },
  })],
  ["completion/complete", 1_024, (name) => ({
    ref: { type: "ref/prompt", name },
    argument: { name: "name", value: "" },
  })],
  ["subscriptions/listen", 65_536, (uri) => ({
    notifications: { resourceSubscriptions: [uri] },
  })],
];

Deno.test("RequestDispatcher calls no handler with a text that is longer than its limit", () => {
  const server = new TestDispatcher();
  for (const [method, limit, paramsOf] of LIMITED) {
    server.setRequestHandler(method as Method, () => ({ isCalled: true }));
    const ask = (length: number) =>
      server.ask(method, paramsOf("x".repeat(length)));
    assert.deepEqual(ask(limit), { isCalled: true }, method);
    const message = new RegExp(
      `": it has more than ${limit} characters; pass a shorter one$`,
    );
    assert.throws(() => ask(limit + 1), { code: -32602, message });
  }
});

Deno.test("RequestDispatcher lets one request subscribe to 256 resources, and a prompt have a long argument", () => {
  const server = new TestDispatcher();
  server.setRequestHandler("subscriptions/listen", () => ({}));
  const listen = (count: number) =>
    server.ask("subscriptions/listen", {
      notifications: { resourceSubscriptions: Array(count).fill("a:b") },
    });
  assert.deepEqual(listen(256), {});
  assert.throws(() => listen(257), {
    message:
      'Invalid params: "notifications.resourceSubscriptions": Too big: expected array to have <=256 items',
  });
  server.setRequestHandler("prompts/get", () => ({}));
  const input = { arguments: "x".repeat(1_000_000) };
  assert.deepEqual(
    server.ask("prompts/get", { name: "a", arguments: input }),
    {},
  );
});
