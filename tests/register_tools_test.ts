// A server of the SDK that someone else wrote, of either version, gets the tools of the skills.
import assert from "node:assert/strict";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/inMemory"
import { InMemoryTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/inMemory.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/server/mcp"
import { McpServer as McpServer1 } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/mcp.js";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import { ToolListChangedNotificationSchema } from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { McpServer as McpServer2 } from "npm:@modelcontextprotocol/server@^2.4.0";
import {
  createSkillService,
  registerSkillTools,
  SkillRegistry,
  type SkillToolServer,
} from "../mod.ts";
import { join } from "../src/fs/paths.ts";
import { PROFILE_NAMES } from "../src/views/clients.ts";
import { toolsets } from "./testing/client.ts";
import { isWindows } from "./testing/environment.ts";
import { replaced } from "./testing/fakes.ts";
import { Place, skillMd } from "./testing/place.ts";
import { root } from "./testing/registry.ts";
import { Inbox } from "./testing/waiting.ts";

/** A registry of skills, and a server with a tool of its own that a client can connect to. */
async function open(place: Place, version: 1 | 2) {
  const registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const info = { name: "other", version: "1.0.0" };
  const server = version === 1
    ? new McpServer1(info)
    : new McpServer2(info) as unknown as McpServer1;
  server.registerTool(
    "time",
    { description: "Return the time" },
    () => ({ content: [{ type: "text", text: "noon" }] }),
  );
  const connect = async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await server.connect(ours);
    await client.connect(theirs);
    return client;
  };
  return { registry, server, connect };
}

for (const version of [1, 2] as const) {
  Deno.test(`registerSkillTools() adds current tools to an McpServer of version ${version}`, async () => {
    using place = new Place();
    place.skill("skills", "git");
    const { registry, server, connect } = await open(place, version);
    const end = registerSkillTools(server, registry);
    const client = await connect();
    const notifications = new Inbox<string>();
    client.setNotificationHandler(
      ToolListChangedNotificationSchema,
      ({ method }) => notifications.put(method),
    );
    const describe = async () => {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name), ["time", "skill"]);
      return tools[1]!.description!;
    };
    const call = async (name: string, input: Record<string, unknown> = {}) => {
      const params = { name, arguments: input };
      const result = await client.callTool(params) as CallToolResult;
      return JSON.stringify(result);
    };
    assert.match(await describe(), /<name>git<\/name>/);
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
    assert.match(await describe(), /<name>pdf<\/name>/);
    end();
    place.remove("skills/pdf");
    await registry.refresh();
    assert.match(await describe(), /<name>pdf<\/name>/);
    await client.close();
    registry.close();
  });

  Deno.test(`registerSkillTools() runs commands on a server of version ${version}`, async () => {
    using place = new Place();
    place.skill("skills", "git");
    const { registry, server, connect } = await open(place, version);
    const warnings: unknown[] = [];
    using _console = replaced(console, {
      warn: (...data) => warnings.push(data),
    });
    registerSkillTools(server, registry, { toolset: "agentskills" });
    const client = await connect();
    const input = { skill_name: "git", command: isWindows ? "dir" : "ls" };
    const params = { name: "run_shell_command_op", arguments: input };
    const { content } = await client.callTool(params);
    assert.match(JSON.stringify(content), /SKILL\.md/);
    assert.deepEqual(warnings, []);
    await client.close();
    registry.close();
  });
}

Deno.test("registerSkillTools() registers the tools of any toolset, for any profile", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const all = [
    ...Object.keys(toolsets).map((toolset) => ({
      toolset: toolset as "skill",
    })),
    ...PROFILE_NAMES.map((profile) => ({ profile, toolset: "skill" as const })),
  ];
  for (const options of all) {
    const { registry, server, connect } = await open(place, 1);
    registerSkillTools(server, registry, { ...options, allowShell: false });
    const client = await connect();
    const { tools: [, ...tools] } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), toolsets[options.toolset]);
    assert.ok(tools.every(({ annotations }) => annotations!.readOnlyHint));
    if (options.toolset === "skill") {
      const list = /\bgit(?:: |<.*\n<description>)About git/;
      assert.match(tools[0]!.description!, list);
    }
    await client.close();
    registry.close();
  }
});

Deno.test("registerSkillTools() refuses what it cannot use", async () => {
  using place = new Place();
  const { registry, server } = await open(place, 1);
  for (const other of [server.server, null, undefined]) {
    const wrong = other as unknown as SkillToolServer;
    assert.throws(() => registerSkillTools(wrong, registry), {
      name: "TypeError",
      message: /the server is not an McpServer .*; pass one/,
    });
  }
  const toolset = "toString" as "skill";
  assert.throws(
    () => registerSkillTools(server, registry, { toolset }),
    /^TypeError: Invalid toolset "toString": expected one of skill, skilljack/,
  );
  for (const profile of ["Codex", "toString"]) {
    assert.throws(
      () => registerSkillTools(server, registry, { profile }),
      /^TypeError: Invalid profile ".*": expected one of default, claude-code/,
    );
  }
  registerSkillTools(server, registry);
  assert.throws(
    () => registerSkillTools(server, registry),
    /already registered/,
  );
  registry.close();
});

Deno.test("createSkillService() fails only through ready if the first scan does", async () => {
  using place = new Place();
  place.skill("skills", "git", "no frontmatter");
  using registry = new SkillRegistry([root(join(place.path, "skills"))], {
    log: () => {
      throw new Error("Cannot log");
    },
  });
  const { ready } = await createSkillService(registry);
  await assert.rejects(ready, { message: "Cannot log" });
});
