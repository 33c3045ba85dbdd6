import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { followHints, readProblems } from "../../tests/testing/fixes.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { printedReport } from "../../tests/testing/report.ts";
import { Wire } from "../../tests/testing/server.ts";
import { eventually } from "../../tests/testing/waiting.ts";
import { basename, dirname, join } from "../files/paths.ts";
import { readSkillText } from "./frontmatter.ts";

/** What is reported: the line, a part of the reason, and a part of the hint, unless there is a finished line. */
type Reported = readonly [line: number, reason: string, hint?: string];

/** A mistake that people make in a `SKILL.md`. */
interface Mistake {
  /** The name of the skill and its folder. */
  readonly name: string;
  readonly text: string;
  readonly reported: readonly Reported[];
}

const NO_QUOTES = 'the value of "description" needs quotes';
const CHECK_LINE = "check the quotes, colons, and indentation of this line";

const MISTAKES: readonly Mistake[] = [
  {
    name: "no-space",
    text: "---\nname:no-space\ndescription: d\n---\n",
    reported: [[2, 'there is no colon and space after "name"']],
  },
  {
    name: "nowhere",
    text: "---\nname:nowhere\ndescription:Fill forms\n---\n",
    reported: [
      [2, 'there is no colon and space after "name"'],
      [3, 'there is no colon and space after "description"'],
    ],
  },
  {
    name: "equals",
    text: "---\nname=equals\ndescription: d\n---\n",
    reported: [[2, 'there is no colon and space after "name"']],
  },
  {
    name: "odd-space",
    text: "---\nname:\u00a0odd-space\ndescription: d\n---\n",
    reported: [[2, 'there is no colon and space after "name"']],
  },
  {
    name: "wide-colon",
    text: "---\nname\uff1awide-colon\ndescription: d\n---\n",
    reported: [[2, 'there is no colon and space after "name"']],
  },
  {
    name: "not-closed",
    text: "---\nname: not-closed\ndescription: d\n\n# Title\n\nUse: it\n",
    reported: [[
      1,
      'there is no line "---" after the frontmatter',
      'write a line "---" below the last field',
    ]],
  },
  {
    name: "closed-by-rule",
    text:
      "---\nname: closed-by-rule\ndescription: d\n\n# Title\n\nText: it's\n\nProse\n\n---\n\nEnd\n",
    reported: [[11, "the YAML is malformed", "and the lines before it"]],
  },
  {
    name: "closed-by-four",
    text: "---\nname: closed-by-four\ndescription: d\n----\n\n# Title\n",
    reported: [[4, 'the line is almost "---"']],
  },
  {
    name: "rule-below",
    text: "---\nname: rule-below\ndescription: d\n\nText\n\n-----\n",
    reported: [[
      1,
      'there is no line "---" after the frontmatter',
      'write a line "---" below the last field',
    ]],
  },
  {
    name: "opened-by-dashes",
    text: "\u2014-\nname: opened-by-dashes\ndescription: d\n---\n",
    reported: [[1, 'the line is almost "---"']],
  },
  {
    name: "blank-before",
    text: "\n\n---\nname: blank-before\ndescription: d\n---\n",
    reported: [[
      1,
      "the frontmatter starts on line 3, not on line 1",
      "delete the lines above it",
    ]],
  },
  {
    name: "title-before",
    text: "# Title\n---\nname: title-before\ndescription: d\n---\n",
    reported: [[
      1,
      "the frontmatter starts on line 2, not on line 1",
      "delete the lines above it",
    ]],
  },
  {
    name: "no-fences",
    text: "name: no-fences\ndescription: d\n\n# Title\n",
    reported: [[
      1,
      'there is no line "---" above',
      "above this line, and another one below the last field",
    ]],
  },
  {
    name: "not-opened",
    text: "name: not-opened\ndescription: d\n---\n",
    reported: [[
      1,
      'there is no line "---" above',
      'write a line "---" above this line',
    ]],
  },
  {
    name: "tab-before-field",
    text: "---\nname: tab-before-field\n\tdescription: d\n---\n",
    reported: [[3, "tab characters"]],
  },
  {
    name: "key-twice",
    text: "---\nname: key-twice\ndescription: d: e\nname: key-twice\n---\n",
    reported: [[
      4,
      'the field "name" is already on line 2',
      "delete line 2 or line 4",
    ]],
  },
  {
    name: "tabs",
    text:
      "---\nname: tabs\ndescription: d\nmetadata:\n\tversion: '1'\n\tauthor: me\n---\n",
    reported: [[5, "tab characters", "indent this line with spaces"]],
  },
  {
    name: "123",
    text: "---\nname: 123\ndescription: d\n---\n",
    reported: [[2, 'the value of "name" needs quotes']],
  },
  {
    name: "list",
    text: "---\nname: list\ndescription:\n- d\n---\n",
    reported: [[
      3,
      'the field "description" is a list',
      'write one text in quotes after "description:"',
    ]],
  },
  {
    name: "open-quote",
    text: '---\nname: open-quote\ndescription: "Fill forms\nlicense: M\n---\n',
    reported: [[3, NO_QUOTES]],
  },
  {
    name: "apostrophe",
    text: "---\nname: apostrophe\ndescription: 'don't do it'\n---\n",
    reported: [[3, NO_QUOTES]],
  },
  {
    name: "backslash",
    text: '---\nname: backslash\ndescription: "in C:\\Windows"\n---\n',
    reported: [[3, NO_QUOTES]],
  },
  {
    name: "inner-quotes",
    text: '---\nname: inner-quotes\ndescription: "a", "b"\n---\n',
    reported: [[3, NO_QUOTES, "put it in quotes that do not occur in it"]],
  },
  {
    name: "open-bracket",
    text: "---\nname: open-bracket\ndescription: [a, b\n---\n",
    reported: [[3, NO_QUOTES]],
  },
  {
    name: "continued",
    text: "---\nname: continued\ndescription: Fill\n  Note: forms\n---\n",
    reported: [[3, NO_QUOTES, "write it on one line, in quotes"]],
  },
  {
    name: "indented-flag",
    text:
      "---\nname: indented-flag\ndescription: d\n  disable-model-invocation: true\n---\n",
    reported: [[4, "the YAML is malformed", CHECK_LINE]],
  },
  {
    name: "number-sign",
    text: "---\nname: number-sign\ndescription: #1 for forms\n---\n",
    reported: [[3, NO_QUOTES]],
  },
  {
    name: "colon",
    text: "---\nname: colon\ndescription: Fill: it's\nlicense: a:\n---\n",
    reported: [
      [3, NO_QUOTES],
      [4, 'the value of "license" needs quotes'],
    ],
  },
  {
    name: "starred",
    text: "---\nname: *starred\ndescription: d\n---\n",
    reported: [[2, 'the value of "name" needs quotes']],
  },
  {
    name: "both-misspelled",
    text: "---\nnam: both-misspelled\ndescripton: d\n---\n",
    reported: [
      [2, 'the field "nam" is almost "name"'],
      [3, 'the field "descripton" is almost "description"'],
    ],
  },
  {
    name: "other-case",
    text: "---\nName: other-case\nDescription: |\n  d: e\n---\n",
    reported: [
      [2, 'the field "Name" is almost "name"'],
      [3, 'the field "Description" is almost "description"'],
    ],
  },
  {
    name: "flag-misspelled",
    text:
      "---\nname: flag-misspelled\ndescription: d\ndisable-model-invocaton: true\n---\n",
    reported: [[4, 'is almost "disable-model-invocation"']],
  },
  {
    name: "flag-beside",
    text:
      "---\nname: flag-beside\ndescription: d\ndisable-model-invocaton: true\ndisable-model-invocation: true\nName: x\n---\n",
    reported: [[
      4,
      'is almost "disable-model-invocation"',
      "delete it, because line 5 has the flag",
    ]],
  },
  {
    name: "version-beside",
    text:
      "---\nname: version-beside\ndescription: d\nmetadata: version: 1.0\n---\n",
    reported: [[4, "the YAML is malformed", CHECK_LINE]],
  },
  {
    name: "two-brackets",
    text:
      "---\nname: two-brackets\ndescription: d\nargument-hint: [file] [format]\n---\n",
    reported: [[4, 'the value of "argument-hint" needs quotes']],
  },
  {
    name: "spaced-name",
    text: "---\nname: Spaced Name\ndescription: d\n---\n",
    reported: [[2, 'the name "Spaced Name" does not consist of']],
  },
  {
    name: "project-deploy",
    text: '---\nname: "Project: deploy"\ndescription: d\n---\n',
    reported: [[2, 'the name begins with "project:" or "global:"']],
  },
  {
    name: "long",
    text: `---\nname: ${"x".repeat(201)}\ndescription: d\n---\n`,
    reported: [[
      2,
      "the name has more than 200 characters",
      "write another name",
    ]],
  },
  {
    name: "unseen",
    text: '---\nname: "\u2800"\ndescription: d\n---\n',
    reported: [[2, "the name has no visible characters", "write another name"]],
  },
];

/** The same with instructions, without which there is one more problem. */
const WITH_BODY = MISTAKES.map(({ text, ...rest }) => ({
  ...rest,
  text: text.endsWith("\n---\n") ? `${text}Do it.\n` : text,
}));

function isFinished(reported: readonly Reported[]): boolean {
  return reported.every(([, , hint]) => hint === undefined);
}

Deno.test("--check prints each mistake with its line, and finished lines that leave nothing to report, or a hint", async () => {
  using place = new Place();
  const skills = join(place.path, "skills");
  for (const { name, text } of WITH_BODY) place.skill("skills", name, text);
  const first = await printedReport(place, "--check", skills);
  const problems = Map.groupBy(
    readProblems(first.text),
    ({ file }) => basename(dirname(file)),
  );
  for (const { name, text, reported } of WITH_BODY) {
    const found = problems.get(name) ?? [];
    const lines = reported.map(([line]) => line);
    assert.deepEqual(found.map(({ line }) => line), lines, name);
    for (const [index, problem] of found.entries()) {
      const [, reason, hint] = reported[index]!;
      assert.ok(problem.reason.includes(reason), `${name}: ${problem.reason}`);
      assert.equal(problem.lines.length, hint === undefined ? 1 : 0, name);
      assert.ok(problem.hint.includes(hint ?? ""), `${name}: ${problem.hint}`);
    }
    place.remove(join("skills", name));
    if (isFinished(reported)) {
      place.skill("skills", name, followHints(text, found));
    }
  }
  const second = await printedReport(place, "--check", skills);
  const count = MISTAKES.filter(({ reported }) => isFinished(reported)).length;
  assert.equal(second.text, `Checked ${count} skills: no problems\n`);
});

/** A place with a skill that is repaired, one that is skipped, and one that forges a line. */
function loggedPlace(): Place {
  const place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "one", skillMd("one", "Use: it"));
  place.skill(
    skills,
    "two",
    "---\nname: two\ndescription: 'don't\n---\n",
  );
  place.skill(skills, "three", skillMd("three", "##[error]x: y ##vso[x]"));
  const forged = 'skill-server: Serving: "all"';
  place.skill(
    skills,
    "four",
    skillMd("four", `d\n${forged}\na: b\u2028::error::c: d`),
  );
  return place;
}

Deno.test("the log and the tool print finished lines at the beginning of a line, and nothing that looks like the log or a command", async () => {
  using place = loggedPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const call = { name: "skill", arguments: { name: "two" } };
  const { result } = await wire.ask(1, "tools/call", call);
  const [{ text }] = result.content;
  assert.match(text, /write this line instead:\ndescription: "don't"\n/);
  const lines: string[] = [];
  const isLogged = () => {
    lines.push(...wire.stderrLines.takeAll());
    return lines.some((line) => line.startsWith('description: "don')) &&
      lines.some((line) => line.startsWith('description: "Use'));
  };
  await eventually(isLogged, "the finished lines");
  for (const line of lines) {
    assert.doesNotMatch(line, /##[\p{L}[]|^\s*::|^skill-server: Serving/u);
  }
  const index = lines.indexOf('description: "Use: it"');
  assert.match(lines[index - 1]!, /^skill-server: Check .*one.*instead:$/);
});

Deno.test("--check calls a document of a word processor by what it is", () => {
  for (const text of ["{\\rtf1\\ansi name: rich", "PK\u0003\u0004word"]) {
    const [problem] = readSkillText(text).problems;
    assert.match(
      problem!.reason,
      /^the file is a document of a word processor/,
    );
    assert.equal(problem!.hint, 'save it as plain text, as "SKILL.md"');
  }
});

Deno.test("readSkillText() describes at most 20 faults of a kind", () => {
  const lines = Array.from({ length: 21 }, (_, index) => `field${index}: a: b`);
  const { problems } = readSkillText(`---\n${lines.join("\n")}\n---\n`);
  const repaired = problems.filter(({ rule }) => rule === "yaml-repaired");
  assert.equal(repaired.length, 20);
});

Deno.test("--check calls UTF-16 by its name", () => {
  const bytes = [0xff, 0xfe];
  for (const character of "---\nname: a\n---\n") {
    bytes.push(character.charCodeAt(0), 0);
  }
  const text = new TextDecoder().decode(Uint8Array.from(bytes));
  const [problem] = readSkillText(text).problems;
  assert.equal(problem!.reason, "the file is UTF-16, not UTF-8");
});

Deno.test("readSkillText() names all missing fields at once", () => {
  const [problem, ...others] = readSkillText("---\nlicense: M\n---\n").problems;
  const reason = 'the fields "name" and "description" are missing';
  assert.deepEqual([problem!.rule, problem!.reason], ["name-missing", reason]);
  assert.deepEqual(others, []);
});

/** What follows the description of a missing name, by the folder and the frontmatter. */
const missingNames: [folder: string, yaml: string, line: string | undefined][] =
  [
    ["git", "description: d", "name: git"],
    ["My Skill", "description: d", "name: my-skill"],
    ["123", "description: d", 'name: "123"'],
    ["git", "license: M", "name: git"],
    ["git", "", "name: git"],
    ["git", "- description", undefined],
    ["git", "{ description: d }", undefined],
    ["\u7ffb\u8a33", "description: d", undefined],
    ["", "description: d", undefined],
  ];

Deno.test("readSkillText() prints the line with a missing name if the folder has a valid one, and nothing that can be copied by mistake", () => {
  for (const [folder, yaml, line] of missingNames) {
    const text = `---\n${yaml}\n---\n`;
    const [problem] = readSkillText(text, folder).problems;
    assert.deepEqual(problem!.lines, line && [line]);
    assert.doesNotMatch(problem!.hint, /\u2026/);
    assert.equal(problem!.hint.endsWith(", such as:"), line !== undefined);
    if (line === undefined) continue;
    const fixed = text.replace("---\n", `---\n${line}\n`);
    const { frontmatter, problems } = readSkillText(fixed, folder);
    assert.equal(
      frontmatter?.name ?? problems[0]!.reason,
      yaml === "description: d"
        ? line.slice(6).replaceAll('"', "")
        : 'the field "description" is missing',
    );
  }
});

Deno.test("readSkillText() skips a name that is only seen in part, or reads as a scope", () => {
  for (const name of ["\u2800", "x".repeat(201), "global:git", "PROJECT:a"]) {
    const text = skillMd(JSON.stringify(name));
    const { frontmatter, problems } = readSkillText(text);
    assert.equal(frontmatter, undefined);
    assert.deepEqual(problems.map(({ rule }) => rule), ["name-malformed"]);
  }
});

Deno.test("readSkillText() prints no line for a field that is on no line of its own, or on several", () => {
  const texts: [yaml: string, line: number | undefined][] = [
    ["{name: a, description: d, disable-model-invocation: maybe}", undefined],
    [
      "name: a\ndescription: d\ndisable-model-invocation: >\n  maybe",
      4,
    ],
  ];
  for (const [yaml, line] of texts) {
    const [problem] = readSkillText(`---\n${yaml}\n---\n`).problems;
    assert.deepEqual([problem!.rule, problem!.line], ["flags", line]);
    assert.match(problem!.hint, /write "disable-model-invocation: true"$/);
  }
});

Deno.test("readSkillText() prints the finished lines only if all of the text can be read with them", () => {
  const yaml = "name:a\ndescription: 'don't\nlicense: [a,\n  b: c";
  const { problems } = readSkillText(`---\n${yaml}\n---\n`);
  assert.deepEqual(problems.map(({ line, lines }) => [line, lines]), [
    [2, undefined],
  ]);
});

/** What people write by mistake, and what they put beside it. */
const line = fc.constantFrom(
  "name: a",
  "name:a",
  "name=a",
  "nam: a",
  "name: 1",
  "name: *a",
  "name:",
  "description: b",
  "description: b: c",
  "description: 'b",
  "descripton: b",
  "description: [b] c",
  "description: >",
  "description: b #c",
  '  "x": y',
  "disable-model-invocation: true",
  "  disable-model-invocation: true",
  "disable_model_invocaton: 1",
  "user-invocable: no",
  "userInvocable=no",
  "  b: c",
  "- b",
  "\tb",
  "",
  "# b",
  "b",
  "metadata: {",
  "}",
  "---",
  "----",
  "metadata:",
  "  version: 1",
  "  ::error::x",
  "skill-server: x: y",
  "::x",
  "description: ##[error]x: y",
  "a: ##[error]: x",
  "a: ##vso[task.complete]: x",
  "a\u202e: b",
  "\0",
);

Deno.test("no line to copy looks like the log, hides something, or is a command", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      for (const start of ["---\n", ""]) {
        const text = `${start}${lines.join("\n")}\n---\n`;
        for (const { hint, lines = [] } of readSkillText(text).problems) {
          assert.equal(hint.endsWith(":"), lines.length > 0, hint);
          for (const finished of lines) {
            assert.doesNotMatch(
              finished,
              /^\s*::|##[a-z[]|^skill-server:|[\0\u202e\n\r]/,
            );
          }
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("a file that is repaired keeps its flags, and one that is skipped what hides it from the model", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      // One of the YAML parsers reads the lines in these brackets as metadata.
      fc.pre(!lines.includes("metadata: {"));
      const text = `---\n${lines.join("\n")}\n---\n`;
      const read = readSkillText(text);
      if (read.frontmatter !== undefined && !read.isRepaired) return;
      if (lines.includes("---")) return;
      const states = (flag: RegExp) => lines.some((line) => flag.test(line));
      const isForUser = states(/^disable.mod/) ||
        (!read.isRepaired && states(/disable.mod/));
      assert.ok(!isForUser || read.isHiddenFromModel, text);
      const isForModel = read.isRepaired && states(/^user-invocable/);
      assert.ok(!isForModel || read.isHiddenFromUser, text);
    }),
    { numRuns: 2_000 },
  );
});
