import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import {
  HEAD_SIZE,
  parseSkillMd,
  quoteRefused,
  readSkillMd,
  type SkillMd,
} from "./skill_md.ts";

const encoder = new TextEncoder();

function read(text: string): SkillMd {
  return readSkillMd(encoder.encode(text));
}

/** Reads a skill whose frontmatter has these fields. */
function readFields(yaml: string): SkillMd {
  return read(`---\n${yaml}\n---\nDo it.\n`);
}

Deno.test("parseSkillMd() returns all fields as they are written", () => {
  const yaml = `name: pdf
description: Fill forms
__proto__: MIT
metadata:
  since: 2024-01-02
  tags: [a, b]
<<: {disable-model-invocation: true}`;
  const frontmatter = parseSkillMd(`---\n${yaml}\n---\n# PDF\n---\n`);
  assert.deepEqual(frontmatter, {
    name: "pdf",
    description: "Fill forms",
    ["__proto__"]: "MIT",
    metadata: { since: "2024-01-02", tags: ["a", "b"] },
    "<<": { "disable-model-invocation": true },
  });
});

/** Texts, and the name and the beginning of the instructions that are read of them. */
const READ: [text: string, name: string, excerpt: string][] = [
  ["---\nname: a\ndescription: b\n---", "a", ""],
  ["---\nname: a\ndescription: b\n---\nText\n---\n", "a", "\nText\n---\n"],
  ["---\rname: a\rdescription: b\r---\rText", "a", "\rText"],
  [
    "\ufeff--- \r\nname: a\r\ndescription: é\r\n---\t\r\nText",
    "a",
    "\r\nText",
  ],
  ["---\nname: 日本語/& b\ndescription: b\n---\n", "日本語/& b", "\n"],
  ["---\nname: ms-office:pdf\ndescription: b\n---\n", "ms-office:pdf", "\n"],
];

Deno.test("readSkillMd() reads a byte order mark, any line breaks, and names with any characters", () => {
  for (const [text, name, excerpt] of READ) {
    const { diagnostic, ...found } = read(text);
    assert.deepEqual([diagnostic, found.name, found.excerpt], [
      undefined,
      name,
      excerpt,
    ], text);
  }
});

/** What is skipped, why, and at which line. */
const SKIPPED: [text: string, rule: string, line: number, reason: RegExp][] = [
  ["", "frontmatter-missing", 1, /does not begin with a line "---"/],
  ["# Hi\n", "frontmatter-missing", 1, /does not begin/],
  ["---\nname: a\ndescription: b\n", "frontmatter-missing", 1, /another/],
  ["---\n---\n", "name-missing", 1, /"name" is missing/],
  ["---\n- a\n---\n", "name-missing", 1, /"name" is missing/],
  ["---\nname:\ndescription: b\n---\n", "name-missing", 2, /or is not text/],
  ["---\nname: a\ndescription: [b]\n---\n", "description-missing", 3, /text/],
  ["---\nname: a\ndescription: ' '\n---\n", "description-missing", 3, /text/],
  [
    "---\nname: a\ndescription: \u200b\n---\n",
    "description-missing",
    3,
    /text/,
  ],
  ["---\nname: a\n x: |\n---\n", "yaml", 3, /^the YAML is malformed: [a-z]/],
  ["---\nname: a\nname: b\n---\n", "yaml", 3, /duplicate/],
  ["---\nname: a\ndescription: b: c\n  d: e\n---\n", "yaml", 3, /malformed/],
  [
    `---\nname: ${"x".repeat(201)}\ndescription: b\n---\n`,
    "name-malformed",
    2,
    /200 characters/,
  ],
  [
    "---\ndescription: b\nname: '\u200b'\n---\n",
    "name-missing",
    3,
    /"name" is missing/,
  ],
  [
    "---\nname: Global:a\ndescription: b\n---\n",
    "name-malformed",
    2,
    /"global:"/,
  ],
];

Deno.test("readSkillMd() says why a file is skipped, and at which line", () => {
  for (const [text, rule, line, reason] of SKIPPED) {
    const { frontmatter, diagnostic } = read(text);
    assert.deepEqual([frontmatter, diagnostic!.rule, diagnostic!.line], [
      undefined,
      rule,
      line,
    ], text);
    assert.match(diagnostic!.reason, reason, text);
    assert.throws(() => parseSkillMd(text), {
      name: "SyntaxError",
      message: `Cannot parse SKILL.md: ${diagnostic!.reason} (line ${line}); ${
        diagnostic!.fix
      }`,
    });
  }
});

Deno.test("readSkillMd() skips a file that is not UTF-8, even if it gets only the beginning", () => {
  const start = encoder.encode("---\nname: a\ndescription: b\n---\n");
  const gbk = new Uint8Array([...start, 0xca, 0xfd]);
  assert.equal(readSkillMd(gbk).diagnostic!.rule, "utf-8");
  const utf16 = new Uint8Array([0xff, 0xfe, 0x2d, 0]);
  assert.equal(readSkillMd(utf16).diagnostic!.rule, "utf-8");
  // The last character is cut in two.
  const long = encoder.encode(
    `---\nname: a\ndescription: b\n---\n${"é".repeat(HEAD_SIZE)}`,
  );
  for (const size of [HEAD_SIZE, HEAD_SIZE + 1]) {
    assert.equal(readSkillMd(long.subarray(0, size)).name, "a");
  }
});

Deno.test("parseSkillMd() accepts frontmatter of up to 16 KiB in any script", () => {
  for (const filler of ["x", "ü", "😀"]) {
    const head = "---\nname: a\ndescription: b\nlicense: ";
    const room = HEAD_SIZE - head.length - "\n---".length;
    const license = filler.repeat(
      Math.floor(room / encoder.encode(filler).length),
    );
    const text = `${head}${license}\n---`;
    assert.equal(parseSkillMd(`${text}\nText`).license, license);
    assert.throws(
      () => parseSkillMd(text.replace("---\n", `---\nx: ${filler}\n`)),
      /line "---"/,
    );
  }
});

/** What is wrong with a field, and the value that is served. */
const REPAIRED: [line: string, value: string][] = [
  ["license: Use: this", "Use: this"],
  ["license:\tUse this:  ", "Use this:"],
  ["license: it's: that", "it's: that"],
  ["license: @me", "@me"],
  ["license: `code` first", "`code` first"],
  ["license: %d: all", "%d: all"],
  ["license: *bold* text", "*bold* text"],
  ["license: [draft] do things", "[draft] do things"],
  ["license: [ray[train], torch]", "[ray[train], torch]"],
  ["license: {a: [b]} c", "{a: [b]} c"],
  ['license: "Say "go" now"', 'Say "go" now'],
  ["license: 'don't'", "don't"],
  ['license: "open', "open"],
  ['license: "Say" it', '"Say" it'],
  ["license: 'Say' it", "'Say' it"],
  ["license: > text", "> text"],
  ["license: C:\\x: y", "C:\\x: y"],
  ["license: a: Fill \u001b[31mforms", "a: Fill \u001b[31mforms"],
];

Deno.test("readSkillMd() reads a value that the parser refuses by itself as if it were in quotes", () => {
  for (const [line, value] of REPAIRED) {
    for (const end of ["\n", "\r\n", "\r"]) {
      const yaml = `name: a\n${line}\ndescription: b\ntools: [Read] # x: y`;
      const { frontmatter, isRepaired, diagnostic } = read(
        `---\n${yaml}\n---\n`.replaceAll("\n", end),
      );
      const said = [isRepaired, diagnostic?.rule];
      assert.deepEqual(said, [true, "yaml-repaired"], line);
      assert.deepEqual([frontmatter!.license, frontmatter!.tools], [value, [
        "Read",
      ]]);
    }
  }
});

Deno.test("readSkillMd() reads a number or a boolean that is a name or a description as it is written", () => {
  for (const value of ["123", "0x1F", "1e3", "1.10", "True", "-.inf"]) {
    for (const other of ["x: y", "x: y: z"]) {
      const { frontmatter, isRepaired } = readFields(
        `name: ${value} # x\ndescription: ${value}\n${other}`,
      );
      assert.deepEqual(
        [frontmatter!.name, frontmatter!.description, isRepaired],
        [value, value, true],
      );
    }
  }
});

Deno.test("readSkillMd() repairs nothing that the parser accepts", () => {
  const values = [
    "C# and issue #12",
    "'quoted: text'",
    "|\n  a: b\n  c",
    "two\n  lines # here",
    '"two\n  lines"',
  ];
  for (const value of values) {
    const { isRepaired, diagnostic } = readFields(
      `name: a\ndescription: ${value}`,
    );
    assert.deepEqual([isRepaired, diagnostic], [false, undefined], value);
  }
});

/** A value of both flags, and whether the skill is hidden from the model, and from the user. */
const FLAGS: [value: string, isHiddenFromModel: boolean, fromUser: boolean][] =
  [
    ["true", true, false],
    ["Yes", true, false],
    ["'on'", true, false],
    ["false", false, true],
    ["NO", false, true],
    ["off # for now", false, true],
    ["", true, true],
    ["maybe", true, true],
    ["[true]", true, true],
    ["{}", true, true],
  ];

Deno.test("readSkillMd() reads two flags, and hides a skill whose flag is neither true nor false", () => {
  for (const [value, ...hidden] of FLAGS) {
    const flags =
      `disable-model-invocation: ${value}\nuser-invocable: ${value}`;
    for (const other of ["description: b", "description: b: c", "license: b"]) {
      const found = readFields(`name: a\n${other}\n${flags}`);
      assert.deepEqual(
        [found.isHiddenFromModel, found.isHiddenFromUser],
        hidden,
        value,
      );
    }
  }
  const found = readFields(
    "name: a\ndescription: b\nmetadata: {user-invocable: false}",
  );
  assert.deepEqual([found.isHiddenFromModel, found.isHiddenFromUser], [
    false,
    false,
  ]);
});

Deno.test("readSkillMd() finds the name of a skipped file", () => {
  for (const name of ["a b", "'a b'", '"a b"  ', "a b\r"]) {
    assert.equal(readFields(`name: ${name}\nx: [`).name, "a b", name);
  }
  assert.equal(read("# a\n").name, undefined);
});

/** What makes a text that is malformed, again and again. */
const REPEATED = {
  fields: [
    "a: b\n",
    "a: b: c\n",
    "a:\n",
    "a: |\n",
    "? a\n",
    "name: ",
    "name:\n",
  ],
  blanks: [" ", "\t", "\n", "\n\t"],
  fences: ["\n---x", "\n--- ", "----\n"],
  quotes: ["'", '"', "\\", 'a: "x\\'],
  brackets: ["{a: ", "a: [] ", "[{", "[[]", "[a]"],
  others: ["- ", "#", " #", "\u00e9", "a: : \u2028"],
};

Deno.test("readSkillMd() takes linear time, and a repair keeps the text of any file", async () => {
  for (const piece of Object.values(REPEATED).flat()) {
    await assertLinearTime((length) => {
      const text = piece.repeat(length / piece.length);
      for (const start of ["---\n", "", "---\nx: y: ", "---\nname: "]) {
        for (const end of ["\n---\n", ""]) read(start + text + end);
      }
    }, { length: 16_000, what: JSON.stringify(piece) });
  }
  const pieces = Object.values(REPEATED).flat().filter((it) => !/\n/.test(it));
  const texts = fc.array(fc.constantFrom("x", "Note:", ...pieces)).map((it) =>
    it.join("")
  );
  fc.assert(fc.property(texts, (text) => {
    const line = quoteRefused(`x: ${text}`);
    if (line === undefined) return;
    const { x } = parseSkillMd(`---\nname: a\ndescription: b\n${line}\n---\n`);
    assert.equal(
      String(x).replace(/["']/g, ""),
      text.trim().replace(/["']/g, ""),
    );
  }));
});
