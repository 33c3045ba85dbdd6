import assert from "node:assert/strict";
import { type RequestContext, RequestDispatcher } from "./dispatcher.ts";

/** A dispatcher that can be asked. */
class TestDispatcher extends RequestDispatcher {
  constructor() {
    super({
      serverInfo: { name: "test", title: "Test", version: "1.0.0" },
      capabilities: {},
      instructions: () => "",
      ttlMs: 0,
    });
  }

  notifyListChanged(): void {}

  async ask(method: string, params?: Record<string, unknown>) {
    const signal = new AbortController().signal;
    const context: RequestContext = { id: 1, signal, client: "test" };
    const request = { jsonrpc: "2.0", id: 1, method, params } as const;
    return await this.handle(request, context);
  }
}

Deno.test("RequestDispatcher passes params and context to the handler of a method", async () => {
  const server = new TestDispatcher();
  server.setRequestHandler("tools/call", ({ name }, { client }) => ({
    content: [name, client],
  }));
  assert.deepEqual(await server.ask("tools/call", { name: "skill" }), {
    content: ["skill", "test"],
  });
});

Deno.test("RequestDispatcher handles a request without params", async () => {
  const server = new TestDispatcher();
  server.setRequestHandler("tools/list", (params) => ({ params }));
  assert.deepEqual(await server.ask("tools/list"), { params: {} });
});

Deno.test("RequestDispatcher refuses a method without a handler", async () => {
  const server = new TestDispatcher();
  for (const method of ["tools/list", "none", "toString"]) {
    await assert.rejects(server.ask(method), { code: -32601 });
  }
});

Deno.test("RequestDispatcher keeps invalid params from the handler, and says which they are", async () => {
  const server = new TestDispatcher();
  server.setRequestHandler("tools/call", () => assert.fail("It was called"));
  await assert.rejects(server.ask("tools/call", { name: 1 }), {
    code: -32602,
    message: /^Invalid params: .*name/,
  });
});
