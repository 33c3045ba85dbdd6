// Clients over HTTP that take much, or are gone: the process serves the others.
import assert from "node:assert/strict";
import { filesPlace, type Place } from "./testing/folders.ts";
import { HttpServer, TOKEN } from "./testing/http.ts";
import { lacks } from "./testing/needs.ts";

const OTHER_TOKEN = "another-token-of-another-client";

/** Creates a skill with a file of 9.5 MB. */
function largePlace(): Place {
  const place = filesPlace();
  place.skill("home/.claude/skills", "large");
  place.file("home/.claude/skills/large/a.txt", "x".repeat(9_500_000));
  return place;
}

const LARGE_FILES = ["--max-file-size", "16"];

const READ = {
  jsonrpc: "2.0",
  id: 1,
  method: "resources/read",
  params: { uri: "skill://large/a.txt" },
};

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };

const HEADERS = [
  "Host: 127.0.0.1",
  "Content-Type: application/json",
  "Accept: application/json, text/event-stream",
];

/** Sends a request on a connection of its own, and reads nothing. */
async function send(
  { url }: HttpServer,
  message: object,
  token = TOKEN,
): Promise<Deno.Conn> {
  const { hostname, port } = new URL(url);
  const body = JSON.stringify(message);
  const lines = ["POST /mcp HTTP/1.1", ...HEADERS];
  lines.push(`Authorization: Bearer ${token}`);
  lines.push(`Content-Length: ${body.length}`, "", body);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(lines.join("\r\n")));
  return connection;
}

async function ask(
  server: HttpServer,
  message: object,
  token = OTHER_TOKEN,
): Promise<string> {
  const authorization = `Bearer ${token}`;
  const response = await server.fetch(message, { authorization });
  return `${response.status} ${await response.text()}`;
}

Deno.test("clients that read nothing, or are gone, do not stop others", {
  ignore: lacks("proc"),
}, async () => {
  using place = largePlace();
  const env = { SKILL_SERVER_TOKEN: `${TOKEN},${OTHER_TOKEN}` };
  const options = { env, args: LARGE_FILES };
  await using server = await HttpServer.start(place, options);
  const unread = await Promise.all(
    Array.from({ length: 40 }, () => send(server, READ)),
  );
  for (let count = 0; count < 20; count++) {
    assert.match(await ask(server, LIST), /^200 .*"tools":/s);
  }
  const large = await ask(server, READ);
  assert.ok(large.length > 9_500_000, large.slice(0, 300));
  const partial = await send(server, { ...LIST, text: "x".repeat(100_000) });
  for (const connection of [...unread, partial]) connection.close();
  // What was unsent is free again.
  const own = await ask(server, READ, TOKEN);
  assert.ok(own.length > 9_500_000, own.slice(0, 300));
  assert.deepEqual(server.stderr.takeAll(), []);
});

Deno.test("a server whose client is gone while it is served goes on", async () => {
  using place = largePlace();
  await using server = await HttpServer.start(place, { args: LARGE_FILES });
  for (let count = 0; count < 30; count++) {
    (await send(server, READ)).close();
  }
  assert.match(await ask(server, LIST), /^200 .*"tools":/s);
  await server.end();
  await server[Symbol.asyncDispose]();
  assert.deepEqual(server.stderr.takeAll(), []);
});

Deno.test("a listener without an ID, and a method that is not a string, leave nothing behind", async () => {
  using place = filesPlace();
  await using server = await HttpServer.start(place);
  const method = "subscriptions/listen";
  for (let count = 0; count < 3; count++) {
    assert.equal(await ask(server, { jsonrpc: "2.0", method }), "202 ");
    const invalid = { jsonrpc: "2.0", id: 1, method: { toString: 1 } };
    assert.match(await ask(server, invalid), /^400 .*"code":-32600/);
  }
  assert.deepEqual(server.stderr.takeAll(), []);
});
