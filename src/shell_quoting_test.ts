import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { quoteCommand, shellInUse } from "./shell_quoting.ts";
import { lacks } from "../tests/testing/needs.ts";

const WORD = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."ab \\'\"$`~=,-%&;*(){}[]#!é’") }),
  fc.constantFrom("", "--", "--x=1", "C:\\Program Files\\", '{"a":"b\\\\"}'),
);

for (const shell of ["sh", "bash", "zsh", "fish"] as const) {
  Deno.test(`quoteCommand() quotes each word for ${shell}`, {
    ignore: lacks(shell),
  }, async () => {
    const words = fc.sample(WORD, 500);
    const command = quoteCommand(["printf", "%s\\0", ...words], "sh");
    const { stdout } = await new Deno.Command(shell, {
      args: ["-c", command!],
    }).output();
    const received = new TextDecoder().decode(stdout).split("\0");
    assert.deepEqual(received.slice(0, -1), words);
  });
}

/**
 * Splits a command line as the C runtime of Windows does.
 *
 * @see {@link https://learn.microsoft.com/en-us/cpp/c-language/parsing-c-command-line-arguments}
 */
function splitForWindows(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (
    const [, slashes, mark, other] of line.matchAll(/(\\*)(?:(")|([^\\])|$)/g)
  ) {
    const isEscaped = mark !== undefined && slashes!.length % 2 === 1;
    const kept = mark === undefined
      ? slashes!
      : slashes!.slice(0, slashes!.length / 2);
    if (kept !== "") word = (word ?? "") + kept;
    if (isEscaped) word = `${word ?? ""}"`;
    else if (mark) {
      isQuoted = !isQuoted;
      word ??= "";
    } else if (other === " " && !isQuoted) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (other !== undefined) word = (word ?? "") + other;
  }
  return word === undefined ? words : [...words, word];
}

Deno.test("quoteCommand() quotes each word for Windows programs", () => {
  fc.assert(fc.property(fc.array(WORD), (rest) => {
    const words = ["code", ...rest];
    const line = quoteCommand(words, "cmd");
    if (line === undefined) return assert.match(rest.join(""), /[%!^&|<>]/);
    assert.deepEqual(splitForWindows(line), words);
  }));
});

Deno.test("quoteCommand() makes PowerShell pass the command to cmd unchanged", () => {
  fc.assert(fc.property(fc.array(WORD), (rest) => {
    const words = ["code", ...rest];
    const line = quoteCommand(words, "powershell");
    if (line === undefined) return;
    const [, text] = /^cmd \/c '((?:[^'‘-‛]|(['‘-‛])\2)*)'$/.exec(line)!;
    assert.equal(
      text!.replace(/(['‘-‛])\1/g, "$1"),
      quoteCommand(words, "cmd"),
    );
  }));
});

Deno.test("quoteCommand() keeps quotation marks and backslashes out of quotes, where fish would interpret them", () => {
  const words = ["touch", "it's", String.raw`\';touch x`];
  assert.equal(
    quoteCommand(words, "sh"),
    String.raw`touch 'it'\''s' \\\'';touch x'`,
  );
});

Deno.test("quoteCommand() returns no command that is unsafe to paste", () => {
  for (const shell of ["sh", "cmd", "powershell"] as const) {
    assert.equal(quoteCommand(["a", "b\nc"], shell), undefined);
    assert.equal(quoteCommand(["a", "\u001b[31m"], shell), undefined);
  }
  for (const text of ["%PATH%", "a&b", "a|b", "a^b"]) {
    assert.equal(quoteCommand(["a", text], "cmd"), undefined);
    assert.equal(quoteCommand(["a", text], "powershell"), undefined);
    assert.equal(quoteCommand(["a", text], "sh"), `a '${text}'`);
  }
});

Deno.test("shellInUse() distinguishes the shells of Windows", () => {
  const shell = (
    os: typeof Deno.build.os,
    env: Record<string, string> = {},
  ) => shellInUse({ os, variable: (name) => env[name] });
  assert.equal(shell("linux", { PROMPT: "$P$G" }), "sh");
  assert.equal(shell("windows"), "powershell");
  assert.equal(shell("windows", { PROMPT: "$P$G" }), "cmd");
  assert.equal(shell("windows", { MSYSTEM: "MINGW64", PROMPT: "x" }), "sh");
});
