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
  const cases: [id: string | undefined, result: object][] = [
    ["a", loop],
    ["a", { size: 1n }],
    ["x".repeat(1_024), large],
    [undefined, large],
  ];
  for (const [id, result] of cases) {
    const message = { jsonrpc: "2.0", id, result } as JSONRPCMessage;
    const reply: Reply = JSON.parse(serializeMessage(message));
    assert.deepEqual([reply.id, reply.error!.code], [id, -32603]);
    assert.equal(reply.result, undefined);
  }
});

Deno.test("serializeMessage() writes a message of the maximum size, and an error in place of a larger one", () => {
  const serialize = (text: string) =>
    serializeMessage({ jsonrpc: "2.0", id: 1, result: { text } });
  const empty = serialize("").length;
  for (
    const [character, size] of [["x", 1], ["漢", 3], ["\u0001", 6]] as const
  ) {
    const most = Math.floor((MAX_MESSAGE_SIZE - empty) / size);
    assert.ok("result" in JSON.parse(serialize(character.repeat(most))));
    const { error } = JSON.parse(serialize(character.repeat(most + 1)));
    assert.match(
      error.message,
      /, and clients read at most .* less at a time$/,
    );
  }
});

Deno.test("parseMessage() reads a line of the maximum length", () => {
  const line = JSON.stringify(ping(1)).padEnd(MAX_LINE_LENGTH);
  assert.deepEqual(parseMessage(line), { message: ping(1) });
  const message =
    "A message can have at most 2097152 characters: send a shorter one";
  assert.deepEqual(parseMessage(`${line} `), {
    errorResponse: {
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32600, message },
    },
  });
});

/** A value that makes a message too long. */
const LONG = "x".repeat(MAX_LINE_LENGTH);

Deno.test("parseMessage() returns an error that says which part of a message is wrong, and repeats an ID that it can read", () => {
  const cases: [line: string, part: RegExp, id?: number | string][] = [
    ["nonsense", /^The message is not JSON/],
    ['{"jsonrpc": "2.0", "id": 1, "method"', /^The message is not JSON/],
    ["[]", /^Batches are not supported/],
    [JSON.stringify([ping(3), ping(4)]), /^Batches are not supported/],
    [`{"a":"${LONG},\\"id\\":9}"}`, /^A message can have at most/],
    [`{"a":"${LONG}","b":{"id":9}}`, /^A message can have at most/],
    ["null", /: it is not an object$/],
    ["1", /: it is not an object$/],
    ["{}", /: "jsonrpc" must be "2\.0"$/],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', /: "id" must be a string/],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', /: "id" must be a string/],
    ['{"jsonrpc":"2.0","id":1}', /: "method" is missing$/, 1],
    ['{"jsonrpc":"2.0","id":1,"method":2}', /: "method" must be a string$/, 1],
    [
      '{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}',
      /: "params" must/,
      "a",
    ],
  ];
  for (const [line, part, id] of cases) {
    const parsed = parseMessage(line);
    assert.ok("errorResponse" in parsed, line);
    const { error: { code, message }, id: repeated } = parsed.errorResponse;
    const isJson = !message.startsWith("The message is not JSON");
    assert.deepEqual([code, repeated], [isJson ? -32600 : -32700, id], line);
    assert.match(message, part);
  }
});

/** Parses a message with an ID and params. Returns what is refused, and the ID of the reply. */
function parseWith(id: string, params: object) {
  const message = { ...ping(id), params };
  const parsed = parseMessage(JSON.stringify(message));
  if ("message" in parsed) return assert.deepEqual(parsed, { message });
  const { error, id: repliedTo } = parsed.errorResponse;
  return { code: error.code, message: error.message, id: repliedTo };
}

Deno.test("parseMessage() reads an ID of 1,024 characters, and repeats none that is longer", () => {
  assert.equal(parseWith("x".repeat(1_024), {}), undefined);
  const refused = parseWith("x".repeat(1_025), {});
  const message =
    'Cannot read the message: "id" must be a string of at most 1024 characters, or an integer';
  assert.deepEqual(refused, { code: -32600, message, id: undefined });
});

Deno.test("parseMessage() refuses a message with too many values or levels, as a whole", () => {
  const message =
    "Cannot read the message: it has more than 10000 values, or more than 100 levels; send a smaller one";
  const refused = { code: -32600, message, id: "a" };
  const nested = (levels: number): object =>
    levels === 1 ? [] : [nested(levels - 1)];
  // Around a list, a message has 5 values, and 2 levels.
  const cases: [most: object, more: object][] = [
    [{ list: Array(9_995).fill(1) }, { list: Array(9_996).fill(1) }],
    [
      Object.fromEntries(Array.from({ length: 9_996 }, (_, i) => [`${i}`, 0])),
      Object.fromEntries(Array.from({ length: 9_997 }, (_, i) => [`${i}`, 0])),
    ],
    [{ list: nested(98) }, { list: nested(99) }],
    [{ text: "x".repeat(1_000_000) }, { list: nested(2_000) }],
  ];
  for (const [most, more] of cases) {
    assert.equal(parseWith("a", most), undefined);
    assert.deepEqual(parseWith("a", more), refused);
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
