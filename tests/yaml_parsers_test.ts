// The YAML parser that users get, and the one that takes its place where JSR is
// out of reach, read the same frontmatter.

import assert from "node:assert/strict";
import { parse as parseStd } from "jsr:@std/yaml@^1/parse";
import fc from "npm:fast-check@^4";
import { parse as parseNpm } from "../npm_only/yaml.ts";
import { lacks } from "./testing/needs.ts";

/** What a parser makes of a text: a value, or an error, whose words differ. */
function outcome(parse: typeof parseNpm, text: string): unknown {
  try {
    return { value: parse(text, { schema: "core" }) };
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return "an error";
  }
}

function assertSame(text: string): void {
  assert.deepEqual(outcome(parseNpm, text), outcome(parseStd, text), text);
}

/** Values that people write, some of them by mistake. */
const value = fc.oneof(
  fc.constantFrom(
    "",
    "true",
    "no",
    "0x1F",
    "1e3",
    "~",
    "2026-01-01",
    "a: b",
    "it's",
    '"quoted"',
    "'single'",
    '"open',
    "[a, b]",
    "{ a: 1 }",
    "# comment",
    "a # comment",
    "*alias",
    "&anchor x",
    "@at",
    "%p",
    "- dash",
    "`tick`",
    "|\n  one\n  two",
    ">-\n  one\n  two\n\n  three",
    "\n  - a\n  - b",
    "__proto__: x",
  ),
  fc.string({ unit: "grapheme" }),
  // Only one parser accepts a key after `? ` here, tabs as indentation, and a tag
  // without a name.
).filter((text) => !/^[?!]|\t/.test(text.trim()));

const key = fc.constantFrom("name", "description", "metadata", "license");

Deno.test("both YAML parsers read any plausible frontmatter in the same way", {
  ignore: lacks("std"),
}, () => {
  const line = fc.tuple(key, value).map((pair) => `${pair.join(": ")}\n`);
  const lines = fc.array(line, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(lines, (lines) => assertSame(lines.join(""))),
    { numRuns: 3_000 },
  );
});
