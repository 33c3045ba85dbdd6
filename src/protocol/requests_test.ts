import assert from "node:assert/strict";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import * as sdk from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { LEGACY_VERSIONS } from "./eras.ts";
import * as requests from "./requests.ts";

/** For each schema, requests that it accepts. */
const REQUESTS = {
  InitializeRequestSchema: [{
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  }],
  PingRequestSchema: [undefined, {}, { _meta: {} }],
  ListToolsRequestSchema: [undefined, {}, { cursor: "a", _meta: {} }],
  CallToolRequestSchema: [
    { name: "skill" },
    { name: "skill", arguments: { name: "pdf", more: [null] }, _meta: {} },
  ],
  ListPromptsRequestSchema: [undefined, { cursor: "a" }],
  GetPromptRequestSchema: [
    { name: "pdf" },
    { name: "skill", arguments: { name: "pdf" }, _meta: {} },
  ],
  ListResourcesRequestSchema: [undefined, { cursor: "a" }],
  ListResourceTemplatesRequestSchema: [undefined, { cursor: "a" }],
  ReadResourceRequestSchema: [{ uri: "skill://pdf", _meta: {} }],
  SubscribeRequestSchema: [{ uri: "skill://pdf" }],
  UnsubscribeRequestSchema: [{ uri: "skill://pdf" }],
  CompleteRequestSchema: [
    {
      ref: { type: "ref/prompt", name: "skill" },
      argument: { name: "name", value: "p" },
    },
    {
      ref: { type: "ref/resource", uri: "skill://{name}" },
      argument: { name: "path", value: "" },
      context: { arguments: { name: "pdf" } },
    },
  ],
} as const;

/** Values that replace each part of a request. */
const VALUES = [undefined, null, true, 7, "text", "ref/prompt", [], ["a"], {}, {
  a: "b",
}];

/** Returns a value, and all that differ from it in one part. */
function* variantsOf(value: unknown): Generator<unknown> {
  yield* [value, ...VALUES];
  if (typeof value !== "object" || value === null) return;
  yield { ...value, more: "text" };
  for (const [key, part] of Object.entries(value)) {
    for (const variant of variantsOf(part)) yield { ...value, [key]: variant };
  }
}

for (const [name, valid] of Object.entries(REQUESTS)) {
  Deno.test(`${name} accepts the same requests as the SDK's`, () => {
    const ours = requests[name as keyof typeof REQUESTS];
    const theirs = sdk[name as keyof typeof REQUESTS];
    const method = requests.methodOf(ours);
    for (const params of valid) {
      assert.ok(ours.safeParse({ method, params }).success);
      for (const request of variantsOf({ method, params })) {
        assert.equal(
          ours.safeParse(request).success,
          theirs.safeParse(request).success,
          JSON.stringify(request),
        );
      }
    }
  });
}

Deno.test("LEGACY_VERSIONS are the versions of the SDK", () => {
  assert.deepEqual(LEGACY_VERSIONS, sdk.SUPPORTED_PROTOCOL_VERSIONS);
  assert.equal(LEGACY_VERSIONS[0], sdk.LATEST_PROTOCOL_VERSION);
});

Deno.test("requestSchema() keeps params that it does not know", () => {
  const schema = requests.CallToolRequestSchema;
  const params = { name: "a", task: { ttl: 1 }, _meta: { progressToken: 1 } };
  const request = { method: "tools/call", params };
  assert.deepEqual(schema.parse(request), request);
});
