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
  type Reply,
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
      httpCommand({ host }),
    );
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^skill-server: Cannot serve other machines without a token: set SKILL_SERVER_TOKEN to the output of "openssl rand -hex 32", or listen on this machine only \(deno serve --host 127\.0\.0\.1\)\n$/,
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

/** Sends a request with headers or a method that `fetch` forbids, and returns the status. */
async function rawStatus(
  port: number,
  { path, ...options }: {
    path: string;
    host: string;
    origin?: string;
    method?: string;
  },
): Promise<number> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const { method = path === "/" ? "GET" : "POST" } = options;
  const message = method === "POST" ? modern("tools/list") : undefined;
  const request = rawRequest(message, { path, method, ...options });
  await connection.write(request);
  const response = await new Response(connection.readable).text();
  return Number(/^HTTP\/1.1 (\d+)/.exec(response)![1]);
}

interface RawOptions {
  path?: string;
  method?: string;
  host: string;
  origin?: string;
}

/** Returns the bytes of a modern request. */
function rawRequest(
  message: object | undefined,
  { path = "/mcp", method = "POST", host, origin }: RawOptions,
): Uint8Array {
  const body = message === undefined ? "" : JSON.stringify(message);
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...(origin ? [`Origin: ${origin}`] : []),
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    ...(message && "method" in message
      ? [`Mcp-Method: ${message.method}`]
      : []),
    "Connection: close",
    ...(body === "" ? [] : [`Content-Length: ${body.length}`]),
  ];
  return new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n${body}`);
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
  const text = await page.text();
  assert.match(text, /\/mcp .*^Documentation: https:\/\/jsr\.io\/@/ms);
  // Remote users cannot open a file of the server.
  assert.doesNotMatch(text, /README|file:/);
  for (const accept of ["*/*", "application/json", "text/plain"]) {
    const { headers, body } = await fetch(new URL("/", server.url), {
      headers: { accept },
    });
    assert.match(headers.get("content-type")!, /^text\/plain;/, accept);
    await body?.cancel();
  }
  const other = await fetch(new URL("/.well-known/oauth", server.url));
  assert.equal(other.status, 404);
  assert.match(await other.text(), /\/mcp/);
});

Deno.test("browsers get a page that contains nothing of the skills and runs only its own script", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_TOKEN: TOKEN };
  await using server = await HttpServer.start(place, { env });
  const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const response = await fetch(new URL("/", server.url), { headers });
  const policy = response.headers.get("content-security-policy")!;
  assert.equal(
    policy.replaceAll(/'sha256-[\w+/=]{44}'/g, "HASH"),
    "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; img-src data:; require-trusted-types-for 'script'; script-src HASH; style-src HASH; trusted-types 'none'",
  );
  assert.equal(response.headers.get("vary"), "Accept");
  const page = await response.text();
  assert.match(page, /^<!DOCTYPE html>/);
  assert.doesNotMatch(
    page,
    /innerHTML|outerHTML|insertAdjacent|document\.write/,
  );
  // Neither a skill nor the token nor a folder of the server.
  for (const secret of [TOKEN, place.path, "Work with git"]) {
    assert.ok(!page.includes(secret), secret);
  }
});

Deno.test("a request with another HTTP method is refused", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const port = Number(new URL(server.url).port);
  const host = `localhost:${port}`;
  for (const method of ["GET", "DELETE", "OPTIONS", "PUT", "TRACE", "PURGE"]) {
    const status = await rawStatus(port, { path: "/mcp", host, method });
    assert.equal(status, 405, `${method} /mcp`);
  }
  for (const method of ["POST", "OPTIONS", "TRACE"]) {
    const status = await rawStatus(port, { path: "/", host, method });
    assert.equal(status, 405, `${method} /`);
  }
  assert.equal(await rawStatus(port, { path: "/", host, method: "HEAD" }), 200);
  const { headers, body } = await server.fetch(undefined);
  assert.equal(headers.get("allow"), "POST");
  await body?.cancel();
  assert.deepEqual(await stderrOf(server), []);
});

Deno.test("an aborted upload leaves nothing in the log", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const { hostname, port } = new URL(server.url);
  for (const length of ["Content-Length: 100", "Transfer-Encoding: chunked"]) {
    for (let count = 0; count < 5; count++) {
      using connection = await Deno.connect({ hostname, port: Number(port) });
      const head =
        `POST /mcp HTTP/1.1\r\nHost: ${hostname}\r\n${length}\r\n\r\n2\r\n{}`;
      await connection.write(new TextEncoder().encode(head));
      // The server has read the start of the body once it has handled another request.
      await server.ask("tools/list");
    }
  }
  await server.ask("tools/list");
  assert.deepEqual(await stderrOf(server), []);
});

/** Ends a server and returns what it logged after its start. */
async function stderrOf(server: HttpServer): Promise<string[]> {
  await server.end();
  await server[Symbol.asyncDispose]();
  return server.stderr.takeAll();
}

Deno.test("refused requests leave one line in the log", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_TOKEN: TOKEN };
  await using server = await HttpServer.start(place, { env });
  for (const token of ["", "wrong", `${TOKEN}x`]) {
    const { status, body } = await server.fetch(modern("tools/list"), {
      authorization: `Bearer ${token}`,
    });
    assert.equal(status, 401);
    await body?.cancel();
  }
  assert.deepEqual(await stderrOf(server), [
    "skill-server: Refused a request from 127.0.0.1 with status 401: The bearer token is missing or wrong",
  ]);
});

Deno.test("invalid params have the same short error as on stdio", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  for (const method of ["tools/call", "prompts/get"]) {
    const params = { name: "skill", arguments: null };
    const { error } = await server.ask(method, params);
    assert.equal(error!.code, -32602);
    assert.equal(
      error!.message,
      'Invalid params: "params.arguments": Invalid input: expected record, received null',
    );
    const legacy = await server.askLegacy(method, params);
    assert.deepEqual(legacy.error, error);
  }
});

/**
 * Returns a port that is free and stays free, because the system does not assign
 * it by itself. With port 0, Deno does not allow listening on the port again.
 */
function findPort(hostname: string): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    try {
      Deno.listen({ hostname, port }).close();
      return port;
    } catch {
      // The port is in use.
    }
  }
}

Deno.test({
  name: "a server that runs out of file descriptors recovers",
  ignore: lacks("sh"),
  fn: async () => {
    using place = filesPlace();
    const hostname = "127.0.0.1";
    const port = findPort(hostname);
    // The server itself needs some of these files.
    const options = { maxFiles: 80, port };
    await using server = await HttpServer.start(place, options);
    const connections = [];
    const isFull = () =>
      server.stderr.values.some((line) => line.includes("Cannot accept"));
    for (let count = 0; count < 200 && !isFull(); count++) {
      const connection = await Deno.connect({ hostname, port })
        .catch(() => undefined);
      if (connection !== undefined) connections.push(connection);
      // Half of the connections have sent a part of a request.
      if (count % 2) {
        await connection?.write(new TextEncoder().encode("POST /m"))
          .catch(() => {});
      }
    }
    const line = await server.stderr.take(
      (line) => line.includes("Cannot accept"),
      "the server to run out of file descriptors",
    );
    assert.match(
      line,
      /^skill-server: Cannot accept connections: .*Too many open files.*; closing all connections and listening again$/,
    );
    await server.stderr.take(
      (line) => line.includes("Serving http:"),
      "the server to listen again",
    );
    // The idle connections are still open on this side.
    const { result } = await server.ask("tools/call", call);
    assert.match(result.content[0].text, /^Loading: git\n/);
    for (const connection of connections) connection.close();
    assert.equal((await server.end()).code, 0);
  },
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

Deno.test("clients over HTTP get URIs instead of the server's paths", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "broken", "---\nname: broken\n---\n");
  place.skill("project/.claude/skills", "git");
  for (const toolset of Object.keys(toolsets)) {
    await using server = await HttpServer.start(place, {
      args: ["--tools", toolset],
    });
    const texts: string[] = [];
    const ask = async (method: string, params?: object) => {
      const reply = await server.ask(method, params);
      texts.push(JSON.stringify(reply));
      return reply.result;
    };
    const { tools } = await ask("tools/list");
    for (const { name } of tools) {
      for (const skill of ["git", "broken", "none"]) {
        for (const file of ["SKILL.md", "none.md", "../x", ""]) {
          const values = {
            name: skill,
            skill,
            skill_name: skill,
            query: skill,
          };
          const paths = { path: file, file_name: file };
          const { inputSchema } = tools.find((tool: { name: string }) =>
            tool.name === name
          );
          const known = Object.entries({ ...values, ...paths }).filter((
            [key],
          ) => key in inputSchema.properties);
          const input = Object.fromEntries(known);
          await ask("tools/call", { name, arguments: input });
        }
      }
    }
    for (const name of ["git", "global:git", "broken"]) {
      await ask("prompts/get", { name: "skill", arguments: { name } });
    }
    for (
      const method of ["server/discover", "prompts/list", "resources/list"]
    ) {
      await ask(method);
    }
    for (const text of texts) assert.ok(!text.includes(place.path), text);
    const { contents } = await ask("resources/read", {
      uri: "skill://git/SKILL.md",
    });
    assert.match(contents[0].text, /name: git/);
  }
  await using server = await HttpServer.start(place);
  const { result } = await server.ask("tools/call", call);
  assert.match(
    result.content[0].text,
    /^Loading: git\nBase directory: skill:\/\/git\/\n\n---/,
  );
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
        { env: { SKILL_SERVER_TOKEN: " " } },
        /Invalid SKILL_SERVER_TOKEN: it is set and empty; create a token/,
      ],
      [
        { host: "0.0.0.0", env: { SKILL_SERVER_TOKEN: "x".repeat(15) } },
        /Cannot serve other machines with a token of less than 16 characters/,
      ],
      [
        { env: { SKILL_SERVER_ARGS: "--policy" } },
        /Invalid SKILL_SERVER_ARGS: --policy requires the path of a file/,
      ],
      [
        { env: { SKILL_SERVER_HOSTS: " , " } },
        /Invalid SKILL_SERVER_HOSTS: it is set and empty/,
      ],
      [
        { env: { SKILL_SERVER_HOSTS: "*.example.com" } },
        /Invalid SKILL_SERVER_HOSTS "\*\.example\.com": .* or wildcard; list each name/,
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

Deno.test("the server does not start if it cannot read its settings in the environment", async () => {
  using place = new Place();
  place.file("policy.yaml", "rules: [{ state: off }]");
  const all = ["TOKEN", "HOSTS", "ARGS"].map((name) => `SKILL_SERVER_${name}`);
  const readable = ["HOME", "USERPROFILE", "MAX_FILE_SIZE_MB", ...all];
  const env = {
    SKILL_SERVER_TOKEN: TOKEN,
    SKILL_SERVER_HOSTS: "skills.example.com",
    SKILL_SERVER_ARGS: `--policy ${place.path}/policy.yaml`,
    SKILLS_DIR: place.path,
  };
  for (const name of ["SKILLS_DIR", ...all]) {
    const names = [...readable, "SKILLS_DIR"].filter((other) => other !== name);
    const permissions = ["--allow-read", `--allow-env=${names}`];
    const { code, stderr } = await runServer(
      place,
      httpCommand({ env, permissions }),
    );
    assert.equal(code, 2, name);
    assert.match(
      stderr,
      /^skill-server: Cannot read the settings in the environment: Deno has no permission; add --allow-env, or /,
    );
  }
});

Deno.test("an option on the command line takes precedence over SKILL_SERVER_ARGS", async () => {
  using place = new Place();
  const folder = (name: string) => {
    place.skill(name, name);
    return `${place.path}/${name}`;
  };
  await using server = await HttpServer.start(place, {
    args: ["--tools=reference", `--skill-dir=${folder("two")}`, folder("one")],
    env: {
      SKILL_SERVER_ARGS: `--tools skilljack --refresh 2 --skill-dir "${
        folder("three")
      }" "${folder("four")}"`,
    },
  });
  const { result } = await server.ask("tools/call", {
    name: "list_skills",
    arguments: {},
  });
  assert.deepEqual(
    result.structuredContent.skills.map(({ name }: { name: string }) => name)
      .sort(),
    ["one", "three", "two"],
  );
  assert.equal((await server.ask("tools/list")).result.ttlMs, 2_000);
});

Deno.test("prompts are text for clients that do not name themselves", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place, {
    args: ["--tools", "skilljack"],
  });
  const params = { name: "git" };
  const typeOf = ({ result }: Reply) => result.messages[0].content.type;
  assert.equal(typeOf(await server.askLegacy("prompts/get", params)), "text");
  assert.equal(typeOf(await server.ask("prompts/get", params)), "resource");
});

Deno.test("a thousand requests at once are answered", {
  ignore: lacks("speed"),
}, async () => {
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
