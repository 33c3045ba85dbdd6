import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { attempt } from "../attempt.ts";
import { isObject } from "../text.ts";
import { parseYaml, readFields } from "./fields.ts";
import { readSkillMd } from "./skill_md.ts";

Deno.test("readFields() changes nothing that the parser accepts", () => {
  const values = [
    "C# and issue #12",
    "'quoted: text'",
    "|\n  a: b\n  c",
    "two\n  lines # here",
    '"two\n  lines"',
  ];
  for (const value of values) {
    const yaml = `name: a\ndescription: ${value}`;
    assert.deepEqual(readFields(yaml), {
      values: parseYaml(yaml),
      repaired: [],
    });
  }
});

/** Fields that the parser refuses, and what is read instead. */
const CORRECTED: [field: string, value: unknown][] = [
  ["x: Use: this", "Use: this"],
  ["x:\tUse this:  ", "Use this:"],
  ["x: it's: that", "it's: that"],
  ["x: @me", "@me"],
  ["x: `code` first", "`code` first"],
  ["x: *bold* text", "*bold* text"],
  ["x: **bold**: text", "**bold**: text"],
  ["x: [draft] do things", "[draft] do things"],
  ["x: [ray[train], torch]", "[ray[train], torch]"],
  ["x: {a: [b]} c", "{a: [b]} c"],
  ['x: "Say "go" now"', 'Say "go" now'],
  ["x: 'don't'", "don't"],
  ['x: "open', "open"],
  ['x: "Say" it', '"Say" it'],
  ["x: C:\\x: y", "C:\\x: y"],
  ["x: a: Fill \u001b[31mforms", "a: Fill \u001b[31mforms"],
  ["x: > text", "text"],
  ["x: >- two\n  lines", "two lines"],
  ["x: |\n    two\n  lines", "two lines"],
  ["x: two: lines\n  here", "two: lines here"],
  ['x: "two\n  lines', "two lines"],
  ["x:\n  text with a\n  colon: here", "text with a colon: here"],
  [
    "x: two lines,\nthe second: not indented",
    "two lines, the second: not indented",
  ],
  ["x: >\nUse this.\n\nOr that.", "Use this. Or that."],
  ["x:\n\ty: @me", { y: "@me" }],
  ['x:\n  run: echo "a: b"\n  y: z', { run: 'echo "a: b"', y: "z" }],
  ["x:\n  - @me\n  - y", ["@me", "y"]],
];

Deno.test("readFields() corrects only the fields that the parser refuses", () => {
  for (const [field, value] of CORRECTED) {
    const { values, repaired } = readFields(
      `name: a\n${field}\ndescription: b\ntools: [Read] # x: y\nlicense: M: I`,
    );
    const others = { name: "a", description: "b", tools: ["Read"] };
    assert.deepEqual(values, { ...others, license: "M: I", x: value }, field);
    const found = repaired.map(({ lines }) => lines.join("\n"));
    assert.deepEqual(found, [field, "license: M: I"]);
  }
});

Deno.test("readFields() keeps the text of any value that it puts in quotes", () => {
  const pieces = [
    "x",
    " ",
    "\t",
    "'",
    '"',
    "\\",
    ": ",
    "#",
    " #",
    "- ",
    "[",
    "{",
    "&",
    "\u2028",
  ];
  const texts = fc.array(fc.constantFrom(...pieces)).map((it) => it.join(""));
  const withoutQuotes = (text: unknown) =>
    String(text).replace(/["']/g, "").trim();
  fc.assert(
    fc.property(texts, (text) => {
      const { values, repaired } = readFields(`name: a\nx: ${text}`);
      if (repaired[0]?.corrected === undefined) return;
      assert.equal(withoutQuotes(values.x), withoutQuotes(text));
    }),
    { numRuns: 1_000 },
  );
});

/** Fields that lack a colon or a space, and what is read instead. */
const SEPARATED: [field: string, value: unknown][] = [
  ["license:MIT", "MIT"],
  ["license = MIT", "MIT"],
  ["license:#1", "#1"],
  ["license\uff1aMIT", "MIT"],
  ["metadata\n  author: me", { author: "me" }],
];

Deno.test("readFields() reads known fields that lack a colon or a space", () => {
  for (const [field, value] of SEPARATED) {
    const { values } = readFields(`${FIELDS}\n${field}`);
    assert.deepEqual(Object.values(values), ["a", "b", value], field);
  }
});

/** Lines that cannot be read at all. */
const LEFT_OUT = [
  "--- Apache-2.0",
  "<<: *base",
  "name: c",
  "x: *base",
  "x: [y, *base]",
  "x:\n  <<: *base\n  y: @me",
  "x:\n  - a\n b: c",
  "? x\n: - y\n z",
];

Deno.test("readFields() leaves out what no correction makes sense of", () => {
  for (const lines of LEFT_OUT) {
    const { values, repaired } = readFields(`${FIELDS}\n${lines}`);
    assert.deepEqual(values, { name: "a", description: "b" }, lines);
    assert.deepEqual(repaired.map(({ corrected }) => corrected), [undefined]);
  }
});

Deno.test("readFields() leaves out JSON that it cannot read", () => {
  const { values, repaired } = readFields('{\n"name": "a",\n"x": "y"z"\n}');
  assert.deepEqual([values, repaired.length], [{}, 1]);
});

const FIELDS = "name: a\ndescription: b";

Deno.test("readFields() takes a known field out of the one above", () => {
  const { values } = readFields("name: a\n  description: b\n  license: c");
  assert.deepEqual(values, { name: "a", description: "b", license: "c" });
});

/** Lines that can surround a flag. */
const PIECES = [
  [
    'x: "',
    "x: '",
    '"',
    "'",
    "x: [",
    "]",
    "x: {",
    "}",
    "x: |",
    "x: >-",
    "  - y",
  ],
  [
    "x:",
    "  y: z",
    "  y",
    "\ty",
    "y",
    "- y",
    "",
    "#",
    "---x",
    "? x",
    ": y",
    "x:y",
  ],
  [
    "disable-model-invocation: false",
    "x: &a true",
    "x: *a",
    "<<<<<<< y",
    "x: y: z",
  ],
].flat();

Deno.test("a flag at the left margin hides a skill whose YAML is repaired", () => {
  const lines = fc.array(fc.constantFrom(...PIECES), { maxLength: 5 });
  fc.assert(
    fc.property(lines, lines, (above, below) => {
      const flag = "disable-model-invocation: true";
      const yaml = [FIELDS, ...above, flag, ...below].join("\n");
      if (isObject(attempt(() => parseYaml(yaml)))) return;
      const found = readSkillMd(
        new TextEncoder().encode(`---\n${yaml}\n---\n`),
      );
      assert.ok(found.isHiddenFromModel, yaml);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("a flag that the parser refuses hides a skill", () => {
  const flags = [
    "user-invocable:true",
    "user-invocable = true",
    "license: MIT\n  user-invocable: true",
    "user-invocable: true\nuser-invocable: true",
    "tools:\n  - a\n user-invocable: true",
    "? user-invocable\n: - true\n x",
    "tags: a\ntags: b\n'user-invocable': true\nuser-invocable: true",
    "<<<<<<< x\nlicense: a\n=======\nuser-invocable: true\n>>>>>>> y",
    "--- x\n**user-invocable**: true",
    "tags: a\ntags: b\n!!str user-invocable: true",
    "tags: a\ntags: b\n- &a 'user-invocable' : true",
  ];
  for (const flag of flags) {
    const text = `---\n${FIELDS}\n${flag}\n---\n`;
    const found = readSkillMd(new TextEncoder().encode(text));
    assert.ok(found.frontmatter, flag);
    assert.ok(found.isHiddenFromUser, flag);
  }
});
