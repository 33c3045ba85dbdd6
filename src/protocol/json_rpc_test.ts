import assert from "node:assert/strict";
import {
  checkSize,
  invalidParams,
  MAX_LINE_LENGTH,
  MAX_MESSAGE_SIZE,
  parseMessage,
  resourceNotFound,
  serializeMessage,
  toErrorObject,
} from "./json_rpc.ts";

/** Returns the error with which a line is answered. */
function errorOf(line: string) {
  const parsed = parseMessage(line);
  assert.ok("errorResponse" in parsed, line);
  return parsed.errorResponse;
}

Deno.test("parseMessage() returns an error that says which of its parts is wrong", () => {
  const cases: [line: string, part: RegExp][] = [
    ["1", /: it is not an object$/],
    ["{}", /: "jsonrpc" must be "2\.0"$/],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', /: "id" must be a string/],
    ['{"jsonrpc":"2.0","id":1}', /: "method" is missing$/],
    ['{"jsonrpc":"2.0","id":1,"method":2}', /: "method" must be a string$/],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', /: "params" must/],
  ];
  for (const [line, part] of cases) {
    const { code, message } = errorOf(line).error;
    assert.equal(code, -32600);
    assert.match(message, part);
  }
});

Deno.test("parseMessage() says that a line is too long, not JSON, or a batch", () => {
  const cases: [line: string, code: number, message: RegExp][] = [
    [" ".repeat(MAX_LINE_LENGTH + 1), -32600, /at most \d+ characters$/],
    ['{"jsonrpc":', -32700, /one line of JSON$/],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, /^Batches/],
  ];
  for (const [line, code, message] of cases) {
    const { error } = errorOf(line);
    assert.equal(error.code, code);
    assert.match(error.message, message);
  }
});

Deno.test("parseMessage() keeps a valid ID for the error, and a batch has the ID null", () => {
  const ids = ['{"id":7}', '{"id":"a"}', '{"id":{}}', "[]"]
    .map((line) => errorOf(line).id);
  assert.deepEqual(ids, [7, "a", undefined, null]);
});

Deno.test("parseMessage() returns requests, notifications, and replies as they are", () => {
  for (
    const message of [
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/initialized", params: {} },
      { jsonrpc: "2.0", id: "a", result: {} },
      { jsonrpc: "2.0", id: 2, error: { code: 1, message: "" } },
    ]
  ) assert.deepEqual(parseMessage(JSON.stringify(message)), { message });
});

Deno.test("serializeMessage() writes one line of well-formed Unicode", () => {
  const result = { text: "a\n\ud800b\\ud800 \u{1f600}" };
  const line = serializeMessage({ jsonrpc: "2.0", id: 1, result });
  assert.ok(!line.includes("\n"));
  assert.deepEqual(JSON.parse(line).result, {
    text: "a\n\ufffdb\\ud800 \u{1f600}",
  });
});

Deno.test("serializeMessage() replaces a message that is too large by an error", () => {
  const reply = (id: string, length: number) =>
    JSON.parse(serializeMessage({
      jsonrpc: "2.0",
      id,
      result: { text: "\u00e4".repeat(length) },
    }));
  // The character has two bytes.
  assert.equal(reply("a", MAX_MESSAGE_SIZE / 2 - 100).error, undefined);
  const { id, error } = reply("a", MAX_MESSAGE_SIZE / 2);
  assert.equal(id, "a");
  assert.match(error.message, /has \d+ bytes .* ask for less at a time$/);
  assert.equal(reply("x".repeat(MAX_MESSAGE_SIZE), 0).id, undefined);
});

Deno.test("checkSize() counts the bytes of the JSON, with its escape sequences", () => {
  const half = MAX_MESSAGE_SIZE / 2;
  checkSize({ text: "x".repeat(MAX_MESSAGE_SIZE - 100) });
  checkSize({ texts: ["\n".repeat(half - 100), ""] });
  for (const text of ["x".repeat(MAX_MESSAGE_SIZE), "\n".repeat(half)]) {
    assert.throws(() => checkSize({ text }), /ask for less at a time$/);
  }
});

Deno.test("toErrorObject() returns the code of an era, and hides what is no JSON-RPC error", () => {
  const missing = resourceNotFound("none", "skill://none");
  const codeOf = (error: Error, isModern: boolean) =>
    toErrorObject(error, { isModern }).code;
  assert.deepEqual([codeOf(missing, true), codeOf(missing, false)], [
    -32602,
    -32002,
  ]);
  assert.equal(codeOf(invalidParams("bad"), false), -32602);
  const system = Object.assign(new Error("x"), { code: "ENOENT" });
  assert.equal(codeOf(system, true), -32603);
});
