import assert from "node:assert/strict";
import { IMPORTS } from "../../tests/testing/environment.ts";
import { Place } from "../../tests/testing/folders.ts";
import type { Reply } from "../../tests/testing/server.ts";
import { ping, Pipe } from "../../tests/testing/transport.ts";
import {
  DEADLINE_MS,
  withGracePeriod,
  within,
  withTimers,
} from "../../tests/testing/waiting.ts";

const pong = (id: number | string) =>
  ({ jsonrpc: "2.0", id, result: {} }) as const;

Deno.test("StdioTransport reads messages from chunks of any size", async () => {
  const messages = [
    ping(1),
    { jsonrpc: "2.0", method: "notifications/x", params: { text: "ä😀\n" } },
    ping("two"),
  ];
  const text = messages.map((message) => JSON.stringify(message)).join(
    "\r\n\n",
  );
  for (const size of [1, 2, 3, 7, 64, Infinity]) {
    const pipe = new Pipe();
    await pipe.write(`${text}\n`, size);
    for (const expected of messages) {
      const message = await pipe.received.take(() => true, "a message");
      assert.deepEqual(message, expected);
    }
  }
});

Deno.test("StdioTransport accepts a last line without a line break", async () => {
  const pipe = new Pipe();
  await pipe.write(JSON.stringify({ jsonrpc: "2.0", method: "x" }));
  await pipe.end();
  assert.deepEqual(pipe.received.takeAll(), [{ jsonrpc: "2.0", method: "x" }]);
});

Deno.test("StdioTransport answers invalid messages with an error and continues", async () => {
  const pipe = new Pipe();
  const bad: [string | Uint8Array, number, (number | string)?][] = [
    ["nonsense", -32700],
    ['{"jsonrpc": "2.0", "id": 1, "method"', -32700],
    [new Uint8Array([0xff, 0xfe, 0x00]), -32700],
    ["x".repeat(10 * 2 ** 20 + 1), -32600],
    ["[]", -32600],
    ["null", -32600],
    ["7", -32600],
    ['{"id": 7, "method": "ping"}', -32600, 7],
    [
      '{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": []}',
      -32600,
      "a",
    ],
    ['{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600],
    ['{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600],
  ];
  for (const [line, code, id] of bad) {
    await pipe.write(line);
    await pipe.write("\n");
    const reply = await pipe.sent.take(() => true, "a reply");
    assert.deepEqual([reply.error!.code, reply.id], [code, id]);
  }
  await pipe.write(`\n  \n${JSON.stringify(ping(2))}\n`);
  assert.deepEqual(await pipe.received.take(() => true, "a ping"), ping(2));
  assert.deepEqual(pipe.sent.takeAll(), []);
});

Deno.test("StdioTransport writes whole lines through partial writes", async () => {
  const pipe = new Pipe({
    write: (bytes) => Promise.resolve(Math.min(bytes.length, 5)),
  });
  await Promise.all([1, 2, 3].map((id) => pipe.transport.send(pong(id))));
  assert.deepEqual(pipe.sent.takeAll(), [pong(1), pong(2), pong(3)]);
});

Deno.test("StdioTransport writes a notification once, however often it is sent before the client reads", async () => {
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
  const pipe = new Pipe({
    write: (bytes) => isRead.then(() => bytes.length),
  });
  const changed = (list: string) => ({
    jsonrpc: "2.0" as const,
    method: `notifications/${list}/list_changed`,
  });
  // The first one is being written, so the client may read it before the next change.
  pipe.transport.send(changed("tools"));
  for (let i = 0; i < 100; i++) {
    pipe.transport.send(changed("tools"));
    pipe.transport.send(changed("prompts"));
  }
  // A notification after a reply means that the reply is outdated.
  pipe.transport.send(pong(1));
  pipe.transport.send(changed("tools"));
  const last = pipe.transport.send(changed("tools"));
  read();
  await last;
  assert.deepEqual<object[]>(pipe.sent.takeAll(), [
    changed("tools"),
    changed("tools"),
    changed("prompts"),
    pong(1),
    changed("tools"),
  ]);
});

Deno.test("StdioTransport writes pending replies after the end of the input", async () => {
  const pipe = new Pipe();
  await pipe.write(`${JSON.stringify(ping(1))}\n${JSON.stringify(ping(2))}\n`);
  await pipe.received.take((message) => (message as Reply).id === 2, "ping 2");
  const end = pipe.end();
  await pipe.reply(1);
  await pipe.reply(2);
  await end;
  assert.deepEqual(pipe.sent.takeAll(), [pong(1), pong(2)]);
});

Deno.test("StdioTransport stops waiting for replies that never come", () =>
  withGracePeriod(10, async () => {
    const pipe = new Pipe();
    await pipe.write(`${JSON.stringify(ping(1))}\n`);
    await pipe.end();
  }));

Deno.test("StdioTransport closes at the end of the input if nobody reads the replies", () =>
  withGracePeriod(10, async () => {
    const pipe = new Pipe({ write: () => new Promise(() => {}) });
    const text = "x".repeat(2 ** 20);
    pipe.transport.onmessage = (message) => {
      const { id } = message as { id: number };
      pipe.transport.send({ jsonrpc: "2.0", id, result: { text } });
    };
    const lines = Array.from(
      { length: 40 },
      (_, id) => JSON.stringify(ping(id)),
    );
    await pipe.write(`${lines.join("\n")}\n`);
    await pipe.end();
  }));

Deno.test("StdioTransport retries a write that would block", async () => {
  let calls = 0;
  const pipe = new Pipe({
    write: (bytes) =>
      calls++ % 2 === 0
        ? Promise.reject(new Deno.errors.WouldBlock())
        : Promise.resolve(Math.min(bytes.length, 10)),
  });
  await pipe.transport.send(pong(1));
  assert.deepEqual(pipe.sent.takeAll(), [pong(1)]);
  assert.ok(calls > 4);
});

Deno.test("StdioTransport closes when its output is closed", async () => {
  const pipe = new Pipe({
    write: () => Promise.reject(new Deno.errors.BrokenPipe()),
  });
  await pipe.transport.send(pong(1));
  await within(pipe.closed.promise, "the transport to close");
  await pipe.transport.send(pong(2));
  pipe.transport.close();
});

Deno.test("StdioTransport stops reading while its output is blocked", async () => {
  const gate = Promise.withResolvers<void>();
  const pipe = new Pipe({
    write: async (bytes) => {
      await gate.promise;
      return bytes.length;
    },
  });
  const text = "x".repeat(2 ** 20);
  pipe.transport.onmessage = (message) => {
    pipe.received.put(message);
    const { id } = message as { id: number };
    pipe.transport.send({ jsonrpc: "2.0", id, result: { text } });
  };
  const writing = (async () => {
    for (let id = 0; id < 100; id++) {
      await pipe.write(`${JSON.stringify(ping(id))}\n`);
    }
  })();
  await pipe.received.take((message) => (message as Reply).id === 7, "ping 7");
  assert.ok(
    pipe.received.values.length < 10,
    "it kept reading after about 8 MiB",
  );
  gate.resolve();
  await within(writing, "the rest to be read");
  await pipe.sent.take(({ id }) => id === 99, "the last reply");
});

Deno.test("StdioTransport limits the number of messages in progress", () =>
  withTimers((delay) => Math.max(delay, 2 * DEADLINE_MS), async () => {
    const pipe = new Pipe();
    const lines = Array.from(
      { length: 40 },
      (_, id) => JSON.stringify(ping(id)),
    );
    await pipe.write(`${lines.join("\n")}\n`);
    await pipe.received.take(
      (message) => (message as Reply).id === 7,
      "ping 7",
    );
    for (let id = 0; id < 3; id++) await pipe.reply(id);
    assert.equal(pipe.received.values.length, 7);
    await pipe.reply(3);
    await pipe.received.take(
      (message) => (message as Reply).id === 11,
      "ping 11",
    );
    assert.equal(pipe.received.values.length, 10);
    pipe.transport.close();
  }));

Deno.test("StdioTransport delivers more messages if some take a long time", async () => {
  const pipe = new Pipe();
  const lines = Array.from(
    { length: 100 },
    (_, id) => JSON.stringify(ping(id)),
  );
  await pipe.write(`${lines.join("\n")}\n`);
  await pipe.received.take(
    (message) => (message as Reply).id === 99,
    "ping 99",
  );
  pipe.transport.close();
});

Deno.test("StdioTransport sends no message that is too long for clients", async () => {
  const pipe = new Pipe();
  const reply = (text: string) => ({ ...pong(1), result: { text } });
  const empty = JSON.stringify(reply("")).length;
  const limit = 10 * 2 ** 20 - 128 * 1024;
  for (const character of ["x", "漢", "\u0001"]) {
    const size = JSON.stringify(character).length > 4
      ? 6
      : new TextEncoder().encode(character).length;
    const most = Math.floor((limit - empty) / size);
    await pipe.transport.send(reply(character.repeat(most)));
    assert.equal(pipe.sent.takeAll().length, 1);
    assert.throws(
      () => pipe.transport.send(reply(character.repeat(most + 1))),
      RangeError,
    );
  }
  const loop: Record<string, unknown> = {};
  loop.loop = loop;
  assert.throws(() => pipe.transport.send({ ...pong(1), result: loop }));
  assert.deepEqual(pipe.sent.takeAll(), []);
});

Deno.test("StdioTransport sends only well-formed Unicode", async () => {
  const pipe = new Pipe();
  const odd = { "k\ud800": ["v\udfff", "\\ud800", "😀"] };
  await pipe.transport.send({ jsonrpc: "2.0", id: "\ud83d", result: odd });
  assert.deepEqual(pipe.sent.takeAll(), [{
    jsonrpc: "2.0",
    id: "\ufffd",
    result: { "k\ufffd": ["v\ufffd", "\\ud800", "😀"] },
  }]);
});

Deno.test("StdioTransport refuses an ID that is too long to repeat", async () => {
  const pipe = new Pipe();
  await pipe.write(`${JSON.stringify(ping("x".repeat(1_001)))}\n`);
  const { id, error } = await pipe.sent.take(() => true, "the refusal");
  assert.deepEqual([id, error!.code], [undefined, -32600]);
});

/**
 * A program that prints how much memory grows, in MB, while a transport reads
 * one line byte by byte.
 */
const BYTE_BY_BYTE = `
import { StdioTransport } from "${import.meta.resolve("./stdio_transport.ts")}";
const memory = () => Deno.memoryUsage().rss / 2 ** 20;
const before = memory();
let count = 0;
new StdioTransport({
  read(buffer) {
    buffer[0] = 0x20;
    if (count++ < 600_000) return Promise.resolve(1);
    console.log(memory() - before);
    Deno.exit();
  },
}).start();
`;

Deno.test("StdioTransport buffers a line that arrives byte by byte in little more memory than the line's size", async () => {
  using place = new Place();
  const file = place.file("main.ts", BYTE_BY_BYTE);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", ...IMPORTS, file],
  }).output();
  const growth = Number(new TextDecoder().decode(stdout));
  assert.ok(growth > 0 && growth < 100, `${growth} MB`);
});

Deno.test("StdioTransport delivers at most 1 MiB before it is ready", async () => {
  const ready = Promise.withResolvers<void>();
  const pipe = new Pipe({ ready: ready.promise });
  pipe.transport.onmessage = (message) => pipe.received.put(message);
  const text = "x".repeat(2 ** 16);
  let isWritten = false;
  const writing = (async () => {
    for (let id = 0; id < 60; id++) {
      await pipe.write(
        `${JSON.stringify({ ...ping(id), params: { text } })}\n`,
      );
    }
    isWritten = true;
  })();
  await pipe.received.take((message) => (message as Reply).id === 14, "14");
  for (let turn = 0; turn < 100; turn++) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  assert.ok(!isWritten);
  assert.equal(pipe.received.values.length, 14);
  ready.resolve();
  await within(writing, "the rest to be read");
  await pipe.received.take((message) => (message as Reply).id === 59, "59");
  pipe.transport.close();
});

Deno.test("StdioTransport closes before it is ready if the input ends without requests, or a grace period later", () =>
  withGracePeriod(2 * DEADLINE_MS, async () => {
    const never = new Promise(() => {});
    await new Pipe({ ready: never }).end();
    const { now } = performance;
    const pipe = new Pipe({ ready: never });
    await pipe.write(`${JSON.stringify(ping(1))}\n`);
    await new Promise((resolve) => setTimeout(resolve));
    performance.now = () => now.call(performance) + 1_000;
    try {
      await pipe.end();
    } finally {
      performance.now = now;
    }
  }));

Deno.test("StdioTransport does not wait forever to be ready after the end of the input", () =>
  withGracePeriod(10, async () => {
    const pipe = new Pipe({ ready: new Promise(() => {}) });
    const errors: Error[] = [];
    pipe.transport.onerror = (error) => errors.push(error);
    await pipe.write(`${JSON.stringify(ping(1))}\n`);
    await pipe.end();
    assert.match(errors[0]!.message, /before the server was ready/);
  }));

Deno.test("StdioTransport waits for a slow message only once, however many follow", async () => {
  const pipe = new Pipe();
  const slow = Promise.withResolvers<void>();
  let waits = 0;
  const then = slow.promise.then.bind(slow.promise);
  slow.promise.then = ((...handlers: Parameters<typeof then>) => {
    waits++;
    return then(...handlers);
  }) as typeof then;
  const last = Promise.withResolvers<void>();
  pipe.transport.onmessage = (message) => {
    if (!("id" in message)) return;
    return message.id === 1 ? slow.promise : handle(message.id);
  };
  const handle = async (id: unknown) => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (id === 1_000) last.resolve();
  };
  const lines = Array.from(
    { length: 1_000 },
    (_, index) => `${JSON.stringify(ping(index + 1))}\n`,
  );
  await pipe.write(lines.join(""));
  await within(last.promise, "the last message");
  assert.ok(waits <= 2, `${waits} waits`);
  slow.resolve();
  await pipe.end();
});
