import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { HttpServer, TOKEN } from "../../tests/testing/http.ts";
import { filesPlace } from "../../tests/testing/place.ts";
import { servePage } from "./page.ts";

/** Returns the content of the only element of a kind. */
function contentOf(tag: string, page: string): string {
  const [content, ...others] = Array.from(
    page.matchAll(new RegExp(`<${tag}\\b[^>]*>([^]*?)</${tag}\\s*>`, "g")),
    ([, content]) => content!,
  );
  assert.deepEqual(others, []);
  return content!;
}

Deno.test("the page without its script has nothing about the skills", async () => {
  using place = filesPlace();
  const env = { SKILL_SERVER_TOKEN: TOKEN };
  await using server = await HttpServer.start(place, { env });
  const response = await fetch(new URL("/", server.url));
  const { headers } = response;
  const page = await response.text();
  assert.match(page, /^<!DOCTYPE html>/);
  // Neither a skill nor the token nor a directory of the server.
  for (const secret of [TOKEN, place.path, "Work with git"]) {
    assert.ok(!page.includes(secret), secret);
  }
  const [script, style] = ["script", "style"].map((tag) =>
    hash("sha256", contentOf(tag, page), "base64")
  );
  const names = ["cache-control", "content-type", "x-content-type-options"];
  assert.deepEqual(names.map((name) => headers.get(name)), [
    "no-cache",
    "text/html; charset=utf-8",
    "nosniff",
  ]);
  assert.equal(
    headers.get("content-security-policy"),
    `default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; img-src data:; require-trusted-types-for 'script'; script-src 'sha256-${script}'; style-src 'sha256-${style}'; trusted-types 'none'`,
  );
});

Deno.test("the page has all that its script uses, and nothing that its policy forbids", async () => {
  const page = await servePage().text();
  const script = contentOf("script", page);
  // Throws a SyntaxError if it cannot be parsed. The function is not called.
  new Function(script);
  const html = page.replace(script, "");
  assert.doesNotMatch(html, /\s(?:on\w+|style|src|action)=/);
  const links = Array.from(html.matchAll(/\shref="([^"]*)"/g), ([, it]) => it);
  assert.deepEqual(links, ["data:,"]);
  const ids = Array.from(html.matchAll(/\sid="([\w-]+)"/g), ([, id]) => id!);
  const used = Array.from(
    script.matchAll(/\$\("([\w-]+)"\)/g),
    ([, id]) => id!,
  );
  assert.ok(used.length > 0);
  assert.deepEqual(new Set(used).difference(new Set(ids)), new Set());
  assert.equal(new Set(ids).size, ids.length);
  for (const [, id] of html.matchAll(/\s(?:for|aria-\w+by)="([^"]*)"/g)) {
    assert.ok(ids.includes(id!), id);
  }
});
