import assert from "node:assert/strict";
import * as z from "npm:zod@^4";
import type { ClientInfo } from "./eras.ts";
import { McpServer } from "./mcp_server.ts";
import { nextId } from "../../tests/testing/client.ts";
import { filesPlace } from "../../tests/testing/folders.ts";
import {
  MODERN_META,
  type NotificationMessage,
  subscriptionOf,
} from "../../tests/testing/modern.ts";
import { type Reply, Wire } from "../../tests/testing/server.ts";
import { Pipe } from "../../tests/testing/transport.ts";
import {
  DEADLINE_MS,
  withGracePeriod,
  within,
} from "../../tests/testing/waiting.ts";

Deno.test("tools/call ignores a request to run as a task", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const call = { name: "skill", arguments: { name: "git" } };
  const { result } = await wire.ask(1, "tools/call", {
    ...call,
    task: { ttl: 1000 },
  });
  assert.match(result.content[0].text, /^Loading: git\n/);
});

Deno.test("requests with any valid ID are answered", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const ids = [
    ...[1, "1", -1, "", "skill-server/1", "__proto__", "constructor"],
    ...["\u0000", "é", "e\u0301", Number.MAX_SAFE_INTEGER],
  ];
  const params = { uri: "skill://git" };
  for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
    await wire.write(...ids.map((id) => ({
      jsonrpc: "2.0",
      id,
      method,
      params,
    })));
    const replies = await Promise.all(
      ids.map(() => wire.lines.take(() => true, "a reply")),
    );
    const byText = (a: unknown, b: unknown) =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
    assert.deepEqual(
      replies.map((line) => JSON.parse(line)).sort(byText),
      ids.map((id) => ({ jsonrpc: "2.0", id, result: {} })).sort(byText),
    );
  }
});

Deno.test("every method rejects invalid params with the same error", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const bad: [string, Record<string, unknown>][] = [
    ["tools/call", {}],
    ["tools/call", { name: "skill", arguments: [] }],
    ["initialize", {}],
    ["tools/list", { cursor: 1 }],
    ["tools/list", { cursor: "x" }],
    ["resources/templates/list", { cursor: "x" }],
    ["prompts/get", {}],
    ["prompts/list", { cursor: 1 }],
    ["resources/read", {}],
    ["resources/read", { uri: 1 }],
    ["resources/list", { cursor: {} }],
    ["resources/subscribe", {}],
    ["resources/unsubscribe", { uri: [] }],
    ["completion/complete", { ref: { type: "none" } }],
    ["skills/list", { cursor: 1 }],
    ["skills/get", {}],
    ["resources/directory/read", {}],
  ];
  for (const [method, params] of bad) {
    const { error } = await wire.ask(1, method, params);
    assert.equal(error!.code, -32602, method);
    assert.ok(!error!.message.includes("\n"), error!.message);
  }
});

/** A server without features, connected to a pipe. */
class BareServer {
  readonly server = new McpServer({
    serverInfo: { name: "bare", title: "Bare", version: "1.0.0" },
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true },
    },
    instructions: () => "Do this",
    ttlMs: 0,
  });
  readonly pipe: Pipe;

  constructor({ ready }: { ready?: Promise<void> } = {}) {
    this.pipe = new Pipe({ server: this.server, ready });
  }

  async write(...messages: object[]): Promise<void> {
    const lines = messages.map((message) =>
      `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`
    );
    await this.pipe.write(lines.join(""));
  }

  reply(id: number | string): Promise<Reply> {
    return this.pipe.sent.take((reply) => reply.id === id, `the reply ${id}`);
  }

  async ask(method: string, params: object = {}): Promise<Reply> {
    const id = nextId();
    await this.write({ id, method, params });
    return await this.reply(id);
  }

  /** Sends a modern request as a client. */
  async askAs(name: string | undefined, method: string): Promise<Reply> {
    const info = { "io.modelcontextprotocol/clientInfo": name && { name } };
    return await this.ask(method, { _meta: { ...MODERN_META, ...info } });
  }

  async initialize(): Promise<Reply> {
    return await this.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "legacy", version: "1" },
    });
  }

  async cancel(requestId: number | string): Promise<void> {
    await this.write({
      method: "notifications/cancelled",
      params: { requestId },
    });
  }

  async listen(id: number | string, notifications: object): Promise<void> {
    const method = "subscriptions/listen";
    const params = { _meta: MODERN_META, notifications };
    await this.write({ id, method, params });
    await this.pipe.sent.take(
      (line) => subscriptionOf(JSON.stringify(line)) === id,
      "the acknowledgment",
    );
  }
}

/** A request for the name of the client that sent it. */
const WhoSchema = z.object({ method: z.literal("who") });

Deno.test("McpServer passes the client's info to its handlers in both eras", async () => {
  const bare = new BareServer();
  const clients: (ClientInfo | undefined)[] = [];
  bare.server.setRequestHandler(WhoSchema, (_, { client }) => {
    clients.push(client);
    return {};
  });
  await bare.ask("who");
  await bare.askAs("modern", "who");
  await bare.askAs(undefined, "who");
  await bare.initialize();
  await bare.ask("who");
  await bare.askAs("modern", "who");
  await bare.askAs(undefined, "who");
  const legacy = { name: "legacy", version: "1" };
  const modern = { name: "modern" };
  assert.deepEqual(clients, [
    undefined,
    modern,
    undefined,
    legacy,
    modern,
    legacy,
  ]);
});

Deno.test("McpServer ignores responses", async () => {
  const bare = new BareServer();
  await bare.write({ id: 1, result: {} }, { id: 2, error: { code: 1 } });
  await bare.ask("ping");
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
});

Deno.test("McpServer does not wait for cancelled requests", () =>
  withGracePeriod(2 * DEADLINE_MS, async () => {
    const bare = new BareServer();
    bare.server.setRequestHandler(WhoSchema, () => new Promise(() => {}));
    await bare.write({ id: 1, method: "who" });
    await bare.cancel(1);
    await bare.pipe.end();
    assert.deepEqual(bare.pipe.sent.takeAll(), []);
  }));

/** Records the URIs of the subscriptions that a server starts and ends. */
function recordSubscriptions({ server }: BareServer): {
  started: string[];
  ended: string[];
  /** New subscriptions start after this promise is fulfilled. */
  gate: Promise<void>;
} {
  const counts = {
    started: [] as string[],
    ended: [] as string[],
    gate: Promise.resolve(),
  };
  server.onsubscribe = async (uri) => {
    counts.started.push(uri);
    await counts.gate;
    return () => {
      counts.ended.push(uri);
    };
  };
  return counts;
}

/** Records subscriptions that start only after a gate has been opened. */
function recordWaitingSubscriptions(bare: BareServer) {
  const counts = recordSubscriptions(bare);
  const gate = Promise.withResolvers<void>();
  counts.gate = gate.promise;
  return { counts, gate };
}

Deno.test("McpServer starts a subscription with the first subscriber and ends it with the last", async () => {
  const bare = new BareServer();
  const counts = recordSubscriptions(bare);
  await bare.initialize();
  for (const id of ["a", "b"]) {
    await bare.listen(id, { resourceSubscriptions: ["x:y"] });
  }
  for (const _ of [1, 2]) {
    await bare.ask("resources/subscribe", { uri: "x:y" });
  }
  await bare.server.notifyUpdated("x:y");
  assert.deepEqual(
    bare.pipe.sent.takeAll().map((line) => subscriptionOf(JSON.stringify(line)))
      .sort(),
    ["a", "b", undefined],
  );
  await bare.cancel("a");
  await bare.ask("resources/unsubscribe", { uri: "x:y" });
  assert.deepEqual(counts, { ...counts, started: ["x:y"], ended: [] });
  await bare.cancel("b");
  await bare.ask("ping");
  assert.deepEqual(counts.ended, ["x:y"]);
  await bare.server.notifyUpdated("x:y");
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
});

Deno.test("McpServer sends no notification to a listener before the acknowledgment", async () => {
  const bare = new BareServer();
  const counts = recordSubscriptions(bare);
  await bare.listen("a", { resourceSubscriptions: ["x:y"] });
  const gate = Promise.withResolvers<void>();
  counts.gate = gate.promise;
  const notifications = { resourceSubscriptions: ["x:y", "x:z"] };
  const params = { _meta: MODERN_META, notifications };
  await bare.write({ id: "b", method: "subscriptions/listen", params });
  await bare.ask("ping");
  await bare.server.notifyUpdated("x:y");
  const ids = bare.pipe.sent.takeAll().map((line) =>
    subscriptionOf(JSON.stringify(line))
  );
  assert.deepEqual(ids, ["a"]);
  gate.resolve();
});

Deno.test("McpServer ends every subscription that it started, in any order of events", async () => {
  const bare = new BareServer();
  const { counts, gate } = recordWaitingSubscriptions(bare);
  await bare.initialize();
  const params = { uri: "x:y" };
  await bare.write({ id: "a", method: "resources/subscribe", params });
  await bare.ask("resources/unsubscribe", params);
  await bare.write({ id: "b", method: "resources/subscribe", params });
  gate.resolve();
  for (const id of ["a", "b"]) await bare.reply(id);
  assert.equal(counts.started.length - counts.ended.length, 1);
  await bare.server.notifyUpdated("x:y");
  assert.equal(bare.pipe.sent.takeAll().length, 1);
  await bare.ask("resources/unsubscribe", params);
  assert.equal(counts.started.length, counts.ended.length);
});

Deno.test("McpServer ends the subscriptions of a cancelled request", async () => {
  const bare = new BareServer();
  const { counts, gate } = recordWaitingSubscriptions(bare);
  await bare.initialize();
  const params = { uri: "x:y" };
  await bare.write({ id: "a", method: "resources/subscribe", params });
  await bare.cancel("a");
  await bare.write({
    id: "b",
    method: "subscriptions/listen",
    params: {
      _meta: MODERN_META,
      notifications: { resourceSubscriptions: ["x:y"] },
    },
  });
  await bare.cancel("b");
  await bare.ask("ping");
  gate.resolve();
  await bare.ask("ping");
  await bare.server.notifyUpdated("x:y");
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
  assert.deepEqual(counts.ended, counts.started);
});

Deno.test("McpServer keeps a subscription if another request for it is cancelled", async () => {
  const bare = new BareServer();
  const { counts, gate } = recordWaitingSubscriptions(bare);
  await bare.initialize();
  const params = { uri: "x:y" };
  for (const id of ["a", "b"]) {
    await bare.write({ id, method: "resources/subscribe", params });
  }
  await bare.cancel("b");
  await bare.ask("ping");
  gate.resolve();
  assert.deepEqual((await bare.reply("a")).result, {});
  await bare.server.notifyUpdated("x:y");
  assert.equal(bare.pipe.sent.takeAll().length, 1);
  await bare.ask("resources/unsubscribe", params);
  assert.deepEqual(counts.ended, counts.started);
});

Deno.test("McpServer ends the listeners at the end of the input even if another request hangs", () =>
  withGracePeriod(100, async () => {
    const bare = new BareServer();
    bare.server.setRequestHandler(WhoSchema, () => new Promise(() => {}));
    await bare.listen("a", {});
    await bare.write({ id: "b", method: "who" });
    await bare.pipe.end();
    assert.deepEqual(bare.pipe.sent.takeAll().map(({ id }) => id), ["a"]);
  }));

Deno.test("McpServer answers pings and the first requests of clients before it is ready, and all others afterwards", async () => {
  const ready = Promise.withResolvers<void>();
  const bare = new BareServer({ ready: ready.promise });
  const { result } = await bare.initialize();
  assert.equal(result.instructions, "Do this");
  await bare.write({ method: "notifications/initialized" });
  const discovered = await bare.askAs("modern", "server/discover");
  assert.equal(discovered.result.instructions, "Do this");
  let calls = 0;
  bare.server.setRequestHandler(
    z.object({ method: z.literal("prompts/list") }),
    () => ({ calls: ++calls }),
  );
  for (const id of ["a", "b"]) await bare.write({ id, method: "prompts/list" });
  await bare.write({
    method: "notifications/cancelled",
    params: { requestId: "a" },
  });
  await bare.ask("ping");
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
  ready.resolve();
  assert.equal((await bare.reply("b")).result.calls, 1);
  await bare.pipe.end();
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
});

Deno.test("McpServer answers every request before it closes if the input ends before it is ready", async () => {
  const ready = Promise.withResolvers<void>();
  const bare = new BareServer({ ready: ready.promise });
  await bare.initialize();
  await bare.write({ id: "a", method: "prompts/list" });
  const end = bare.pipe.end();
  ready.resolve();
  await bare.reply("a");
  await end;
});

Deno.test("McpServer acknowledges and ends a listener that starts at the end of the input", async () => {
  const ready = Promise.withResolvers<void>();
  const bare = new BareServer({ ready: ready.promise });
  const params = { _meta: MODERN_META, notifications: {} };
  await bare.write({ id: "a", method: "subscriptions/listen", params });
  const end = bare.pipe.end();
  ready.resolve();
  await end;
  const [acknowledgment, reply] = bare.pipe.sent.takeAll();
  assert.equal(subscriptionOf(JSON.stringify(acknowledgment)), "a");
  assert.equal(reply!.id, "a");
});

Deno.test("McpServer can be closed before it is ready", async () => {
  const bare = new BareServer({ ready: new Promise(() => {}) });
  await bare.write({ id: 1, method: "prompts/list" });
  await bare.server.close();
  await within(bare.pipe.closed.promise, "the transport to close");
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
});

Deno.test("McpServer ends a subscription when another request reuses its ID", async () => {
  const bare = new BareServer();
  const counts = recordSubscriptions(bare);
  const wanted = { toolsListChanged: true, resourceSubscriptions: ["x:y"] };
  await bare.listen("a", wanted);
  await bare.listen("a", wanted);
  await bare.server.notifyListChanged("tools");
  assert.equal(bare.pipe.sent.takeAll().length, 1);
  await bare.write({ id: "a", method: "ping" });
  await bare.reply("a");
  await bare.server.notifyListChanged("tools");
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
  assert.deepEqual(counts.ended, counts.started);
});

Deno.test("McpServer answers with an error if a result cannot be sent", async () => {
  const bare = new BareServer();
  const loop: Record<string, unknown> = {};
  loop.loop = loop;
  const results = [
    { text: "x".repeat(11 * 2 ** 20) },
    { text: "\u0001".repeat(2 * 2 ** 20) },
    { count: 1n },
    loop,
  ];
  bare.server.setRequestHandler(WhoSchema, () => results.shift()!);
  while (results.length > 0) {
    const { error } = await bare.ask("who");
    assert.equal(error!.code, -32603);
    assert.match(error!.message, /^Cannot send the reply: /);
  }
  assert.deepEqual((await bare.ask("ping")).result, {});
});

Deno.test("McpServer answers even if its handlers throw", async () => {
  const bare = new BareServer();
  const thrown = [undefined, null, "text", 7, {}, new Error("x")];
  bare.server.setRequestHandler(WhoSchema, () => {
    throw thrown.shift();
  });
  while (thrown.length > 0) {
    const { error } = await bare.ask("who");
    assert.equal(error!.code, -32603);
    assert.equal(typeof error!.message, "string");
  }
});

Deno.test("McpServer limits the number and length of subscribed URIs", async () => {
  const bare = new BareServer();
  const counts = recordSubscriptions(bare);
  await bare.initialize();
  const subscribe = async (uri: string) =>
    (await bare.ask("resources/subscribe", { uri })).error?.code;
  const long = (id: number) => `x:${id}`.padEnd(8 * 1024, "y");
  assert.equal(await subscribe(`${long(0)}y`), -32602);
  for (let id = 0; id < 128; id++) {
    assert.equal(await subscribe(long(id)), undefined);
  }
  assert.equal(await subscribe("x:1"), -32602);
  await bare.ask("resources/unsubscribe", { uri: long(7) });
  assert.equal(await subscribe("x:1"), undefined);
  assert.equal(counts.started.length, 129);
});

Deno.test("McpServer counts the subscriptions of all listening requests", async () => {
  const bare = new BareServer();
  recordSubscriptions(bare);
  const uris = Array.from({ length: 10_001 }, (_, id) => `x:${id}`);
  const params = (uris: string[]) => ({
    _meta: MODERN_META,
    notifications: { resourceSubscriptions: uris },
  });
  const tooMany = await bare.ask("subscriptions/listen", params(uris));
  assert.equal(tooMany.error!.code, -32602);
  const honored = async (id: string, uris: string[]) => {
    await bare.write({
      id,
      method: "subscriptions/listen",
      params: params(uris),
    });
    const notification = await bare.pipe.sent.take(
      (line) => subscriptionOf(JSON.stringify(line)) === id,
      "the acknowledgment",
    );
    const { notifications } =
      (notification as unknown as NotificationMessage).params;
    return (notifications as { resourceSubscriptions: string[] })
      .resourceSubscriptions.length;
  };
  assert.equal(await honored("a", uris.slice(0, 6_000)), 6_000);
  assert.equal(await honored("b", uris.slice(0, 6_000)), 4_000);
  await bare.cancel("a");
  assert.equal(await honored("c", uris.slice(0, 6_000)), 6_000);
});
