import assert from "node:assert/strict";
import { AccessControl, isLoopback } from "./access.ts";

const tcp = (hostname: string): Deno.NetAddr => ({
  transport: "tcp",
  hostname,
  port: 1234,
});

function request(
  url: string,
  headers: Record<string, string> = {},
): Request {
  return new Request(url, { method: "POST", headers });
}

Deno.test("isLoopback() accepts only loopback addresses", () => {
  for (const address of ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"]) {
    assert.ok(isLoopback(tcp(address)), address);
  }
  for (const address of ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"]) {
    assert.ok(!isLoopback(tcp(address)), address);
  }
  assert.ok(!isLoopback(undefined));
  assert.ok(!isLoopback({ transport: "unix", path: "/run/skills" }));
});

Deno.test("AccessControl.refuseClient() accepts only clients on this machine if there is no token", () => {
  const access = new AccessControl({ token: undefined, hosts: [] });
  const call = request("http://localhost/mcp", { authorization: "Bearer x" });
  assert.equal(access.refuseClient(call, tcp("127.0.0.1")), undefined);
  // A host that runs only the fetch handler does not always provide the client's address.
  for (const remote of [tcp("192.0.2.1"), undefined]) {
    assert.equal(access.refuseClient(call, remote)?.status, 403);
  }
});

Deno.test("AccessControl.refuseClient() accepts only clients that send the token if there is one", () => {
  const access = new AccessControl({ token: "secret", hosts: [] });
  for (const authorization of ["Bearer secret", "bearer  secret"]) {
    const call = request("http://example.com/mcp", { authorization });
    assert.equal(access.refuseClient(call, tcp("192.0.2.1")), undefined);
    assert.equal(access.refuseClient(call), undefined);
  }
  for (const authorization of ["", "secret", "Bearer secre", "Basic secret"]) {
    const call = request("http://example.com/mcp", { authorization });
    assert.equal(access.refuseClient(call, tcp("127.0.0.1"))?.status, 401);
  }
});

Deno.test("AccessControl.refuseHost() accepts localhost and the configured names", () => {
  const hosts = ["skills.example.com"];
  for (const token of [undefined, "secret"]) {
    const access = new AccessControl({ token, hosts });
    for (
      const host of ["localhost", "127.0.0.1:8000", "[::1]:8000", ...hosts]
    ) {
      const call = request(`http://${host}/mcp`);
      assert.equal(access.refuseHost(call), undefined, host);
    }
    for (const host of ["example.com", "skills.example.com.evil.com"]) {
      const call = request(`http://${host}/mcp`);
      assert.equal(access.refuseHost(call)?.status, 403, host);
    }
  }
});

Deno.test("AccessControl.refuseHost() accepts any host if there is a token, but only local origins", () => {
  const access = new AccessControl({ token: "secret", hosts: [] });
  const url = "http://skills.example.com/mcp";
  assert.equal(access.refuseHost(request(url)), undefined);
  for (const origin of ["http://skills.example.com", "null", "evil"]) {
    assert.equal(access.refuseHost(request(url, { origin }))?.status, 403);
  }
  const local = { origin: "http://localhost:5173" };
  assert.equal(access.refuseHost(request(url, local)), undefined);
});
