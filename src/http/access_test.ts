import assert from "node:assert/strict";
import { AccessControl } from "./access.ts";
import { Refusals } from "./refusals.ts";
import { Tokens } from "./tokens.ts";

const TOKEN = "correct-horse-battery-staple";

function createAccess(
  tokens: string | undefined,
  proxy?: string,
): AccessControl {
  const valid = tokens === undefined
    ? undefined
    : new Tokens("the test", () => tokens);
  return new AccessControl(
    { tokens: valid, hosts: [], proxy },
    new Refusals(() => {}),
  );
}

const tcp = (hostname: string): Deno.NetAddr => ({
  transport: "tcp",
  hostname,
  port: 1234,
});

const request = (headers: Record<string, string>) =>
  new Request("http://localhost/mcp", { method: "POST", headers });

Deno.test("AccessControl.identify() accepts clients on this machine, or with a token", () => {
  const unnamed = "plain".repeat(4);
  const tokens = `alice:${TOKEN},${unnamed}`;
  const [here, there] = [tcp("127.0.0.1"), tcp("192.0.2.1")];
  const cases = [
    [undefined, "Bearer x", here, "127.0.0.1"],
    [undefined, "", tcp("127.1.2.3"), "127.1.2.3"],
    [undefined, "", tcp("::1"), "::1"],
    [undefined, "", tcp("::ffff:127.0.0.1"), "::ffff:127.0.0.1"],
    [undefined, "", there, 403],
    [undefined, "", tcp("::ffff:192.0.2.1"), 403],
    [undefined, "", tcp("::1:2"), 403],
    // A host that runs only the fetch handler does not always provide the client's
    // address.
    [undefined, "", undefined, 403],
    [tokens, `Bearer ${TOKEN}`, there, "alice@192.0.2.1"],
    [tokens, `bearer  ${TOKEN}`, undefined, "alice@?"],
    [tokens, `Bearer ${unnamed}`, there, "192.0.2.1"],
    [tokens, `Bearer ${unnamed}`, undefined, undefined],
    [tokens, "", here, 401],
    [tokens, TOKEN, here, 401],
    [tokens, `Bearer ${TOKEN.slice(1)}`, here, 401],
    [tokens, `Bearer ${TOKEN},${unnamed}`, here, 401],
    // Clients do not send the name.
    [tokens, `Bearer alice:${TOKEN}`, here, 401],
  ] as const;
  for (const [valid, authorization, address, expected] of cases) {
    const client = createAccess(valid)
      .identify(request({ authorization }), address);
    const found = client instanceof Response ? client.status : client.label;
    assert.equal(found, expected, authorization);
  }
});

Deno.test("AccessControl names the last address in X-Forwarded-For if the proxy sent it", () => {
  const cases = [
    ["10.0.0.1", "10.0.0.1", "evil, 192.0.2.7", "192.0.2.7"],
    ["10.0.0.1", "::ffff:10.0.0.1", "2001:db8::7", "2001:db8::7"],
    ["10.0.0.1", "10.0.0.1", "192.0.2.7, evil", "10.0.0.1"],
    ["10.0.0.1", "10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", "10.0.0.2", "192.0.2.7", "10.0.0.2"],
    [undefined, "10.0.0.2", "192.0.2.7", "10.0.0.2"],
  ] as const;
  for (const [proxy, address, forwarded, name] of cases) {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      "x-forwarded-for": forwarded,
    };
    const sender = createAccess(`bob:${TOKEN}`, proxy)
      .identify(request(headers), tcp(address));
    assert.ok(!(sender instanceof Response));
    assert.equal(sender.label, `bob@${name}`, forwarded);
  }
  const { label } = createAccess(`bob:${TOKEN}`).identify(
    request({ authorization: `Bearer ${TOKEN}`, "x-forwarded-for": "::1" }),
  ) as { label: string };
  assert.equal(label, "bob@?");
  // It changes who may connect no more than any other header.
  const refused = createAccess(undefined, "10.0.0.1")
    .identify(request({ "x-forwarded-for": "127.0.0.1" }), tcp("10.0.0.1"));
  assert.ok(refused instanceof Response);
});
