import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import { parseSkillMd } from "../../mod.ts";
import { parsePlain, readSkillText } from "./frontmatter.ts";
import { KNOWN_FIELDS, parseYaml } from "./yaml.ts";

Deno.test("parseSkillMd() returns all of the frontmatter unchanged", () => {
  assert.deepEqual(
    parseSkillMd(
      "---\nname: pdf\ndescription: Fill forms\n__proto__: MIT\nmetadata:\n  since: 2024-01-02\n  tags: [a, b]\n---\n# PDF\n---\n",
    ),
    {
      name: "pdf",
      description: "Fill forms",
      // An ordinary field.
      ["__proto__"]: "MIT",
      metadata: { since: "2024-01-02", tags: ["a", "b"] },
    },
  );
});

Deno.test("parseSkillMd() accepts a byte order mark, CRLF, spaces after the dashes, no body, and names with any characters", () => {
  const texts: [text: string, name: string][] = [
    [
      "\ufeff---  \r\nname: pdf\r\ndescription: Fill forms\r\n---\t\r\nText",
      "pdf",
    ],
    ["---\nname: a\ndescription: b\n---", "a"],
    ["---\nname: 日本語/& b\ndescription: b\n---\n", "日本語/& b"],
    ["---\nname: ms-office:pdf\ndescription: b\n---\n", "ms-office:pdf"],
  ];
  for (const [text, name] of texts) assert.equal(parseSkillMd(text).name, name);
});

Deno.test("parseSkillMd() throws an error with the line, the fix, and the finished line if there is one", () => {
  const texts: [text: string, message: RegExp][] = [
    [
      "# Hi\n",
      /^Cannot parse SKILL\.md: .+ \(line 1\); start the file with .+/,
    ],
    ["---\ndescription: b\n---\n", / \(line 1\); .+ begins with "name:"$/],
    [
      "---\nname: null\ndescription: b\n---\n",
      / \(line 2\); write this line instead:\nname: "null"$/,
    ],
  ];
  for (const [text, message] of texts) {
    assert.throws(() => parseSkillMd(text), { name: "SyntaxError", message });
  }
});

/** A value, and the line that the repair makes of it. */
const repairs: [value: string, finished: string][] = [
  ["Use: this", '"Use: this"'],
  ["Use this:", '"Use this:"'],
  ["it's: that", `"it's: that"`],
  ['the "x": y', `'the "x": y'`],
  ["@me", '"@me"'],
  ["`code` first", '"`code` first"'],
  ["100%: all", '"100%: all"'],
  ["%d: all", '"%d: all"'],
  [", then: go", '", then: go"'],
  ["[draft] do things", '"[draft] do things"'],
  ["[a] [b: c]", '"[a] [b: c]"'],
  ["{a: [b]} c", '"{a: [b]} c"'],
  ["[a], [b]", '"[a], [b]"'],
  ["C:\\x: y", "'C:\\x: y'"],
  ["a: Fill \u001b[31mforms", '"a: Fill \\u001b[31mforms"'],
  ["a\u200b: b", '"a\\u200b: b"'],
];

for (const [value, finished] of repairs) {
  Deno.test(`readSkillText() serves the value ${value} and prints the line with quotes`, () => {
    const fixed = `---\nname: a\ndescription: ${finished}\n---\n`;
    const { description } = parseSkillMd(fixed);
    assert.equal(readSkillText(fixed).isRepaired, false);
    for (const end of ["\n", "\r\n", "\r"]) {
      for (const blanks of [" ", "\t", " \t   "]) {
        const yaml =
          `name: a\ndescription:${blanks}${value}\nallowed-tools: [Read] # x: y\nmetadata: {"a":{"b":["c"]}}`;
        const text = `---\n${yaml}\n---\nText\n`.replaceAll("\n", end);
        const { frontmatter, isRepaired, faults } = readSkillText(text);
        assert.equal(isRepaired, true);
        assert.deepEqual(
          faults.map((
            { rule, line, fix, lines },
          ) => [rule, line, fix, lines]),
          [["yaml-repaired", 3, "write this line instead:", [
            `description: ${finished}`,
          ]]],
        );
        assert.equal(frontmatter!.description, description);
        assert.deepEqual(frontmatter!["allowed-tools"], ["Read"]);
        assert.deepEqual(frontmatter!.metadata, { a: { b: ["c"] } });
      }
    }
  });
}

Deno.test("readSkillText() says in its own words what is wrong with YAML", () => {
  const sentenceOf = (field: string) =>
    readSkillText(`---\nname: a\ndescription: d\n${field}\n---\n`)
      .faults[0]!.sentence;
  assert.equal(sentenceOf("\tx: y"), "a line is indented with a tab");
  assert.equal(sentenceOf("name: b"), "a field is there twice");
  assert.equal(sentenceOf('license: "MIT'), "a quotation mark is open");
  assert.equal(
    sentenceOf("license: *a: b"),
    "a value with a colon needs quotes",
  );
  assert.equal(sentenceOf("license: [a"), undefined);
});

/** Values with more than one reading, or none. */
const NOT_REPAIRED = {
  "begins as YAML does": ["%d", ", then", "*abc", "!!int abc", "|a", "> a: b"],
  "opens something": ['"abc', "'abc", "[a, b", "[a, [b], c", "{a: b"],
  "has other quotes inside": [
    '"a", "b"',
    '"a "b" \\" c"',
    '"a": b',
    "'a': b",
    '"C:\\x"',
  ],
  "goes on": ["a: b\n\tc", "b\n\tc", "a: b\n  - c", "a: b\n  # c", "a: b\n- c"],
  "goes on with a field": ["a: b\n  license: c", "a: b\nname: a"],
  "hides a flag": [
    "a: b\n  user_invocable: false",
    "a: b\n  c\u2028user-invocable: false",
  ],
};

const NOT_REPAIRED_REASON =
  /^the (?:YAML is malformed: .|value of ".+" needs quotes$|field ".+" is already)/;

for (const [kind, values] of Object.entries(NOT_REPAIRED)) {
  Deno.test(`readSkillText() skips a value that ${kind}`, () => {
    for (const value of values) {
      for (const field of ["name", "description", "license"]) {
        const others = ["name", "description"].filter((it) => it !== field)
          .map((it) => `${it}: a\n`).join("");
        for (const blanks of [" ", "\t", " \t   "]) {
          const line = `${field}:${blanks}${value}`;
          const text = `---\n${others}${line}\nx: y\n---\n`;
          const { frontmatter, faults: [fault] } = readSkillText(text);
          assert.deepEqual(
            [frontmatter, fault!.rule],
            [undefined, "yaml"],
            text,
          );
          assert.match(fault!.reason, NOT_REPAIRED_REASON, text);
        }
      }
    }
  });
}

Deno.test("readSkillText() repairs nothing in frontmatter that parses", () => {
  for (
    const value of [
      "C# and issue #12",
      "see https://example.com:80/",
      "'quoted: text'",
      "|\n  a: b\n  \tc",
      "two\n  lines # here",
    ]
  ) {
    const yaml = `name: a\ndescription: ${value}`;
    const { isRepaired, faults } = readSkillText(`---\n${yaml}\n---\n`);
    assert.deepEqual([isRepaired, faults], [false, []], value);
  }
});

/** A flag as people write it, and whether it is true. Anything else hides. */
const flags: [value: string, expected: boolean | undefined][] = [
  ...["true", "True", "yes", "YES", "on", "1", "'true'", '" Yes "']
    .map((value): [string, boolean] => [value, true]),
  ...["false", "FALSE", "no", "off", "0", "'no'", "false # for now"]
    .map((value): [string, boolean] => [value, false]),
  ...["", "maybe", "[true]", "{}", "2", "~"]
    .map((value): [string, undefined] => [value, undefined]),
];

Deno.test("readSkillText() reads flags as people write them, and hides what is neither true nor false", () => {
  for (const [value, expected] of flags) {
    const yaml =
      `name: a\ndescription: b\ndisable-model-invocation: ${value}\nuser-invocable: ${value}`;
    const texts = [yaml, `${yaml}\nlicense: @x`, `${yaml}\n:`, `${yaml}\nx`];
    for (const text of texts) {
      const read = readSkillText(`---\n${text}\n---\n`);
      const isServed = read.frontmatter !== undefined;
      const isHidden = [read.isHiddenFromModel, read.isHiddenFromUser];
      const said = [expected !== false, expected !== true];
      assert.deepEqual(isHidden, isServed ? said : [true, false], text);
      const hasDiagnostic = read.faults.some(({ rule }) => rule === "flags");
      assert.equal(hasDiagnostic, isServed && expected === undefined, text);
      assert.equal(read.name, "a");
    }
  }
  const plain = readSkillText("---\nname: a\ndescription: b\n---\n");
  assert.equal(plain.isHiddenFromModel || plain.isHiddenFromUser, false);
});

/** A line that states that the model may not load a skill, as people write it. */
const disabling = [
  "disable-model-invocation: true",
  "disable_model_invocation: yes",
  "Disable-Model-Invocation: on",
  "disableModelInvocation: 1",
  "disable-model-invocaton: true",
  "\u200bdisable-model-invocation: true",
  "\u00a0disable-model-invocation: true",
  "disable-model-invocation : true",
  "'disable-model-invocation': true",
  "disable model invocation: true",
  "disable-model-invocaton: maybe",
  "disable-model-invocation: false\ndisable_model_invocation: true",
  "disable-model-invocation: false\ndisable-model-invocatio: true",
];

Deno.test("readSkillText() reads a flag in every spelling, whether or not the rest can be read", () => {
  const read = (line: string, other = "", description = "b") =>
    readSkillText(
      `---\nname: a\n${other}${line}\ndescription: ${description}\n---\n`,
    );
  for (const line of disabling) {
    for (const other of ["", "license: a: b\n", 'license: "a\n', "\tx: y\n"]) {
      assert.ok(read(line, other).isHiddenFromModel, other + line);
    }
  }
  for (const separator of ["=", ":", " "]) {
    const line = `disable-model-invocation${separator}true`;
    assert.ok(read(line).isHiddenFromModel, line);
  }
  const others = [
    "# disable-model-invocation: true",
    "disable: true",
    "metadata: {disable-model-invocation: true}",
    "<<: {disable-model-invocation: true}",
  ];
  for (const line of others) {
    const { frontmatter, isHiddenFromModel } = read(line, "", "b: c");
    assert.deepEqual([frontmatter?.name, isHiddenFromModel], ["a", false]);
  }
});

Deno.test("readSkillText() counts a flag that is a letter off with its value", () => {
  const flags = "disable-model-invocaton: false\nuser_invocabel: no";
  const { isHiddenFromModel, isHiddenFromUser } = readSkillText(
    `---\nname: a\ndescription: b\n${flags}\n---\n`,
  );
  assert.deepEqual([isHiddenFromModel, isHiddenFromUser], [false, true]);
});

/** A mention of the flag in a file that is skipped. */
const mentions = [
  "# disable-model-invocation",
  "Disable Model Invocation",
  "disable__model__invocaton=x",
  "disabled-modell-invoke",
  "  disableModelInvocation: false",
  "dis\u200bable-model\u00ad-invocation",
  Array.from("disable-model-invocation").join("\0"),
];

Deno.test("readSkillText() hides what it skips from the model if it mentions the flag anywhere, and never from the user", () => {
  for (const mention of mentions) {
    for (const start of ["---\n", "", "---\n----\n", "---\n---x\n"]) {
      const text = `${start}x\n${mention}\nuser-invocable: false\n---\n`;
      const { frontmatter, ...read } = readSkillText(text);
      assert.equal(frontmatter, undefined);
      assert.deepEqual(
        [read.isHiddenFromModel, read.isHiddenFromUser],
        [true, false],
        text,
      );
    }
  }
  assert.equal(readSkillText("disable the model").isHiddenFromModel, false);
});

Deno.test("readSkillText() skips what a repair would swallow a flag of", () => {
  const flag = "disable-model-invocation: true";
  for (const end of ["\u2028", "\u0085", "\v", "\f"]) {
    const text = `---\nname: a\ndescription: b: c${end}${flag}\n---\n`;
    const { frontmatter, isHiddenFromModel } = readSkillText(text);
    assert.deepEqual([frontmatter, isHiddenFromModel], [undefined, true]);
  }
  // One of the YAML parsers reads lines without indentation as parts of a text in quotes.
  const open = `name: a\ndescription: "b\n  c\n${flag}\nlicense: d: e\n`;
  const read = readSkillText(`---\n${open}---\n`);
  assert.deepEqual(
    [read.frontmatter, read.isHiddenFromModel],
    [undefined, true],
  );
  const cr = readSkillText(`---\nname: a\ndescription: b: c\r${flag}\n---\n`);
  assert.deepEqual([cr.isRepaired, cr.isHiddenFromModel], [true, true]);
});

Deno.test("a repair never loosens a flag, whatever its value", () => {
  const piece = fc.constantFrom("true", "false", ..." :#'\"@![]\t");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const value = pieces.join("");
      const text =
        `---\nname: a\ndescription: b: c\ndisable-model-invocation: ${value}\n---\n`;
      // One of the YAML parsers reads a comment right after quotes.
      const isFalse = /^[\s'"!]*false[\s'"]*(?:(?<=[\s'"])#.*)?$/.test(value);
      assert.equal(
        readSkillText(text).isHiddenFromModel || isFalse,
        true,
        text,
      );
    }),
    { numRuns: 1_000 },
  );
});

/** What a `SKILL.md` consists of, and what is almost that. */
const PIECES = {
  fences: ["---", "----", "--", "...", "```"],
  fields: ["name:", "name: a", "description: b", "desc: c", "license: ["],
  lineBreaks: ["\n", "\r\n", "\r", "\r\r\n", "\n\n", "\u2028"],
  characters: ["\ufeff", "\0", " ", "\t", ":", '"', "'", "|", "# x", "- x"],
};

Deno.test("parseSkillMd() returns a name and a description, or throws a SyntaxError", () => {
  const piece = fc.constantFrom(...Object.values(PIECES).flat());
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
      const text = pieces.join("");
      for (const start of ["", "---\n", "---\r\r\n"]) {
        try {
          const { name, description } = parseSkillMd(start + text);
          assert.ok(name.trim() !== "" && description.trim() !== "");
        } catch (error) {
          assert.ok(error instanceof SyntaxError, String(error));
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

/** What authors write in descriptions, and what YAML misunderstands in them. */
const WORDS = {
  plain: ["Use", "this", "when", "\u00fc\u65e5", "\u{1f600}", "x\u200b"],
  quotes: ["don't", "it's", '"x"', "'y'", "`code`"],
  backslashes: ["C:\\Users\\temp", "\\d+"],
  colons: ["a:b", "key:", "Note:"],
  comments: ["C#", "#1", "# two"],
  brackets: ["[a]", "{b}"],
  signs: ["- item", "@me", "*bold*", "!now", "%d", "&amp", "|", ">", "?"],
  values: ["100%", "yes", "null", "1.0"],
};

const word = fc.constantFrom(...Object.values(WORDS).flat());

const description = fc.array(word, { minLength: 1, maxLength: 8 })
  .map((words) => words.join(" "));

Deno.test("the line of a repair keeps every text that an author writes", () => {
  let count = 0;
  fc.assert(
    fc.property(description, (text) => {
      // YAML reads these as something else without a fault, or as a part of it.
      fc.pre(!/^(?:["'|>#!&*]|null$|yes$|1.0$)|\s#/.test(text));
      const yaml = `---\nname: a\ndescription: ${text}\nlicense: MIT\n---\n`;
      const { frontmatter, isRepaired } = readSkillText(yaml);
      if (!isRepaired) return;
      count++;
      assert.equal(frontmatter?.description, text);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(count > 100, String(count));
});

Deno.test("parsePlain() reads every known field", () => {
  for (const field of KNOWN_FIELDS) {
    const fields = { name: "a", description: "b", [field]: "text" };
    const lines = Object.entries(fields).map((entry) => entry.join(": "));
    assert.deepEqual(parsePlain(lines.join("\n")), fields);
  }
});

Deno.test("parsePlain() returns what the YAML parser does, or nothing, for any text", () => {
  const value = fc.oneof(
    description,
    fc.constantFrom("true", "NULL ", "Nan", "e5", "x  y ", "a\tb", "~", ""),
    fc.string({ unit: "binary-ascii", maxLength: 6 }),
  );
  const key = fc.oneof(
    fc.constantFrom("name", "description", "license", "a--b", "x", "a b"),
    fc.constantFrom("true", "Null", "TRUE", "False", "null ", "nullx", "No"),
    fc.stringMatching(/^[a-zA-Z_-]{1,5}$/),
    fc.string({ unit: "binary-ascii", maxLength: 4 }),
  );
  const separator = fc.constantFrom(": ", ":", ":  ", " : ", ": \t", "=");
  const line = fc.tuple(key, separator, value).map((parts) => parts.join(""));
  const lines = fc.array(line, { maxLength: 3 });
  let count = 0;
  fc.assert(
    fc.property(lines, (lines) => {
      const yaml = ["", "name: a", "description: b", ...lines, ""].join("\n");
      const plain = parsePlain(yaml);
      if (plain === undefined) return;
      count++;
      assert.deepEqual(plain, parseYaml(yaml), yaml);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(count > 1_000, String(count));
});

/** What makes a text that is malformed, again and again. */
const REPEATED = {
  fields: ["a: b\n", "a: b: c\n", "a:\n", "a:\n b: c: d\n", "a: |\n", "? a\n"],
  blanks: [" ", "\t", "\n", "\n\t"],
  fences: ["\n---x", "\n--- ", "----\n"],
  quotes: ["'", '"', "\\", 'a: "x\\'],
  brackets: ["{a: ", "a: [] ", "a: [a] \t", "[{", "[[]", "[a]"],
  flags: ["\nuser-invocable: x #", "\nuser--invocable: x", "disable model "],
  others: ["- ", "#", " #", "\u00e9", "name: ", "a: : \u2028"],
};

Deno.test("readSkillText() takes linear time for malformed text", async () => {
  for (const piece of Object.values(REPEATED).flat()) {
    await assertLinearTime((length) => {
      const text = piece.repeat(length / piece.length);
      for (const start of ["---\n", "", "---\nx: y: ", "---\nx: "]) {
        for (const end of ["\n---\n", ""]) readSkillText(start + text + end);
      }
    }, { length: 16_000, what: JSON.stringify(piece) });
    await assertLinearTime((length) => {
      readSkillText(`---\n${piece.repeat(length / piece.length)}`);
    }, { length: 1_000_000, what: `${JSON.stringify(piece)} in a large file` });
  }
});

Deno.test("parseSkillMd() accepts frontmatter of just under 16 KiB in any script", () => {
  for (const filler of ["x", "ü", "😀"]) {
    const head = "---\nname: a\ndescription: b\nlicense: ";
    const tail = "\n---";
    const bytes = new TextEncoder().encode(filler).length;
    const room = 16 * 1024 - head.length - tail.length;
    const license = filler.repeat(Math.floor(room / bytes));
    const text = `${head}${license}${tail}`;
    assert.equal(parseSkillMd(`${text}\nText`).license, license);
    for (const end of ["", "\n", "\nText"]) {
      const long = `${head}${license}${filler}${tail}${end}`;
      assert.throws(() => parseSkillMd(long), /16 KiB/);
    }
  }
});

Deno.test("readSkillText() follows no merge keys, which could name mappings millions of times", () => {
  const many = (alias: string) => Array(200).fill(alias).join(",");
  const text = `---
name: x
description: d
a: &a {disable-model-invocation: true}
b: &b {<<: [${many("*a")}]}
c: &c {<<: [${many("*b")}]}
d: &d {<<: [${many("*c")}]}
<<: [${many("*d")}]
---
`;
  const { frontmatter, isHiddenFromModel } = readSkillText(text);
  assert.equal(frontmatter?.name, "x");
  assert.equal(isHiddenFromModel, false);
});
