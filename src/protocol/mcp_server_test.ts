import assert from "node:assert/strict";
import { McpServer } from "./mcp_server.ts";
import type { Permit } from "./semaphore.ts";
import { nextId } from "../../tests/testing/client.ts";
import {
  CLIENT_INFO,
  metaOf,
  MODERN_META,
  subscriptionOf,
} from "../../tests/testing/modern.ts";
import type { Reply } from "../../tests/testing/server.ts";
import { Pipe } from "../../tests/testing/transport.ts";
import {
  DEADLINE_MS,
  eventually,
  settled,
  withGracePeriod,
  within,
} from "../../tests/testing/waiting.ts";

/** Creates a request to listen. */
function listenOf(id: number | string, notifications = {}): object {
  const params = { _meta: MODERN_META, notifications };
  return { id, method: "subscriptions/listen", params };
}

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

  constructor(
    options: Omit<ConstructorParameters<typeof Pipe>[0], "server"> = {},
  ) {
    this.pipe = new Pipe({ server: this.server, ...options });
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
  async askAs(name: string, method: string): Promise<Reply> {
    return await this.ask(method, { _meta: metaOf(name) });
  }

  async initialize(): Promise<Reply> {
    return await this.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "legacy", version: "1" },
    });
  }

  async cancel(requestId: number | string): Promise<void> {
    const params = { requestId };
    await this.write({ method: "notifications/cancelled", params });
  }

  async listen(id: number | string, notifications = {}): Promise<void> {
    await this.write(listenOf(id, notifications));
    await this.acknowledgment(id);
  }

  async acknowledgment(id: number | string): Promise<void> {
    await this.pipe.sent.take(
      (line) => subscriptionOf(JSON.stringify(line)) === id,
      "the acknowledgment",
    );
  }

  /** Takes the messages, and returns the IDs of their subscriptions. */
  async takeSubscriptionIds(): Promise<unknown[]> {
    await this.ask("ping");
    return this.pipe.sent.takeAll()
      .map((line) => subscriptionOf(JSON.stringify(line)));
  }
}

Deno.test("McpServer passes the client's info to its handlers in both eras", async () => {
  const bare = new BareServer();
  const clients: (string | undefined)[] = [];
  bare.server.setRequestHandler("tools/list", (_, { client }) => {
    clients.push(client);
    return {};
  });
  const { [CLIENT_INFO]: _, ...anonymous } = MODERN_META;
  const askEach = async () => {
    await bare.ask("tools/list");
    await bare.askAs("modern", "tools/list");
    await bare.ask("tools/list", { _meta: anonymous });
    return clients.splice(0);
  };
  assert.deepEqual(await askEach(), [undefined, "modern", undefined]);
  await bare.initialize();
  assert.deepEqual(await askEach(), ["legacy", "modern", "legacy"]);
});

Deno.test("McpServer sends only the notifications about lists that a client wants", async () => {
  const bare = new BareServer();
  await bare.server.notifyListChanged("tools");
  await bare.listen("a", { toolsListChanged: true, promptsListChanged: false });
  await bare.server.notifyListChanged("tools");
  await bare.server.notifyListChanged("prompts");
  assert.deepEqual(await bare.takeSubscriptionIds(), ["a"]);
  await bare.initialize();
  await bare.cancel("a");
  await bare.server.notifyListChanged("tools");
  assert.deepEqual(await bare.takeSubscriptionIds(), [undefined]);
});

/** Records the subscriptions that a server starts and ends. */
function recordSubscriptions({ server }: BareServer) {
  const record = {
    started: 0,
    /** Those that have not ended. */
    active: new Map<object, { uri: string; notify: () => void }>(),
    /** Changes a resource. */
    change: (uri: string) => {
      for (const subscription of record.active.values()) {
        if (subscription.uri === uri) subscription.notify();
      }
    },
  };
  server.onSubscribe = (uri, notify) => {
    record.started++;
    const key = {};
    record.active.set(key, { uri, notify });
    return Promise.resolve(() => record.active.delete(key));
  };
  return record;
}

Deno.test("McpServer notifies each subscriber once, and ends its subscription with it", async () => {
  const bare = new BareServer();
  const record = recordSubscriptions(bare);
  await bare.initialize();
  for (const id of ["a", "b"]) {
    await bare.listen(id, { resourceSubscriptions: ["x:y", "x:y"] });
  }
  for (const _ of [1, 2]) {
    await bare.ask("resources/subscribe", { uri: "x:y" });
  }
  record.change("x:y");
  const ids = await bare.takeSubscriptionIds();
  assert.deepEqual(ids.sort(), ["a", "b", undefined]);
  await bare.cancel("a");
  await bare.ask("resources/unsubscribe", { uri: "x:y" });
  record.change("x:y");
  assert.deepEqual(await bare.takeSubscriptionIds(), ["b"]);
  await bare.cancel("b");
  await bare.ask("ping");
  assert.deepEqual([record.started, record.active.size], [3, 0]);
});

Deno.test("McpServer sends no notification to a listener before the acknowledgment", async () => {
  const bare = new BareServer();
  const record = recordSubscriptions(bare);
  const gate = Promise.withResolvers<void>();
  bare.server.onSubscribe = async (uri, notify) => {
    record.active.set({}, { uri, notify });
    await gate.promise;
    return () => {};
  };
  const wanted = { toolsListChanged: true, resourceSubscriptions: ["x:y"] };
  await bare.write(listenOf("a", wanted));
  await bare.ask("ping");
  record.change("x:y");
  await bare.server.notifyListChanged("tools");
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
  gate.resolve();
  await bare.acknowledgment("a");
  record.change("x:y");
  await bare.server.notifyListChanged("tools");
  assert.deepEqual(await bare.takeSubscriptionIds(), ["a", "a"]);
});

/** Makes the requests `who` of a server wait. */
function holdRequests({ server }: BareServer) {
  const started: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  server.setRequestHandler("tools/list", async (_request, { id }) => {
    started.push(id);
    await gate.promise;
    return {};
  });
  return { started, open: gate.resolve };
}

const who = (id: number) => ({ id, method: "tools/list" });

Deno.test("McpServer handles eight requests at a time, and none that was cancelled while it waited", async () => {
  const bare = new BareServer();
  const { started, open } = holdRequests(bare);
  for (let id = 100; id < 110; id++) await bare.listen(id);
  await bare.write(...Array.from({ length: 10 }, (_, id) => who(id)));
  // Pings, cancellations, and listeners do not wait.
  await bare.ask("ping");
  assert.deepEqual(started, [0, 1, 2, 3, 4, 5, 6, 7]);
  await bare.cancel(8);
  await bare.listen("a");
  open();
  await bare.reply(9);
  assert.deepEqual(started, [0, 1, 2, 3, 4, 5, 6, 7, 9]);
  assert.ok(bare.pipe.sent.takeAll().every(({ id }) => id !== 8));
});

Deno.test("McpServer starts the next request when one releases its permit, but only once", async () => {
  const bare = new BareServer();
  const permits: Permit[] = [];
  bare.server.setRequestHandler("tools/list", (_params, { permit }) => {
    permits.push(permit!);
    return new Promise(() => {});
  });
  await bare.write(...Array.from({ length: 20 }, (_, id) => who(id)));
  await bare.ask("ping");
  for (const count of [8, 9, 10]) {
    await eventually(() => permits.length === count, "the next to start");
    permits[count - 8]!.release();
    permits[count - 8]!.release();
  }
  await eventually(() => permits.length === 11, "the last one to start");
  await bare.ask("ping");
  assert.equal(permits.length, 11);
});

Deno.test("McpServer reads no more while a thousand requests wait", async () => {
  const bare = new BareServer();
  const { open } = holdRequests(bare);
  await bare.write(...Array.from({ length: 1_100 }, (_, id) => who(id)));
  const writing = bare.write({ id: "late", method: "ping" });
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(bare.pipe.sent.takeAll(), []);
  open();
  await writing;
  await bare.reply("late");
});

Deno.test("McpServer reads no more while requests of 1 MB wait", async () => {
  const bare = new BareServer();
  const { started, open } = holdRequests(bare);
  const params = { _meta: { text: "x".repeat(2 ** 18) } };
  let read = 0;
  const writing = (async () => {
    for (; read < 8; read++) await bare.write({ ...who(read), params });
  })();
  await settled(() => read);
  assert.ok(read >= 3 && read < 6, `${read}`);
  open();
  await writing;
  await bare.reply(7);
  assert.equal(started.length, 8);
});

Deno.test("McpServer keeps of a request to listen only a short filter", async () => {
  const bare = new BareServer();
  const requests: { params?: unknown }[] = [];
  const { onMessage } = bare.pipe.transport;
  bare.pipe.transport.onMessage = (message, length) => {
    requests.push(message as { params?: unknown });
    return onMessage!(message, length);
  };
  await bare.listen(1, { toolsListChanged: true });
  assert.deepEqual(requests.map(({ params }) => params), [undefined]);
  const resourceSubscriptions = ["a", "b"].map((it) => it.repeat(2 ** 15));
  await bare.write(listenOf("long", { resourceSubscriptions }));
  assert.deepEqual((await bare.reply("long")).error, {
    code: -32602,
    message:
      "Cannot listen: the filter has more than 65536 characters; listen with several requests",
  });
});

Deno.test("McpServer reads no more of any method while much waits to be written", async () => {
  for (const method of ["ping", "initialize", "subscriptions/listen"]) {
    const bare = new BareServer({ write: () => new Promise(() => {}) });
    bare.server.setRequestHandler("tools/list", () => ({
      text: "x".repeat(2 ** 20),
    }));
    await bare.write(...Array.from({ length: 30 }, (_, id) => who(id)));
    let read = 0;
    const params = { _meta: MODERN_META, notifications: {} };
    (async () => {
      for (; read < 5_000; read++) {
        await bare.write({ id: read, method, params });
      }
    })();
    await settled(() => read);
    assert.ok(read < 10, `${read} of ${method}`);
  }
});

Deno.test("McpServer has 1,024 listeners, and refuses more until one ends", async () => {
  const bare = new BareServer();
  for (let id = 0; id < 1_024; id++) await bare.listen(id);
  await bare.write(listenOf("more"));
  assert.deepEqual((await bare.reply("more")).error, {
    code: -32603,
    message: "Cannot listen: there are 1024 listeners; cancel one first",
  });
  await bare.cancel(7);
  await bare.listen("a");
  await bare.ask("ping");
});

Deno.test("McpServer has 4,096 subscriptions, and refuses more until one ends", async () => {
  const bare = new BareServer();
  recordSubscriptions(bare);
  const resourceSubscriptions = Array.from({ length: 256 }, (_, i) => `x:${i}`);
  for (let id = 0; id < 15; id++) {
    await bare.listen(id, { resourceSubscriptions });
  }
  for (const uri of resourceSubscriptions) {
    const { error } = await bare.ask("resources/subscribe", { uri });
    assert.equal(error, undefined);
  }
  const more = { uri: "x:more" };
  const { error } = await bare.ask("resources/subscribe", more);
  assert.deepEqual(error, {
    code: -32603,
    message:
      "Cannot subscribe: there are 4096 subscriptions; unsubscribe from a resource first",
  });
  const again = await bare.ask("resources/subscribe", { uri: "x:0" });
  assert.deepEqual(again.result, {});
  await bare.ask("resources/unsubscribe", { uri: "x:0" });
  const { result } = await bare.ask("resources/subscribe", more);
  assert.deepEqual(result, {});
});

Deno.test("McpServer sends a listener each notification once after it has read what waits", async () => {
  const gate = Promise.withResolvers<void>();
  let isRead = true;
  const bare = new BareServer({
    write: async (bytes: Uint8Array) => {
      if (!isRead) await gate.promise;
      return bytes.length;
    },
  });
  const record = recordSubscriptions(bare);
  const wanted = { toolsListChanged: true, resourceSubscriptions: ["x:y"] };
  await bare.listen("a", wanted);
  await bare.listen("b", wanted);
  isRead = false;
  bare.server.setRequestHandler("prompts/list", () => ({
    text: "x".repeat(9 * 2 ** 20),
  }));
  await bare.write(...[1, 2].map((id) => ({ id, method: "prompts/list" })));
  await settled(() => 0);
  for (let change = 0; change < 1_000; change++) {
    bare.server.notifyListChanged("tools");
    record.change("x:y");
  }
  gate.resolve();
  const ids = await bare.takeSubscriptionIds();
  const received = ids.filter((id) => id !== undefined);
  assert.deepEqual(received, ["a", "b", "a", "b"]);
});

Deno.test("McpServer starts nothing while 4 MiB wait to be written, and ends in spite of that", () =>
  withGracePeriod(10, async () => {
    let isRead = true;
    const bare = new BareServer({
      write: (bytes: Uint8Array) =>
        isRead ? Promise.resolve(bytes.length) : new Promise(() => {}),
    });
    let started = 0;
    bare.server.setRequestHandler("tools/list", () => {
      started++;
      return { text: "x".repeat(2 ** 20) };
    });
    await bare.ask("ping");
    isRead = false;
    await bare.write(...Array.from({ length: 100 }, (_, id) => who(id)));
    await eventually(() => started >= 4, "4 MiB to wait");
    await bare.pipe.end();
    assert.ok(started <= 12, `${started}`);
  }));

Deno.test("McpServer ends the listeners at the end of the input even if another request hangs", () =>
  withGracePeriod(100, async () => {
    const bare = new BareServer();
    bare.server.setRequestHandler("tools/list", () => new Promise(() => {}));
    await bare.listen("a");
    await bare.write({ id: "b", method: "tools/list" });
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
  bare.server.setRequestHandler("prompts/list", () => ({ calls: ++calls }));
  for (const id of ["a", "b"]) await bare.write({ id, method: "prompts/list" });
  await bare.cancel("a");
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
  await bare.write(listenOf("a"), { id: "b", method: "prompts/list" });
  const end = bare.pipe.end();
  ready.resolve();
  await end;
  const replies = bare.pipe.sent.takeAll();
  assert.deepEqual(replies.map(({ id }) => id).sort(), ["a", "b", undefined]);
});

Deno.test("McpServer answers with an error if it never gets ready", async () => {
  const bare = new BareServer({ ready: Promise.reject(new Error("no disk")) });
  const { error } = await bare.ask("tools/list");
  assert.deepEqual([error!.code, error!.message], [-32603, "no disk"]);
  assert.deepEqual((await bare.ask("ping")).result, {});
});

Deno.test("McpServer answers what is under way when it is closed", () =>
  withGracePeriod(2 * DEADLINE_MS, async () => {
    const bare = new BareServer();
    const { open } = holdRequests(bare);
    await bare.listen("a");
    await bare.write(who(1));
    await bare.ask("ping");
    bare.server.close();
    open();
    await within(bare.pipe.closed.promise, "the transport to close");
    const ids = bare.pipe.sent.takeAll().map(({ id }) => id);
    assert.deepEqual(ids, [1, "a"]);
  }));
