import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import { parseSkillMd, skillKey, SkillSyntaxError } from "../../mod.ts";
import { inspectSkillMd } from "./frontmatter.ts";

Deno.test("parseSkillMd() returns all of the frontmatter unchanged", () => {
  assert.deepEqual(
    parseSkillMd(
      "---\nname: pdf\ndescription: Fill forms\nlicense: MIT\nmetadata:\n  since: 2024-01-02\n  tags: [a, b]\n---\n# PDF\n---\n",
    ),
    {
      name: "pdf",
      description: "Fill forms",
      license: "MIT",
      metadata: { since: "2024-01-02", tags: ["a", "b"] },
    },
  );
});

Deno.test("parseSkillMd() accepts a byte order mark, CRLF, and spaces after the dashes", () => {
  const { name, description } = parseSkillMd(
    "\ufeff---  \r\nname: pdf\r\ndescription: Fill forms\r\n---\t\r\nText",
  );
  assert.deepEqual({ name, description }, {
    name: "pdf",
    description: "Fill forms",
  });
});

Deno.test("parseSkillMd() accepts frontmatter without a body", () => {
  assert.equal(parseSkillMd("---\nname: a\ndescription: b\n---").name, "a");
});

Deno.test("parseSkillMd() accepts names with any characters", () => {
  for (const name of ["Git & GitHub", "日本語", "a/b", "ms-office-suite:pdf"]) {
    const text = `---\nname: ${JSON.stringify(name)}\ndescription: x\n---\n`;
    assert.equal(parseSkillMd(text).name, name);
  }
});

Deno.test("parseSkillMd() treats __proto__ as an ordinary field", () => {
  const frontmatter = parseSkillMd(
    "---\nname: a\ndescription: b\n__proto__:\n  polluted: true\n---\n",
  );
  assert.equal(Object.getPrototypeOf(frontmatter), Object.prototype);
  assert.ok(Object.hasOwn(frontmatter, "__proto__"));
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

/**
 * What is wrong with a `SKILL.md`, its text, and the expected reason, line, and
 * hint. Line 0 means any line.
 */
const malformed: [string, string, RegExp, number, RegExp][] = [
  ["is empty", "", /is empty/, 1, /start the file/],
  ["has no frontmatter", "# Hi\n", /no frontmatter/, 1, /start the file/],
  [
    "begins with a blank line",
    "\n---\nname: a\n",
    /blank lines before/,
    1,
    /remove the blank lines/,
  ],
  [
    "begins with four dashes",
    "----\nname: a\n----\n",
    /line 1 is "----"/,
    1,
    /write "---" on line 1 and on line 3/,
  ],
  [
    "does not close its frontmatter",
    "---\nname: a\ndescription: b\n",
    /not end/,
    3,
    /add this line at the end of the file:\n---/,
  ],
  ["has empty frontmatter", "---\n---\n", /not a YAML mapping/, 2, /name: …/],
  [
    "has a list as its frontmatter",
    "---\n- name\n---\n",
    /not a YAML mapping/,
    2,
    /name: …/,
  ],
  ["has no name", "---\ndescription: b\n---\n", /"name" is missing/, 1, /add/],
  [
    "has no description",
    "---\nname: a\n---\n",
    /"description" is missing/,
    1,
    /add/,
  ],
  [
    "has an empty name",
    "---\ndescription: b\nname:\n---\n",
    /"name" is empty/,
    3,
    /the name of the skill's folder after "name:"/,
  ],
  [
    "has a blank name",
    '---\nname: "  "\ndescription: b\n---\n',
    /"name" is empty/,
    2,
    /after "name:"/,
  ],
  [
    "has a number as its name",
    "---\nname: 123\ndescription: b\n---\n",
    /"name" is not a string/,
    2,
    /:\nname: '123'$/,
  ],
  [
    "has a list as its description",
    "---\nname: a\ndescription: [b]\n---\n",
    /"description" is not a string/,
    3,
    /:\ndescription: '\[b\]'$/,
  ],
  [
    "has a colon in a value",
    "---\nname: a\ndescription: Use: this\n---\n",
    /contains a colon/,
    3,
    /:\ndescription: 'Use: this'$/,
  ],
  [
    "has an unclosed quote",
    '---\nname: "a\ndescription: b\n---\n',
    /"name" has no closing quote/,
    2,
    /:\nname: 'a'$/,
  ],
  [
    "is indented with tabs",
    "---\nname: a\ndescription: b\nmetadata:\n\t- 1\n\t- 2\n---\n",
    /indented with tabs/,
    4,
    /spaces instead of tabs/,
  ],
  [
    "has a field twice",
    "---\nname: a\ndescription: b\nname: b\n---\n",
    /"name" appears twice: here and on line 2/,
    4,
    /remove one of the two/,
  ],
  [
    "has an unknown tag",
    "---\nname: !run a\ndescription: b\n---\n",
    /begins with "!"/,
    2,
    /:\nname: '!run a'$/,
  ],
  [
    "has two documents",
    "---\nname: a\n...\nb\n---\n",
    /more than one YAML document/,
    3,
    /remove this line and everything after it/,
  ],
  [
    "has a field that only begins with name",
    "---\nnamespace: x\ndescription: y\nname:\n---\n",
    /"name" is empty/,
    4,
    /after "name:"/,
  ],
  [
    "capitalizes the name of a field",
    "---\nName: x\ndescription: y\n---\n",
    /"name" is missing, but there is a field "Name"/,
    2,
    /:\nname: x$/,
  ],
  [
    "has text after a flow sequence",
    "---\nname: x\ndescription: [draft] do things\n---\n",
    /begins with "\["/,
    3,
    /:\ndescription: '\[draft\] do things'$/,
  ],
  [
    "has a value that begins with @",
    "---\nname: @a\ndescription: b\n---\n",
    /begins with "@"/,
    2,
    /:\nname: '@a'$/,
  ],
  [
    "has no space after a colon",
    "---\nname:a\ndescription: b\n---\n",
    /no space after "name:"/,
    2,
    /:\nname: a$/,
  ],
  [
    "misspells the name of a field",
    "---\nname: a\ndescripton: b\n---\n",
    /"description" is missing, but there is a field "descripton"/,
    3,
    /:\ndescription: b$/,
  ],
  [
    "abbreviates the name of a field",
    "---\nname: a\ndesc: b\n---\n",
    /"description" is missing, but there is a field "desc"/,
    3,
    /:\ndescription: b$/,
  ],
  [
    "misspells the name of a field with a malformed value",
    "---\nname: a\ndescripton: b: c\n---\n",
    /contains a colon.*; the field "description" is missing/,
    3,
    /:\ndescription: 'b: c'$/,
  ],
  [
    "has a value that YAML takes for a comment",
    "---\nname: a\ndescription: #1 in its class\n---\n",
    /"description" is empty, because "#" starts a comment/,
    3,
    /:\ndescription: '#1 in its class'$/,
  ],
  [
    "continues a value on a line that is not indented",
    "---\nname: a\ndescription: b\nand c\nlicense: MIT\n---\n",
    /continues on a line that is not indented/,
    3,
    /instead of lines 3 to 4:\ndescription: 'b and c'$/,
  ],
  [
    "has a malformed value in a nested mapping",
    "---\nname: a\ndescription: b\nmetadata:\n  x: 1\n  y: a: b\n---\n",
    /"y" contains a colon/,
    6,
    /:\n {2}y: 'a: b'$/,
  ],
  [
    "has the name and the description on one line",
    "---\nname: a description: b: c\n---\n",
    /the name and the description are on the same line/,
    2,
    /:\nname: a\ndescription: 'b: c'$/,
  ],
  [
    "has quotes of the same kind in quotes",
    '---\nname: a\ndescription: "Use the " character to quote"\n---\n',
    /text after its closing quote/,
    3,
    /:\ndescription: 'Use the " character to quote'$/,
  ],
  [
    "is UTF-16",
    "\ufffd\ufffd-\0-\0-\0\n\0",
    /UTF-16/,
    1,
    /save it with the encoding UTF-8/,
  ],
  [
    "has no fences",
    "name: a\ndescription: b\n\n# A\n",
    /no line "---" before the frontmatter/,
    1,
    /before line 1 and another one before line 3/,
  ],
  [
    "has a heading before the frontmatter",
    "# A\n\n---\nname: a\ndescription: b\n---\n",
    /starts on line 3/,
    1,
    /move the frontmatter to the start/,
  ],
  [
    "has its frontmatter in a code block",
    "```yaml\n---\nname: a\n---\n```\n",
    /in a code block/,
    1,
    /remove this line/,
  ],
  [
    "ends its frontmatter with a rule of a different length",
    "---\nname: a\ndescription: b\n-----\n# A\n",
    /line 4 is "-----"/,
    4,
    /write this line instead:\n---/,
  ],
  [
    "ends its lines with two carriage returns",
    "---\r\r\nname: a\r\r\ndescription: b\r\r\n---\r\r\n",
    /line 1 is "---\\u000d" instead of "---"/,
    1,
    /write "---" on line 1 and on line 4/,
  ],
  [
    "does not separate its frontmatter from the body",
    "---\nname: a\ndescription: b\n\n# A\n",
    /not end/,
    4,
    /insert this line before line 4:\n---/,
  ],
  [
    "is nested 5,000 levels deep",
    `---\nname: ${"[".repeat(5000)}\n---\n`,
    /nest/,
    2,
    /./,
  ],
  [
    "is larger than 64 KiB",
    `---\nname: a\n${"# x\n".repeat(20_000)}---\n`,
    /within 64 KiB/,
    1,
    /body/,
  ],
];

for (const [what, text, reason, line, hint] of malformed) {
  Deno.test(`parseSkillMd() reports the problem and the fix if the file ${what}`, () => {
    assert.throws(() => parseSkillMd(text), (error) => {
      assert.ok(
        error instanceof SkillSyntaxError && error instanceof SyntaxError,
      );
      assert.match(error.reason, reason);
      assert.match(error.hint, hint);
      if (line > 0) assert.equal(error.line, line);
      assert.ok(!error.message.includes("\n"));
      return true;
    });
  });
}

Deno.test("parseSkillMd() reports all faults of the frontmatter at once", () => {
  const text = [
    "---",
    "Name: pdf",
    "descripton: Fill forms: all of them",
    "license: @MIT",
    "metadata:",
    "  a: b: c",
    "---",
    "",
  ].join("\n");
  assert.throws(() => parseSkillMd(text), (error) => {
    assert.ok(error instanceof SkillSyntaxError);
    const faults = inspectSkillMd(text).faults;
    assert.deepEqual(
      faults.map(({ line, hint }) => [line, hint.split("\n")[1]]),
      [
        [2, "name: pdf"],
        [3, "description: 'Fill forms: all of them'"],
        [4, "license: '@MIT'"],
        [6, "  a: 'b: c'"],
      ],
    );
    const lines = text.split("\n");
    for (const { line, hint } of faults) lines[line - 1] = hint.split("\n")[1]!;
    assert.deepEqual(parseSkillMd(lines.join("\n")), {
      name: "pdf",
      description: "Fill forms: all of them",
      license: "@MIT",
      metadata: { a: "b: c" },
    });
    return true;
  });
});

Deno.test("parseSkillMd() returns a name and a description, or throws a SkillSyntaxError", () => {
  const piece = fc.constantFrom(
    ...["---", "----", "--", "...", "```", "# x", "\ufeff", "\0", "\u2028"],
    ...["name:", "name: a", "description: b", "desc: c", "license: [", "- x"],
    ...["\n", "\r\n", "\r", "\r\r\n", "\n\n", " ", "\t", ":", '"', "'", "|"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
      const text = pieces.join("");
      for (const start of ["", "---\n", "---\r\r\n"]) {
        try {
          const { name, description } = parseSkillMd(start + text);
          assert.ok(name.trim() !== "" && description.trim() !== "");
        } catch (error) {
          assert.ok(error instanceof SkillSyntaxError, String(error));
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

/** What authors write in descriptions, and what YAML misunderstands in them. */
const word = fc.constantFrom(
  ...[
    "Use",
    "this",
    "when",
    "C#",
    "don't",
    "it's",
    "\u00fc\u65e5",
    "\u{1f600}",
  ],
  ...[
    '"x"',
    "'y'",
    "C:\\Users\\temp",
    "\\d+",
    "a:b",
    "key:",
    "Note:",
    "- item",
  ],
  ...["#1", "# two", "@me", "`code`", "[a]", "{b}", "*bold*", "!now", "%d"],
  ...["&amp", "|", ">", "?", "100%", "yes", "null", "1.0", "x\u200b"],
);

const description = fc.array(word, { minLength: 1, maxLength: 8 })
  .map((words) => words.join(" "));

/** The ways in which authors write a text as a YAML value. */
const writings: Record<string, (text: string) => string> = {
  plain: (text) => text,
  "in double quotes": (text) => `"${text}"`,
  "in single quotes": (text) => `'${text}'`,
  "on two lines": (text) => text.replace(" ", "\n  "),
  "on two lines without indentation": (text) => text.replace(" ", "\n"),
};

for (const [how, write] of Object.entries(writings)) {
  Deno.test(`the line in the hint of parseSkillMd() keeps every text that an author writes ${how}`, () => {
    let count = 0;
    fc.assert(
      fc.property(description, (text) => {
        fc.pre(!isAmbiguous(write(text), text));
        const yaml = `name: a\ndescription: ${write(text)}\nlicense: MIT`;
        const hint = hintFor(`---\n${yaml}\n---\n`);
        if (hint === undefined) return;
        count++;
        const [, line] = hint.split("\n");
        assert.ok(line !== undefined, hint);
        const fixed = parseSkillMd(`---\nname: a\n${line}\n---\n`);
        assert.equal(fixed.description, text);
      }),
      { numRuns: 500 },
    );
    assert.ok(count > 50, String(count));
  });
}

/**
 * Whether quotes at the start of a text could be part of it or not, or a line of
 * it is itself valid YAML.
 */
function isAmbiguous(written: string, text: string): boolean {
  return written === text && /^["']/.test(text) ||
    /^["']["']/.test(written) || /["']{2}$/.test(written) ||
    /^["']y' |^["']x" /.test(written) ||
    /^[|>](?:\s+#|\n|$)|\n\s*#|\n(?:- |key:|Note:|\?)/.test(written);
}

/** Returns the hint for the description of a `SKILL.md`, if it is not valid. */
function hintFor(text: string): string | undefined {
  try {
    parseSkillMd(text);
  } catch (error) {
    assert.ok(error instanceof SkillSyntaxError);
    const fault = inspectSkillMd(text).faults.find(({ line }) => line === 3);
    return fault!.hint;
  }
}

Deno.test("parseSkillMd() takes linear time for malformed frontmatter", async () => {
  const pieces = ["a: b\n", "a: b: c\n", "a:\n", "a:\n b: c: d\n", "a: |\n"];
  for (const piece of [...pieces, " ", "\n", "name: a description: ", "- "]) {
    await assertLinearTime((length) => {
      const yaml = `x: y: ${piece.repeat(length / piece.length)}`;
      for (const end of ["\n---\n", "\n"]) {
        assert.throws(() => parseSkillMd(`---\n${yaml}${end}`));
      }
    }, { length: 60_000, what: JSON.stringify(piece) });
  }
});

Deno.test("parseSkillMd() accepts frontmatter of just under 64 KiB in any script", () => {
  for (const filler of ["x", "ü", "😀"]) {
    const head = "---\nname: a\ndescription: b\nlicense: ";
    const tail = "\n---";
    const bytes = new TextEncoder().encode(filler).length;
    const room = 64 * 1024 - head.length - tail.length;
    const license = filler.repeat(Math.floor(room / bytes));
    assert.equal(parseSkillMd(`${head}${license}${tail}`).license, license);
    assert.throws(
      () => parseSkillMd(`${head}${license}${filler}${tail}`),
      /64 KiB/,
    );
  }
});

Deno.test("skillKey() ignores case, surrounding whitespace, and the composition of accents", () => {
  for (const name of ["Git", " git ", "GIT\n"]) {
    assert.equal(skillKey(name), "git");
  }
  assert.equal(skillKey("Cafe\u0301"), skillKey("CAF\u00c9"));
  assert.equal(skillKey("Git\n  Hub"), skillKey("git hub"));
  assert.equal(skillKey("gi\u0007t\u202e"), skillKey("git"));
  assert.notEqual(skillKey("git"), skillKey("gi t"));
  assert.equal(skillKey(skillKey("\u0130")), skillKey("\u0130"));
});
