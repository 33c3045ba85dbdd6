import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import {
  findingsIn,
  printedReport,
  problemsIn,
} from "../../tests/testing/report.ts";
import { Place } from "../../tests/testing/folders.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";

Deno.test("--check applies the rules for fields to frontmatter that needs repair", async () => {
  using place = new Place();
  const yaml = [
    "name: Two Words",
    `descripton: ${"d".repeat(20)}`,
    "license: 2",
    "compatibility: |",
    "    any",
    "  agent",
    "allowed-tools: a: b, c",
  ];
  const text = `---\n${yaml.join("\n")}\n---\nText\n`;
  place.skill("home/.claude/skills", "broken", text);
  const skipped = [
    'error description-missing broken/SKILL.md:3: the field "description" is missing, but there is a field "descripton"',
    'error yaml broken/SKILL.md:5: the lines of the value of "compatibility" are not indented alike',
    'error yaml broken/SKILL.md:8: the value of "allowed-tools" contains a colon, which starts another value in YAML',
  ];
  assert.deepEqual(await findingsIn(place), [
    ...skipped,
    "error name-characters broken/SKILL.md:2: the name does not consist of a-z, 0-9, and single hyphens",
    "warning license broken/SKILL.md:4: license is not a string",
    "warning allowed-tools broken/SKILL.md:8: allowed-tools is separated by commas",
    'error name-folder broken/SKILL.md:2: the name "Two Words" differs from the folder name "broken"',
  ]);
  const list = await printedReport(place, "--list");
  assert.match(list.text, /^Problems \(3 errors, 0 warnings\)$/m);
});

/** Each has the same faults, with the frontmatter fenced in another way. */
const fencings: [string, (yaml: string) => string][] = [
  ["fenced", (yaml) => `---\n${yaml}\n---\n\n`],
  ["not ended", (yaml) => `---\n${yaml}\n\n`],
  ["ended differently", (yaml) => `---\n${yaml}\n----\n\n`],
  ["fenced differently", (yaml) => `----\n${yaml}\n----\n\n`],
  ["not fenced", (yaml) => `${yaml}\n\n`],
  ["after blank lines", (yaml) => `\n\n---\n${yaml}\n---\n\n`],
  ["after text", (yaml) => `# Cut\n\n---\n${yaml}\n---\n\n`],
];

for (const [how, fence] of fencings) {
  Deno.test(`--check reports everything at once that is wrong with frontmatter that is ${how}`, async () => {
    using place = new Place();
    const folder = join(place.home, ".claude", "skills");
    const lines = [
      "Name: Cut off",
      "descripton: For C# #1",
      "licence: MIT",
      "compatibility: a: b",
      'metadata: {path: "x"}',
      'allowed-tools: "C:\\temp"',
    ];
    const text = `${fence(lines.join("\n"))}# Cut\n\n[a](gone.md)\u200b\n`;
    place.skill("home/.claude/skills", "cut", text);
    const problems = await problemsIn("--check", folder);
    const written = text.split("\n");
    const lineOf = (line: number) => written[line - 1];
    const found = problems.filter(({ rule }) => rule !== "frontmatter-missing")
      .map((
        { rule, line, hint },
      ) => [rule, lineOf(line!), hint.split("\n")[1]]);
    assert.deepEqual(found, [
      ["name-missing", lines[0], "name: Cut off"],
      ["description-missing", lines[1], "description: For C# #1"],
      ["yaml", lines[3], "compatibility: 'a: b'"],
      ["name-characters", lines[0], undefined],
      ["field-misspelled", lines[2], "license: MIT"],
      ["description-cut", lines[1], "description: 'For C# #1'"],
      ["backslash", lines[5], "allowed-tools: 'C:\\temp'"],
      ["name-folder", lines[0], undefined],
      ["invisible-characters", written.at(-2), undefined],
      ["broken-link", written.at(-2), undefined],
    ]);
    const fences = problems.length - found.length;
    assert.equal(fences > 0, how !== "fenced");
  });
}

/** A value in double quotes, and the line that keeps its text, if YAML changes it. */
const quoted: [string, string | undefined][] = [
  ["C:\\temp", "description: 'C:\\temp'"],
  ["In C:\\work\\new, don't", undefined],
  ["In C:\\Users\\new", undefined],
  ["Open C:\\new files", "description: 'Open C:\\new files'"],
  ["Match \\bword\\b, it's", "description: 'Match \\bword\\b, it''s'"],
  ["A \\\\ and src\\test", "description: 'A \\ and src\\test'"],
  ["Two lines:\\nthe second", undefined],
  ["C:\\\\temp and \\u00fc", undefined],
  ['Say \\"hi\\" # C:\\\\temp', undefined],
];

for (const [value, line] of quoted) {
  Deno.test(`--check ${line === undefined ? "does not report" : "reports"} the backslashes in "${value}"`, async () => {
    using place = new Place();
    const yaml = `name: back\ndescription: "${value}"`;
    place.skill("home/.claude/skills", "back", `---\n${yaml}\n---\nText\n`);
    const problems = await problemsIn(
      "--check",
      join(place.home, ".claude", "skills"),
    );
    const found = problems.filter(({ rule }) => rule === "backslash");
    assert.deepEqual(
      found.map(({ line, hint }) => [line, hint.split("\n")[1]]),
      line === undefined ? [] : [[3, line]],
    );
  });
}

Deno.test("--check reports a value that is too long for a finished line once", async () => {
  using place = new Place();
  const yaml = `name: long\ndescription: ${"a: ".repeat(800)}`;
  place.skill("home/.claude/skills", "long", `---\n${yaml}\n---\nText\n`);
  assert.deepEqual(await findingsIn(place), [
    'error yaml long/SKILL.md:3: the value of "description" contains a colon, which starts another value in YAML',
  ]);
});

Deno.test("--check checks the rest of frontmatter with more faults than it reports", async () => {
  using place = new Place();
  const faulty = Array.from({ length: 25 }, (_, index) => `k${index}: a: b`);
  for (const rest of ["description: 5", "description:", "descripton: [x]"]) {
    const yaml = ["name: X", ...faulty, rest].join("\n");
    place.skill("home/.claude/skills", "X", `---\n${yaml}\n---\nText\n`);
    const rules = (await findingsIn(place)).map((line) => line.split(" ")[1]);
    assert.deepEqual(rules.slice(0, 21), [
      ...Array(20).fill("yaml"),
      "name-characters",
    ]);
  }
});

Deno.test("--check takes linear time for unusual frontmatter", async () => {
  const pieces = [
    (index: number) => `descriptio${String.fromCharCode(0x4e00 + index)}: x\n`,
    (index: number) => `k${index}: "a\\tb"\n`,
    (index: number) => `k${index}: "C:${"\\n".repeat(10)}\n`,
    () => "- - - [",
    () => "name:\n",
  ];
  for (const piece of pieces) {
    await assertLinearTime(async (length) => {
      using place = new Place();
      let yaml = "";
      for (let index = 0; yaml.length < length; index++) yaml += piece(index);
      for (const end of ["\n---\n", "\n"]) {
        place.skill(
          "home/.claude/skills",
          "odd",
          `---\nname: odd\ndescription: d\n${yaml}${end}`,
        );
        assert.notDeepEqual(await findingsIn(place), []);
      }
    }, { length: 20_000, what: JSON.stringify(piece(0)) });
  }
});
