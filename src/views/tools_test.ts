import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/inMemory"
import { InMemoryTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/inMemory.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/server"
import { Server } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/index.js";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import { ToolListChangedNotificationSchema } from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { registerSkillTools, SkillRegistry } from "../../mod.ts";
import { Inbox, Place, root, Wire } from "../../tests/testing.ts";

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
