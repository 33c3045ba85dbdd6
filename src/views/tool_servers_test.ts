import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/inMemory"
import { InMemoryTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/inMemory.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/server/mcp"
import { McpServer } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/mcp.js";
import {
  InMemoryTransport as InMemoryTransport2,
  McpServer as McpServer2,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import { ToolListChangedNotificationSchema } from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { registerSkillTools, SkillRegistry } from "../../mod.ts";
import { Session, toolsets } from "../../tests/testing/client.ts";
import { flagsWith, MOD, preload } from "../../tests/testing/environment.ts";
import { Place, replaced, skillMd } from "../../tests/testing/folders.ts";
import { read } from "../../tests/testing/pages.ts";
import { openRegistry, root } from "../../tests/testing/registry.ts";
import { Inbox } from "../../tests/testing/waiting.ts";
import { CONTEXT, TestDispatcher } from "../../tests/testing/dispatcher.ts";
import { join } from "../files/paths.ts";
import { CLIENT_PROFILES, DEFAULT_PROFILE } from "./profiles.ts";
import { adapterFor } from "./tool_servers.ts";
import { listToolEntries } from "./tools.ts";
import { TOOLSETS } from "./toolsets/toolsets.ts";

/** A server of the SDK with a tool of its own, and a registry of skills. */
function createServer(place: Place) {
  const registry = new SkillRegistry([root(join(place.path, "skills"))]);
  const server = new McpServer({ name: "other", version: "1.0.0" });
  server.registerTool(
    "time",
    { description: "Return the time" },
    () => ({ content: [{ type: "text", text: "noon" }] }),
  );
  return { registry, server };
}

/** Connects a client to a server of the SDK. */
async function connect(server: McpServer): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  await client.connect(theirs);
  return client;
}

Deno.test("registerSkillTools() lets tools join those of an McpServer, and keeps their descriptions current", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const { registry, server } = createServer(place);
  await registry.refresh();
  registerSkillTools(server, registry, { toolset: "skill" });
  const client = await connect(server);
  const notifications = new Inbox<string>();
  client.setNotificationHandler(
    ToolListChangedNotificationSchema,
    ({ method }) => notifications.put(method),
  );
  const list = async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ["time", "skill"]);
    return tools[1]!.description!;
  };
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const params = { name, arguments: input };
    const result = await client.callTool(params) as CallToolResult;
    return JSON.stringify(result);
  };
  assert.match(await list(), /<name>git<\/name>/);
  assert.match(await call("time"), /noon/);
  assert.match(await call("skill", { name: "GIT" }), /"Loading: git\\n/);
  const invalid = await call("skill", { name: "" });
  assert.match(invalid, /Skill name cannot be empty.*"isError":true/);
  place.skill("skills", "git", skillMd("git") + "Changed");
  await registry.refresh();
  assert.deepEqual(notifications.takeAll(), []);
  place.skill("skills", "pdf");
  await registry.refresh();
  await notifications.take(() => true, "the notification of the new list");
  assert.match(await list(), /<name>pdf<\/name>/);
  await client.close();
  registry.close();
});

for (const toolset of Object.keys(toolsets) as "skill"[]) {
  Deno.test(`registerSkillTools() registers the tools of ${toolset} as clients without a profile see them`, async () => {
    using place = new Place();
    place.skill("skills", "git");
    const { registry, server } = createServer(place);
    await registry.refresh();
    const options = { toolset, allowShell: false };
    registerSkillTools(server, registry, options);
    const client = await connect(server);
    const { tools: [, ...tools] } = await client.listTools();
    const { catalog } = registry;
    const profile = DEFAULT_PROFILE;
    const entries = listToolEntries({ profile, catalog, options });
    for (const [index, { name, description, ...rest }] of entries.entries()) {
      const tool = tools[index]!;
      assert.deepEqual([tool.name, tool.description], [name, description]);
      assert.deepEqual(tool.annotations, rest.annotations);
      assert.deepEqual(
        tool.inputSchema.properties,
        rest.inputSchema.properties,
      );
    }
    assert.equal(tools.length, entries.length);
    await client.close();
    registry.close();
  });
}

Deno.test("registerSkillTools() adds every tool to a server of version 2 of the SDK, which warns of nothing", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using registry = await openRegistry(join(place.path, "skills"));
  const server = new McpServer2({ name: "other", version: "1.0.0" });
  registerSkillTools(server, registry, { toolset: "agentskills" });
  const client = new Client({ name: "test", version: "1.0.0" });
  const [ours, theirs] = InMemoryTransport2.createLinkedPair();
  await server.connect(ours);
  await client.connect(theirs as unknown as InMemoryTransport);
  const warnings: unknown[] = [];
  using _console = replaced(console, {
    warn: (...data) => warnings.push(data),
  });
  const { tools } = await client.listTools();
  assert.deepEqual(warnings, []);
  const { properties = {} } = tools[1]!.inputSchema;
  assert.deepEqual(Object.keys(properties), ["skill_name"]);
  const call = async (name: string, input: Record<string, unknown>) => {
    const { content } = await client.callTool({ name, arguments: input });
    return (content as { text: string }[])[0]!.text;
  };
  assert.match(await call("load_skill_metadata_op", {}), /git/);
  const input = { skill_name: "git", command: "echo SKILL*" };
  assert.match(await call("run_shell_command_op", input), /SKILL\.md/);
  await client.close();
});

Deno.test("registerSkillTools() lists the skills for any profile in the description, since the schema stays as it is", async () => {
  using place = new Place();
  place.skill("skills", "git");
  for (const profile of Object.keys(CLIENT_PROFILES)) {
    const { registry, server } = createServer(place);
    await registry.refresh();
    registerSkillTools(server, registry, { profile });
    const client = await connect(server);
    const { tools } = await client.listTools();
    assert.match(
      tools.at(-1)!.description!,
      /\bgit(?:: |<.*\n<description>)About git/,
      profile,
    );
    await client.close();
  }
});

Deno.test("registerSkillTools() needs no toolset, and refuses an unknown one, as an unknown profile, with a list of them", () => {
  using place = new Place();
  const { registry, server } = createServer(place);
  const options = { toolset: "toString" as "skill" };
  assert.throws(
    () => registerSkillTools(server, registry, options),
    /^TypeError: Invalid toolset "toString": expected one of skill, skilljack/,
  );
  for (const profile of ["Codex", "toString"]) {
    assert.throws(
      () => registerSkillTools(server, registry, { profile }),
      {
        name: "TypeError",
        message: /^Invalid profile ".*": expected one of default, claude-code/,
      },
    );
  }
  registerSkillTools(server, registry, { logLoads: true, toolset: undefined });
});

for (const version of [1, 2]) {
  Deno.test(`the example of registerSkillTools() is a whole server with version ${version} of the SDK, which ends with its client`, async () => {
    using place = new Place();
    place.file("project/testdata/skills/git/SKILL.md", skillMd("git"));
    const [, rest] = read("mod.ts").split(" * ```ts ignore\n");
    const [example] = rest!.split(" * ```\n", 1);
    const modules = read("docs/running.md")
      .match(/npm:@modelcontextprotocol\/server@[^`]+/g)!;
    const main = place.file(
      "project/server.ts",
      example!.replaceAll(/^ \* ?/gm, "")
        .replace("@skill-server/skill-server", pathToFileURL(MOD).href)
        .replaceAll(
          /npm:@modelcontextprotocol\/sdk@[^"]+/g,
          (module) => version === 1 ? module : modules.shift()!,
        ),
    );
    const flags = flagsWith("--allow-read", "--allow-env");
    preload(main);
    await using session = await Session.open(place, { main, flags });
    const { tools } = await session.client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ["time", "skill"]);
    assert.deepEqual(modules.length, version === 1 ? 2 : 0);
    assert.deepEqual(await session.end(), []);
  });
}

Deno.test("registerSkillTools() refuses another server, and a second tool of a name", () => {
  using place = new Place();
  const { registry, server } = createServer(place);
  const low = server.server as unknown as McpServer;
  for (const other of [low, null, undefined]) {
    assert.throws(() => registerSkillTools(other as McpServer, registry), {
      name: "TypeError",
      message: /the server is not an McpServer .*; pass one/,
    });
  }
  registerSkillTools(server, registry);
  assert.throws(
    () => registerSkillTools(server, registry),
    /already registered/,
  );
});

Deno.test("adapterFor() compares what was sent to each kind of client that listed the tools, and to any client before that", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const { registry } = createServer(place);
  const catalog = await registry.refresh();
  const server = new TestDispatcher();
  const options = { toolset: "skill" } as const;
  const adapter = adapterFor(server, registry, options);
  adapter.register(TOOLSETS.skill[0]!);
  const { codex, "claude-code": claude } = CLIENT_PROFILES;
  const sentTo = (...profiles: (typeof DEFAULT_PROFILE)[]) =>
    profiles.flatMap((profile) =>
      listToolEntries({ profile, catalog, options })
    );
  assert.deepEqual(adapter.listSent(catalog), sentTo(DEFAULT_PROFILE));
  const list = async (client: string) =>
    await server.ask("tools/list", {}, { ...CONTEXT, client });
  for (const client of [codex!.clientName, `${codex!.clientName}-x`]) {
    assert.deepEqual(await list(client), { tools: sentTo(codex!) });
    assert.deepEqual(adapter.listSent(catalog), sentTo(codex!));
  }
  await list(claude!.clientName);
  assert.deepEqual(adapter.listSent(catalog), sentTo(codex!, claude!));
  adapter.update();
  assert.deepEqual(server.changed, ["tools"]);
  registry.close();
});

Deno.test("adapterFor() refuses a call of a tool that is not registered, and names those that are", () => {
  using place = new Place();
  const { registry } = createServer(place);
  const server = new TestDispatcher();
  const adapter = adapterFor(server, registry, { toolset: "skilljack" });
  for (const tool of TOOLSETS.skilljack) adapter.register(tool);
  const end = 'the tools are "skill", "skill-resource"';
  const cases = [
    ["", '""'],
    ["SKILL", '"SKILL"'],
    ["__proto__", '"__proto__"'],
    ["a\nb\u200b", '"a\\u000ab\\u200b"'],
  ];
  for (const [name, shown] of cases) {
    assert.throws(() => server.ask("tools/call", { name }), {
      code: -32602,
      message: `Unknown tool ${shown}: ${end}`,
    });
  }
  const name = "x".repeat(1e6);
  assert.throws(
    () => server.ask("tools/call", { name }),
    ({ message }: Error) => message.length < 1_100,
  );
});

Deno.test("adapterFor() updates only the tools of an McpServer that list skills, since the SDK tells clients of each update", () => {
  using place = new Place();
  const { registry } = createServer(place);
  for (const [toolset, tools] of Object.entries(TOOLSETS)) {
    const updated: string[] = [];
    const registerTool = (name: string) => ({
      update: () => updated.push(name),
    });
    const options = { toolset: toolset as "skill" };
    const adapter = adapterFor({ registerTool }, registry, options);
    for (const tool of tools) adapter.register(tool);
    adapter.update();
    const listing = tools.filter(({ describe }) => describe);
    assert.deepEqual(updated, listing.map(({ name }) => name));
  }
});
