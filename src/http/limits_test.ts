import assert from "node:assert/strict";
import { LimitError, RequestLimits } from "./limits.ts";
import {
  eventually,
  withGracePeriod,
  within,
} from "../../tests/testing/waiting.ts";

const MB = 1024 * 1024;

/** Creates a request. Its default body is `{}`. */
function request(body: BodyInit = "{}"): Request {
  return new Request("http://localhost/mcp", { method: "POST", body });
}

/** Creates a body that never ends. */
function endlessBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
  });
}

Deno.test("RequestLimits.handle() handles eight requests at a time and queues the others", async () => {
  const limits = new RequestLimits();
  const running: (() => void)[] = [];
  let most = 0;
  const responses = Array.from(
    { length: 100 },
    (_, index) =>
      limits.handle(request(JSON.stringify({ index })), async (message) => {
        await new Promise<void>((resolve) =>
          most = Math.max(most, running.push(resolve))
        );
        return Response.json(message);
      }),
  );
  for (let count = 0; count < 100; count++) {
    await eventually(() => running.length > 0, "a request to be handled");
    running.shift()!();
  }
  const messages = await Promise.all(
    responses.map(async (response) => await (await response).json()),
  );
  assert.deepEqual(messages, messages.map((_, index) => ({ index })));
  assert.equal(most, 8);
});

Deno.test("RequestLimits.handle() handles a ping while eight requests are being handled", async () => {
  const limits = new RequestLimits();
  const { promise, resolve } = Promise.withResolvers<Response>();
  const responses = Array.from(
    { length: 9 },
    () => limits.handle(request(), () => promise),
  );
  const { status } = await within(
    limits.handle(
      request(JSON.stringify({ method: "ping" })),
      () => Promise.resolve(new Response()),
    ),
    "the response to the ping",
  );
  assert.equal(status, 200);
  resolve(new Response());
  await Promise.all(responses);
});

Deno.test("RequestLimits.handle() frees the slot of a handler that throws", async () => {
  const limits = new RequestLimits();
  for (let count = 0; count < 20; count++) {
    const fault = new Error("fault");
    await assert.rejects(
      limits.handle(request(), () => Promise.reject(fault)),
      fault,
    );
  }
  const { status } = await within(
    limits.handle(request(), () => Promise.resolve(new Response())),
    "the response",
  );
  assert.equal(status, 200);
});

Deno.test("RequestLimits.handle() refuses a body that is too large, with and without a declared length", async () => {
  const limits = new RequestLimits();
  const text = JSON.stringify("x".repeat(MB));
  for (const body of [text, new Blob([text]).stream()]) {
    await assert.rejects(
      limits.handle(request(body), () => assert.fail()),
      (error) => error instanceof LimitError && error.status === 413,
    );
  }
});

Deno.test("RequestLimits.handle() refuses a body that is not a single message", async () => {
  const limits = new RequestLimits();
  const bodies: [string | null, number][] = [[null, -32700], ["", -32700], [
    "{",
    -32700,
  ], ["[]", -32600]];
  for (const [body, code] of bodies) {
    const request = new Request("http://localhost", { method: "POST", body });
    await assert.rejects(
      limits.handle(request, () => assert.fail()),
      { status: 400, code },
      String(body),
    );
  }
});

Deno.test("RequestLimits.handle() serves other requests while it waits a limited time for slow bodies", async () => {
  await withGracePeriod(50, async () => {
    const limits = new RequestLimits();
    const slow = Array.from(
      { length: 20 },
      () => limits.handle(request(endlessBody()), () => assert.fail()),
    );
    const { status } = await limits.handle(
      request(),
      () => Promise.resolve(new Response()),
    );
    assert.equal(status, 200);
    for (const response of slow) {
      await assert.rejects(
        within(response, "the refusal"),
        (error) => error instanceof LimitError && error.status === 408,
      );
    }
  });
});

/** Handles a request whose response has a text. */
function respond(
  limits: RequestLimits,
  text: string,
  { status, headers }: Response = new Response(),
): Promise<Response> {
  return limits.handle(
    request(),
    () => Promise.resolve({ text, status, headers }),
  );
}

/** A response of which 64 MiB hold eight. */
const LARGE = "x".repeat(8 * MB);

/** The error for a large response that cannot wait. */
const NO_ROOM = (error: unknown) =>
  error instanceof LimitError && error.status === 503;

Deno.test("RequestLimits.handle() buffers at most 64 MiB for clients that do not read", async () => {
  const limits = new RequestLimits();
  const written: Response[] = [];
  for (let count = 0; count < 10; count++) {
    respond(limits, LARGE).then((response) => written.push(response));
  }
  await eventually(() => written.length === 8, "the first responses");
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(written.length, 8);
  assert.equal(written[0]!.headers.get("content-length"), String(8 * MB));
  assert.equal((await written[0]!.bytes()).length, 8 * MB);
  await written[1]!.body!.cancel();
  await eventually(() => written.length === 10, "the last responses");
});

Deno.test("RequestLimits.handle() refuses a large response if others of 64 MiB wait", async () => {
  const limits = new RequestLimits();
  const responses = Array.from({ length: 16 }, () => respond(limits, LARGE));
  // Responses start to wait one after the other, in the order of the requests.
  await assert.rejects(respond(limits, LARGE), NO_ROOM);
  // A handler may turn the error into a response.
  const refused = limits.handle(request(), async (_message, makeRoom) => {
    await makeRoom(LARGE.length).catch(() => {});
    return { text: "error", status: 200, headers: new Headers() };
  });
  await assert.rejects(refused, NO_ROOM);
  for (const response of responses) await (await response).body!.cancel();
});

Deno.test("RequestLimits.handle() handles small requests while clients do not read large responses", async () => {
  const limits = new RequestLimits();
  const slow = Array.from({ length: 15 }, () => respond(limits, LARGE));
  for (let count = 0; count < 20; count++) {
    const response = await within(respond(limits, "{}"), "the small response");
    assert.equal(await response.text(), "{}");
  }
  // None of the large responses has ended early to make room.
  for (const response of slow) {
    assert.equal((await (await response).bytes()).length, 8 * MB);
  }
});

Deno.test("RequestLimits.handle() handles small requests while large responses are serialized one after the other", async () => {
  const limits = new RequestLimits();
  const serializing: (() => void)[] = [];
  const large = Array.from(
    { length: 15 },
    () =>
      limits.handle(request(), async (_message, makeRoom) => {
        await makeRoom(MB);
        await new Promise<void>((resolve) => serializing.push(resolve));
        return { text: "x".repeat(MB), status: 200, headers: new Headers() };
      }),
  );
  for (let count = 0; count < 15; count++) {
    const small = await within(respond(limits, "{}"), "the small response");
    assert.equal(await small.text(), "{}");
    assert.equal(serializing.length, 1);
    serializing.pop()!();
    assert.equal((await (await large[count]!).bytes()).length, MB);
  }
});

Deno.test("RequestLimits.handle() handles small requests while large bodies arrive slowly", async () => {
  await withGracePeriod(50, async () => {
    const limits = new RequestLimits();
    const slow = Array.from(
      { length: 100 },
      () => limits.handle(request(endlessBody()), () => assert.fail()),
    );
    const small = new Request("http://localhost/mcp", {
      method: "POST",
      headers: { "content-length": "2" },
      body: "{}",
    });
    const first = await Promise.race([
      limits.handle(small, () => Promise.resolve(new Response("small"))),
      ...slow.map((response) => response.catch(() => new Response("slow"))),
    ]);
    assert.equal(await first.text(), "small");
    for (const response of slow) await assert.rejects(response);
  });
});

Deno.test("RequestLimits.handle() receives large bodies of 32 MiB at a time", async () => {
  const limits = new RequestLimits();
  const bodies: ReadableStreamDefaultController<Uint8Array>[] = [];
  let most = 0;
  const responses = Array.from({ length: 100 }, () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (body) => {
        most = Math.max(most, bodies.push(body));
      },
    }, { highWaterMark: 0 });
    return limits.handle(request(body), () => Promise.resolve(new Response()));
  });
  for (let count = 0; count < 100; count++) {
    await eventually(() => bodies.length > 0, "a body to be received");
    const body = bodies.shift()!;
    body.enqueue(new TextEncoder().encode("{}"));
    body.close();
  }
  await Promise.all(responses);
  assert.equal(most, 32);
});

Deno.test("RequestLimits.handle() sends a response of more than 64 MiB if there is no other one", async () => {
  const limits = new RequestLimits();
  const text = "a".repeat(65 * MB);
  assert.equal((await (await respond(limits, text)).text()).length, 65 * MB);
});

Deno.test("RequestLimits.handle() refuses a large response that waits for too long", async () => {
  await withGracePeriod(50, async () => {
    const limits = new RequestLimits();
    const readers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { body } = await respond(limits, LARGE);
        return body!.getReader();
      }),
    );
    // The other clients keep reading, so their responses do not end.
    let isWaiting = true;
    const reading = readers.map(async (reader) => {
      while (isWaiting) {
        await reader.read();
        await new Promise((resolve) => setTimeout(resolve));
      }
    });
    await assert.rejects(respond(limits, LARGE), NO_ROOM);
    isWaiting = false;
    await Promise.all(reading);
  });
});

Deno.test("RequestLimits.handle() aborts a response that its client does not read", async () => {
  await withGracePeriod(50, async () => {
    const limits = new RequestLimits();
    const text = "0123456789abcdef".repeat(65_536);
    const read = await respond(limits, text);
    assert.equal(await read.text(), text);
    const unread = await respond(limits, text);
    const reader = unread.body!.getReader();
    assert.equal((await reader.read()).value?.length, 65_536);
    await within(limits.whenIdle(), "the response to be aborted");
    assert.deepEqual(await reader.read(), { done: true, value: undefined });
  });
});

Deno.test("RequestLimits.handle() passes small responses through unchanged", async () => {
  const limits = new RequestLimits();
  const init = { status: 404, headers: { "x-test": "1" } };
  for (const text of ["", "small"]) {
    const response = await respond(limits, text, new Response(null, init));
    assert.equal(response.status, 404);
    assert.equal(response.headers.get("x-test"), "1");
    assert.equal(await response.text(), text);
  }
});

Deno.test("RequestLimits.handle() refuses a body whose client disconnects", async () => {
  const limits = new RequestLimits();
  const body = new ReadableStream({
    pull: (controller) => controller.error(new TypeError("connection reset")),
  });
  await assert.rejects(
    limits.handle(request(body), () => assert.fail()),
    (error) => error instanceof LimitError && error.status === 400,
  );
});
