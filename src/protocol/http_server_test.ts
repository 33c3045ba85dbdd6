import assert from "node:assert/strict";
import { McpHttpServer } from "./http_server.ts";
import { modern } from "../../tests/testing/http.ts";
import { eventually, within } from "../../tests/testing/waiting.ts";

Deno.test("McpHttpServer handles eight requests at a time, besides pings and listeners", async () => {
  const server = new McpHttpServer({
    serverInfo: { name: "test", title: "Test", version: "1.0.0" },
    capabilities: { tools: { listChanged: true } },
    instructions: () => "",
    ttlMs: 0,
  });
  const running: PromiseWithResolvers<void>[] = [];
  let count = 0;
  server.setRequestHandler("tools/list", async () => {
    const handling = Promise.withResolvers<void>();
    running.push(handling);
    await handling.promise;
    if (++count % 2) throw new Error("fault");
    return { tools: [] };
  });
  const ask = (method: string, message: object) => {
    const headers = {
      "accept": "application/json, text/event-stream",
      "content-type": "application/json",
      ...("params" in message && {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
      }),
    };
    const body = JSON.stringify(message);
    const init = { method: "POST", headers, body };
    return server.fetch(new Request("http://127.0.0.1/mcp", init));
  };
  const listen = () => {
    const params = { notifications: { toolsListChanged: true } };
    const method = "subscriptions/listen";
    return ask(method, modern(method, params));
  };
  const listeners = await Promise.all(Array.from({ length: 9 }, listen));
  const responses = Array.from(
    { length: 20 },
    () => ask("tools/list", modern("tools/list")),
  );
  for (let rest = 20; rest > 0; rest--) {
    const most = Math.min(8, rest);
    await eventually(() => running.length === most, "requests to be handled");
    const ping = ask("ping", { jsonrpc: "2.0", id: 1, method: "ping" });
    assert.equal((await within(ping, "the response")).status, 200);
    assert.equal(running.length, most);
    running.shift()!.resolve();
  }
  const texts = await Promise.all(
    responses.map(async (response) => (await response).text()),
  );
  assert.equal(texts.filter((text) => text.includes('"tools":[]')).length, 10);
  // Nor can a batch in one body start more.
  const batch = ask(
    "tools/list",
    Array.from(
      { length: 20 },
      (_, id) => ({ jsonrpc: "2.0", id, method: "tools/list" }),
    ),
  );
  for (let rest = 20; rest > 0; rest--) {
    const most = Math.min(8, rest);
    await eventually(() => running.length === most, "requests to be handled");
    running.shift()!.resolve();
  }
  assert.equal((await batch).status, 200);
  await server.close();
  for (const { body } of listeners) await body?.cancel();
});
