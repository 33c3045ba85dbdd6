import assert from "node:assert/strict";
import { ListToolsRequestSchema } from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { McpHttpServer } from "./http_server.ts";
import { modern } from "../../tests/testing/http.ts";

Deno.test("McpHttpServer serializes a result after there is room for it", async () => {
  const server = new McpHttpServer({
    serverInfo: { name: "test", title: "Test", version: "1.0.0" },
    capabilities: { tools: {} },
    instructions: () => "",
    ttlMs: 0,
  });
  let isSerialized = false;
  server.setRequestHandler(ListToolsRequestSchema, () => {
    const toJSON = () => {
      isSerialized = true;
      return {};
    };
    return {
      tools: [],
      _meta: { text: "x".repeat(100_000), last: { toJSON } },
    };
  });
  const request = new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: {
      "accept": "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
    },
  });
  const asked = Promise.withResolvers<number>();
  const room = Promise.withResolvers<void>();
  const response = server.fetch(request, modern("tools/list"), (size) => {
    asked.resolve(size);
    return room.promise;
  });
  const size = await asked.promise;
  assert.ok(size >= 100_000 && size < 101_000, `${size}`);
  assert.equal(isSerialized, false);
  room.resolve();
  assert.equal((await response).status, 200);
  assert.equal(isSerialized, true);
  await server.close();
});
