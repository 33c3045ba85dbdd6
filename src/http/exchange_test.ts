import assert from "node:assert/strict";
import type { McpHttpHandler } from "npm:@modelcontextprotocol/server@^2.4.0";
import { replaced } from "../../tests/testing/fakes.ts";
import { MODERN_META } from "../../tests/testing/server.ts";
import type { Sender } from "./access.ts";
import { Exchange } from "./exchange.ts";
import { Refusals } from "./refusals.ts";

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

const LISTEN = {
  ...PING,
  method: "subscriptions/listen",
  params: { _meta: MODERN_META },
};

function post(body: unknown, headers = {}): Request {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const options = { method: "POST", body: text, headers };
  return new Request("http://localhost/mcp", options);
}

/** Stands in for the SDK's handler, and answers when the test says so. */
class SlowHandler {
  readonly answers: ((response: Response) => void)[] = [];
  readonly #exchange = new Exchange(
    this as unknown as McpHttpHandler,
    new Refusals(() => {}),
  );

  readonly respond = (request: Request, sender: Sender): Promise<Response> =>
    this.#exchange.respond(request, sender);

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

Deno.test("Exchange tells the 65th request when to try again", async () => {
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

const LONG = "x".repeat(100_000);

/** Sends as many requests as are handled at once, and gives each a long answer. */
async function sendLong(handler: SlowHandler): Promise<Response[]> {
  const handled = await handler.send(64, PING);
  for (const answer of handler.answers.splice(0)) answer(new Response(LONG));
  return await Promise.all(handled);
}

Deno.test("Exchange counts a request until a long answer is read or canceled", async () => {
  const handler = new SlowHandler();
  const [first, second, ...others] = await sendLong(handler);
  const reader = first!.body!.getReader();
  assert.equal((await reader.read()).value!.length, 65_536);
  assert.equal((await handler.respond(post(PING), {})).status, 503);
  assert.equal((await reader.read()).value!.length, LONG.length - 65_536);
  await second!.body!.cancel();
  const next = await handler.send(2, PING);
  assert.equal((await handler.respond(post(PING), {})).status, 503);
  for (const answer of handler.answers) answer(new Response("ok"));
  await Promise.all(next);
  for (const response of others) assert.equal(await response.text(), LONG);
});

/** Returns a request whose body never ends. */
function postPart(): Request {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
  });
  return new Request("http://localhost/mcp", { method: "POST", body });
}

Deno.test("Exchange counts a request from before its body has arrived", async () => {
  const { respond } = new SlowHandler();
  using timers = holdTimers();
  const sent = Array.from({ length: 64 }, () => respond(postPart(), {}));
  assert.equal((await respond(post(PING), {})).status, 503);
  for (const expire of timers.callbacks.values()) expire();
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([504]));
});

Deno.test("Exchange counts a listener until the SDK answers", async () => {
  const handler = new SlowHandler();
  const listening = await handler.send(64, LISTEN);
  const endless = () => new Response(new ReadableStream());
  for (const answer of handler.answers) answer(endless());
  await Promise.all(listening);
  const handled = await handler.send(64, PING);
  for (const answer of handler.answers) answer(new Response("{}"));
  await Promise.all(handled);
});

Deno.test("Exchange refuses a body of more than 1 MiB", async () => {
  const { respond } = new SlowHandler();
  const large = { ...PING, params: { text: "x".repeat(1024 * 1024) } };
  const response = await respond(post(large), {});
  assert.equal(response.status, 413);
  assert.match(await response.text(), /the limit is 1048576 bytes/);
});

/** Replaces the timers that limit the time of a request, and returns their callbacks. */
function holdTimers(): Disposable & { callbacks: Map<unknown, () => void> } {
  const { setTimeout, clearTimeout } = globalThis;
  const callbacks = new Map<unknown, () => void>();
  const timers = replaced(globalThis, {
    setTimeout: ((callback: () => void, delay?: number) => {
      if (delay !== 60_000) return setTimeout(callback, delay);
      callbacks.set(callback, callback);
      return callback;
    }) as typeof setTimeout,
    clearTimeout: ((timer) => {
      if (!callbacks.delete(timer)) clearTimeout(timer);
    }) as typeof clearTimeout,
  });
  return { ...timers, callbacks };
}

Deno.test("Exchange keeps no timer of an answered request", async () => {
  const handler = new SlowHandler();
  using timers = holdTimers();
  const [answered] = await handler.send(1, PING);
  assert.equal(timers.callbacks.size, 1);
  handler.answers[0]!(new Response("ok"));
  await answered;
  assert.equal(timers.callbacks.size, 0);
});

Deno.test("Exchange ends a request that takes too long", async () => {
  const handler = new SlowHandler();
  using timers = holdTimers();
  const [late] = await handler.send(1, PING);
  for (const expire of timers.callbacks.values()) expire();
  assert.equal((await late!).status, 504);
});

Deno.test("Exchange ends a long answer that nobody has read in time", async () => {
  const handler = new SlowHandler();
  const { setTimeout } = globalThis;
  const expire: (() => void)[] = [];
  using _timers = replaced(globalThis, {
    setTimeout: ((callback: () => void, delay?: number) => {
      if (delay !== 60_000) return setTimeout(callback, delay);
      expire.push(callback);
      return 0;
    }) as typeof setTimeout,
  });
  const late = await sendLong(handler);
  for (const callback of expire) callback();
  for (const response of late) {
    assert.equal(response.headers.get("content-length"), "100000");
    assert.equal(await response.text(), "");
  }
  const [next] = await handler.send(1, PING);
  handler.answers[0]!(new Response("ok"));
  assert.equal(await (await next!).text(), "ok");
});
