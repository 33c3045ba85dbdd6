// Whom the process over HTTP refuses, and with which settings it does not start.
import assert from "node:assert/strict";
import { filesPlace } from "./testing/folders.ts";
import {
  httpCommand,
  type HttpOptions,
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

Deno.test("a server does not start with invalid settings, or without a token if other machines can reach it", async () => {
  using place = filesPlace();
  const noToken =
    /^skill-server: Cannot serve other machines without a token: set SKILL_SERVER_TOKEN to the output of "openssl rand -hex 32", or listen on this machine only \(deno serve --host 127\.0\.0\.1\)\n$/;
  const cases = [
    [{ host: "0.0.0.0" }, noToken],
    [{ host: "[::]" }, noToken],
    [
      { env: { SKILL_SERVER_TOKEN: "alice:short" } },
      /^skill-server: Cannot use the tokens in SKILL_SERVER_TOKEN: token 1 has fewer than 16 characters; create each token with "openssl rand -hex 32" \(docs\/http\.md describes the settings\)\n$/,
    ],
    [
      { args: ["--tools", "skilljack", "--port", "9001"] },
      /^skill-server: Cannot use --port after the module: .* write it before the module/,
    ],
  ] as [HttpOptions, RegExp][];
  for (const [options, message] of cases) {
    const { code, stderr } = await runServer(place, httpCommand(options));
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
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

Deno.test("a request with another host or HTTP method, or with a body that is not a message, is refused", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_HOSTS: "skills.example.com" };
  await using server = await HttpServer.start(place, { env });
  const cases = [
    [["GET", "HEAD"], "/", undefined, 200],
    [["GET"], "/", "skills.example.com", 200],
    [["GET", "POST"], "/", "evil.example.com", 403],
    [["GET", "POST"], "/mcp", "localhost.evil.example.com", 403],
    [["GET", "DELETE", "OPTIONS", "TRACE"], "/mcp", undefined, 405],
    [["POST", "OPTIONS", "TRACE"], "/", undefined, 405],
    [["POST"], "/mcp", undefined, 400],
    [["GET"], "/other", undefined, 404],
  ] as const;
  for (const [methods, path, host, status] of cases) {
    for (const method of methods) {
      const got = await statusOf(server, { method, path, host });
      assert.equal(got, status, `${method} ${path} ${host}`);
    }
  }
  const { headers, body } = await server.fetch(undefined);
  assert.equal(headers.get("allow"), "POST");
  await body?.cancel();
  assert.equal((await server.ask("tools/list")).error, undefined);
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
