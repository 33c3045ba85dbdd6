// http.ts: what clients of each kind get over HTTP.
import assert from "node:assert/strict";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client/streamableHttp"
import { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/streamableHttp.js";
import { join } from "../src/fs/paths.ts";
import { TOOL_NAMES, type Toolset } from "../src/views/options.ts";
import { toolsets } from "./testing/client.ts";
import { REPOSITORY } from "./testing/environment.ts";
import { GIT_CALL, HttpServer, modernClient } from "./testing/http.ts";
import { needs } from "./testing/needs.ts";
import { filesPlace, Place, skillMd } from "./testing/place.ts";
import { message, type Reply } from "./testing/server.ts";
import { callFor, type ToolCall } from "./testing/tools.ts";
import { within } from "./testing/waiting.ts";

const withSignals = needs("signals");

Deno.test("a legacy client is served over HTTP", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  // Over HTTP, the server cannot send anything between requests.
  assert.deepEqual(client.getServerCapabilities(), {
    tools: { listChanged: false },
    prompts: { listChanged: false },
    resources: { listChanged: false, subscribe: false },
    completions: {},
    extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
  });
  assert.match(client.getInstructions()!, /skills/);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ["skill"]);
  const { content } = await client.callTool(GIT_CALL);
  assert.match((content as { text: string }[])[0]!.text, /^Loading: git\n/);
  const uri = "skill://git/references/API.md";
  const { contents } = await client.readResource({ uri });
  const mimeType = "text/markdown";
  assert.deepEqual(contents, [{ uri, mimeType, text: "# API" }]);
  await assert.rejects(
    client.subscribeResource({ uri }),
    /-32601/,
  );
  await client.close();
});

Deno.test("a modern client lists, calls, and listens over HTTP", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const client = await modernClient(server);
  assert.deepEqual(client.getServerCapabilities()?.resources, {
    listChanged: true,
    subscribe: false,
  });
  const { content: [item] } = await client.callTool(GIT_CALL);
  assert.ok(item?.type === "text" && item.text.startsWith("Loading: git\n"));
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler(
    "notifications/tools/list_changed",
    () => changed.resolve(),
  );
  const subscription = await client.listen({
    toolsListChanged: true,
    resourceSubscriptions: ["skill://git/SKILL.md"],
  });
  assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true });
  place.skill("home/.claude/skills", "new");
  await within(changed.promise, "the notification");
  await subscription.close();
  await client.close();
});

Deno.test("an answer to a legacy client keeps separators of lines", async () => {
  using place = new Place();
  const text = skillMd("git", "One\u2028two\u2029three");
  place.skill("home/.claude/skills", "git", text);
  await using server = await HttpServer.start(place);
  const uri = "skill://git/SKILL.md";
  const { result } = await server.askLegacy("resources/read", { uri });
  assert.equal(result.contents[0].text, text);
});

Deno.test("a modern client is told over HTTP for how long to cache a result", async () => {
  using place = filesPlace();
  const args = ["--refresh", "2"];
  await using server = await HttpServer.start(place, { args });
  for (const method of ["server/discover", "tools/list", "skills/list"]) {
    const { result } = await server.ask(method);
    const { resultType, ttlMs, cacheScope, _meta } = result;
    assert.deepEqual(
      [resultType, ttlMs, cacheScope],
      ["complete", 2_000, "private"],
      method,
    );
    const serverInfo = _meta["io.modelcontextprotocol/serverInfo"];
    assert.equal(serverInfo.title, "Agent Skills");
  }
});

Deno.test("a modern client gets the codes of errors over HTTP, and 404 for a method", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const { error } = await server.ask("skills/get", { uri: "skill://none" });
  assert.equal(error!.code, -32602);
  assert.match(error!.message, /^Unknown skill "skill:\/\/none"/);
  const listen = await server.askLegacy("subscriptions/listen");
  assert.equal(listen.error!.code, -32601);
  for (const method of ["no/such", "resources/subscribe", "__proto__"]) {
    const response = await server.send(method);
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code], [404, -32601], method);
  }
});

Deno.test("clients connect to any path that ends in /mcp, whatever they accept", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const body = JSON.stringify(message(1, "tools/list"));
  const accepted = ["", "*/*", "application/*", "application/json"];
  for (
    const path of ["/mcp", "/mcp/?a=b", "//mcp", "/skills/mcp", "/a/mcp//"]
  ) {
    for (const accept of accepted) {
      const response = await fetch(new URL(server.url).origin + path, {
        method: "POST",
        headers: { accept, "content-type": "application/json" },
        body,
      });
      const type = response.headers.get("content-type");
      assert.deepEqual([response.status, type], [200, "application/json"]);
      assert.equal((await response.json()).result.tools.length, 1);
    }
  }
});

Deno.test("over HTTP, messages are cleaned as on stdio", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: null };
  const response = await server.fetch(list);
  assert.equal((await response.json()).result.tools.length, 1);
  const nothing = { name: "skill", arguments: null };
  const { result } = await server.ask("tools/call", nothing);
  assert.match(result.content[0].text, /the argument "name" is missing/);
  // The error repeats the URI.
  const params = { uri: "skill://\ud800" };
  const { error } = await server.askLegacy("resources/read", params);
  assert.deepEqual(error!.data, { uri: "skill://\ufffd" });
});

withSignals.test("a terminated server closes its streams and exits", async () => {
  for (const flags of [[], ["--parallel"]]) {
    using place = filesPlace();
    await using server = await HttpServer.start(place, { flags });
    const client = await modernClient(server);
    const subscription = await client.listen({ toolsListChanged: true });
    assert.equal((await server.end()).code, 0);
    const reason = await within(subscription.closed, "the stream to end");
    assert.equal(reason, "graceful");
    await client.close();
  }
});

withSignals.test("the task serve accepts options and folders in any order", async () => {
  using place = filesPlace();
  const dir = join(place.home, ".claude/skills");
  const task = ["task", "--config", join(REPOSITORY, "deno.json"), "serve"];
  const args = ["--tools=skilljack", dir, "--port", "0", "--host=127.0.0.1"];
  const command = [Deno.execPath(), ...task, ...args];
  await using server = await HttpServer.start(place, { command });
  const { result } = await server.ask("tools/list");
  const ended = await server.end();
  assert.notEqual(new URL(server.url).port, "8000");
  assert.match(JSON.stringify(result.tools), /"skill-resource"/);
  assert.equal(ended.code, 0);
  await assert.rejects(fetch(server.url), TypeError);
});

Deno.test("clients over HTTP get URIs instead of the server's paths", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "broken", "---\nname: broken\n---\n");
  place.skill("project/.claude/skills", "theirs", "---\nname: theirs\n---\n");
  place.skill("project/.claude/skills", "git");
  for (const toolset of Object.keys(toolsets) as Toolset[]) {
    const args = ["--tools", toolset];
    await using server = await HttpServer.start(place, { args });
    const { list, read } = TOOL_NAMES[toolset];
    const calls: ToolCall[] = [{ name: list, arguments: {} }];
    const requests: [string, object?][] = [
      ["server/discover"],
      ["tools/list"],
      ["prompts/list"],
      ["resources/list"],
    ];
    for (const name of ["git", "global:git", "broken", "theirs", "none"]) {
      requests.push(["prompts/get", { name: "skill", arguments: { name } }]);
      calls.push(callFor(toolset, name));
      if (read === undefined) continue;
      for (const path of ["SKILL.md", "none.md", "../x", ""]) {
        calls.push(callFor(toolset, name, path));
      }
    }
    requests.push(...calls.map((it): [string, object] => ["tools/call", it]));
    const replies = requests.map((request) => server.ask(...request));
    for (const reply of await Promise.all(replies)) {
      const text = JSON.stringify(reply);
      assert.ok(!text.includes(place.path) && !/\.claude/.test(text), text);
      if (!text.includes("Skill 'broken' not found")) continue;
      assert.match(text, /skips a skill with this name \(line 1\): the field/);
    }
  }
});

Deno.test("no tool runs a shell over HTTP, whatever permissions Deno has", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place, {
    flags: ["--allow-run"],
    env: { SKILL_SERVER_ARGS: "--tools agentskills" },
  });
  const { result } = await server.ask("tools/list");
  assert.deepEqual(
    result.tools.map(({ name }: { name: string }) => name),
    toolsets.agentskills,
  );
  const { error } = await server.ask("tools/call", {
    name: "run_shell_command_op",
    arguments: { skill_name: "git", command: "echo" },
  });
  assert.equal(error!.code, -32602);
  assert.match(
    error!.message,
    /^Unknown tool "run_.*": call one of the tools "load_/,
  );
});

Deno.test("prompts are text for clients that do not name themselves", async () => {
  using place = filesPlace();
  const args = ["--tools", "skilljack"];
  await using server = await HttpServer.start(place, { args });
  const params = { name: "git" };
  const typeOf = ({ result }: Reply) => result.messages[0].content.type;
  assert.equal(typeOf(await server.askLegacy("prompts/get", params)), "text");
  assert.equal(typeOf(await server.ask("prompts/get", params)), "resource");
});
