import assert from "node:assert/strict";
import { McpHttpServer } from "./http_server.ts";
import { MAX_MESSAGE_SIZE } from "./json_rpc.ts";
import { eventually } from "../../tests/testing/waiting.ts";

/** Creates a server, and a function that sends it a legacy request. */
function createServer() {
  const server = new McpHttpServer({
    serverInfo: { name: "test", title: "Test", version: "1.0.0" },
    capabilities: { tools: { listChanged: true } },
    instructions: () => "",
    ttlMs: 0,
  });
  const ask = async (
    params: Record<string, unknown> = {},
    signal?: AbortSignal,
  ) => {
    const accept = "application/json, text/event-stream";
    const headers = { accept, "content-type": "application/json" };
    const url = "http://127.0.0.1/mcp";
    const request = new Request(url, { method: "POST", headers, signal });
    const method = "tools/list";
    const message = { jsonrpc: "2.0" as const, id: 1, method, params };
    const options = { message, sender: "::1" };
    return await (await server.fetch(request, options)).text();
  };
  return { server, ask };
}

Deno.test("McpHttpServer.fetch() aborts the work of a client that is gone, and waits until it has ended", async () => {
  const { server, ask } = createServer();
  const work = Promise.withResolvers<void>();
  let seen: AbortSignal | undefined;
  server.setRequestHandler("tools/list", async (_params, context) => {
    assert.equal(context.sender, "::1");
    seen = context.signal;
    await work.promise;
    return { tools: [] };
  });
  const gone = new AbortController();
  let isOver = false;
  const reply = ask({}, gone.signal).then(() => isOver = true);
  await eventually(() => seen !== undefined, "the handler");
  gone.abort();
  await eventually(() => seen!.aborted, "the signal");
  assert.ok(!isOver);
  work.resolve();
  await reply;
  assert.match(await ask(), /"tools":\[\]/);
  await server.close();
});

Deno.test("McpHttpServer.fetch() measures a reply before it is assembled, and makes it well-formed", async () => {
  const { server, ask } = createServer();
  let description = "";
  server.setRequestHandler("tools/list", () => ({ description }));
  for (
    const [text, isSent] of [
      ["x".repeat(MAX_MESSAGE_SIZE - 100), true],
      ["x".repeat(MAX_MESSAGE_SIZE), false],
      ["\u20ac".repeat(MAX_MESSAGE_SIZE / 3), false],
      ["\0".repeat(MAX_MESSAGE_SIZE / 6), false],
      ["\n".repeat(MAX_MESSAGE_SIZE / 2 - 100), true],
    ] as const
  ) {
    description = text;
    const reply = await ask();
    assert.equal(reply.includes("Cannot send the reply: it has"), !isSent);
    assert.equal(reply.length > MAX_MESSAGE_SIZE / 2, isSent);
  }
  description = `${"x".repeat(65_534)}\ud800 \\ud800`;
  const reply = await ask();
  assert.ok(reply.includes("\ufffd \\\\ud800"));
  await server.close();
});
