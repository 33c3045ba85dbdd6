import assert from "node:assert/strict";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import {
  HEAD_SIZE,
  parseSkillMd,
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

/** Texts, and the name and the beginning of the instructions in them. */
const READ: [text: string, name: string, excerpt: string][] = [
  ["---\nname: a\ndescription: b\n---", "a", ""],
  ["---\nname: a\ndescription: b\n---\nText\n---\n", "a", "\nText\n---\n"],
  ["---\rname: a\rdescription: b\r---\rText", "a", "\rText"],
  [
    "\ufeff--- \r\nname: a\r\ndescription: é\r\n---\t\r\nText",
    "a",
    "\r\nText",
  ],
  // Searches read the first 800 bytes.
  [
    `---\nname: a\ndescription: b\n---\n${"é".repeat(500)}`,
    "a",
    `\n${"é".repeat(399)}\ufffd`,
  ],
  ["---\nname: 日本語/& b\ndescription: b\n---\n", "日本語/& b", "\n"],
];

Deno.test("readSkillMd() reads any line breaks, and names of any characters", () => {
  for (const [text, name, excerpt] of READ) {
    const found = read(text);
    assert.equal(found.diagnostic, undefined, text);
    assert.ok(found.frontmatter, text);
    assert.deepEqual([found.name, found.excerpt], [name, excerpt], text);
  }
});

/** Texts that are skipped, why, and at which line. */
const SKIPPED: [text: string, rule: string, line: number, reason: RegExp][] = [
  ["", "frontmatter-missing", 1, /does not begin with a line "---"/],
  ["# Hi\n", "frontmatter-missing", 1, /does not begin/],
  ["---\nname: a\ndescription: b\n", "frontmatter-missing", 1, /16 KiB/],
  ["---\n---\n", "name-missing", 1, /"name" is missing/],
  ["---\n- a\n---\n", "name-missing", 1, /"name" is missing/],
  ["---\nname:\ndescription: b\n---\n", "name-missing", 2, /is not text/],
  ["---\ndescription: b\nname: '\u200b'\n---\n", "name-missing", 3, /"name"/],
  ["---\nname: a\ndescription: [b]\n---\n", "description-missing", 3, /text/],
  ["---\nname: a\ndescription: ' '\n---\n", "description-missing", 3, /text/],
  ["---\nname: a\n x: |\n---\n", "description-missing", 1, /is missing/],
  ["---\nname: *a\ndescription: b\n---\n", "name-missing", 2, /is not text/],
  ["<<<<<<< a\n---\n", "frontmatter-missing", 1, /unresolved Git conflicts/],
];

Deno.test("readSkillMd() says at which line and why it skips a file", () => {
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

Deno.test("readSkillMd() skips a file whose beginning is not UTF-8", () => {
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

Deno.test("readSkillMd() reads a number or a boolean that is a name as it is written", () => {
  for (const value of ["123", "0x1F", "1e3", "1.10", "True", "-.inf"]) {
    for (const other of ["x: y", "x: y: z"]) {
      const { frontmatter, diagnostic } = readFields(
        `name: ${value} # x\ndescription: ${value}\n${other}`,
      );
      const { name, description } = frontmatter!;
      assert.deepEqual([name, description], [value, value]);
      assert.equal(diagnostic?.rule, "yaml");
    }
  }
});

/** A value of both flags, and whether it hides the skill from the model, and from the user. */
const FLAGS: [value: string, fromModel: boolean, fromUser: boolean][] = [
  ["true", true, false],
  ["Yes", true, false],
  ["'on'", true, false],
  ["false", false, true],
  ["NO", false, true],
  ["off # for now", false, true],
  ["", true, true],
  ["maybe", true, true],
  ["[true]", true, true],
];

Deno.test("readSkillMd() hides a skill whose flag is neither true nor false", () => {
  const hiddenBy = (fields: string) => {
    const found = readFields(`name: a\n${fields}`);
    return [found.isHiddenFromModel, found.isHiddenFromUser];
  };
  for (const [value, ...hidden] of FLAGS) {
    const flags =
      `disable-model-invocation: ${value}\nuser-invocable: ${value}`;
    // The skill is served, repaired, or skipped.
    for (const other of ["description: b", "description: b: c", "license: b"]) {
      assert.deepEqual(hiddenBy(`${other}\n${flags}`), hidden, value);
    }
  }
  const nested = "description: b\nmetadata: {user-invocable: false}";
  assert.deepEqual(hiddenBy(nested), [false, false]);
});

/** Texts with a frontmatter that may have flags, although none can be read. */
const WITH_UNKNOWN_FLAGS = [
  "---\nname: a\ndescription: b\n",
  `---\nname: a\nx: ${"y".repeat(HEAD_SIZE)}\n---\n`,
  "\n ---\nname: a\n",
  "-\0-\0-\0\n\0",
];

Deno.test("readSkillMd() tells frontmatter that it cannot read from none at all", () => {
  for (const text of WITH_UNKNOWN_FLAGS) {
    assert.equal(read(text).hasUnknownFlags, true, text);
  }
  assert.equal(readSkillMd(new Uint8Array([0xff])).hasUnknownFlags, true);
  const refused = "---\nname: a\nx: y: z\n---\n";
  for (const text of ["", "# a\n", refused, "---\n---\n"]) {
    assert.equal(read(text).hasUnknownFlags, false, text);
  }
});

Deno.test("readSkillMd() finds the name of a skipped file", () => {
  for (const name of ["a b", "'a b'", '"a b"  ', "a b\r"]) {
    assert.equal(readFields(`name: ${name}\nx: [`).name, "a b", name);
  }
  assert.equal(read("# a\n").name, undefined);
});

/** What makes a text malformed, again and again. */
const REPEATED = [
  ["a: b\n", "a: b: c\n", "a:\n", "a: |\n", "? a\n", "name: ", "name:\n"],
  [" ", "\t", "\n", "\n\t", "\n---x", "\n--- ", "----\n"],
  ["'", '"', "\\", 'a: "x\\', "{a: ", "a: [] ", "[{", "[[]", "[a]"],
  ["- ", "#", " #", "\u00e9", "a: : \u2028"],
].flat();

Deno.test("readSkillMd() takes linear time", async () => {
  for (const piece of REPEATED) {
    await assertLinearTime((length) => {
      const text = piece.repeat(length / piece.length);
      for (const start of ["---\n", "", "---\nx: y: ", "---\nname: "]) {
        for (const end of ["\n---\n", ""]) read(start + text + end);
      }
    }, { length: 16_000, what: JSON.stringify(piece) });
  }
});
