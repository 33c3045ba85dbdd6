import assert from "node:assert/strict";
import { parseTokens, Tokens } from "./tokens.ts";

/** A token of the minimum length. */
const TOKEN = "0123456789abcdef";

Deno.test("parseTokens() reads tokens on lines or between commas, with names and comments", () => {
  const longest = "a".repeat(32);
  const text =
    `\ufeff# Old, bob:x\r\nalice:${TOKEN}1\r\n\n${TOKEN}==, alice:${TOKEN}2 # New\n${longest}:${TOKEN},`;
  assert.deepEqual(parseTokens(text), [
    { name: "alice", value: `${TOKEN}1` },
    { name: undefined, value: `${TOKEN}==` },
    // While one replaces the other, she has two.
    { name: "alice", value: `${TOKEN}2` },
    { name: longest, value: TOKEN },
  ]);
});

Deno.test("parseTokens() prints no token that it refuses", () => {
  const none = /^it contains no token; create each /;
  const malformed = (index: number) =>
    new RegExp(`^token ${index} must be TOKEN or NAME:TOKEN, .*; create each `);
  const short = (index: number) =>
    new RegExp(`^token ${index} has fewer than 16 characters; create each `);
  const cases = [
    ["", none],
    [" ,\n", none],
    [`#${TOKEN}`, none],
    ["secret secret secret", short(1)],
    [`Alice:${TOKEN}`, malformed(1)],
    [`:${TOKEN}`, malformed(1)],
    [`${TOKEN} alice:`, malformed(2)],
    [`${"a".repeat(33)}:${TOKEN}`, malformed(1)],
    [`a:b:${TOKEN}`, malformed(1)],
    [`s\0e\0c\0r\0e\0t`, malformed(1)],
    ["secret-secret-s", short(1)],
    [`${TOKEN},bob:secret`, short(2)],
    [`${TOKEN}\n#secret\nsecret,b:secret`, short(2)],
    [`alice:${TOKEN},bob:${TOKEN}`, /^a token occurs twice; create each /],
  ] as const;
  for (const [text, message] of cases) {
    assert.throws(
      () => parseTokens(text),
      ({ message: said }: Error) =>
        message.test(said) && !said.includes("secret") && !said.includes(TOKEN),
      text,
    );
  }
});

Deno.test("Tokens.reload() aborts only the tokens that are removed", () => {
  let text = `alice:${TOKEN}1,bob:${TOKEN}2`;
  const tokens = new Tokens("the test", () => text);
  const [alice, bob] = ["1", "2"].map((end) => tokens.find(TOKEN + end)!);
  assert.equal(tokens.reload(), false);
  text = `robert:${TOKEN}2`;
  assert.equal(tokens.reload(), true);
  assert.equal(tokens.find(`${TOKEN}2`)!.name, "robert");
  const removed = [alice, bob].map((it) => it!.removal.signal.aborted);
  assert.deepEqual(removed, [true, false]);
  text = TOKEN;
  tokens.reload();
  assert.ok(bob!.removal.signal.aborted);
});
