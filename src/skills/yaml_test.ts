import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { listCode, read } from "../../tests/testing/pages.ts";
import { isCopyable } from "../text.ts";
import {
  fieldOf,
  findEntry,
  finishLine,
  isNear,
  isSeparated,
  KNOWN_FIELDS,
  listEntries,
  listRefused,
  parseMapping,
  parseYaml,
  quoteField,
  replaceLines,
  tellToWrite,
  toYamlFault,
  withoutQuotes,
  writeText,
} from "./yaml.ts";

Deno.test("parseYaml() reads numbers and dates as the core schema says, and refuses tabs as indentation", () => {
  assert.deepEqual(parseYaml("a: 1\nb: 2026-01-01\nc: no\nd:"), {
    a: 1,
    b: "2026-01-01",
    c: "no",
    d: null,
  });
  assert.throws(() => parseYaml("a:\n\n\tb: c"), {
    name: "SyntaxError",
    message:
      "tab characters must not be used in indentation at line 3, column 1",
  });
});

Deno.test("toYamlFault() says the line on which parseYaml() fails, or the first one", () => {
  const faultIn = (yaml: string) => {
    try {
      parseYaml(yaml);
    } catch (error) {
      const { line, reason } = toYamlFault(error as Error);
      assert.match(reason, /^the YAML is malformed: \S/);
      assert.doesNotMatch(reason, / at line /);
      return line;
    }
    assert.fail(yaml);
  };
  assert.equal(faultIn("a: b\nc: d: e"), 2);
  assert.equal(faultIn("a:\n\tb"), 2);
  assert.equal(toYamlFault(new Error("x\ny")).line, 1);
  assert.match(toYamlFault(new Error("x\ny")).reason, /: x y$/);
});

Deno.test("parseMapping() returns nothing for what is malformed or no mapping", () => {
  assert.deepEqual(parseMapping("__proto__: b"), { ["__proto__"]: "b" });
  for (const yaml of ["", "a", "- a", "a: b: c", "{", "a: 1\na: 2"]) {
    assert.equal(parseMapping(yaml), undefined, yaml);
  }
});

Deno.test("fieldOf() finds a known field by its letters, and isNear() one that differs by a letter", () => {
  for (const field of KNOWN_FIELDS) {
    assert.equal(fieldOf(field.toUpperCase().replaceAll("-", " ")), field);
    assert.equal(isNear(`${field}x`, field), true);
    assert.equal(isNear(field, field), false);
    assert.equal(isNear(`${field}xy`, field), false);
  }
  assert.equal(fieldOf("allowedTools"), "allowed-tools");
  assert.equal(fieldOf("na\u200bme"), "name");
  for (const key of ["", "-", "nam", "constructor", "version"]) {
    assert.equal(fieldOf(key), undefined, key);
  }
});

Deno.test("docs/check.md lists the known fields", () => {
  const [sentence = ""] = /^The known fields are [^]*?\.$/m
    .exec(read("docs/check.md")) ?? [];
  assert.deepEqual(listCode(sentence), KNOWN_FIELDS);
});

Deno.test("listEntries() finds the entries of malformed text, with their lines", () => {
  const yaml = `# c
name : "git"
description:Use: it

  more

# between
"license"=MIT
version: 1
- item: x
  indented: x
http://x
other：x
name\uff1ax`;
  const shown = listEntries(yaml)
    .map(({ key, line, separator, value, lines }) =>
      [line, key, separator, value, lines.length].join("|")
    );
  assert.deepEqual(shown, [
    '2|name|: |"git"|1',
    "3|description|:|Use: it|3",
    "8|license|=|MIT|1",
    // What is no known field needs a colon and a blank.
    "9|version|: |1|5",
    "14|name|\uff1a|x|1",
  ]);
  assert.deepEqual(listEntries(""), []);
  const entries = listEntries("a: 1\nb: 2\na: 3");
  assert.equal(findEntry("a", entries)?.line, 1);
  assert.equal(findEntry("c", entries), undefined);
  const [closed, open] = listEntries("name:\ndescription:x");
  assert.deepEqual([closed, open].map((it) => isSeparated(it!)), [true, false]);
});

Deno.test("listRefused() lists the texts on one line that need quotes, and replaceLines() replaces them", () => {
  const rest = `metadata: [\ncompatibility: "two\n  lines"`;
  const yaml = `name: git\ndescription: Use: it\nlicense: 'x\n${rest}`;
  const refused = listRefused(listEntries(yaml));
  assert.deepEqual(refused.map(({ key }) => key), ["description", "license"]);
  const lines = new Map(
    refused.map(({ line, key, value }) => [line, quoteField(key, value)]),
  );
  assert.equal(
    replaceLines(yaml, lines),
    `name: git\ndescription: "Use: it"\nlicense: "'x"\n${rest}`,
  );
});

/** What YAML, terminals, and GitHub Actions read as something else than text. */
const text = fc.array(
  fc.oneof(
    fc.constantFrom(
      ..."'\"\\:#-?|>[]{}&*!%@`~ \t\n\r\0",
      "##[",
      "##vso[",
      "::",
      ": ",
      " #",
      "true",
      "1",
      "null",
      "\u2028",
      "\u200b",
      "\ufeff",
      "\u{e0041}",
      "\ud800",
    ),
    fc.string({ unit: "binary", maxLength: 2 }),
  ),
  { maxLength: 6 },
).map((pieces) => pieces.join(""));

Deno.test("quoteField() and writeText() write lines that can be copied, and that YAML reads as the text", () => {
  fc.assert(
    fc.property(text, (text) => {
      for (const write of [quoteField, writeText]) {
        const line = write("name", text);
        assert.deepEqual(parseMapping(line), { name: text.toWellFormed() });
        assert.ok(isCopyable(line), line);
      }
    }),
    { numRuns: 3_000 },
  );
  assert.equal(quoteField("name", "git"), 'name: "git"');
  assert.equal(quoteField("name", 'a "b"'), `name: 'a "b"'`);
  assert.equal(writeText("name", "git"), "name: git");
  assert.equal(writeText("name", "true"), 'name: "true"');
});

Deno.test("finishLine() writes the field, the colon, and the quotes that are missing", () => {
  const cases: [yaml: string, field: string, finished: string | undefined][] = [
    ["Name:My Skill", "name", "name: my-skill"],
    ["name: 日本語", "name", "name: 日本語"],
    ["description=Use: it", "description", 'description: "Use: it"'],
    ['description: "Use it', "description", 'description: "Use it"'],
    ["description: 12", "description", 'description: "12"'],
    ["licence: MIT", "license", "license: MIT"],
    ["metadata:{ a: 1 }", "metadata", "metadata: { a: 1 }"],
    ["description:|\n  text", "description", "description: |"],
    ["description: |\n  text", "description", undefined],
    ['description: "a" "b" c', "description", undefined],
    ['description: "a", "b"', "description", undefined],
    ['description: "say "x" now"', "description", `description: 'say "x" now'`],
    ["description:", "description", undefined],
  ];
  for (const [yaml, field, finished] of cases) {
    assert.equal(finishLine(field, listEntries(yaml)[0]!), finished, yaml);
  }
});

Deno.test("withoutQuotes() removes the quotes around a text, unless there are others in it", () => {
  const cases: [text: string, inner: string | undefined][] = [
    ["a", "a"],
    ["", ""],
    ['"a"', "a"],
    ["'a", "a"],
    ['"', ""],
    ["'it's'", "it's"],
    ["'a' b", undefined],
    ["'a', 'b'", undefined],
    ['"say "x" now"', 'say "x" now'],
    ['"say "x" \\"now"', undefined],
    ['a "b"', 'a "b"'],
  ];
  for (const [text, inner] of cases) {
    assert.equal(withoutQuotes(text), inner, text);
  }
});

Deno.test("tellToWrite() tells to write a line if it can be printed and replaces one line", () => {
  const entry = { line: 2, lines: ["name:git"] };
  const otherwise = { line: 2, fix: "in words" };
  const tell = (finished?: string, it: typeof entry | undefined = entry) =>
    tellToWrite(finished, it, "in words");
  assert.deepEqual(tell("name: git"), {
    line: 2,
    fix: "write this line instead:",
    lines: ["name: git"],
  });
  for (const line of [undefined, "::error::", "a\u200b", "x".repeat(1_501)]) {
    assert.deepEqual(tell(line), otherwise, line);
  }
  const two = { line: 2, lines: ["name:", "  git"] };
  assert.deepEqual(tell("name: git", two), otherwise);
  assert.deepEqual(tellToWrite("name: git", undefined, "in words"), {
    line: undefined,
    fix: "in words",
  });
});
