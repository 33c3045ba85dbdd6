// The process over HTTP refuses whom its settings do not allow, starts only with valid ones,
// and follows the file of tokens.
import assert from "node:assert/strict";
import {
  Client as ModernClient,
  type OAuthClientProvider,
  StreamableHTTPClientTransport as ModernTransport,
} from "npm:@modelcontextprotocol/client@^2";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client/streamableHttp"
import { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/streamableHttp.js";
import { dirname, join } from "../src/fs/paths.ts";
import {
  httpCommand,
  type HttpOptions,
  HttpServer,
  modern,
  modernClient,
  TOKEN,
} from "./testing/http.ts";
import { needs } from "./testing/needs.ts";
import { filesPlace, type Place } from "./testing/place.ts";
import { message, runServer } from "./testing/server.ts";
import { within } from "./testing/waiting.ts";

const withLinks = needs("links");

Deno.test("a client without the token learns nothing about the skills", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_TOKEN: TOKEN };
  await using server = await HttpServer.start(place, { env, host: "0.0.0.0" });
  // With a token, the host does not matter.
  const elsewhere = { method: "POST", path: "/mcp", host: "any.example.com" };
  assert.equal(await statusOf(server, elsewhere), 401);
  const request = modern("tools/list");
  for (const authorization of ["", `Basic ${TOKEN}`, `Bearer ${TOKEN}x`]) {
    const error = authorization === "" ? "" : ' error="invalid_token"';
    const challenge = `Bearer${error}`;
    for (const body of [request, "not JSON", undefined]) {
      const response = await server.fetch(body, { authorization });
      assert.equal(response.status, 401);
      assert.equal(response.headers.get("www-authenticate"), challenge);
      assert.doesNotMatch(await response.text(), /git/);
    }
  }
  const client = await modernClient(server, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  assert.equal((await client.listTools()).tools.length, 1);
  await client.close();
});

/** Sends a request with a host or a method that `fetch` forbids, and returns the status. */
async function statusOf(
  { url }: HttpServer,
  { method, path, host }: { method: string; path: string; host?: string },
): Promise<number> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host ?? hostname}`];
  const head = [...lines, "Connection: close", "", ""].join("\r\n");
  await connection.write(new TextEncoder().encode(head));
  const response = await new Response(connection.readable).text();
  return Number(/^HTTP\/1.1 (\d+)/.exec(response)![1]);
}

Deno.test("the host, the method, and the path decide on the status of an answer", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_HOSTS: "skills.example.com" };
  await using server = await HttpServer.start(place, { env });
  const cases = [
    [["GET", "HEAD"], "/", undefined, 200],
    [["GET"], "/", "skills.example.com", 200],
    [["GET"], "/", "localhost", 200],
    [["GET"], "/", "[::1]:8000", 200],
    [["GET", "POST"], "/", "evil.example.com", 403],
    [["GET"], "/", "skills.example.com.evil.com", 403],
    [["GET", "POST"], "/mcp", "localhost.evil.example.com", 403],
    [["GET", "DELETE", "OPTIONS", "TRACE"], "/mcp", undefined, 405],
    [["POST", "OPTIONS", "TRACE"], "/", undefined, 405],
    [["POST"], "/mcp", undefined, 400],
    [["GET"], "/other", undefined, 404],
    [["POST"], "/.well-known/oauth-protected-resource/mcp", undefined, 404],
    [["GET", "HEAD"], "/health", "evil.example.com", 200],
    [["POST"], "/health", undefined, 405],
  ] as const;
  for (const [methods, path, host, status] of cases) {
    for (const method of methods) {
      const got = await statusOf(server, { method, path, host });
      assert.equal(got, status, `${method} ${path} ${host}`);
    }
  }
  await using plain = await HttpServer.start(place);
  const foreign = { method: "POST", path: "/mcp", host: "skills.example.com" };
  assert.equal(await statusOf(plain, foreign), 403);
  const { headers, body } = await server.fetch(undefined);
  assert.equal(headers.get("allow"), "POST");
  await body?.cancel();
  assert.equal((await server.ask("tools/list")).error, undefined);
});

Deno.test("the server is ready if it finds a folder of skills with a usable policy", async () => {
  using place = filesPlace();
  const empty = place.dir("empty");
  const broken = place.file("home/broken.yaml", "rules: 1");
  const cases = [
    [[], 200],
    [["--policy", broken], 503],
  ] as const;
  const statusFor = async (options: HttpOptions, home = place.home) => {
    const dirs = { project: empty, home };
    await using server = await HttpServer.start(dirs, options);
    const response = await fetch(new URL("/health", server.url));
    assert.equal(await response.text(), "");
    return response.status;
  };
  for (const [args, status] of cases) {
    assert.equal(await statusFor({ args: [...args] }), status);
  }
  assert.equal(await statusFor({}, empty), 503);
});

Deno.test("a page of any origin can use a token, unless the hosts are known", async () => {
  using place = filesPlace();
  const host = "skills.example.com";
  const [known, other] = [`https://${host}`, "chrome-extension://abcdef"];
  const token = { SKILL_SERVER_TOKEN: TOKEN };
  const cases = [
    [token, [known, other, "http://localhost:6274", "null"], []],
    [
      { ...token, SKILL_SERVER_HOSTS: host },
      [known, "http://localhost:5173"],
      [other, "null", "x"],
    ],
    [{}, ["http://localhost:6274"], [known, other]],
  ] as [Record<string, string>, string[], string[]][];
  for (const [env, accepted, refused] of cases) {
    await using server = await HttpServer.start(place, { env });
    const ask = async (origin: string, init: RequestInit) => {
      const headers = { ...init.headers, origin };
      const response = await fetch(server.url, { ...init, headers });
      await response.body?.cancel();
      const readable = response.headers.get("access-control-allow-origin");
      assert.equal(readable, accepted.includes(origin) ? origin : null);
      const credentials = "access-control-allow-credentials";
      assert.equal(response.headers.get(credentials), null);
      return response;
    };
    const preflight = {
      method: "OPTIONS",
      headers: {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,mcp-method",
      },
    };
    const post = (authorization: string) => ({
      method: "POST",
      body: JSON.stringify(message(1, "tools/list")),
      headers: { "content-type": "application/json", authorization },
    });
    for (const origin of accepted) {
      const { status, headers } = await ask(origin, preflight);
      assert.equal(status, 204);
      const allowed = headers.get("access-control-allow-headers");
      assert.equal(allowed, "authorization,mcp-method");
      assert.equal((await ask(origin, post(`Bearer ${TOKEN}`))).status, 200);
      if (env === token) {
        assert.equal((await ask(origin, post(""))).status, 401);
      }
    }
    for (const origin of refused) {
      assert.equal((await ask(origin, preflight)).status, 403);
      assert.equal((await ask(origin, post(`Bearer ${TOKEN}`))).status, 403);
    }
  }
});

Deno.test("a client that looks for a login because of a wrong token shows how to set one", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_TOKEN: TOKEN };
  await using server = await HttpServer.start(place, { env });
  const nothing = () => undefined;
  const redirectUrl = "http://127.0.0.1:1/callback";
  const authProvider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    clientInformation: nothing,
    tokens: nothing,
    saveClientInformation: nothing,
    saveTokens: nothing,
    redirectToAuthorization: nothing,
    saveCodeVerifier: nothing,
    codeVerifier: () => "",
  };
  const url = new URL(server.url);
  const clients = [
    () =>
      new Client({ name: "test", version: "1" })
        .connect(new StreamableHTTPClientTransport(url, { authProvider })),
    () =>
      new ModernClient({ name: "test", version: "1" })
        .connect(new ModernTransport(url, { authProvider })),
  ];
  const advice = /This server has no OAuth: set the header \\?"Authorization: /;
  for (const connect of clients) await assert.rejects(connect, advice);
});

Deno.test("the 257th listener is told to try again later", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const notifications = { toolsListChanged: true };
  const listener = () => server.send("subscriptions/listen", { notifications });
  const listeners: Response[] = [];
  for (let count = 0; count < 256; count++) listeners.push(await listener());
  const refused = await listener();
  assert.equal(refused.status, 503);
  assert.match(await refused.text(), /Too many clients listen for changes/);
  await server.stderr.take(
    (line) => /from 127\.0\.0\.1: Too many clients listen/.test(line),
    "the line about the refused listener",
  );
  for (const { body } of listeners) await body!.cancel();
});

Deno.test("a server that cannot listen says why in one line", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const { port } = new URL(server.url);
  const env = { SKILL_SERVER_TOKEN: TOKEN };
  const cases: [options: HttpOptions, reason: string][] = [
    [{ flags: ["--port", port] }, "another program uses the port"],
    [{ host: "192.0.2.1", env }, "this machine has no such address"],
  ];
  for (const [options, reason] of cases) {
    const { code, stderr } = await runServer(place, httpCommand(options));
    assert.equal(code, 2);
    assert.match(stderr, /^skill-server: Cannot listen: [^\n]*\n$/);
    assert.ok(stderr.includes(reason), stderr);
  }
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
  await server.end();
  await server[Symbol.asyncDispose]();
  assert.deepEqual(server.stderr.takeAll(), []);
});

const ALICE = "alice-has-a-secret-token";
const BOB = "bob-has-another-secret-token";

/** Returns options for a server that may read the skills and the folder of the tokens, no more. */
function withTokens(place: Place, file: string): HttpOptions {
  const dirs = [place.project, place.home, dirname(file)];
  return {
    env: { SKILL_SERVER_TOKENS_FILE: file },
    permissions: [`--allow-read=${dirs}`, "--allow-env"],
    host: "0.0.0.0",
  };
}

async function statusFor(server: HttpServer, token: string): Promise<number> {
  const request = message(1, "tools/list");
  const authorization = `Bearer ${token}`;
  const response = await server.fetch(request, { authorization });
  await response.body?.cancel();
  return response.status;
}

/** Waits for the line that the server logs when it has read the changed file. */
async function reloaded(server: HttpServer, count: string): Promise<void> {
  await server.stderr.take(
    (line) => line.includes(`Read ${count} in "`),
    "the server to read the tokens again",
  );
}

async function listen(server: HttpServer, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  const client = await modernClient(server, { headers });
  const subscription = await client.listen({ toolsListChanged: true });
  return { client, closed: subscription.closed };
}

withLinks.test("removing a token ends its listeners and no others", async () => {
  using place = filesPlace();
  // As Kubernetes mounts secrets.
  place.file("tokens/..1/list", `alice:${ALICE}, bob:${BOB}`);
  place.link("..1", "tokens/..data");
  const file = place.link("..data/list", "tokens/list");
  await using server = await HttpServer.start(place, withTokens(place, file));
  const [alice, bob] = [
    await listen(server, ALICE),
    await listen(server, BOB),
  ];
  place.file("tokens/..2/list", `bob:${BOB}`);
  place.link("..2", "tokens/..next");
  const data = join(place.path, "tokens/..data");
  Deno.renameSync(join(place.path, "tokens/..next"), data);
  await within(alice.closed, "the listener of the removed token to end");
  assert.equal(await statusFor(server, ALICE), 401);
  const changed = Promise.withResolvers<void>();
  bob.client.setNotificationHandler(
    "notifications/tools/list_changed",
    () => changed.resolve(),
  );
  place.skill("home/.claude/skills", "new");
  await within(changed.promise, "the notification for the other token");
  await bob.client.close();
});

Deno.test("the last valid tokens stay while the file is invalid or missing", async () => {
  using place = filesPlace();
  const file = place.file("tokens/list", ALICE);
  await using server = await HttpServer.start(place, withTokens(place, file));
  const logged = async (reason: RegExp) => {
    const line = await server.stderr.take(
      (line) => line.includes("Cannot use the tokens"),
      "the server to refuse the file",
    );
    assert.match(line, reason);
    assert.ok(line.includes(file), line);
    assert.match(line, /; the last valid tokens stay in use$/);
    assert.equal(await statusFor(server, ALICE), 200);
    assert.equal(await statusFor(server, ""), 401);
  };
  place.replace("tokens/list", "");
  await logged(/it contains no token; create each token with "openssl/);
  place.remove("tokens/list");
  await logged(/there is no such file; /);
  place.replace("tokens/list", `${BOB}\nshort`);
  await logged(/token 2 has fewer than 16 characters; /);
  assert.equal(await statusFor(server, BOB), 401);
  place.replace("tokens/list", ALICE);
  await reloaded(server, "1 token");
  place.replace("tokens/list", BOB);
  await reloaded(server, "1 token");
  assert.equal(await statusFor(server, ALICE), 401);
  assert.deepEqual(
    server.stderr.takeAll().filter((line) => line.includes("tokens stay")),
    [],
  );
});

Deno.test("a server does not start with invalid settings, or without a token", async () => {
  using place = filesPlace();
  place.file("secret", ALICE);
  place.file("tokens/short", `bob:${BOB}\nalice:short`);
  const withFile = (name: string) => {
    const dir = join(place.path, "tokens");
    const env = { SKILL_SERVER_TOKENS_FILE: join(dir, name) };
    return { ...withTokens(place, join(dir, "any")), env };
  };
  const noToken =
    /^skill-server: Cannot serve other machines without a token: set SKILL_SERVER_TOKEN to the output of "openssl rand -hex 32", or listen on this machine only \(deno serve --host 127\.0\.0\.1\)\n$/;
  const cases: [HttpOptions, RegExp][] = [
    [{ host: "0.0.0.0" }, noToken],
    [{ host: "[::]" }, noToken],
    [
      { env: { SKILL_SERVER_TOKEN: "alice:short" } },
      /^skill-server: Cannot use the tokens in SKILL_SERVER_TOKEN: token 1 has fewer than 16 characters; create each token with "openssl rand -hex 32" \(docs\/http\.md describes the settings\)\n$/,
    ],
    [
      { permissions: ["--allow-read"] },
      /^skill-server: Cannot read the settings in the environment: /,
    ],
    [
      { args: ["--tools", "skilljack", "--port", "9001"] },
      /^skill-server: Cannot use --port after the module: .* write it before the module/,
    ],
    [withFile("none"), /tokens.none": there is no such file; create it with /],
    [withFile("."), /Cannot use the tokens in ".*tokens": it is a folder; /],
    [withFile("../secret"), /Deno is not allowed to read it; add it to /],
    [withFile("short"), /tokens.short": token 2 has fewer than 16 /],
    [
      { env: { ...withFile("short").env, SKILL_SERVER_TOKEN: BOB } },
      /SKILL_SERVER_TOKEN and SKILL_SERVER_TOKENS_FILE are both set; unset one/,
    ],
  ];
  for (const [options, message] of cases) {
    const { code, stderr } = await runServer(place, httpCommand(options));
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
    assert.ok(!stderr.includes(ALICE) && !stderr.includes(BOB));
  }
});
