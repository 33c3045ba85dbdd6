import assert from "node:assert/strict";
import { filesPlace } from "../../tests/testing/folders.ts";
import { HttpServer, TOKEN } from "../../tests/testing/http.ts";

Deno.test("the page contains nothing of the skills and runs only its own script", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_TOKEN: TOKEN };
  await using server = await HttpServer.start(place, { env });
  const response = await fetch(new URL("/", server.url));
  const policy = response.headers.get("content-security-policy")!;
  assert.equal(
    policy.replaceAll(/'sha256-[\w+/=]{44}'/g, "HASH"),
    "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; img-src data:; require-trusted-types-for 'script'; script-src HASH; style-src HASH; trusted-types 'none'",
  );
  const page = await response.text();
  assert.match(page, /^<!DOCTYPE html>/);
  assert.doesNotMatch(page, /(inner|outer)HTML|insertAdjacent|document\.write/);
  // Neither a skill nor the token nor a folder of the server.
  for (const secret of [TOKEN, place.path, "Work with git"]) {
    assert.ok(!page.includes(secret), secret);
  }
});
