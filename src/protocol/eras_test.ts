import assert from "node:assert/strict";
import { Client as ModernClient } from "npm:@modelcontextprotocol/client@^2";
import { SkillsClient } from "npm:@modelcontextprotocol/client@^2/ext/skills";
import { clientTransport } from "../../tests/testing/client.ts";
import { filesPlace, Place } from "../../tests/testing/folders.ts";
import {
  askModern,
  MODERN_META,
  SERVER_INFO,
} from "../../tests/testing/modern.ts";
import { Wire } from "../../tests/testing/server.ts";
import { within } from "../../tests/testing/waiting.ts";

Deno.test("server/discover returns versions, capabilities, and instructions", async () => {
  using place = new Place();
  await using wire = new Wire(place);
  const { result } = await askModern(wire, "server/discover");
  const { instructions, ...rest } = result;
  assert.ok(instructions.length < 500);
  assert.deepEqual(rest, {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
    },
    ttlMs: 5000,
    cacheScope: "private",
    _meta: SERVER_INFO,
  });
});

Deno.test("modern requests are stateless, and their results include the server's info and a cache lifetime", async () => {
  using place = filesPlace();
  await using wire = new Wire(place, { args: ["--refresh", "2"] });
  const cacheable: [string, Record<string, unknown>?][] = [
    ["tools/list"],
    ["prompts/list"],
    ["resources/list"],
    ["resources/templates/list"],
    ["resources/read", { uri: "skill://git" }],
    ["skills/list"],
    ["skills/get", { uri: "skill://git/SKILL.md" }],
    ["resources/directory/read", { uri: "skill://git" }],
  ];
  const others: [string, Record<string, unknown>?][] = [
    ["tools/call", { name: "skill", arguments: { name: "git" } }],
    ["prompts/get", { name: "git" }],
    ["completion/complete", {
      ref: { type: "ref/prompt", name: "skill" },
      argument: { name: "name", value: "g" },
    }],
  ];
  for (const [method, params] of [...cacheable, ...others]) {
    const { result, error } = await askModern(wire, method, params);
    assert.equal(error, undefined, method);
    const { resultType, _meta, ttlMs, cacheScope } = result;
    assert.deepEqual([resultType, _meta], ["complete", SERVER_INFO]);
    const isCacheable = cacheable.some(([name]) => name === method);
    const caching = isCacheable ? [2000, "private"] : [undefined, undefined];
    assert.deepEqual([ttlMs, cacheScope], caching);
  }
});

Deno.test("a legacy client gets no modern fields, even on a connection with modern requests", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await askModern(wire, "tools/list");
  const init = await wire.initialize();
  const replies = [
    init,
    await wire.ask(1, "tools/list"),
    await wire.ask(2, "skills/list"),
    await wire.ask(3, "resources/read", { uri: "skill://git" }),
    await wire.ask(4, "ping"),
  ];
  for (const { result } of replies) {
    for (const field of ["resultType", "ttlMs", "cacheScope", "_meta"]) {
      assert.ok(!(field in result), field);
    }
  }
  assert.equal(init.result.protocolVersion, "2025-11-25");
  const { result } = await askModern(wire, "tools/list");
  assert.deepEqual(result._meta, SERVER_INFO);
});

Deno.test("malformed modern requests get the errors that the specification defines", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const version = "io.modelcontextprotocol/protocolVersion";
  const capabilities = "io.modelcontextprotocol/clientCapabilities";
  const info = "io.modelcontextprotocol/clientInfo";
  const refused: [string, Record<string, unknown>, number][] = [
    ["tools/list", { [capabilities]: {} }, -32602],
    ["tools/list", { [info]: { name: "x", version: "1" } }, -32602],
    ["tools/list", { [version]: 7, [capabilities]: {} }, -32602],
    ["tools/list", { [version]: "2026-07-28" }, -32602],
    ["tools/list", { [version]: "2026-07-28", [capabilities]: 1 }, -32602],
    ["tools/list", { [version]: "2026-07-28", [capabilities]: [] }, -32602],
    ["server/discover", {}, -32602],
    ["subscriptions/listen", {}, -32602],
  ];
  for (
    const method of ["initialize", "ping", "resources/unsubscribe", "none"]
  ) refused.push([method, MODERN_META, -32601]);
  for (const [method, meta, code] of refused) {
    const { error } = await askModern(wire, method, {}, meta);
    assert.equal(error!.code, code, method);
  }
  for (const method of ["initialize", "resources/unsubscribe"]) {
    const { error } = await askModern(wire, method);
    const fix =
      "it exists only up to 2025-11-25; omit it, or the keys of 2026-07-28 in _meta";
    assert.equal(error!.message, `Unknown method "${method}": ${fix}`);
  }
  const unknown = /^Unknown method "logging\/setLevel": the capabilities/;
  const { error } = await askModern(wire, "logging/setLevel");
  assert.match(error!.message, unknown);
  const other = { ...MODERN_META, [version]: "2099-01-01" };
  assert.deepEqual((await askModern(wire, "tools/list", {}, other)).error, {
    code: -32022,
    message: "Unsupported protocol version",
    data: { supported: ["2026-07-28"], requested: "2099-01-01" },
  });
  const anonymous = { [version]: "2026-07-28", [capabilities]: {} };
  assert.ok((await askModern(wire, "tools/list", {}, anonymous)).result);
  for (const notifications of [1, [], { toolsListChanged: "yes" }]) {
    const params = { notifications };
    const { error } = await askModern(wire, "subscriptions/listen", params);
    assert.equal(error!.code, -32602);
  }
});

Deno.test("the client of SDK version 2 lists, calls, reads, verifies, and listens in the modern era", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const client = new ModernClient({ name: "test", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  type ModernTransport = Parameters<typeof client.connect>[0];
  const transport = clientTransport(wire) as ModernTransport;
  await within(client.connect(transport), "the server to start");
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ["skill"]);
  const call = { name: "skill", arguments: { name: "git" } };
  const { content: [item] } = await client.callTool(call);
  assert.ok(item?.type === "text" && item.text.startsWith("Loading: git\n"));
  const skills = new SkillsClient(client);
  const listed = await skills.list();
  assert.deepEqual(
    listed.skills.map(({ uri }) => uri),
    ["skill://git/SKILL.md", "skill://hidden/SKILL.md"],
  );
  for (const entry of listed.skills) {
    assert.deepEqual((await skills.get(entry.uri)).skill, entry);
    assert.ok(entry.resources !== "dynamic");
    for (const { uri } of entry.resources) {
      assert.equal((await skills.read(entry, uri)).verified, true);
    }
  }
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler(
    "notifications/tools/list_changed",
    () => changed.resolve(),
  );
  const subscription = await client.listen({ toolsListChanged: true });
  assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true });
  place.skill("home/.claude/skills", "new");
  await within(changed.promise, "the notification");
  await subscription.close();
  await client.close();
  assert.deepEqual(errors, []);
});
