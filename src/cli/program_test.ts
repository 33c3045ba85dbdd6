import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { quoteCommand } from "./program.ts";
import { lacks } from "../../tests/testing/needs.ts";

const WORD = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."ab \\'\"$`~=,-%&;*(){}[]#!é’") }),
  fc.constantFrom("", "--", "--x=1", "C:\\Program Files\\", '{"a":"b\\\\"}'),
);

for (const shell of ["sh", "bash", "zsh", "fish"] as const) {
  Deno.test(`quoteCommand() quotes each word for ${shell}`, {
    ignore: lacks(shell),
  }, async () => {
    const words = fc.sample(WORD, 500);
    const command = quoteCommand(["printf", "%s\\0", ...words]);
    const { stdout } = await new Deno.Command(shell, {
      args: ["-c", command!],
    }).output();
    const received = new TextDecoder().decode(stdout).split("\0");
    assert.deepEqual(received.slice(0, -1), words);
  });
}

Deno.test("quoteCommand() keeps quotation marks and backslashes out of quotes, where fish would interpret them", () => {
  const words = ["touch", "it's", String.raw`\';touch x`];
  assert.equal(
    quoteCommand(words),
    String.raw`touch 'it'\''s' \\\'';touch x'`,
  );
});

Deno.test("quoteCommand() returns no command that is unsafe to paste", () => {
  assert.equal(quoteCommand(["a", "b\nc"]), undefined);
  assert.equal(quoteCommand(["a", "\u001b[31m"]), undefined);
});
