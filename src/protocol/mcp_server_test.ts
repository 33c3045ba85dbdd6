import assert from "node:assert/strict";
import { Client as ModernClient } from "npm:@modelcontextprotocol/client@^2";
import { SkillsClient } from "npm:@modelcontextprotocol/client@^2/ext/skills";
import fc from "npm:fast-check@^4";
import * as z from "npm:zod@^4";
import config from "../../deno.json" with { type: "json" };
import type { ClientInfo } from "./eras.ts";
import { McpServer } from "./mcp_server.ts";
import {
  clientTransport,
  DEADLINE_MS,
  eventually,
  filesPlace,
  lacks,
  nextId,
  pages,
  peakMemory,
  ping,
  Pipe,
  Place,
  type Reply,
  skillMd,
  Wire,
  withGracePeriod,
  within,
} from "../../tests/testing.ts";

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

const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
};

const SERVER_INFO = {
  "io.modelcontextprotocol/serverInfo": {
    name: config.name,
    title: "Agent Skills",
    version: config.version,
  },
};

/** Sends a modern request and returns the reply. */
function askModern(
  wire: Wire,
  method: string,
  params: Record<string, unknown> = {},
  _meta: Record<string, unknown> = MODERN_META,
): Promise<Reply> {
  return wire.ask(nextId(), method, { ...params, _meta });
}

Deno.test("server/discover returns versions, capabilities, and instructions", async () => {
  using place = new Place();
  await using wire = new Wire(place);
  const { result } = await askModern(wire, "server/discover");
  const { instructions, ...rest } = result;
  assert.ok(instructions.length < 500);
  assert.deepEqual(rest, {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
    },
    ttlMs: 5000,
    cacheScope: "private",
    _meta: SERVER_INFO,
  });
});

Deno.test("modern requests are stateless, and their results include the server's info and a cache lifetime", async () => {
  using place = filesPlace();
  await using wire = new Wire(place, { args: ["--refresh", "2"] });
  const cacheable: [string, Record<string, unknown>?][] = [
    ["tools/list"],
    ["prompts/list"],
    ["resources/list"],
    ["resources/templates/list"],
    ["resources/read", { uri: "skill://git" }],
    ["skills/list"],
    ["skills/get", { uri: "skill://git/SKILL.md" }],
    ["resources/directory/read", { uri: "skill://git" }],
  ];
  const others: [string, Record<string, unknown>?][] = [
    ["tools/call", { name: "skill", arguments: { name: "git" } }],
    ["prompts/get", { name: "git" }],
    ["completion/complete", {
      ref: { type: "ref/prompt", name: "skill" },
      argument: { name: "name", value: "g" },
    }],
  ];
  for (const [method, params] of [...cacheable, ...others]) {
    const { result, error } = await askModern(wire, method, params);
    assert.equal(error, undefined, method);
    const { resultType, _meta, ttlMs, cacheScope } = result;
    assert.deepEqual([resultType, _meta], ["complete", SERVER_INFO]);
    const isCacheable = cacheable.some(([name]) => name === method);
    assert.deepEqual(
      [ttlMs, cacheScope],
      isCacheable ? [2000, "private"] : [undefined, undefined],
    );
    if (method === "tools/list") assert.ok(!("execution" in result.tools[0]));
  }
});

Deno.test("a legacy client gets no modern fields, even on a connection with modern requests", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await askModern(wire, "tools/list");
  const init = await wire.initialize();
  const replies = [
    init,
    await wire.ask(1, "tools/list"),
    await wire.ask(2, "skills/list"),
    await wire.ask(3, "resources/read", { uri: "skill://git" }),
    await wire.ask(4, "ping"),
  ];
  for (const { result } of replies) {
    for (const field of ["resultType", "ttlMs", "cacheScope", "_meta"]) {
      assert.ok(!(field in result), field);
    }
  }
  assert.equal(init.result.protocolVersion, "2025-11-25");
  assert.deepEqual(
    (await askModern(wire, "tools/list")).result._meta,
    SERVER_INFO,
  );
});

Deno.test("malformed modern requests get the errors that the specification defines", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const version = "io.modelcontextprotocol/protocolVersion";
  const capabilities = "io.modelcontextprotocol/clientCapabilities";
  const info = "io.modelcontextprotocol/clientInfo";
  const refused: [string, Record<string, unknown>, number][] = [
    ["tools/list", { [capabilities]: {} }, -32602],
    ["tools/list", { [info]: { name: "x", version: "1" } }, -32602],
    ["tools/list", { [version]: 7, [capabilities]: {} }, -32602],
    ["tools/list", { [version]: "2026-07-28" }, -32602],
    ["tools/list", { [version]: "2026-07-28", [capabilities]: 1 }, -32602],
    ["tools/list", { [version]: "2026-07-28", [capabilities]: [] }, -32602],
    ["tools/list", { ...MODERN_META, [info]: "x" }, -32602],
    ["server/discover", {}, -32602],
    ["subscriptions/listen", {}, -32602],
    ...[
      "initialize",
      "ping",
      "logging/setLevel",
      "resources/subscribe",
      "resources/unsubscribe",
      "none",
    ]
      .map((method) =>
        [method, MODERN_META, -32601] as [
          string,
          Record<string, unknown>,
          number,
        ]
      ),
  ];
  for (const [method, meta, code] of refused) {
    const { error } = await askModern(wire, method, {}, meta);
    assert.equal(error!.code, code, method);
  }
  const other = { ...MODERN_META, [version]: "2099-01-01" };
  assert.deepEqual((await askModern(wire, "tools/list", {}, other)).error, {
    code: -32022,
    message: "Unsupported protocol version",
    data: { supported: ["2026-07-28"], requested: "2099-01-01" },
  });
  const anonymous = { [version]: "2026-07-28", [capabilities]: {} };
  assert.ok((await askModern(wire, "tools/list", {}, anonymous)).result);
  const unknown = [
    ["tools/call", { name: "none" }],
    ["prompts/get", { name: "none" }],
    ["resources/read", { uri: "skill://none" }],
    ["skills/get", { uri: "skill://none/SKILL.md" }],
    ["resources/directory/read", { uri: "skill://none" }],
    ["subscriptions/listen", { notifications: 1 }],
    ["subscriptions/listen", { notifications: [] }],
    ["subscriptions/listen", { notifications: { toolsListChanged: "yes" } }],
    ["subscriptions/listen", { notifications: { resourceSubscriptions: [1] } }],
  ] as const;
  for (const [method, params] of unknown) {
    const { error } = await askModern(wire, method, params);
    assert.equal(error!.code, -32602, method);
  }
});

/** Opens a subscription and returns the notifications that the server acknowledges. */
async function listen(
  wire: Wire,
  id: number | string,
  notifications: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const method = "subscriptions/listen";
  const params = { _meta: MODERN_META, notifications };
  await wire.write({ jsonrpc: "2.0", id, method, params });
  const notification = await takeNotification(wire, id);
  assert.equal(notification.method, "notifications/subscriptions/acknowledged");
  return notification.params.notifications as Record<string, unknown>;
}

interface NotificationMessage {
  method: string;
  params: Record<string, unknown>;
}

/** Takes the next notification of a subscription. */
async function takeNotification(
  wire: Wire,
  id: number | string,
): Promise<NotificationMessage> {
  const line = await wire.lines.take(
    (line) => subscriptionOf(line) === id,
    `a notification of the subscription ${id}`,
  );
  return JSON.parse(line);
}

function subscriptionOf(line: string): number | string | undefined {
  const { params, result } = JSON.parse(line);
  const { _meta = {} } = params ?? result ?? {};
  return _meta["io.modelcontextprotocol/subscriptionId"];
}

Deno.test("subscriptions/listen acknowledges first, and then sends only the requested notifications, with its ID", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const uri = "skill://git/references/API.md";
  assert.deepEqual(
    await listen(wire, 1, {
      toolsListChanged: true,
      promptsListChanged: false,
      somethingElse: true,
    }),
    { toolsListChanged: true },
  );
  assert.deepEqual(
    await listen(wire, "one", {
      resourcesListChanged: true,
      resourceSubscriptions: [uri, "skill://none", "file:///etc/passwd", uri],
    }),
    { resourcesListChanged: true, resourceSubscriptions: [uri] },
  );
  assert.deepEqual(await listen(wire, "1", {}), {});
  place.replace("home/.claude/skills/git/references/API.md", "# API 2");
  assert.deepEqual(await takeNotification(wire, "one"), {
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: {
      uri,
      _meta: { "io.modelcontextprotocol/subscriptionId": "one" },
    },
  });
  place.skill("home/.claude/skills", "new");
  assert.deepEqual(await takeNotification(wire, 1), {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  });
  const { method } = await takeNotification(wire, "one");
  assert.equal(method, "notifications/resources/list_changed");
  await askModern(wire, "tools/list");
  assert.deepEqual(wire.lines.takeAll(), []);
});

Deno.test("subscriptions/listen ends without a reply when it is cancelled", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const uri = "skill://git/logo.png";
  const wanted = { toolsListChanged: true, resourceSubscriptions: [uri] };
  for (const id of [1, 2]) await listen(wire, id, wanted);
  await wire.write({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1 },
  });
  // The reply comes after the server has handled the cancellation.
  await askModern(wire, "tools/list");
  place.replace("home/.claude/skills/git/logo.png", "new");
  place.skill("home/.claude/skills", "new");
  const methods = [
    (await takeNotification(wire, 2)).method,
    (await takeNotification(wire, 2)).method,
  ];
  assert.deepEqual(methods.sort(), [
    "notifications/resources/updated",
    "notifications/tools/list_changed",
  ]);
  await askModern(wire, "tools/list");
  assert.deepEqual(wire.lines.takeAll(), []);
});

for (const end of ["the end of its input", "SIGTERM"]) {
  Deno.test(
    `subscriptions/listen ends with a result when the server exits after ${end}`,
    {
      ignore: lacks("signals"),
    },
    async () => {
      using place = filesPlace();
      await using wire = new Wire(place);
      await listen(wire, "a", { toolsListChanged: true });
      if (end === "SIGTERM") wire.process.kill("SIGTERM");
      const { code } = await (end === "SIGTERM" ? wire.ended : wire.endInput());
      assert.equal(code, 0);
      assert.deepEqual(
        JSON.parse(
          await wire.lines.take(
            (line) => subscriptionOf(line) === "a",
            "the result",
          ),
        ),
        {
          jsonrpc: "2.0",
          id: "a",
          result: {
            resultType: "complete",
            _meta: {
              "io.modelcontextprotocol/subscriptionId": "a",
              ...SERVER_INFO,
            },
          },
        },
      );
    },
  );
}

Deno.test("both eras can subscribe to the same resource and unsubscribe separately", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const uri = "skill://git/logo.png";
  await wire.ask(1, "resources/subscribe", { uri });
  await listen(wire, "a", { resourceSubscriptions: [uri] });
  const isUntagged = (line: string) =>
    line.includes("resources/updated") && subscriptionOf(line) === undefined;
  const change = (text: string) =>
    place.replace("home/.claude/skills/git/logo.png", text);
  change("one");
  await takeNotification(wire, "a");
  await wire.lines.take(isUntagged, "the legacy notification");
  await wire.ask(2, "resources/unsubscribe", { uri });
  change("two");
  await takeNotification(wire, "a");
  await wire.ask(3, "resources/subscribe", { uri });
  await wire.write({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "a" },
  });
  await wire.ask(4, "ping");
  change("three");
  await wire.lines.take(isUntagged, "the legacy notification");
  await wire.ask(4, "ping");
  assert.deepEqual(wire.lines.takeAll(), []);
});

Deno.test("the client of SDK version 2 lists, calls, reads, verifies, and listens in the modern era", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const client = new ModernClient({ name: "test", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  type ModernTransport = Parameters<typeof client.connect>[0];
  const transport = clientTransport(wire) as ModernTransport;
  await within(client.connect(transport), "the server to start");
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ["skill"]);
  const call = { name: "skill", arguments: { name: "git" } };
  const { content: [item] } = await client.callTool(call);
  assert.ok(item?.type === "text" && item.text.startsWith("Loading: git\n"));
  const skills = new SkillsClient(client);
  const listed = await skills.list();
  assert.deepEqual(
    listed.skills.map(({ uri }) => uri),
    ["skill://git/SKILL.md", "skill://hidden/SKILL.md"],
  );
  for (const entry of listed.skills) {
    assert.deepEqual((await skills.get(entry.uri)).skill, entry);
    assert.ok(entry.resources !== "dynamic");
    for (const { uri } of entry.resources) {
      assert.equal((await skills.read(entry, uri)).verified, true);
    }
  }
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler(
    "notifications/tools/list_changed",
    () => changed.resolve(),
  );
  const subscription = await client.listen({ toolsListChanged: true });
  assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true });
  place.skill("home/.claude/skills", "new");
  await within(changed.promise, "the notification");
  await subscription.close();
  await client.close();
  assert.deepEqual(errors, []);
});

Deno.test("a client that never initializes gets no notifications that it did not request", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await askModern(wire, "tools/list");
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  place.skill("home/.claude/skills", "new");
  const isListed = async () => {
    const { result } = await askModern(wire, "tools/list");
    return result.tools[0].description.includes("<name>new<");
  };
  await eventually(isListed, "the refresh");
  assert.deepEqual(wire.lines.takeAll(), []);
});

Deno.test("replies stay fast while more than a hundred requests listen", async () => {
  using place = new Place();
  await using wire = new Wire(place);
  const timePings = async () => {
    const ids = Array.from({ length: 1_000 }, nextId);
    const start = performance.now();
    await wire.write(ids.map((id) => `${JSON.stringify(ping(id))}\n`).join(""));
    await wire.reply(ids.at(-1));
    return performance.now() - start;
  };
  await timePings();
  const before = await timePings();
  for (let id = 0; id < 150; id++) {
    await listen(wire, id, { toolsListChanged: true });
  }
  const after = await timePings();
  assert.ok(
    after < 10 * Math.max(before, 50),
    `${before} ms before, ${after} ms after`,
  );
});

/** A server without features, connected to a pipe. */
class BareServer {
  readonly server = new McpServer({
    serverInfo: { name: "bare", title: "Bare", version: "1.0.0" },
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true },
    },
    instructions: (client) => `For ${client?.name ?? "anyone"}`,
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

  async initialize(name = "legacy"): Promise<Reply> {
    return await this.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name, version: "1" },
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

Deno.test("McpServer creates its instructions for each client", async () => {
  const bare = new BareServer();
  const replies = [
    await bare.askAs(undefined, "server/discover"),
    await bare.askAs("modern", "server/discover"),
    await bare.initialize("first"),
    await bare.initialize("second"),
    await bare.askAs(undefined, "server/discover"),
  ];
  assert.deepEqual(replies.map(({ result }) => result.instructions), [
    "For anyone",
    "For modern",
    "For first",
    "For second",
    "For second",
  ]);
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
  await bare.server.notify("notifications/resources/updated", { uri: "x:y" });
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
  await bare.server.notify("notifications/resources/updated", { uri: "x:y" });
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
});

Deno.test("McpServer ends every subscription that it started, in any order of events", async () => {
  const bare = new BareServer();
  const counts = recordSubscriptions(bare);
  const gate = Promise.withResolvers<void>();
  counts.gate = gate.promise;
  await bare.initialize();
  const params = { uri: "x:y" };
  await bare.write({ id: "a", method: "resources/subscribe", params });
  await bare.ask("resources/unsubscribe", params);
  await bare.write({ id: "b", method: "resources/subscribe", params });
  gate.resolve();
  for (const id of ["a", "b"]) await bare.reply(id);
  assert.equal(counts.started.length - counts.ended.length, 1);
  await bare.server.notify("notifications/resources/updated", params);
  assert.equal(bare.pipe.sent.takeAll().length, 1);
  await bare.ask("resources/unsubscribe", params);
  assert.equal(counts.started.length, counts.ended.length);
});

Deno.test("McpServer ends the subscriptions of a cancelled request", async () => {
  const bare = new BareServer();
  const counts = recordSubscriptions(bare);
  const gate = Promise.withResolvers<void>();
  counts.gate = gate.promise;
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
  await bare.server.notify("notifications/resources/updated", params);
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
  assert.deepEqual(counts.ended, counts.started);
});

Deno.test("McpServer answers pings and the first requests of clients before it is ready, and all others afterwards", async () => {
  const ready = Promise.withResolvers<void>();
  const bare = new BareServer({ ready: ready.promise });
  const { result } = await bare.initialize("early");
  assert.equal(result.instructions, "For early");
  await bare.write({ method: "notifications/initialized" });
  const discovered = await bare.askAs("modern", "server/discover");
  assert.equal(discovered.result.instructions, "For modern");
  for (const id of ["a", "b"]) await bare.write({ id, method: "prompts/list" });
  await bare.write({
    method: "notifications/cancelled",
    params: { requestId: "a" },
  });
  await bare.ask("ping");
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
  ready.resolve();
  await bare.reply("b");
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
  await bare.server.notify("notifications/tools/list_changed");
  assert.equal(bare.pipe.sent.takeAll().length, 1);
  await bare.write({ id: "a", method: "ping" });
  await bare.reply("a");
  await bare.server.notify("notifications/tools/list_changed");
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

/** Every method of the server and some unknown ones. */
const METHODS = [
  ...["initialize", "ping", "server/discover", "logging/setLevel", "x", ""],
  ...["tools/list", "tools/call", "prompts/list", "prompts/get"],
  ...["resources/list", "resources/templates/list", "resources/read"],
  ...["resources/subscribe", "resources/unsubscribe", "completion/complete"],
  ...["skills/list", "skills/get", "resources/directory/read", "__proto__"],
  ...["notifications/cancelled", "notifications/initialized", "toString"],
];

/** Creates arbitrary params, some of which are valid for some methods. */
function anyParams(): fc.Arbitrary<unknown> {
  const text = fc.oneof(
    fc.constantFrom("skill://git", "skill://git/", "skill://", "git", "skill"),
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constant("\ud800"),
  );
  const value = fc.oneof(
    { weight: 3, arbitrary: text },
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 1, arbitrary: fc.constant({ toString: 1, __proto__: null }) },
  );
  const fields = [
    ...["uri", "name", "cursor", "requestId", "ref", "argument", "context"],
    ...["arguments", "notifications", "protocolVersion", "clientInfo"],
    ...["capabilities", "task", "_meta"],
  ];
  const meta = fc.dictionary(
    fc.constantFrom(...Object.keys(MODERN_META), "progressToken"),
    value,
  );
  const record = fc.record(
    {
      ...Object.fromEntries(fields.map((field) => [field, value])),
      _meta: fc.oneof(value, meta, fc.constant(MODERN_META)),
      arguments: fc.oneof(value, fc.record({ name: value })),
      ref: fc.oneof(value, fc.record({ type: text, name: text, uri: text })),
      argument: fc.oneof(value, fc.record({ name: text, value: text })),
    },
    { requiredKeys: [] },
  );
  return fc.oneof({ weight: 5, arbitrary: record }, fc.jsonValue());
}

Deno.test("the server survives every message and answers every request", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const seed = Math.floor(Math.random() * 2 ** 31);
  const requests = fc.sample(
    fc.record({ method: fc.constantFrom(...METHODS), params: anyParams() }),
    { numRuns: 600, seed },
  ).map((request, id) => ({ jsonrpc: "2.0", id, ...request }));
  const others = [
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    '{"jsonrpc":"2.0","id":{"toString":1},"method":"ping"}',
    '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":0.5,"method":"ping"}',
    '{"jsonrpc":"2.0","id":90071992547409930,"method":"ping"}',
    '{"jsonrpc":"2.0","id":-5,"result":{"__proto__":null}}',
    '{"jsonrpc":"2.0","id":-5,"error":7}',
    '{"__proto__":{"jsonrpc":"2.0","id":-5,"method":"ping"}}',
    `[${"[".repeat(100_000)}`,
    `{"jsonrpc":"2.0","method":"x","params":${'{"a":'.repeat(10_000)}1${
      "}".repeat(10_000)
    }}`,
    `[${JSON.stringify(ping(-5))}]`,
  ];
  await wire.write({
    jsonrpc: "2.0",
    id: "odd",
    method: "resources/unsubscribe",
    params: { uri: { toString: 1 } },
  });
  await wire.write(...requests, ...others.map((line) => `${line}\n`));
  const expected = ["odd", ...requests.map(({ id }) => id)];
  const counts = new Map<unknown, number>();
  const isAnswered = () => {
    for (const line of wire.lines.takeAll()) {
      const { id } = JSON.parse(line);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return expected.every((id) => counts.has(id));
  };
  await eventually(isAnswered, `all replies (seed ${seed})`);
  assert.deepEqual((await wire.ask(requests.length, "ping")).result, {});
  assert.ok(isAnswered());
  const twice = expected.filter((id) => counts.get(id) !== 1);
  assert.deepEqual(twice, [], `seed ${seed}`);
});

Deno.test("very long requests get short replies", async () => {
  using place = filesPlace();
  for (let id = 0; id < 200; id++) {
    place.skill("home/.claude/skills", `bad-${id}`, "no frontmatter");
  }
  await using wire = new Wire(place);
  await wire.initialize();
  const texts = ["e\u0301".repeat(2e5), "\u0001".repeat(2e5), "x".repeat(1e6)];
  const start = performance.now();
  for (const text of texts) {
    const uri = `skill://${text}`;
    const requests: [string, Record<string, unknown>][] = [
      ["tools/call", { name: "skill", arguments: { name: text } }],
      ["tools/call", { name: "skill", arguments: { [text]: 1 } }],
      ["tools/call", { name: text }],
      ["prompts/get", { name: text }],
      ["prompts/get", { name: "skill", arguments: { name: text } }],
      ["resources/read", { uri }],
      ["resources/subscribe", { uri }],
      ["resources/list", { cursor: text }],
      ["skills/get", { uri }],
      ["completion/complete", {
        ref: { type: "ref/prompt", name: text },
        argument: { name: "name", value: text },
      }],
    ];
    for (const [method, params] of requests) {
      const { result, error } = await wire.ask(1, method, params);
      const message = error?.message ?? result.content[0].text;
      assert.ok(message.length < 40_000, `${method}: ${message.length}`);
    }
  }
  const time = performance.now() - start;
  assert.ok(time < DEADLINE_MS, `${time} ms`);
});

/** Creates a place with skills whose files together exceed the limit for a message. */
function largePlace(): Place {
  const place = new Place();
  const skills = "home/.claude/skills";
  const megabyte = 2 ** 20;
  place.skill(skills, "many");
  for (let id = 0; id < 12; id++) {
    place.file(`${skills}/many/${id}.txt`, "x".repeat(megabyte));
  }
  // Each of these characters takes six characters in JSON.
  place.skill(skills, "odd");
  for (let id = 0; id < 9; id++) {
    place.file(`${skills}/odd/${id}.txt`, "\u0001".repeat(megabyte));
  }
  place.skill(skills, "huge", `${skillMd("huge")}${"x".repeat(11 * megabyte)}`);
  return place;
}

Deno.test("content that is too large for a message is refused with advice", async () => {
  using place = largePlace();
  await using wire = new Wire(place, {
    args: ["--tools", "skilljack", "--max-file-size", "20"],
  });
  await wire.initialize();
  const read = async (uri: string) =>
    (await wire.ask(1, "resources/read", { uri })).error!;
  for (const uri of ["skill://many/", "skill://odd/"]) {
    const { code, message } = await read(uri);
    assert.equal(code, -32602);
    assert.match(message, /read them one at a time$/);
  }
  const { message } = await read("skill://huge/SKILL.md");
  assert.match(message, /bytes.*ask for less at a time$/);
  const prompt = await wire.ask(2, "prompts/get", { name: "huge" });
  assert.match(prompt.error!.message, /ask for less at a time$/);
  const calls: [string, Record<string, string>, RegExp][] = [
    ["skill", { name: "huge" }, /ask for less at a time$/],
    ["skill-resource", { skill: "odd", path: "." }, /one at a time$/],
    ["skill-resource", { skill: "many", path: "." }, /one at a time$/],
  ];
  for (const [name, input, expected] of calls) {
    const { result } = await wire.ask(3, "tools/call", {
      name,
      arguments: input,
    });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, expected);
  }
  const { result } = await wire.ask(4, "resources/read", {
    uri: "skill://odd/1.txt",
  });
  assert.equal(result.contents[0].text.length, 2 ** 20);
});

Deno.test(
  "forty concurrent reads of large files need only the memory of a few reads",
  { ignore: lacks("proc") },
  async () => {
    using place = largePlace();
    await using wire = new Wire(place);
    await wire.initialize();
    let replies = 0;
    const done = Promise.withResolvers<void>();
    wire.onLine = (line) => {
      assert.ok(line.length > 6 * 2 ** 20, line.slice(0, 200));
      if (++replies === 40) done.resolve();
    };
    const reads = Array.from({ length: 40 }, (_, id) => ({
      jsonrpc: "2.0",
      id,
      method: "resources/read",
      params: { uri: `skill://odd/${id % 9}.txt` },
    }));
    await wire.write(reads.map((read) => `${JSON.stringify(read)}\n`).join(""));
    await within(done.promise, "forty replies");
    const peak = peakMemory(wire.process.pid);
    assert.ok(peak < 600, `${peak} MB`);
  },
);

Deno.test("pages fit in messages and together contain everything", async () => {
  using place = new Place();
  const long = "x".repeat(60_000);
  const names = Array.from({ length: 200 }, (_, id) => `s${id}`);
  for (const name of names) {
    place.skill("home/.claude/skills", `a-${name}`, skillMd(`a-${name}`, long));
    const text = `---\nname: b-${name}\ndescription: d\nx: ${long}\n---\n`;
    place.skill("home/.claude/skills", `b-${name}`, text);
  }
  await using wire = new Wire(place);
  await wire.initialize();
  wire.onLine = (line) => {
    assert.ok(line.length < 10 * 2 ** 20, `${line.length} characters`);
    wire.lines.put(line);
  };
  const listed = async (method: string, field: string) =>
    (await pages(wire, method)).flatMap((page) =>
      page[field].map((entry: { uri?: string; name: string }) =>
        entry.uri ?? entry.name
      )
    ).sort();
  const prompts = names.flatMap((name) => [`a-${name}`, `b-${name}`]);
  assert.deepEqual(
    await listed("prompts/list", "prompts"),
    ["skill", ...prompts].sort(),
  );
  assert.deepEqual(
    await listed("resources/list", "resources"),
    prompts.flatMap((name) => [`skill://${name}/SKILL.md`, `skill://${name}/`])
      .sort(),
  );
  assert.deepEqual(
    await listed("skills/list", "skills"),
    names.map((name) => `skill://b-${name}/SKILL.md`).sort(),
  );
});

Deno.test("everything that the server sends is well-formed Unicode, and listed names can be used", async () => {
  using place = new Place();
  const text =
    '---\nname: "odd \\ud800"\ndescription: "half \\udc00"\n"x\\ud800": 1\n---\n';
  place.skill("home/.claude/skills", "odd", text);
  place.skill("home/.claude/skills", "git");
  await using wire = new Wire(place);
  const lines: string[] = [];
  wire.onLine = (line) => {
    lines.push(line);
    wire.lines.put(line);
  };
  await wire.initialize();
  await wire.ask(1, "tools/list");
  const { result } = await wire.ask(2, "prompts/list");
  const [{ name }] = result.prompts.filter(({ name }: { name: string }) =>
    name.startsWith("odd")
  );
  assert.equal(name, "odd \ufffd");
  assert.ok((await wire.ask(3, "prompts/get", { name })).result);
  const call = { name: "skill", arguments: { name } };
  assert.equal(
    (await wire.ask(4, "tools/call", call)).result.isError,
    undefined,
  );
  await wire.ask(5, "resources/list");
  await wire.ask(6, "skills/list");
  await wire.ask(7, "skills/get", { uri: "skill://\ud800/SKILL.md" });
  await wire.ask(8, "completion/complete", {
    ref: { type: "ref/prompt", name: "skill" },
    argument: { name: "name", value: "odd" },
  });
  await wire.ask(9, "tools/call", {
    name: "skill",
    arguments: { name: "\ud800" },
  });
  await wire.ask(10, "tools/call", { name: "\ud800" });
  await wire.ask(11, "\ud800");
  await wire.ask(12, "resources/read", { uri: "skill://\ud800" });
  await wire.ask(13, "initialize", { "\ud800": 1 });
  assert.equal(lines.length, 14);
  for (const line of lines) {
    assert.doesNotMatch(line, /(?<!\\)(?:\\\\)*\\ud[89a-f]/);
  }
});
