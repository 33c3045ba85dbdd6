import assert from "node:assert/strict";
import { readMessage } from "./body.ts";
import { withGracePeriod } from "../../tests/testing/waiting.ts";

/** A body that begins like a message. */
function createBody(
  next: (controller: ReadableStreamDefaultController) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    pull: next,
  });
}

const LARGE = JSON.stringify("x".repeat(2 ** 20));

Deno.test("readMessage() refuses a body that is not a single message of at most 1 MiB", () =>
  withGracePeriod(50, async () => {
    const bodies: [BodyInit | null, number, number?][] = [
      [null, 400, -32700],
      ["", 400, -32700],
      ["{", 400, -32700],
      ["[]", 400, -32600],
      [LARGE, 413],
      [new Blob([LARGE]).stream(), 413],
      [createBody(() => {}), 408],
      [createBody((body) => body.error(new TypeError("reset"))), 400],
    ];
    for (const [body, status, code] of bodies) {
      const request = new Request("http://localhost", { method: "POST", body });
      await assert.rejects(readMessage(request), { status, code });
    }
    const body = JSON.stringify({ id: 1 });
    const request = new Request("http://localhost", { method: "POST", body });
    assert.deepEqual(await readMessage(request), { id: 1 });
  }));
