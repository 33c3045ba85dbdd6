import assert from "node:assert/strict";
import type { McpHttpHandler } from "npm:@modelcontextprotocol/server@^2.4.0";
import { replaced } from "../../tests/testing/folders.ts";
import { limitRequests } from "./limits.ts";

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

const LISTEN = { ...PING, method: "subscriptions/listen" };

function post(body: unknown, headers = {}): Request {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const options = { method: "POST", body: text, headers };
  return new Request("http://localhost/mcp", options);
}

/** Stands in for the SDK's handler, and answers when the test says so. */
class SlowHandler {
  readonly answers: ((response: Response) => void)[] = [];
  readonly respond = limitRequests(this as unknown as McpHttpHandler);

  fetch(_request: Request): Promise<Response> {
    return new Promise((resolve) => this.answers.push(resolve));
  }

  /** Sends requests and waits until they have reached the handler. */
  async send(count: number, message: object): Promise<Promise<Response>[]> {
    const expected = this.answers.length + count;
    const sent = Array.from(
      { length: count },
      () => this.respond(post(message, { "mcp-method": "ping" }), {}),
    );
    while (this.answers.length < expected) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    return sent;
  }
}

Deno.test("limitRequests() handles 64 requests at once, and tells others when to try again", async () => {
  const handler = new SlowHandler();
  const handled = await handler.send(64, PING);
  const refused = await handler.respond(post(PING), {});
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "1");
  handler.answers[0]!(new Response("first"));
  assert.equal(await (await handled[0]!).text(), "first");
  const [next] = await handler.send(1, PING);
  for (const answer of handler.answers) answer(new Response("ok"));
  assert.equal((await next!).status, 200);
  await Promise.all(handled);
});

Deno.test("limitRequests() knows a listener by its body, and leaves it to the SDK", async () => {
  const handler = new SlowHandler();
  const listening = await handler.send(65, LISTEN);
  const [request] = await handler.send(1, PING);
  for (const answer of handler.answers) answer(new Response("ok"));
  await Promise.all([...listening, request]);
});

Deno.test("limitRequests() refuses a body of more than 1 MiB, and one that is not a message", async () => {
  const { respond } = new SlowHandler();
  const cases = [
    [{ ...PING, params: { text: "x".repeat(1024 * 1024) } }, 413, -32000],
    ["nonsense", 400, -32700],
    [[PING], 400, -32600],
  ] as const;
  for (const [body, status, code] of cases) {
    const response = await respond(post(body), {});
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code], [status, code]);
    if (status === 413) assert.match(error.message, /at most 1048576 bytes/);
  }
});

Deno.test("limitRequests() ends a request that takes too long", async () => {
  const handler = new SlowHandler();
  const timer = new AbortController();
  using _timeout = replaced(AbortSignal, { timeout: () => timer.signal });
  const [late] = await handler.send(1, PING);
  timer.abort();
  assert.equal((await late!).status, 504);
});
