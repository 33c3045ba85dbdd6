import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { join } from "jsr:@std/path@^1";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/inMemory"
import { InMemoryTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/inMemory.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/server"
import { Server } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/server/mcp"
import { McpServer } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/mcp.js";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  ToolListChangedNotificationSchema,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { registerSkillTools, SkillRegistry } from "../../mod.ts";
import { Session } from "../../tests/testing/client.ts";
import { flagsWith, MOD } from "../../tests/testing/environment.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { Wire } from "../../tests/testing/server.ts";
import { Inbox } from "../../tests/testing/waiting.ts";

Deno.test("tools/call of an unknown tool is a protocol error", async () => {
  using place = new Place();
  await using wire = new Wire(place);
  await wire.initialize();
  const { error } = await wire.ask(1, "tools/call", { name: "none" });
  assert.deepEqual(error, {
    code: -32602,
    message: 'Unknown tool "none": the tools are "skill"',
  });
});

Deno.test("registerSkillTools() registers the same tools with the SDK's server", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const server = new Server({ name: "other", version: "1.0.0" }, {
    capabilities: { tools: { listChanged: true } },
  });
  registerSkillTools(server, registry, { toolset: "skill" });
  const client = new Client({ name: "test", version: "1.0.0" });
  const notifications = new Inbox<string>();
  client.setNotificationHandler(
    ToolListChangedNotificationSchema,
    ({ method }) => notifications.put(method),
  );
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  await client.connect(theirs);
  const call = async (name: string, input: Record<string, unknown>) => {
    const params = { name, arguments: input };
    const result = await client.callTool(params) as CallToolResult;
    const [item] = result.content;
    return [result.isError, item?.type === "text" ? item.text : undefined];
  };
  const { tools } = await client.listTools();
  assert.match(tools[0]!.description!, /<name>git<\/name>/);
  const [isError, text] = await call("skill", { name: "GIT" });
  assert.equal(isError, undefined);
  assert.match(String(text), /^Loading: git\n/);
  assert.deepEqual(await call("skill", { name: "" }), [
    true,
    'Cannot call "skill": "name": Skill name cannot be empty',
  ]);
  await assert.rejects(call("none", {}), /-32602.*Unknown tool "none"/);
  place.skill("skills", "pdf");
  await registry.refresh();
  await notifications.take(() => true, "the notification of the new list");
  await client.close();
});

/** Creates servers of the SDK that have a tool of their own. */
const HOSTS = {
  "McpServer": () => {
    const server = new McpServer({ name: "host", version: "1.0.0" });
    server.registerTool(
      "time",
      { description: "Return the time" },
      () => ({ content: [{ type: "text", text: "noon" }] }),
    );
    return server;
  },
  "Server": () => {
    const server = new Server({ name: "host", version: "1.0.0" }, {
      capabilities: { tools: { listChanged: true } },
    });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: "time", inputSchema: { type: "object" } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, () => ({
      content: [{ type: "text", text: "noon" }],
    }));
    return server;
  },
};

/** Connects a client to a server of the SDK. */
async function connect(
  server: { connect(transport: InMemoryTransport): Promise<void> },
): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  await client.connect(theirs);
  return client;
}

for (const [kind, createHost] of Object.entries(HOSTS)) {
  Deno.test(`registerSkillTools() lets the tools of a host's ${kind} stay`, async () => {
    using place = new Place();
    place.skill("skills", "git");
    using registry = new SkillRegistry([root(join(place.path, "skills"))]);
    await registry.refresh();
    const host = createHost();
    registerSkillTools(host, registry, { toolset: "skill" });
    const client = await connect(host);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ["time", "skill"]);
    const call = async (name: string, input = {}) =>
      JSON.stringify(await client.callTool({ name, arguments: input }));
    assert.match(await call("time"), /noon/);
    assert.match(await call("skill", { name: "git" }), /Loading: git/);
    await client.close();
  });
}

Deno.test("registerSkillTools() adds the tools to the first page of a host's list", async () => {
  using place = new Place();
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  const host = HOSTS.Server();
  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
  host.setRequestHandler(
    ListToolsRequestSchema,
    ({ params }) =>
      params?.cursor === undefined
        ? { tools: [tool("time")], nextCursor: "2" }
        : { tools: [tool("date")] },
  );
  registerSkillTools(host, registry, { toolset: "skill" });
  const client = await connect(host);
  const list = async (cursor?: string) =>
    (await client.listTools({ cursor })).tools.map(({ name }) => name);
  assert.deepEqual(await list(), ["time", "skill"]);
  assert.deepEqual(await list("2"), ["date"]);
  await client.close();
});

Deno.test("the example of registerSkillTools() is a whole server, which ends with its client", async () => {
  using place = new Place();
  place.file("project/testdata/skills/git/SKILL.md", skillMd("git"));
  const [, rest] = Deno.readTextFileSync(MOD).split(" * ```ts ignore\n");
  const [example] = rest!.split(" * ```\n", 1);
  const main = place.file(
    "project/server.ts",
    example!.replaceAll(/^ \* ?/gm, "")
      .replace("@skill-server/skill-server", pathToFileURL(MOD).href),
  );
  const flags = flagsWith("--allow-read", "--allow-env");
  await using session = await Session.open(place, { main, flags });
  const { tools } = await session.client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ["time", "skill"]);
});

Deno.test("registerSkillTools() accepts an McpServer without tools", async () => {
  using place = new Place();
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const host = new McpServer({ name: "host", version: "1.0.0" });
  registerSkillTools(host, registry, { toolset: "reference" });
  const client = await connect(host);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), [
    "list_skills",
    "read_skill",
  ]);
  await client.close();
});

Deno.test("registerSkillTools() says what to do about a tool with the same name or another server", async () => {
  using place = new Place();
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  const host = new McpServer({ name: "host", version: "1.0.0" });
  host.registerTool("skill", {}, () => ({ content: [] }));
  registerSkillTools(host, registry, { toolset: "skill" });
  const client = await connect(host);
  await assert.rejects(
    client.listTools(),
    /both the server and the toolset have a tool "skill"; rename/,
  );
  await client.close();
  const other = {
    setRequestHandler() {},
    sendToolListChanged: () => Promise.resolve(),
  };
  assert.throws(
    () => registerSkillTools(other, registry, { toolset: "skill" }),
    TypeError,
  );
});

Deno.test("registerSkillTools() names the toolsets if there is none with the name", () => {
  using place = new Place();
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  const host = new McpServer({ name: "host", version: "1.0.0" });
  for (const name of ["skills", "toString", undefined]) {
    assert.throws(
      () => registerSkillTools(host, registry, { toolset: name as "skill" }),
      {
        name: "TypeError",
        message:
          `Cannot provide the tools: there is no toolset "${name}"; choose one of "skill", "skilljack", "reference", "agentskills"`,
      },
    );
  }
});
