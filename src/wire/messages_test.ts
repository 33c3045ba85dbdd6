import assert from "node:assert/strict";
import { readMessage } from "./messages.ts";

const DEEP = "[".repeat(20_000) + "]".repeat(20_000);

const request = (params: unknown) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "resources/read",
  params,
});

Deno.test("readMessage() cleans the params of a message, if it has any", () => {
  const { params: _params, ...bare } = request(null);
  assert.deepEqual(readMessage(JSON.stringify(request(null))), {
    message: bare,
  });
  const text = JSON.stringify(request({ uri: "skill://git", cursor: null }));
  const message = request({ uri: "skill://git" });
  assert.deepEqual(readMessage(text), { message });
});

Deno.test("readMessage() answers other texts with the code of their error", () => {
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
    [JSON.stringify({ ...request({}), method: "tools/call" }), -32602, 1],
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
