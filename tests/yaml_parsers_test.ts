// The YAML parser that users get, and the one that takes its place where JSR is out of
// reach, read the same frontmatter.
import assert from "node:assert/strict";
import { parse as parseStd } from "jsr:@std/yaml@^1/parse";
import { parse as parseNpm } from "../npm_only/yaml.ts";
import { needs } from "./testing/needs.ts";

const withStd = needs("std");

/** Values that people write, some of them by mistake. */
const VALUES = [
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
];

/** Returns the value that a parser reads, or that it throws. The words of errors differ. */
function outcome(parse: typeof parseNpm, text: string): unknown {
  try {
    return { value: parse(text, { schema: "core" }) };
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return "an error";
  }
}

withStd.test("both YAML parsers read the values of frontmatter in the same way", () => {
  for (const first of VALUES) {
    for (const second of VALUES) {
      const text = `name: ${first}\ndescription: ${second}\n`;
      assert.deepEqual(outcome(parseNpm, text), outcome(parseStd, text), text);
    }
  }
});
