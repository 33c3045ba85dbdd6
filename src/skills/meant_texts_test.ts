import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { readSkillText } from "./frontmatter.ts";

/** A name or a description, what is read, and the finished line if one line tells it. */
const meant: [field: string, value: string, text: string, finished?: string][] =
  [
    [
      "description",
      '"Use when someone says "ship" today"',
      'Use when someone says "ship" today',
      `description: 'Use when someone says "ship" today'`,
    ],
    ["name", "'don't'", "don't", "name: don-t"],
    ["description", "'don't'", "don't", `description: "don't"`],
    [
      "description",
      "Use it\n  when: asked\n  twice",
      "Use it when: asked twice",
    ],
    ["description", "Use: it\n\n  when asked", "Use: it\nwhen asked"],
    ["name", "1.10 # the version", "1.10", "name: 1-10"],
    ["name", "123", "123", 'name: "123"'],
    ["description", "1.10", "1.10", 'description: "1.10"'],
    ["description", "true", "true", 'description: "true"'],
    ["description", "0x1F", "0x1F", 'description: "0x1F"'],
  ];

for (const [field, value, text, finished] of meant) {
  Deno.test(`readSkillText() serves the ${field} ${JSON.stringify(value)} as it is meant`, () => {
    const other = field === "name" ? "description: d" : "name: n";
    const read = readSkillText(
      `---\n${other}\n${field}: ${value}\nuser-invocable: false\n---\n`,
    );
    assert.equal(read.frontmatter?.[field], text);
    assert.deepEqual([read.isRepaired, read.isHiddenFromUser], [true, true]);
    const [fault, ...others] = read.faults;
    assert.deepEqual(others, []);
    assert.deepEqual([fault!.rule, fault!.line], ["yaml-repaired", 3]);
    assert.deepEqual(fault!.lines, finished && [finished]);
  });
}

Deno.test("readSkillText() takes no name and no description from what is no text", () => {
  for (const value of ["", "null", "~", "[a]", "{ a: 1 }", "!!int 5"]) {
    const text = `---\nname: a\ndescription: ${value}\n---\n`;
    assert.equal(readSkillText(text).frontmatter, undefined, value);
  }
  const list = readSkillText("---\nname: a\ndescription:\n  - b\n---\n");
  assert.equal(list.faults[0]!.reason, 'the field "description" is a list');
  assert.equal(
    readSkillText("---\nname: yes\ndescription: d\n---\n").isRepaired,
    false,
  );
});

/** Lines of frontmatter, some of which YAML refuses, or reads as something else. */
const LINES = fc.constantFrom(
  "name: a",
  "name: 1.10",
  "description: d",
  "description: Use: it",
  'description: "say "x" now"',
  "description: on",
  "  goes: on",
  "  on",
  "",
  "  user-invocable: false",
  "  disable_model_invocation: true",
  "user-invocable: false",
  "disable-model-invocation: true",
  "license: @me",
  "  - item",
  "# comment",
);

Deno.test("no flag appears or vanishes by a repair", () => {
  const wasRepaired = { count: 0 };
  fc.assert(
    fc.property(fc.array(LINES, { maxLength: 7 }), (lines) => {
      const read = readSkillText(`---\n${lines.join("\n")}\n---\n`);
      if (!read.isRepaired) return;
      wasRepaired.count++;
      const isHiddenFromUser = lines.includes("user-invocable: false");
      const isHiddenFromModel = lines.includes(
        "disable-model-invocation: true",
      );
      assert.deepEqual(
        { ...read, faults: [] },
        { ...read, faults: [], isHiddenFromUser, isHiddenFromModel },
      );
      const { description = "" } = read.frontmatter ?? {};
      assert.doesNotMatch(description, /invocable|invocation/);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(wasRepaired.count > 50, String(wasRepaired.count));
});
