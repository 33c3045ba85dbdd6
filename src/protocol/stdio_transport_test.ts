import assert from "node:assert/strict";
import type { Reply } from "../../tests/testing/server.ts";
import { ping, Pipe } from "../../tests/testing/transport.ts";
import {
  settled,
  withGracePeriod,
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

/** More than a line may have, in more than one part of what is read at a time. */
const LONG = "x".repeat(10 * 2 ** 20 + 200_000);

Deno.test("StdioTransport answers invalid messages with an error and continues", async () => {
  const pipe = new Pipe();
  const bad: [string | Uint8Array, number, (number | string)?][] = [
    ["nonsense", -32700],
    [new Uint8Array([0xff, 0xfe, 0x00]), -32700],
    [`{"jsonrpc":"2.0","id":"b","params":{"a":"${LONG}`, -32600, "b"],
    [`{"jsonrpc": "2.0", "method": "x", "id": 8, "a": "${LONG}"}`, -32600, 8],
    [`{"params":{"a":"${LONG}"},"jsonrpc":"2.0","id":9}`, -32600, 9],
    ['{"id": 7, "method": "ping"}', -32600, 7],
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

Deno.test("StdioTransport writes whole lines through partial writes and a full pipe", async () => {
  let writes = 0;
  const pipe = new Pipe({
    write: (bytes) =>
      ++writes % 5 === 0
        ? Promise.reject(new Deno.errors.WouldBlock())
        : Promise.resolve(Math.min(bytes.length, 5)),
  });
  await Promise.all([1, 2, 3].map((id) => pipe.transport.send(pong(id))));
  assert.deepEqual(pipe.sent.takeAll(), [pong(1), pong(2), pong(3)]);
});

Deno.test("StdioTransport sends an error in place of a message that cannot be sent", async () => {
  const pipe = new Pipe();
  const loop: Record<string, unknown> = {};
  loop.loop = loop;
  await pipe.transport.send({ ...pong(1), result: loop });
  const [{ id, error }] = pipe.sent.takeAll() as [Reply];
  assert.deepEqual([id, error!.code], [1, -32603]);
});

Deno.test("StdioTransport gathers what is sent while it writes, and knows how much waits", async () => {
  const sizes: number[] = [];
  const gate = Promise.withResolvers<void>();
  const pipe = new Pipe({
    write: async (bytes) => {
      sizes.push(bytes.length);
      await gate.promise;
      return bytes.length;
    },
  });
  const result = { text: "x".repeat(2 ** 20) };
  const first = pipe.transport.send(pong(0));
  await Promise.resolve();
  for (let id = 1; id <= 4; id++) pipe.transport.send({ ...pong(id), result });
  let hasRoom = false;
  const room = pipe.transport.room().then(() => hasRoom = true);
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(hasRoom, false);
  gate.resolve();
  await Promise.all([first, room]);
  await pipe.sent.take(({ id }) => id === 4, "the last message");
  const expected = [JSON.stringify(pong(0)).length + 1, 2 ** 18];
  assert.deepEqual(sizes.slice(0, 2), expected);
});

Deno.test("StdioTransport reads no more while 4 MiB wait to be written, not even what is invalid", async () => {
  const gate = Promise.withResolvers<void>();
  const pipe = new Pipe({
    write: async ({ length }) => {
      await gate.promise;
      return length;
    },
  });
  // The error repeats the ID.
  const invalid = `${JSON.stringify({ id: "x".repeat(1_000) })}\n`;
  let read = 0;
  const writing = (async () => {
    for (; read < 20_000; read += 50) await pipe.write(invalid.repeat(50));
    await pipe.write(`${JSON.stringify(ping(1))}\n`);
  })();
  await settled(() => read);
  assert.ok(read > 3_000 && read < 4_000, `${read}`);
  gate.resolve();
  await writing;
  await pipe.received.take(() => true, "the last message");
});

Deno.test("StdioTransport closes at the end of the input when the last replies are written", async () => {
  const pipe = new Pipe();
  pipe.transport.onEnd = async () => {
    await Promise.resolve();
    pipe.transport.send(pong(1));
  };
  await pipe.write(`${JSON.stringify(ping(1))}\n`);
  await pipe.end();
  assert.deepEqual(pipe.sent.takeAll(), [pong(1)]);
});

Deno.test("StdioTransport takes no message once it ends, although it waits for replies", async () => {
  const pipe = new Pipe();
  const replies = Promise.withResolvers<void>();
  pipe.transport.onEnd = () => replies.promise;
  pipe.transport.end();
  for (const line of [JSON.stringify(ping(1)), "nonsense", ""]) {
    await pipe.write(`${line}\n`);
  }
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(pipe.received.takeAll(), []);
  assert.deepEqual(pipe.sent.takeAll(), []);
  replies.resolve();
  await pipe.end();
});

Deno.test("StdioTransport closes two seconds after the end if nothing can be written", () =>
  withGracePeriod(10, async () => {
    for (const onEnd of [() => new Promise<void>(() => {}), undefined]) {
      const pipe = new Pipe({ write: () => new Promise(() => {}) });
      Object.assign(pipe.transport, { onEnd });
      pipe.transport.send(pong(1));
      await pipe.end();
    }
  }));

Deno.test("StdioTransport writes everything after the end to a client that reads slowly", async () => {
  let writes = 0;
  let waits = 0;
  const delayOf = (delay: number) => {
    if (delay === 2_000) waits++;
    return delay;
  };
  await withTimers(delayOf, async () => {
    const pipe = new Pipe({
      write: (bytes) => {
        writes++;
        return Promise.resolve(bytes.length);
      },
    });
    const result = { text: "x".repeat(2 ** 23) };
    pipe.transport.onEnd = () => pipe.transport.send({ ...pong(1), result });
    await pipe.end();
    assert.equal(pipe.sent.takeAll().length, 1);
  });
  // After the end and after each write, it waits as long as for one write.
  assert.deepEqual([writes, waits], [33, 34]);
});
