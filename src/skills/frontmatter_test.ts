import assert from "node:assert/strict";
import { parseSkillMd, skillKey, SkillSyntaxError } from "../../mod.ts";

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
  ["is empty", "", /no frontmatter/, 1, /start the file/],
  ["has no frontmatter", "# Hi\n", /no frontmatter/, 1, /start the file/],
  [
    "begins with a blank line",
    "\n---\nname: a\n",
    /no frontmatter/,
    1,
    /start the file/,
  ],
  [
    "begins with four dashes",
    "----\nname: a\n----\n",
    /no frontmatter/,
    1,
    /start the file/,
  ],
  [
    "does not close its frontmatter",
    "---\nname: a\ndescription: b\n",
    /not end/,
    1,
    /end it/,
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
    /add a value/,
  ],
  [
    "has a blank name",
    '---\nname: "  "\ndescription: b\n---\n',
    /"name" is empty/,
    2,
    /add a value/,
  ],
  [
    "has a number as its name",
    "---\nname: 123\ndescription: b\n---\n",
    /"name" is not a string/,
    2,
    /quotes/,
  ],
  [
    "has a list as its description",
    "---\nname: a\ndescription: [b]\n---\n",
    /"description" is not a string/,
    3,
    /quotes/,
  ],
  [
    "has a colon in a value",
    "---\nname: a\ndescription: Use: this\n---\n",
    /malformed/,
    3,
    /double quotes/,
  ],
  [
    "has an unclosed quote",
    '---\nname: "a\ndescription: b\n---\n',
    /malformed/,
    0,
    /this line and the line before/,
  ],
  [
    "is indented with tabs",
    "---\nname: a\ndescription: b\nmetadata:\n\t- 1\n\t- 2\n---\n",
    /malformed/,
    0,
    /spaces/,
  ],
  [
    "has a field twice",
    "---\nname: a\nname: b\n---\n",
    /malformed.*duplicated/,
    3,
    /remove one of the duplicate keys/,
  ],
  [
    "has an unknown tag",
    "---\nname: !run a\ndescription: b\n---\n",
    /malformed.*tag/,
    2,
    /double quotes/,
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
    /add a value/,
  ],
  [
    "capitalizes the name of a field",
    "---\nName: x\ndescription: y\n---\n",
    /"name" is missing/,
    2,
    /"Name" in lowercase/,
  ],
  [
    "has text after a flow sequence",
    "---\nname: x\ndescription: [draft] do things\n---\n",
    /malformed/,
    3,
    /first character/,
  ],
  [
    "has a value that begins with @",
    "---\nname: @a\ndescription: b\n---\n",
    /malformed/,
    2,
    /first character/,
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
