import assert from "node:assert/strict";
import { filesPlace } from "./testing/folders.ts";
import {
  httpCommand,
  HttpServer,
  modern,
  modernClient,
  TOKEN,
} from "./testing/http.ts";
import { runServer } from "./testing/server.ts";

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

Deno.test("refused requests leave one line for each reason in the log", async () => {
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
    "skill-server: Refused a request from 127.0.0.1 with status 401: The bearer token is missing or wrong (logged once)",
  ]);
});
