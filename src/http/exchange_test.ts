import assert from "node:assert/strict";
import { Exchanges, LIMITS } from "./exchange.ts";
import { eventually, within } from "../../tests/testing/waiting.ts";

type Work = PromiseWithResolvers<void> & { readonly signal: AbortSignal };

/**
 * A server whose replies have the size in a message. Those to `wait` are sent when the
 * test says so. The client is named in a header.
 */
class TestServer implements AsyncDisposable {
  readonly exchanges: Exchanges;
  readonly works: Work[] = [];
  /** Sends a notification of a size to the last listener, until it ends. */
  publish: ((size: number) => void) | undefined;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #connections: Deno.Conn[] = [];
  /** Whether nothing waits any more. */
  #isOver = false;

  constructor(limits: Partial<typeof LIMITS> = {}) {
    this.exchanges = new Exchanges({ ...LIMITS, ...limits });
    const options = { port: 0, hostname: "127.0.0.1", onListen() {} };
    this.#server = Deno.serve(options, (request) => {
      const client = request.headers.get("client") ?? "";
      return this.exchanges.respond(
        request,
        client,
        ({ signal }, message) => this.#handle(message, signal),
      );
    });
  }

  async #handle(
    message: unknown,
    signal: AbortSignal,
  ): Promise<Response> {
    const { method, size = 10, isSlow = false } = message as {
      method: string;
      size?: number;
      isSlow?: boolean;
    };
    if (size === 0) return new Response(null, { status: 202 });
    if (method === "subscriptions/listen") {
      const start = (controller: ReadableStreamDefaultController) => {
        controller.enqueue(new Uint8Array(1));
        signal.addEventListener("abort", () => controller.close());
        this.publish = (size) => controller.enqueue(new Uint8Array(size));
      };
      const cancel = () => this.publish = undefined;
      return new Response(new ReadableStream({ start, cancel }));
    }
    if (!this.#isOver && (method === "wait" || isSlow)) {
      const work = { ...Promise.withResolvers<void>(), signal };
      this.works.push(work);
      await work.promise;
    }
    return new Response(new Uint8Array(size));
  }

  async fetch(message: object, client = ""): Promise<Response> {
    const { port } = this.#server.addr;
    const body = JSON.stringify(message);
    const init = { method: "POST", body, headers: { client } };
    return await fetch(`http://127.0.0.1:${port}/`, init);
  }

  async status(message: object, client = ""): Promise<number> {
    const response = await this.fetch(message, client);
    await response.bytes();
    return response.status;
  }

  /** Sends a text on a connection of its own. */
  async send(
    text: string,
    { client = "", framing = `Content-Length: ${text.length}` } = {},
  ) {
    const { port } = this.#server.addr;
    const connection = await Deno.connect({ port, hostname: "127.0.0.1" });
    this.#connections.push(connection);
    const head =
      `POST / HTTP/1.1\r\nHost: x\r\nclient: ${client}\r\n${framing}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head + text));
    return connection;
  }

  /** Sends a request whose reply is too large for the system to take without a reader. */
  async sendLarge(client?: string): Promise<Deno.Conn> {
    const text = JSON.stringify({ ...QUICK, size: LARGE });
    const connection = await this.send(text, { client });
    await eventually(() => this.exchanges.used.unsent > 0, "the reply");
    return connection;
  }

  async settled(used: Partial<Exchanges["used"]>): Promise<void> {
    const all = { bodies: 0, handled: 0, unsent: 0, listeners: 0, ...used };
    const isSettled = () =>
      JSON.stringify(this.exchanges.used) === JSON.stringify(all);
    await eventually(isSettled, JSON.stringify(all));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const work of this.works) work.resolve();
    for (const connection of this.#connections) {
      try {
        connection.close();
      } catch {
        // The test has closed it.
      }
    }
    await this.settled({});
    await this.#server.shutdown();
  }
}

/** A message with a method, as JSON-RPC. */
const ask = (method: string) => ({ jsonrpc: "2.0", id: 1, method });

const WAIT = ask("wait");
const QUICK = ask("quick");
const LISTEN = ask("subscriptions/listen");
const PING = ask("ping");

/** The size of a large reply, in bytes. */
const LARGE = 30_000_000;

/** How much requests with some messages count, in bytes. */
const sizeOf = (...messages: object[]) =>
  messages.map((message) => 4_096 + JSON.stringify(message).length)
    .reduce((a, b) => a + b);

/** Reads what has arrived, or "" if the connection is closed. */
async function readSome(connection: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(64 * 1024);
  const size = await within(connection.read(buffer), "bytes or the end");
  return new TextDecoder("latin1").decode(buffer.subarray(0, size ?? 0));
}

/** Reads until a connection is closed. */
async function readAll(connection: Deno.Conn): Promise<string> {
  let text = "";
  for (let part; (part = await readSome(connection)) !== "";) text += part;
  return text;
}

Deno.test("Exchanges.respond() refuses a body whose length is not one number, and takes nothing for it", async () => {
  await using server = new TestServer();
  for (const length of ["2\r\nContent-Length: 2", "2, 2"]) {
    const framing = `Content-Length: ${length}`;
    const connection = await server.send("{}", { framing });
    assert.match(await readSome(connection), /^HTTP\/1\.1 400 /);
    await server.settled({});
  }
  assert.equal(await server.status(QUICK), 200);
});

Deno.test("Exchanges.respond() refuses a body that is too large or too slow", async () => {
  await using server = new TestServer({ bodySize: 1_000, bodyMs: 50 });
  const large = await server.fetch({ ...QUICK, text: "x".repeat(1_000) });
  assert.equal(large.status, 413);
  assert.match(await large.text(), /must not exceed 1000 bytes/);
  const stream = ReadableStream.from(["x".repeat(600), "x".repeat(600)])
    .pipeThrough(new TextEncoderStream());
  const url = large.url;
  const chunked = await fetch(url, { method: "POST", body: stream });
  assert.equal(chunked.status, 413);
  assert.match(await chunked.text(), /must not exceed 1000 bytes/);
  const slow = await server.send("{", { framing: "Content-Length: 100" });
  assert.match(await readSome(slow), /^HTTP\/1.1 408 /);
  assert.equal(await server.status(QUICK), 200);
});

Deno.test("Exchanges.respond() assembles a body from small parts", async () => {
  await using server = new TestServer();
  const text = JSON.stringify({ ...QUICK, text: "x".repeat(300) });
  const connection = await server.send("", {
    framing: `Content-Length: ${text.length}`,
  });
  for (const character of text) {
    await connection.write(new TextEncoder().encode(character));
  }
  assert.match(await readSome(connection), /^HTTP\/1.1 200 /);
});

Deno.test("Exchanges.respond() refuses a body of very many small parts", async () => {
  await using server = new TestServer({ bodySize: 10_000 });
  const framing = "Transfer-Encoding: chunked";
  const connection = await server.send("1\r\n \r\n".repeat(100), { framing });
  const response = await readSome(connection);
  assert.match(response, /^HTTP\/1.1 413 [^]* too many small parts: send /);
});

Deno.test("Exchanges.respond() refuses what cannot wait", async () => {
  await using server = new TestServer({ handled: 1, waiting: 160_000 });
  const first = server.status(WAIT, "a");
  await eventually(() => server.works.length === 1, "the first");
  const rest = Array.from({ length: 8 }, () => server.status(WAIT, "a"));
  const size = sizeOf(WAIT);
  await server.settled({ handled: 1, bodies: 9 * size });
  // It has a quarter of the room.
  const refused = await server.fetch(WAIT, "a");
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "1");
  await refused.bytes();
  const other = server.status(WAIT, "b");
  await server.settled({ handled: 1, bodies: 10 * size });
  for (let count = 1; count <= 10; count++) {
    await eventually(() => server.works.length === count, "the next one");
    server.works.at(-1)!.resolve();
    // Each client has its turn.
    if (count === 3) assert.equal(await other, 200);
  }
  const statuses = await Promise.all([first, ...rest]);
  assert.ok(statuses.every((status) => status === 200));
});

Deno.test("Exchanges.respond() handles a ping and a listener while all permits are taken", async () => {
  await using server = new TestServer({ handled: 1 });
  const slow = server.status(WAIT);
  await eventually(() => server.works.length === 1, "the request");
  assert.equal(await server.status(PING), 200);
  const { body } = await server.fetch(LISTEN);
  const bodies = sizeOf(WAIT);
  await server.settled({ bodies, handled: 1, listeners: 1 });
  await body!.cancel();
  await server.settled({ bodies, handled: 1 });
  server.works[0]!.resolve();
  assert.equal(await slow, 200);
});

Deno.test("Exchanges.respond() limits the time for sending a request, not that of waiting for a permit", async () => {
  await using server = new TestServer({ handled: 1, bodyMs: 20 });
  const slow = server.status(WAIT);
  await eventually(() => server.works.length === 1, "the request");
  const waiting = server.status(QUICK);
  await server.settled({ handled: 1, bodies: sizeOf(WAIT, QUICK) });
  await new Promise((resolve) => setTimeout(resolve, 60));
  server.works[0]!.resolve();
  assert.deepEqual(await Promise.all([slow, waiting]), [200, 200]);
});

Deno.test("Exchanges.respond() gives up what a connection that is gone has", async () => {
  await using server = new TestServer({ handled: 1 });
  const wait = JSON.stringify(WAIT);
  const partial = await server.send("{", { framing: "Content-Length: 100" });
  await server.settled({ bodies: 4_096 + 100 });
  partial.close();
  await server.settled({});
  const framing = "Transfer-Encoding: chunked";
  const chunked = await server.send("1\r\n{\r\n", { framing });
  // A part counts as 256 bytes, however small it is.
  await server.settled({ bodies: 4_096 + 256 });
  chunked.close();
  await server.settled({});
  const handled = await server.send(wait);
  await eventually(() => server.works.length === 1, "the request");
  const waiting = await server.send(wait);
  await server.settled({ handled: 1, bodies: sizeOf(WAIT, WAIT) });
  waiting.close();
  await server.settled({ handled: 1, bodies: sizeOf(WAIT) });
  handled.close();
  await eventually(() => server.works[0]!.signal.aborted, "the signal");
  // Its permit is free once its work has ended.
  assert.equal(server.exchanges.used.handled, 1);
  server.works[0]!.resolve();
  await server.settled({});
  assert.equal(await server.status(QUICK), 200);
});

Deno.test("Exchanges.respond() counts as unsent what the client does not read", async () => {
  await using server = new TestServer({ unsent: 1_000_000, replyMs: 60_000 });
  const first = await server.sendLarge("a");
  const large = JSON.stringify({ ...QUICK, size: LARGE });
  await server.send(large, { client: "a" });
  await eventually(() => server.exchanges.used.bodies > 0, "the next one");
  // Others have one reply, whatever is unsent.
  assert.equal(await server.status(QUICK, "b"), 200);
  assert.ok(server.exchanges.used.bodies > 0);
  const reading = readAll(first);
  const second = await Promise.race([
    reading,
    eventually(() => server.exchanges.used.bodies === 0, "the next reply"),
  ]);
  assert.equal(second, undefined);
  first.close();
  await reading.catch(() => {});
});

Deno.test("Exchanges.respond() closes the connection of a client that does not read", async () => {
  await using server = new TestServer({ replyMs: 50, partMs: 10 });
  const connection = await server.sendLarge();
  await server.settled({});
  const text = await readAll(connection);
  assert.match(text, /content-length: 30000000/);
  assert.ok(text.length < LARGE, `${text.length}`);
  assert.equal(await server.status(QUICK), 200);
});

Deno.test("Exchanges.respond() handles requests with small replies while clients read slowly, and others once these are gone", async () => {
  await using server = new TestServer({ unsent: 1_000_000, partMs: 50 });
  const slow = await server.sendLarge();
  // Nobody needs the room.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const { unsent } = server.exchanges.used;
  assert.ok(unsent > 20_000_000);
  assert.equal(await server.status({ ...QUICK, size: 64 * 1_024 }), 200);
  assert.equal(server.exchanges.used.unsent, unsent);
  const next = await server.fetch({ ...QUICK, size: 64 * 1_024 + 1 });
  assert.equal((await next.bytes()).length, 64 * 1_024 + 1);
  assert.ok((await readAll(slow)).length < LARGE);
});

Deno.test("Exchanges.respond() does not end a reply that is read while others wait for room", async () => {
  await using server = new TestServer({ unsent: 1_000_000, partMs: 100 });
  const connection = await server.sendLarge();
  const next = server.status({ ...QUICK, size: 100_000 });
  let size = 0;
  for (let part; (part = await readSome(connection)) !== "";) {
    size += part.length;
    if (size >= LARGE) break;
    if (size % 7 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  assert.ok(size >= LARGE, `${size}`);
  assert.equal(await next, 200);
});

Deno.test("Exchanges.respond() ends a listener in whose stream something waits for too long, or too much", async () => {
  for (const replyMs of [100, 60_000]) {
    await using server = new TestServer({ replyMs, partMs: 20 });
    const { exchanges } = server;
    await server.send(JSON.stringify(LISTEN));
    await server.settled({ listeners: 1 });
    // The system takes several megabytes before anything waits.
    while (server.publish !== undefined) {
      server.publish(5_000);
      const isTaken = () => exchanges.used.unsent === 0;
      assert.ok(exchanges.used.unsent <= 16 * 1_024);
      if (replyMs < 60_000) {
        await eventually(() => isTaken() || !server.publish, "a change");
      } else await new Promise((resolve) => setTimeout(resolve));
    }
    await server.settled({});
  }
});

Deno.test("Exchanges.respond() refuses listeners of who has a quarter, or if there is no room", async () => {
  await using server = new TestServer({ listeners: 8 });
  const bodies = [];
  for (const client of ["a", "b", "c", "d"]) {
    for (let count = 0; count < 2; count++) {
      const response = await server.fetch(LISTEN, client);
      assert.equal(response.status, 200);
      bodies.push(response.body!);
    }
    assert.equal(await server.status(LISTEN, client), 503);
  }
  assert.equal(await server.status(LISTEN), 503);
  await server.settled({ listeners: 8 });
  await bodies[0]!.cancel();
  await server.settled({ listeners: 7 });
  bodies[0] = (await server.fetch(LISTEN)).body!;
  for (const body of bodies) await body.cancel();
});

Deno.test("Exchanges.respond() gives back the listener of who gets no stream", async () => {
  await using server = new TestServer({ listeners: 1 });
  for (let count = 0; count < 3; count++) {
    assert.equal(await server.status({ ...LISTEN, size: 0 }), 202);
  }
  await server.settled({});
});

Deno.test("Exchanges.respond() refuses what is no message, as on stdio", async () => {
  await using server = new TestServer();
  const cases: [message: object, reason: RegExp][] = [
    [[QUICK], /^Batches are not supported/],
    [{ ...QUICK, method: ["ping"] }, /"method" must be a string/],
    [{ ...QUICK, id: "x".repeat(1_025) }, /"id" must be a string of at most/],
    [{ ...QUICK, params: { list: Array(10_000).fill(1) } }, /10000 values/],
  ];
  for (const [message, reason] of cases) {
    const response = await server.fetch(message);
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code], [400, -32600]);
    assert.match(error.message, reason);
  }
});

Deno.test("Exchanges.respond() handles a few pings of a client at a time, and leaves permits for others", async () => {
  await using server = new TestServer({ handled: 4 });
  const ping = { ...PING, isSlow: true };
  const own = Array.from({ length: 5 }, () => server.status(ping, "a"));
  await eventually(() => server.exchanges.used.bodies > 0, "those that wait");
  const other = server.status(PING, "b");
  assert.equal(await other, 200);
  assert.equal(await server.status(QUICK, "b"), 200);
  assert.equal(server.works.length, 3);
  assert.equal(server.exchanges.used.handled, 3);
  for (let count = 1; count <= own.length; count++) {
    await eventually(() => server.works.length >= count, "the next one");
    server.works[count - 1]!.resolve();
  }
  await Promise.all(own);
});
