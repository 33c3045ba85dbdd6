import assert from "node:assert/strict";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import * as sdk from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { LEGACY_VERSIONS } from "./eras.ts";
import { REQUESTS } from "./requests.ts";
import { isObject } from "../text.ts";

const LIST = [undefined, {}, { cursor: "a", _meta: {} }];

/** Lists of one page accept no cursor, as the handlers of other lists accept no unknown one. */
const ONE_PAGE = [undefined, {}, { _meta: {} }];

const RESOURCE = [{ uri: "skill://pdf", _meta: {} }];

/** For each method, the SDK's schema, and params that it accepts. */
const PARAMS = {
  "initialize": [sdk.InitializeRequestSchema, {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  }],
  "ping": [sdk.PingRequestSchema, undefined, {}, { _meta: {} }],
  "tools/list": [sdk.ListToolsRequestSchema, ...ONE_PAGE],
  "tools/call": [
    sdk.CallToolRequestSchema,
    { name: "skill" },
    { name: "skill", arguments: { name: "pdf", more: [null] }, _meta: {} },
  ],
  "prompts/list": [sdk.ListPromptsRequestSchema, ...LIST],
  "prompts/get": [
    sdk.GetPromptRequestSchema,
    { name: "pdf" },
    { name: "skill", arguments: { name: "pdf" }, _meta: {} },
  ],
  "resources/list": [sdk.ListResourcesRequestSchema, ...LIST],
  "resources/templates/list": [
    sdk.ListResourceTemplatesRequestSchema,
    ...ONE_PAGE,
  ],
  "resources/read": [sdk.ReadResourceRequestSchema, ...RESOURCE],
  "resources/subscribe": [sdk.SubscribeRequestSchema, ...RESOURCE],
  "resources/unsubscribe": [sdk.UnsubscribeRequestSchema, ...RESOURCE],
  "completion/complete": [sdk.CompleteRequestSchema, {
    ref: { type: "ref/prompt", name: "skill" },
    argument: { name: "name", value: "p" },
  }, {
    ref: { type: "ref/resource", uri: "skill://{name}" },
    argument: { name: "path", value: "" },
    context: { arguments: { name: "pdf" } },
  }],
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

for (const [name, [theirs, ...valid]] of Object.entries(PARAMS)) {
  const method = name as keyof typeof PARAMS;
  Deno.test(`${method} accepts the same params as the SDK's schema`, () => {
    for (const params of valid) {
      assert.ok(REQUESTS[method].safeParse(params ?? {}).success);
      for (const variant of variantsOf(params)) {
        // Everything else is not a JSON-RPC message.
        if (!isObject(variant)) continue;
        assert.equal(
          REQUESTS[method].safeParse(variant).success,
          theirs.safeParse({ method, params: variant }).success,
          JSON.stringify(variant),
        );
      }
    }
  });
}

Deno.test("LEGACY_VERSIONS are the versions of the SDK", () => {
  assert.deepEqual(LEGACY_VERSIONS, sdk.SUPPORTED_PROTOCOL_VERSIONS);
  assert.equal(LEGACY_VERSIONS[0], sdk.LATEST_PROTOCOL_VERSION);
});

Deno.test("REQUESTS keep params that they do not know", () => {
  const params = { name: "a", task: { ttl: 1 }, _meta: { progressToken: 1 } };
  assert.deepEqual(REQUESTS["tools/call"].parse(params), params);
});
