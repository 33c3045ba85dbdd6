import assert from "node:assert/strict";
import { requireParams } from "./methods.ts";

Deno.test("requireParams() says in words which params are wrong", () => {
  const client = { capabilities: {}, clientInfo: { name: "", version: "" } };
  const cases = [
    [
      "initialize",
      client,
      "Invalid params for initialize: protocolVersion: Invalid input: expected string, received undefined",
    ],
    [
      "tools/call",
      { name: "skill", arguments: "pdf" },
      "Invalid params for tools/call: arguments: Invalid input: expected record, received string",
    ],
  ] as const;
  for (const [method, params, message] of cases) {
    const expected = { code: -32602, message };
    assert.throws(() => requireParams(method, params), expected);
  }
});
