import assert from "node:assert/strict";
import { readMessage } from "./messages.ts";

const DEEP = "[".repeat(20_000) + "]".repeat(20_000);

const request = (params: unknown) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "resources/read",
  params,
});

Deno.test("readMessage() takes null for an absent member, and replaces lone surrogates", () => {
  const { params: _params, ...bare } = request(null);
  const cases = [
    [null, bare],
    [{ name: "x", arguments: null }, request({ name: "x" })],
    [{ cursor: null }, request({})],
    [
      { _meta: { progressToken: null }, x: [null] },
      request({ _meta: {}, x: [null] }),
    ],
    [{ uri: "skill://git#\ud800" }, request({ uri: "skill://git#\ufffd" })],
  ] as const;
  for (const [params, message] of cases) {
    const text = JSON.stringify(request(params));
    assert.deepEqual(readMessage(text), { message });
  }
});

Deno.test("readMessage() answers other texts with the code of the error, and the ID", () => {
  const cases = [
    ["nonsense", -32700],
    ["", -32700],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ["null", -32600],
    ['{"jsonrpc":"2.0","id":1}', -32600, 1],
    ['{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[0]}', -32600, 1],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":0.5,"method":"ping"}', -32600],
    [JSON.stringify(request({ a: 0 })).replace(":0", `:${DEEP}`), -32600, 1],
    [JSON.stringify(request({ a: Array(10_000).fill(0) })), -32600, 1],
  ] as const;
  for (const [text, code, id] of cases) {
    const incoming = readMessage(text);
    assert.ok("error" in incoming);
    const { error, id: answered } = incoming.error;
    assert.deepEqual([error.code, answered], [code, id], text);
  }
});

Deno.test("readMessage() takes [] for an empty object, and fills in the client's version", () => {
  const version = "io.modelcontextprotocol/protocolVersion";
  const capabilities = "io.modelcontextprotocol/clientCapabilities";
  const info = "io.modelcontextprotocol/clientInfo";
  const meta = { [version]: "2026-07-28", [capabilities]: {} };
  const protocolVersion = "2025-11-25";
  const unnamed = { name: "", version: "" };
  const cases = [
    ["ping", [], {}],
    ["ping", { _meta: [] }, { _meta: {} }],
    ["tools/call", { name: "x", arguments: [] }, { name: "x", arguments: {} }],
    ["tools/call", { name: "x", arguments: { a: [] } }],
    ["initialize", { protocolVersion }, {
      protocolVersion,
      capabilities: {},
      clientInfo: unnamed,
    }],
    ["initialize", {
      protocolVersion,
      capabilities: { roots: [] },
      clientInfo: { name: "x" },
    }, {
      protocolVersion,
      capabilities: { roots: {} },
      clientInfo: { name: "x", version: "" },
    }],
    ["ping", { _meta: { ...meta, [capabilities]: [], [info]: {} } }, {
      _meta: { ...meta, [info]: unnamed },
    }],
  ] as const;
  for (const [method, params, cleaned = params] of cases) {
    const text = JSON.stringify({ ...request(params), method });
    const message = { ...request(cleaned), method };
    assert.deepEqual(readMessage(text), { message }, text);
  }
});

Deno.test("readMessage() says in words which params are wrong", () => {
  const cases = [
    [
      "initialize",
      {},
      "Invalid params for initialize: protocolVersion: Invalid input: expected string, received undefined",
    ],
    [
      "tools/call",
      { name: "skill", arguments: "pdf" },
      "Invalid params for tools/call: arguments: Invalid input: expected record, received string",
    ],
  ] as const;
  for (const [method, params, expected] of cases) {
    const incoming = readMessage(
      JSON.stringify({ ...request(params), method }),
    );
    assert.ok("error" in incoming);
    const { code, message } = incoming.error.error;
    assert.equal(code, -32602);
    assert.equal(message, expected);
  }
});
