import assert from "node:assert/strict";
import { cleanParams } from "./params.ts";

Deno.test("cleanParams() removes null members, and replaces lone surrogates", () => {
  const cases = [
    [{ name: "x", arguments: null }, { name: "x" }],
    [{ cursor: null }, {}],
    [{ _meta: { progressToken: null }, x: [null] }, { _meta: {}, x: [null] }],
    [{ uri: "skill://git#\ud800" }, { uri: "skill://git#\ufffd" }],
  ] as const;
  for (const [params, cleaned] of cases) {
    assert.deepEqual(cleanParams("resources/read", params), cleaned);
  }
});

Deno.test("cleanParams() takes [] for an empty object only where one is meant", () => {
  const capabilities = "io.modelcontextprotocol/clientCapabilities";
  const cases = [
    [[], {}],
    [{ _meta: [] }, { _meta: {} }],
    [{ _meta: { [capabilities]: [] } }, { _meta: { [capabilities]: {} } }],
    [{ name: "x", arguments: [] }, { name: "x", arguments: {} }],
    [{ name: "x", arguments: { a: [] } }, { name: "x", arguments: { a: [] } }],
  ] as const;
  for (const [params, cleaned] of cases) {
    assert.deepEqual(cleanParams("tools/call", params), cleaned);
  }
});

Deno.test("cleanParams() fills in what a client omits about itself", () => {
  const unnamed = { name: "", version: "" };
  const _meta = { "io.modelcontextprotocol/clientInfo": {} };
  const cases = [
    ["initialize", {}, { capabilities: {}, clientInfo: unnamed }],
    [
      "initialize",
      { capabilities: { roots: [] }, clientInfo: { name: "x" } },
      { capabilities: { roots: {} }, clientInfo: { name: "x", version: "" } },
    ],
    ["ping", { _meta }, {
      _meta: { "io.modelcontextprotocol/clientInfo": unnamed },
    }],
  ] as const;
  for (const [method, params, cleaned] of cases) {
    assert.deepEqual(cleanParams(method, params), cleaned);
  }
});
