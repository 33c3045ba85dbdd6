import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { JSONRPCMessage } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import fc from "npm:fast-check@^4";
import type { Reply } from "../../tests/testing/server.ts";
import { ping } from "../../tests/testing/transport.ts";
import {
  invalidParams,
  MAX_LINE_LENGTH,
  MAX_MESSAGE_SIZE,
  parseMessage,
  requireReadableSize,
  resourceNotFound,
  serializeMessage,
  toErrorObject,
} from "./json_rpc.ts";

Deno.test("parseMessage() reads what serializeMessage() wrote on one line, with U+FFFD for half a character", () => {
  const text = fc.string({ unit: "binary" });
  const half = fc.string({ unit: fc.constantFrom("\ud800", "\\", "d", "\n") });
  const params = fc.dictionary(text, fc.oneof(text, half, fc.jsonValue()));
  fc.assert(fc.property(text, params, (method, params) => {
    const message = { jsonrpc: "2.0", id: 1, method, params } as const;
    const line = serializeMessage(message);
    assert.doesNotMatch(line, /[\r\n]/);
    const whole = JSON.parse(
      JSON.stringify(message),
      (_key, value) => typeof value === "string" ? value.toWellFormed() : value,
    );
    assert.deepEqual(parseMessage(line), { message: whole });
  }));
});

Deno.test("serializeMessage() returns an error in place of a message that cannot be sent", () => {
  const loop: Record<string, unknown> = {};
  loop.loop = loop;
  const large = { text: "x".repeat(MAX_MESSAGE_SIZE) };
  const longest = "x".repeat(2 ** 20);
  const cases: [id: string | undefined, result: object, sent?: string][] = [
    ["a", loop, "a"],
    ["a", { size: 1n }, "a"],
    [longest, large, longest],
    [`${longest}x`, large, undefined],
    [undefined, large, undefined],
  ];
  for (const [id, result, sent] of cases) {
    const message = { jsonrpc: "2.0", id, result } as JSONRPCMessage;
    const reply: Reply = JSON.parse(serializeMessage(message));
    assert.deepEqual([reply.id, reply.error!.code], [sent, -32603]);
    assert.equal(reply.result, undefined);
  }
});

Deno.test("parseMessage() reads a line of the maximum length", () => {
  const line = JSON.stringify(ping(1)).padEnd(MAX_LINE_LENGTH);
  assert.deepEqual(parseMessage(line), { message: ping(1) });
  const message =
    "A message can have at most 10485760 characters: send a shorter one";
  assert.deepEqual(parseMessage(`${line} `), {
    errorResponse: {
      jsonrpc: "2.0",
      id: undefined,
      error: { code: -32600, message },
    },
  });
});

Deno.test("parseMessage() returns an error that says which part of a message is wrong", () => {
  const cases: [line: string, part: RegExp][] = [
    ["1", /: it is not an object$/],
    ["{}", /: "jsonrpc" must be "2\.0"$/],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', /: "id" must be a string/],
    ['{"jsonrpc":"2.0","id":1}', /: "method" is missing$/],
    ['{"jsonrpc":"2.0","id":1,"method":2}', /: "method" must be a string$/],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', /: "params" must/],
  ];
  for (const [line, part] of cases) {
    const parsed = parseMessage(line);
    assert.ok("errorResponse" in parsed, line);
    const { code, message } = parsed.errorResponse.error;
    assert.equal(code, -32600);
    assert.match(message, part);
  }
});

Deno.test("requireReadableSize() accepts a result of the maximum size, and no larger one", () => {
  const shapes: ((text: string) => object)[] = [
    (text) => ({ text }),
    (text) => ({ list: [{ text, none: undefined }, null, 1.5] }),
    (text) => ({ [text]: 0 }),
  ];
  for (const shape of shapes) {
    for (const character of ["x", "\n", "\0", "é", "漢", "😀"]) {
      const sizeOf = (text: string) =>
        Buffer.byteLength(JSON.stringify(shape(text)));
      const size = sizeOf(character) - sizeOf("");
      const count = Math.floor((MAX_MESSAGE_SIZE - sizeOf("")) / size);
      requireReadableSize(shape(character.repeat(count)));
      const larger = shape(character.repeat(count + 1));
      assert.throws(
        () => requireReadableSize(larger),
        /^Error: Cannot send the reply: /,
      );
    }
  }
});

Deno.test("toErrorObject() reports the code, the message, and the data of an error, and no other code than a number", () => {
  const fault = new Deno.errors.NotFound("no file");
  const cases: [Error, code: number, legacyCode?: number][] = [
    [new Error("a"), -32603],
    [Object.assign(fault, { code: "ENOENT" }), -32603],
    [Object.assign(new Error("a"), { code: NaN }), -32603],
    [invalidParams("a", ["data"]), -32602],
    [resourceNotFound("a", "skill://git"), -32602, -32002],
  ];
  for (const [error, code, legacyCode = code] of cases) {
    const { message } = error;
    const { data } = error as { data?: unknown };
    assert.deepEqual(toErrorObject(error), { code, message, data });
    assert.deepEqual(toErrorObject(error, { isModern: false }), {
      code: legacyCode,
      message,
      data,
    });
  }
});

Deno.test("resourceNotFound() repeats the URI as data, unless it is very long", () => {
  const dataFor = (uri: string) =>
    toErrorObject(resourceNotFound("", uri)).data;
  assert.deepEqual(dataFor("skill://git"), { uri: "skill://git" });
  const { uri } = dataFor("x".repeat(2 ** 20)) as { uri: string };
  assert.equal(uri.length, 1_000);
});
