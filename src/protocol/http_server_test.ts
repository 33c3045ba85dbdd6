import assert from "node:assert/strict";
import { ListToolsRequestSchema } from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { McpHttpServer } from "./http_server.ts";
import { modern } from "../../tests/testing/http.ts";

Deno.test("McpHttpServer serializes each result in a turn of its own", async () => {
  const server = new McpHttpServer({
    serverInfo: { name: "test", title: "Test", version: "1.0.0" },
    capabilities: { tools: {} },
    instructions: () => "",
    ttlMs: 0,
  });
  let turn = 0;
  const turns: number[] = [];
  server.setRequestHandler(ListToolsRequestSchema, () => {
    let isFirst = true;
    const toJSON = () => {
      if (isFirst) turns.push(turn);
      isFirst = false;
      return {};
    };
    return { tools: [], _meta: { large: { toJSON } } };
  });
  const message = modern("tools/list");
  const headers = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
  };
  const request = () =>
    new Request("http://127.0.0.1/mcp", { method: "POST", headers });
  let isDone = false;
  const count = () => {
    turn++;
    if (!isDone) setImmediate(count);
  };
  count();
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => server.fetch(request(), message)),
  );
  isDone = true;
  assert.deepEqual(responses.map(({ status }) => status), Array(8).fill(200));
  assert.equal(turns.length, 8);
  assert.equal(new Set(turns).size, 8, turns.join());
  await server.close();
});
