import assert from "node:assert/strict";
import { BodyError, RequestLimits } from "./limits.ts";
import { eventually, withGracePeriod, within } from "../../tests/testing.ts";

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
      limits.handle(request(JSON.stringify(index)), async (message) => {
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
  assert.deepEqual(messages, [...messages.keys()]);
  assert.equal(most, 8);
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
      (error) => error instanceof BodyError && error.status === 413,
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
        (error) => error instanceof BodyError && error.status === 408,
      );
    }
  });
});

Deno.test("RequestLimits.respond() buffers at most 64 MiB for clients that do not read", async () => {
  const limits = new RequestLimits();
  const size = 8 * MB;
  const written: Response[] = [];
  for (let count = 0; count < 10; count++) {
    limits.respond("x".repeat(size), new Response())
      .then((response) => written.push(response));
  }
  await eventually(() => written.length === 8, "the first responses");
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(written.length, 8);
  assert.equal(written[0]!.headers.get("content-length"), String(size));
  assert.equal((await written[0]!.bytes()).length, size);
  await written[1]!.body!.cancel();
  await eventually(() => written.length === 10, "the last responses");
});

Deno.test("RequestLimits.respond() aborts a response that its client does not read", async () => {
  await withGracePeriod(50, async () => {
    const limits = new RequestLimits();
    const text = "0123456789abcdef".repeat(65_536);
    const read = await limits.respond(text, new Response());
    assert.equal(await read.text(), text);
    const unread = await limits.respond(text, new Response());
    const reader = unread.body!.getReader();
    assert.equal((await reader.read()).value?.length, 65_536);
    await within(limits.whenIdle(), "the response to be aborted");
    assert.deepEqual(await reader.read(), { done: true, value: undefined });
  });
});

Deno.test("RequestLimits.respond() passes small responses through unchanged", async () => {
  const limits = new RequestLimits();
  const init = { status: 404, headers: { "x-test": "1" } };
  for (const text of ["", "small"]) {
    const response = await limits.respond(text, new Response(null, init));
    assert.equal(response.status, 404);
    assert.equal(response.headers.get("x-test"), "1");
    assert.equal(await response.text(), text);
  }
});
