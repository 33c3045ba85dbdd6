// Each request gets one reply, of limited length, whatever messages a client sends.
import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { METHODS as HANDLED } from "../src/features/methods.ts";
import { HttpServer, modern } from "./testing/http.ts";
import { filesPlace } from "./testing/place.ts";
import { message, MODERN_META, Wire } from "./testing/server.ts";
import { eventually } from "./testing/waiting.ts";

/** Every method whose request is answered at once, and some unknown ones. */
const METHODS = [
  ...Object.keys(HANDLED),
  "initialize",
  "ping",
  "server/discover",
  "logging/setLevel",
  "x",
  "",
  "__proto__",
  "notifications/cancelled",
  "notifications/initialized",
  "toString",
];

const TEXT = fc.oneof(
  fc.constantFrom("skill://git", "skill://git/", "skill://", "git", "skill"),
  fc.constantFrom("odd \ufffd", "skill://odd%20%EF%BF%BD/SKILL.md"),
  fc.constantFrom("\ud800", "__proto__", ""),
);

const VALUE = fc.oneof(
  { weight: 3, arbitrary: TEXT },
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.constant({ toString: 1, __proto__: null }) },
);

/** Params, some of which are valid for some methods. */
const PARAMS = fc.record({
  uri: VALUE,
  name: VALUE,
  cursor: VALUE,
  requestId: VALUE,
  notifications: VALUE,
  protocolVersion: VALUE,
  clientInfo: VALUE,
  capabilities: VALUE,
  context: VALUE,
  _meta: fc.oneof(VALUE, fc.constant(MODERN_META)),
  arguments: fc.oneof(VALUE, fc.record({ name: VALUE })),
  ref: fc.oneof(VALUE, fc.record({ type: TEXT, name: TEXT, uri: TEXT })),
  argument: fc.oneof(VALUE, fc.record({ name: TEXT, value: TEXT })),
}, { requiredKeys: [] });

Deno.test("the server answers every request, whatever came before", async () => {
  using place = filesPlace();
  const odd =
    '---\nname: "odd \\ud800"\ndescription: "half \\udc00"\n"x\\ud800": 1\n---\n';
  place.skill("home/.claude/skills", "odd", odd);
  await using wire = new Wire(place);
  const seed = Math.floor(Math.random() * 2 ** 31);
  const requests = fc.sample(
    fc.record({
      method: fc.constantFrom(...METHODS),
      params: fc.oneof(PARAMS, fc.jsonValue()),
    }),
    { numRuns: 600, seed },
  ).map((request, id) => ({ jsonrpc: "2.0", id, ...request }));
  const deep = "[".repeat(10_000) + "]".repeat(10_000);
  const others = [
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    '{"jsonrpc":"2.0","id":{"toString":1},"method":"ping"}',
    '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":0.5,"method":"ping"}',
    '{"jsonrpc":"2.0","id":90071992547409930,"method":"ping"}',
    '{"jsonrpc":"2.0","id":-5,"result":{"__proto__":null}}',
    '{"jsonrpc":"2.0","id":-5,"error":7}',
    '{"__proto__":{"jsonrpc":"2.0","id":-5,"method":"ping"}}',
    `[${"[".repeat(100_000)}`,
    `{"jsonrpc":"2.0","method":"x","params":{"a":${deep}}}`,
    `[${JSON.stringify(message(-5, "ping"))}]`,
  ];
  const params = { uri: { toString: 1 } };
  await wire.write(message("odd", "resources/unsubscribe", params));
  await wire.write(...requests, ...others.map((line) => `${line}\n`));
  const expected = ["odd", ...requests.map(({ id }) => id)];
  const counts = new Map<unknown, number>();
  const isAnswered = () => {
    for (const line of wire.lines.takeAll()) {
      assert.doesNotMatch(line, /(?<!\\)(?:\\\\)*\\ud[89a-f]/);
      // The report of the schema library.
      assert.doesNotMatch(line, /\\"code\\":/);
      const { id } = JSON.parse(line);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return expected.every((id) => counts.has(id));
  };
  await eventually(isAnswered, `all replies (seed ${seed})`);
  assert.deepEqual((await wire.ask(requests.length, "ping")).result, {});
  assert.ok(isAnswered());
  const twice = expected.filter((id) => counts.get(id) !== 1);
  assert.deepEqual(twice, [], `seed ${seed}`);
});

Deno.test("a message of an unknown revision is answered only if it is a request", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.ask(1, "tools/list", { _meta: MODERN_META });
  const _meta = {
    ...MODERN_META,
    "io.modelcontextprotocol/protocolVersion": "2027-01-01",
  };
  const { error } = await wire.ask(2, "tools/list", { _meta });
  assert.deepEqual([error!.code, error!.data], [-32022, {
    supported: ["2026-07-28"],
    requested: "2027-01-01",
  }]);
  for (const params of [undefined, [], [1], 1, { _meta }, { _meta: 1 }]) {
    const sent = { ...message(undefined, "notifications/x"), params };
    await wire.write(sent);
  }
  await wire.ask(3, "tools/list", { _meta: MODERN_META });
  assert.deepEqual(wire.lines.takeAll(), []);
});

Deno.test("a subscription to something other than texts does not end the server", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const notifications = { resourceSubscriptions: [{ toString: 1 }] };
  const params = { notifications, _meta: MODERN_META };
  const { error } = await wire.ask(1, "subscriptions/listen", params);
  assert.equal(error!.code, -32602);
  const { result } = await wire.ask(2, "tools/list", { _meta: MODERN_META });
  assert.equal(result.tools.length, 1);
});

Deno.test("an error repeats 200 of the characters that a client sent", async () => {
  using place = filesPlace();
  const name = "n".repeat(60_000);
  const uri = `skill://${name}`;
  const argument = { name: "name", value: "" };
  const requests = [
    ["tools/call", { name }],
    ["prompts/get", { name }],
    ["resources/read", { uri }],
    ["resources/read", { uri: `skill://git/${name.slice(0, 4_000)}` }],
    ["skills/get", { uri }],
    ["resources/directory/read", { uri }],
    ["tools/list", { cursor: name }],
    ["skills/list", { cursor: name }],
    ["completion/complete", { ref: { type: "ref/prompt", name }, argument }],
    ["completion/complete", { ref: { type: "ref/resource", uri }, argument }],
  ] as const;
  await using wire = await Wire.open(place);
  await using server = await HttpServer.start(place);
  const asking = [
    (method: string, params: object) => wire.ask(1, method, params),
    (method: string, params: object) => server.askLegacy(method, params),
    (method: string, params: object) => server.ask(method, params),
  ];
  for (const [method, params] of requests) {
    for (const ask of asking) {
      const { error, result } = await ask(method, params);
      assert.ok(error !== undefined, `${method}: ${JSON.stringify(result)}`);
      assert.doesNotMatch(error.message, /n{201}/, method);
      assert.match(
        error.message,
        /n{150}\.\.\.".*(?:pass|choose|call)/,
        method,
      );
      assert.equal(error.data, undefined, method);
    }
  }
  // The SDK's own error quotes the whole URI.
  const { message, data } = await server.fetch(
    modern("resources/read", { uri }),
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "resources/read" },
  ).then(async (response) => (await response.json()).error);
  assert.equal(message.length, 2_000);
  assert.equal(data, undefined);
});
