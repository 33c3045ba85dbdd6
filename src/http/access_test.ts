import assert from "node:assert/strict";
import { AccessControl, isLoopback } from "./access.ts";
import { Tokens } from "./tokens.ts";

const TOKEN = "correct-horse-battery-staple";

function createAccess(
  { tokens, hosts = [] }: { tokens?: string; hosts?: string[] },
  lines: string[] = [],
): AccessControl {
  const log = (line: string) => lines.push(line);
  const valid = tokens === undefined
    ? undefined
    : new Tokens("the test", () => tokens);
  return new AccessControl({ tokens: valid, hosts }, log);
}

/** Returns the status with which a request is refused, or undefined if it is accepted. */
function refusalOf(
  access: AccessControl,
  call: Request,
  address?: Deno.Addr,
): number | undefined {
  const client = access.identify(call, address);
  return client instanceof Response ? client.status : undefined;
}

const tcp = (hostname: string): Deno.NetAddr => ({
  transport: "tcp",
  hostname,
  port: 1234,
});

const request = (url: string, headers: Record<string, string> = {}) =>
  new Request(url, {
    method: "POST",
    headers: { host: new URL(url).host, ...headers },
  });

Deno.test("isLoopback() accepts only loopback addresses", () => {
  for (const address of ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"]) {
    assert.ok(isLoopback(tcp(address)), address);
  }
  const others = ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1", "::1:2"];
  for (const address of [...others, "192.127.0.1", "2001:db8::1"]) {
    assert.ok(!isLoopback(tcp(address)), address);
  }
  assert.ok(!isLoopback(undefined));
  assert.ok(!isLoopback({ transport: "unix", path: "/run/skills" }));
});

Deno.test("AccessControl.identify() accepts only clients on this machine if there is no token", () => {
  const access = createAccess({});
  const call = request("http://localhost/mcp", { authorization: "Bearer x" });
  assert.equal(refusalOf(access, call, tcp("127.0.0.1")), undefined);
  // A host that runs only the fetch handler does not always provide the client's
  // address.
  for (const remote of [tcp("192.0.2.1"), undefined]) {
    assert.equal(refusalOf(access, call, remote), 403);
  }
});

Deno.test("AccessControl.identify() accepts only clients that send one of the tokens if there are some", () => {
  const old = "o".repeat(16);
  const access = createAccess({ tokens: `${TOKEN},${old}` });
  const accepted = [`Bearer ${TOKEN}`, `bearer  ${TOKEN}`, `Bearer ${old}`];
  for (const authorization of accepted) {
    const call = request("http://example.com/mcp", { authorization });
    assert.equal(refusalOf(access, call, tcp("192.0.2.1")), undefined);
    assert.equal(refusalOf(access, call), undefined);
  }
  const wrong = [TOKEN.slice(1), `${TOKEN},${old}`].map((it) => `Bearer ${it}`);
  for (const authorization of ["", TOKEN, ...wrong]) {
    const call = request("http://example.com/mcp", { authorization });
    assert.equal(refusalOf(access, call, tcp("127.0.0.1")), 401);
  }
});

Deno.test("AccessControl.findHostRefusal() accepts localhost and the configured names", () => {
  const hosts = ["skills.example.com"];
  for (const tokens of [undefined, TOKEN]) {
    const access = createAccess({ tokens, hosts });
    const known = ["localhost", "127.0.0.1:8000", "[::1]:8000", ...hosts];
    for (const host of known) {
      const call = request(`http://${host}/mcp`);
      assert.equal(access.findHostRefusal(call), undefined, host);
    }
    for (const host of ["example.com", "skills.example.com.evil.com"]) {
      const call = request(`http://${host}/mcp`);
      assert.equal(access.findHostRefusal(call)?.status, 403, host);
    }
  }
});

Deno.test("AccessControl.findHostRefusal() accepts any host if there is a token, but only pages of that host and local pages", () => {
  const access = createAccess({ tokens: TOKEN });
  const url = "http://skills.example.com/mcp";
  assert.equal(access.findHostRefusal(request(url)), undefined);
  for (const scheme of ["http", "https"]) {
    const origin = `${scheme}://skills.example.com`;
    assert.equal(access.findHostRefusal(request(url, { origin })), undefined);
  }
  for (const origin of ["http://evil.example.com", "null", "evil"]) {
    assert.equal(access.findHostRefusal(request(url, { origin }))?.status, 403);
  }
  const local = { origin: "http://localhost:5173" };
  assert.equal(access.findHostRefusal(request(url, local)), undefined);
});

Deno.test("AccessControl logs each reason for refusing requests once, without text from the client", () => {
  const lines: string[] = [];
  const hosts = ["a.example.com"];
  const access = createAccess({ tokens: TOKEN, hosts }, lines);
  for (const client of ["192.0.2.1", "192.0.2.2"]) {
    const strange: Record<string, string>[] = [
      { authorization: `Bearer ${TOKEN.replace("horse", "house")}` },
      { host: `${client}.evil.example.com` },
      { origin: "http://evil.example.com" },
    ];
    for (const headers of strange) {
      const call = request("http://localhost/mcp", headers);
      const refused = access.findHostRefusal(call, tcp(client)) ??
        access.identify(call, tcp(client));
      assert.ok(refused instanceof Response);
    }
  }
  assert.deepEqual(lines, [
    "Refused a request from 192.0.2.1: The bearer token is missing or wrong: send a valid one in the Authorization header (logged once)",
    "Refused a request from 192.0.2.1: The Host or Origin header names an unknown host: add it to SKILL_SERVER_HOSTS (logged once)",
  ]);
});

Deno.test("AccessControl.identify() names whose token a client sent, and the client's address", () => {
  const unnamed = "plain".repeat(4);
  const access = createAccess({ tokens: `alice:${TOKEN},${unnamed}` });
  const senderOf = (token: string, address?: Deno.Addr) => {
    const headers = { authorization: `Bearer ${token}` };
    const call = request("http://localhost/mcp", headers);
    const client = access.identify(call, address);
    return client instanceof Response ? client.status : client.sender;
  };
  const address = tcp("192.0.2.1");
  assert.equal(senderOf(TOKEN, address), "alice@192.0.2.1");
  assert.equal(senderOf(TOKEN), "alice@?");
  assert.equal(senderOf(unnamed, address), "192.0.2.1");
  assert.equal(senderOf(unnamed), undefined);
  // Clients do not send the name.
  assert.equal(senderOf(`alice:${TOKEN}`, address), 401);
});
