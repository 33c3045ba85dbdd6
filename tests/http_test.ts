import assert from "node:assert/strict";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "npm:@modelcontextprotocol/client@^2";
import { SkillsClient } from "npm:@modelcontextprotocol/client@^2/ext/skills";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client/streamableHttp"
import { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/streamableHttp.js";
import {
  eventually,
  filesPlace,
  httpCommand,
  type HttpOptions,
  HttpServer,
  lacks,
  modern,
  Place,
  runServer,
  toolsets,
  within,
} from "./testing.ts";

/** The token of servers that require one. */
const TOKEN = "correct-horse-battery-staple";

const call = { name: "skill", arguments: { name: "git" } };

async function modernClient(
  { url }: HttpServer,
  requestInit: RequestInit = {},
): Promise<ModernClient> {
  const client = new ModernClient({ name: "test", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  await client.connect(new ModernTransport(new URL(url), { requestInit }));
  return client;
}

Deno.test("a legacy client is served over HTTP", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  // Over HTTP, the server cannot send anything between requests.
  assert.deepEqual(client.getServerCapabilities(), {
    tools: {},
    prompts: {},
    resources: {},
    completions: {},
    extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
  });
  assert.match(client.getInstructions()!, /skills/);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name), ["skill"]);
  const { content } = await client.callTool(call);
  assert.match((content as { text: string }[])[0]!.text, /^Loading: git\n/);
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.some(({ name }) => name === "git"));
  const uri = "skill://git/references/API.md";
  const { contents } = await client.readResource({ uri });
  assert.deepEqual(contents, [{
    uri,
    mimeType: "text/markdown",
    text: "# API",
  }]);
  await assert.rejects(
    client.subscribeResource({ uri }),
    /Method not found/,
  );
  await client.close();
});

Deno.test("a modern client lists, calls, verifies, and listens over HTTP", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const client = await modernClient(server);
  assert.deepEqual(client.getServerCapabilities()?.resources, {
    listChanged: true,
  });
  const { content: [item] } = await client.callTool(call);
  assert.ok(item?.type === "text" && item.text.startsWith("Loading: git\n"));
  const skills = new SkillsClient(client);
  for (const entry of (await skills.list()).skills) {
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

Deno.test("the metadata of modern results is the same over HTTP", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place, {
    args: ["--refresh", "2"],
  });
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
  const { error } = await server.ask("skills/get", { uri: "skill://none" });
  assert.equal(error!.code, -32602);
  assert.match(error!.message, /^Unknown resource "skill:\/\/none"/);
  const wrong = await server.ask("tools/call", { name: "skill", arguments: 1 });
  assert.equal(wrong.error!.code, -32602);
});

Deno.test("two processes return the same pages and digests, even if a client alternates between them", async () => {
  using place = new Place();
  for (let index = 0; index < 501; index++) {
    place.skill("home/.claude/skills", `skill-${index}`);
  }
  await using first = await HttpServer.start(place);
  await using second = await HttpServer.start(place);
  const skills = await first.ask("skills/list");
  assert.equal(skills.result.skills.length, 501);
  assert.deepEqual((await second.ask("skills/list")).result, skills.result);
  const { result: page } = await first.ask("resources/list");
  const { nextCursor: cursor } = page;
  assert.ok(cursor);
  const { result: rest } = await second.ask("resources/list", { cursor });
  assert.equal(rest.nextCursor, undefined);
  const uris = [...page.resources, ...rest.resources].map(({ uri }) => uri);
  assert.equal(uris.length, 1_002);
  assert.equal(new Set(uris).size, 1_002);
});

Deno.test("every thread of a server returns the same results", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place, {
    flags: ["--parallel"],
    env: { DENO_JOBS: "2" },
  });
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => server.ask("skills/list")),
  );
  assert.equal(
    new Set(replies.map(({ result }) => JSON.stringify(result))).size,
    1,
  );
  assert.equal((await server.end()).code, 0);
});

Deno.test("a client without the token learns nothing about the skills", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_TOKEN: TOKEN };
  await using server = await HttpServer.start(place, { env, host: "0.0.0.0" });
  const request = modern("tools/list");
  for (
    const [headers, challenge] of [
      [{}, "Bearer"],
      [{ authorization: `Basic ${TOKEN}` }, 'Bearer error="invalid_token"'],
      [{ authorization: `Bearer ${TOKEN}x` }, 'Bearer error="invalid_token"'],
      [{ authorization: "Bearer" }, 'Bearer error="invalid_token"'],
    ] as [Record<string, string>, string][]
  ) {
    for (const body of [request, "not JSON", undefined]) {
      const response = await server.fetch(body, headers);
      assert.equal(response.status, 401);
      assert.equal(response.headers.get("www-authenticate"), challenge);
      assert.doesNotMatch(await response.text(), /git/);
    }
  }
  const page = await fetch(new URL("/", server.url));
  assert.equal(page.status, 200);
  const text = await page.text();
  assert.match(text, /\/mcp .*Authorization: Bearer/);
  assert.doesNotMatch(text, /git/);
  const client = await modernClient(server, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  assert.equal((await client.listTools()).tools.length, 1);
  await client.close();
});

Deno.test("a server that other machines can reach does not start without a token", async () => {
  using place = filesPlace();
  for (const host of ["0.0.0.0", "[::]"]) {
    const { code, stderr } = await runServer(
      place,
      httpCommand({ host, env: { SKILL_SERVER_TOKEN: "" } }),
    );
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^skill-server: Cannot serve other machines without a token: set SKILL_SERVER_TOKEN, or listen on this machine only \(deno serve --host 127\.0\.0\.1\)\n$/,
    );
  }
});

Deno.test("a request with an unknown host name or from a page of another origin is refused", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_HOSTS: "skills.example.com" };
  await using server = await HttpServer.start(place, { env });
  const { port } = new URL(server.url);
  const local = `localhost:${port}`;
  for (
    const [host, origin, status] of [
      [local, undefined, 200],
      [`127.0.0.1:${port}`, `http://${local}`, 200],
      ["skills.example.com", "https://skills.example.com", 200],
      ["evil.example.com", undefined, 403],
      [`evil.example.com:${port}`, `http://evil.example.com:${port}`, 403],
      [local, "http://evil.example.com", 403],
      [local, "null", 403],
      ["localhost.evil.example.com", undefined, 403],
    ] as const
  ) {
    for (const path of ["/", "/mcp"]) {
      const got = await rawStatus(Number(port), { path, host, origin });
      assert.equal(got, status, `${path} ${host} ${origin}`);
    }
  }
});

/** Sends a request with headers that `fetch` forbids, and returns the status. */
async function rawStatus(
  port: number,
  { path, host, origin }: { path: string; host: string; origin?: string },
): Promise<number> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const body = JSON.stringify(modern("tools/list"));
  const head = [
    `${path === "/" ? "GET" : "POST"} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...(origin ? [`Origin: ${origin}`] : []),
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: tools/list",
    "Connection: close",
    ...(path === "/" ? [] : [`Content-Length: ${body.length}`]),
  ];
  const request = `${head.join("\r\n")}\r\n\r\n${path === "/" ? "" : body}`;
  await connection.write(new TextEncoder().encode(request));
  const response = await new Response(connection.readable).text();
  return Number(/^HTTP\/1.1 (\d+)/.exec(response)![1]);
}

Deno.test("a body that is over 1 MiB, not JSON, or a batch is refused", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const padding = "x".repeat(2 ** 20);
  const large = JSON.stringify({ ...modern("tools/list"), padding });
  const refused = await server.fetch(large);
  assert.equal(refused.status, 413);
  assert.match(await refused.text(), /more than 1048576 bytes/);
  const chunked = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new Blob([large]).stream(),
  });
  assert.equal(chunked.status, 413);
  await chunked.body?.cancel();
  for (
    const [body, reason] of [
      ["", /it is not JSON/],
      ["{", /it is not JSON/],
      [[modern("tools/list")], /batches are not supported/],
    ] as const
  ) {
    const response = await server.fetch(body);
    assert.equal(response.status, 400);
    assert.match(await response.text(), reason);
  }
  assert.equal((await server.ask("tools/list")).error, undefined);
});

Deno.test("everything that the server sends over HTTP is well-formed Unicode", async () => {
  using place = new Place();
  const text = '---\nname: half\ndescription: "x \\ud800 y"\n---\n';
  place.skill("home/.claude/skills", "half", text);
  await using server = await HttpServer.start(place);
  const init = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const request of [init, modern("prompts/list")]) {
    const { method } = request as { method: string };
    const response = await server.fetch(request, {
      ...(request !== init && {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
      }),
    });
    const body = await response.text();
    assert.ok(body.includes("x \ufffd y"), body);
    assert.ok(!body.includes("\\ud800"), body);
  }
});

Deno.test("a reply that is too large for clients is replaced with advice", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "big");
  // Each character takes six characters in JSON.
  place.file("home/.claude/skills/big/a.txt", "\x01".repeat(1_900_000));
  await using server = await HttpServer.start(place, {
    args: ["--tools", "skilljack", "--max-file-size", "2"],
  });
  const advice = /^Cannot send the reply: .*; ask for less at a time$/;
  const { error } = await server.ask("resources/read", {
    uri: "skill://big/a.txt",
  });
  assert.equal(error!.code, -32603);
  assert.match(error!.message, advice);
  const { result } = await server.ask("tools/call", {
    name: "skill-resource",
    arguments: { skill: "big", path: "a.txt" },
  });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, advice);
  assert.equal(result.resultType, "complete");
});

Deno.test("the server names its endpoint in responses at other paths", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const page = await fetch(new URL("/", server.url));
  assert.equal(page.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(await page.text(), /\/mcp .*README/s);
  const other = await fetch(new URL("/.well-known/oauth", server.url));
  assert.equal(other.status, 404);
  assert.match(await other.text(), /\/mcp/);
  const stream = await server.fetch(undefined);
  assert.equal(stream.status, 405);
  await stream.body?.cancel();
});

Deno.test({
  name: "a terminated server closes its streams and exits within a second",
  ignore: lacks("signals"),
  fn: async () => {
    for (const flags of [[], ["--parallel"]]) {
      using place = filesPlace();
      await using server = await HttpServer.start(place, { flags });
      const client = await modernClient(server);
      const subscription = await client.listen({ toolsListChanged: true });
      const start = performance.now();
      const { code } = await server.end();
      const time = performance.now() - start;
      assert.equal(code, 0);
      assert.equal(
        await within(subscription.closed, "the stream to end"),
        "graceful",
      );
      // A busy machine can take a while to report the exit.
      assert.ok(time < 3_000, `${time} ms`);
      await client.close();
    }
  },
});

Deno.test("no tool runs a shell over HTTP, whatever permissions Deno has", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place, {
    flags: ["--allow-run"],
    env: { SKILL_SERVER_ARGS: "--tools 'agentskills'" },
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
  assert.match(error!.message, /^Unknown tool/);
});

Deno.test("options come from the command line and the environment", async () => {
  using place = new Place();
  place.skill("skills", "one");
  place.skill("more", "two");
  await using server = await HttpServer.start(place, {
    args: ["--tools", "reference"],
    env: {
      SKILLS_DIR: `${place.path}/skills`,
      SKILL_SERVER_ARGS: `--skill-dir "${place.path}/more"`,
    },
  });
  const { result } = await server.ask("tools/call", {
    name: "list_skills",
    arguments: {},
  });
  assert.deepEqual(
    result.structuredContent.skills.map(({ name }: { name: string }) => name),
    ["one", "two"],
  );
});

Deno.test("the server exits if an option is invalid or does not apply to HTTP", async () => {
  using place = new Place();
  for (
    const [options, message] of [
      [{ args: ["--check"] }, /Cannot use --check over HTTP/],
      [
        { args: ["--shell-timeout", "5"] },
        /Cannot use --shell-timeout over HTTP/,
      ],
      [{ args: ["--tools", "all"] }, /Invalid --tools "all"/],
      [
        { env: { SKILL_SERVER_ARGS: "--skill-dir 'a" } },
        /Invalid SKILL_SERVER_ARGS/,
      ],
      [
        { env: { SKILL_SERVER_TOKEN: "two words" } },
        /Invalid SKILL_SERVER_TOKEN/,
      ],
      [
        { env: { SKILL_SERVER_HOSTS: "https://example.com" } },
        /Invalid SKILL_SERVER_HOSTS "https:\/\/example\.com"/,
      ],
    ] as [HttpOptions, RegExp][]
  ) {
    const { code, stderr } = await runServer(
      place,
      httpCommand(options),
    );
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

Deno.test("a thousand requests at once are answered", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const replies = await Promise.all(
    Array.from({ length: 1_000 }, () => server.ask("tools/call", call)),
  );
  for (const { result } of replies) {
    assert.match(result.content[0].text, /^Loading: git\n/);
  }
});

Deno.test("the policy applies over HTTP, and saved changes apply immediately", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "theirs");
  place.skill("home/.claude/skills", "mine");
  place.file("home/policy.yaml", "rules: [{ scope: project, state: off }]");
  const args = ["--policy", "~/policy.yaml", "--refresh", "0"];
  await using server = await HttpServer.start(place, { args });
  const uris = async () => {
    const { result } = await server.ask("skills/list");
    return result.skills.map(({ uri }: { uri: string }) => uri);
  };
  assert.deepEqual(await uris(), ["skill://mine/SKILL.md"]);
  const { error } = await server.ask("resources/read", {
    uri: "skill://theirs/SKILL.md",
  });
  assert.equal(error!.code, -32602);
  place.replace("home/policy.yaml", "rules: []");
  await eventually(async () => (await uris()).length === 2, "the change");
});
