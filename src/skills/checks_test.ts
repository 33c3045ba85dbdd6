import assert from "node:assert/strict";
import { followHints } from "../../tests/testing/fixes.ts";
import { findingsIn, problemsIn } from "../../tests/testing/report.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { dirname, join } from "../files/paths.ts";
import { findUnlistingFault } from "./checks.ts";
import type { Skill } from "./types.ts";

/** Writes the `SKILL.md` of a skill, and returns what `--check` reports about it. */
async function problemsWith(place: Place, text: string, folder = "git") {
  const skills = "home/.claude/skills";
  const directory = place.skill(skills, folder, text);
  const found = await problemsIn("--check", dirname(directory));
  place.remove(`${skills}/${folder}`);
  return found.map(({ lines = [], ...problem }) => ({ ...problem, lines }));
}

/** What follows the name in frontmatter, the problem, and the line to write, if any. */
const violations: [fields: string, problem: string, written?: string][] = [
  ["description: d\ncompatibility: []", "error compatibility 4"],
  ["description: d\nmetadata: x", "error metadata 4"],
  [
    "description: d\nmetadata:\n  a: b\n  version: 1.0 # the first",
    "error metadata 6",
    '  version: "1.0"',
  ],
  ["description: d\nmetadata:\n  a: [b, c]", "error metadata 5"],
  [
    "description: d\nmetadata:\n  a:\n    - 1\n    - x\n  b: c",
    "error metadata 5",
  ],
  ["description: d\nmetadata:\n  a: { b: c }", "error metadata 5"],
  ["description: d\nmetadata: { a: 1 }", "error metadata 4"],
  ["description: d\nsize: .inf", "error frontmatter-json 2"],
  ['description: d\nx: [{ k: "\\uD800" }]', "error frontmatter-json 2"],
  ['description: d\n"\\uD800": x', "error frontmatter-json 2"],
  [
    `description: d\nx: ${"[".repeat(99)}${"]".repeat(99)}`,
    "error frontmatter-json 2",
  ],
  [
    "description: d\nuser-invocable: maybe",
    "error flags 4",
    "user-invocable: false",
  ],
  [
    "description: d\ndisable-model-invocation:",
    "error flags 4",
    "disable-model-invocation: true",
  ],
  [
    "description: d\nuser_invocable: no",
    "warning field-misspelled 4",
    "user-invocable: no",
  ],
  [
    "description: d\nargument-hint: [file]",
    "warning argument-hint 4",
    'argument-hint: "[file]"',
  ],
  ["description: d\nargument-hint:", "warning argument-hint 4"],
  ["description: d\nargument-hint:\n  - file", "warning argument-hint 4"],
  [
    "description: d\nallowed-tools: [Read, Bash(git:*)]",
    "warning allowed-tools 4",
    "allowed-tools: Read Bash(git:*)",
  ],
  ["description: d\nallowed-tools:\n  - Read", "warning allowed-tools 4"],
  ["description: Fill <form> in", "warning description-tag 3"],
  [
    "description: Fix issue #1 in it",
    "warning description-comment 3",
    'description: "Fix issue #1 in it"',
  ],
  ["description: Fix\n  issue #1", "warning description-comment 3"],
  [
    "description: d\nalowed-tools: Read",
    "warning field-misspelled 4",
    "allowed-tools: Read",
  ],
  [
    "description: d\nwhen-to-use: Before",
    "warning field-misspelled 4",
    "when_to_use: Before",
  ],
  ["description: d\nlicence: M", "warning field-misspelled 4", "license: M"],
  [
    "description: d\nMetadata: {}",
    "warning field-misspelled 4",
    "metadata: {}",
  ],
  ["description: d\nlicense: @me", "error yaml-repaired 4", 'license: "@me"'],
  [`description: ${"\u{20000}".repeat(1_025)}`, "error description-length 3"],
];

Deno.test("--check reports what is wrong with a field, with the line and a fix that leaves nothing to report", async () => {
  using place = new Place();
  for (const [fields, problem, written] of violations) {
    const text = `---\nname: git\n${fields}\n---\nText\n`;
    const found = await problemsWith(place, text);
    assert.deepEqual(
      found.map(({ severity, rule, line, lines }) => [
        `${severity} ${rule} ${line}`,
        ...lines,
      ]),
      [[problem, ...written === undefined ? [] : [written]]],
      fields.slice(0, 80),
    );
    if (written === undefined) continue;
    const fixed = followHints(text, found);
    assert.deepEqual(await problemsWith(place, fixed), [], fixed);
  }
});

const BAD_NAME =
  "does not consist of a-z, 0-9, and single hyphens between them";

/** A name, the name of its folder, and each problem: its rule, its reason, and the name to write. */
const names: [name: string, folder: string, ...problems: string[][]][] = [
  [
    "Ahrefs Automation",
    "ahrefs",
    [
      "name-characters",
      `the name "Ahrefs Automation" ${BAD_NAME}`,
      "name: ahrefs-automation",
    ],
    [
      "name-folder",
      'the name "ahrefs-automation" differs from the folder name "ahrefs"',
      "name: ahrefs",
    ],
  ],
  ["-2chat", "2chat", [
    "name-characters",
    `the name "-2chat" ${BAD_NAME}`,
    "name: 2chat",
  ]],
  ["a--b", "a-b", [
    "name-characters",
    `the name "a--b" ${BAD_NAME}`,
    "name: a-b",
  ]],
  ["日本", "x", ["name-characters", `the name "日本" ${BAD_NAME}`]],
  ["Übersetzer", "x", ["name-characters", `the name "Übersetzer" ${BAD_NAME}`]],
  [
    "n".repeat(65),
    "n".repeat(65),
    ["name-length", "the name has 65 characters, and the limit is 64"],
  ],
  // A folder whose name hosts refuse is renamed: the same line again would help nobody.
  ["git", "Git", [
    "name-folder",
    'the name "git" differs from the folder name "Git"',
  ]],
  ["my-skill", "my_skill", [
    "name-folder",
    'the name "my-skill" differs from the folder name "my_skill"',
  ]],
  ["other", "x", [
    "name-folder",
    'the name "other" differs from the folder name "x"',
    "name: x",
  ]],
];

Deno.test("--check reports names that are not valid, or differ from that of the folder", async () => {
  using place = new Place();
  for (const [name, folder, ...problems] of names) {
    const text = `---\ndescription: d\nname: ${name}\n---\nDo it.\n`;
    const found = await problemsWith(place, text, folder);
    assert.deepEqual(
      found.map(({ rule, reason, lines }) => [rule, reason, ...lines]),
      problems,
    );
  }
});

Deno.test("--check reports a name that is missing, or that no list can have", async () => {
  using place = new Place();
  for (
    const [fields, rule] of [
      ["", "name-missing"],
      ['name: ""', "name-missing"],
      ["name: project:git", "name-malformed"],
    ]
  ) {
    const text = `---\ndescription: d\n${fields}\n---\nDo it.\n`;
    const found = await problemsWith(place, text);
    assert.deepEqual(found.map((problem) => problem.rule), [rule], fields);
  }
});

Deno.test(
  "--check reports files that are not served, and skills that are too large",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const skills = "home/.claude/skills";
    place.skill(skills, "large", skillMd("large") + "line\n".repeat(600));
    place.file(`${skills}/large/data.bin`, new Uint8Array(1024 * 1024 + 1));
    place.file(`${skills}/large/${"d/".repeat(10)}deep.md`, "deep");
    place.file(`${skills}/large/.hidden`, "no fault");
    place.link(place.file("secret.txt", "s"), `${skills}/large/out.txt`);
    place.link("nowhere", `${skills}/large/dangling.txt`);
    place.link("self", `${skills}/large/self`);
    place.link(".", `${skills}/large/back`);
    place.skill(skills, "many");
    for (let i = 0; i < 512; i++) place.file(`${skills}/many/${i}.txt`, "");
    place.file(
      `${skills}/latin/SKILL.md`,
      Uint8Array.from(
        skillMd("latin", "caf\u00e9"),
        (character) => character.charCodeAt(0),
      ),
    );
    assert.deepEqual(await findingsIn(place), [
      "warning long large/SKILL.md: it has 606 lines, and 500 are recommended",
      `warning not-served large/d/d/d/d/d/d/d/d/d/d: its entries are more than 10 levels deep`,
      "warning not-served large/dangling.txt: it is a link to a missing file or folder",
      "warning not-served large/data.bin: it has more than 1 MiB",
      "warning not-served large/out.txt: it is a link that points outside its skill, or to a hidden file or folder",
      "warning not-served large/self: it is a link to a missing file or folder",
      "error utf-8 latin/SKILL.md: it is not valid UTF-8",
      "error size many: the skill has more than 512 files, 2048 files and folders, or 16 MiB",
    ]);
  },
);

Deno.test("findUnlistingFault() allows at most 16 MiB, and names an unreadable skill directory", () => {
  const skill = {
    directory: join("skills", "git"),
    frontmatter: { name: "git", description: "d" },
  } as Skill;
  const problem = {
    rule: "inaccessible" as const,
    reason: "it is locked",
    hint: "unlock",
  };
  const ruleFor = (size: number, ...leftOut: string[]) =>
    findUnlistingFault(skill, {
      files: [{ path: "SKILL.md", size, version: "" }],
      folders: [],
      leftOut: leftOut.map((file) => ({ file, ...problem })),
      entries: 1,
    }, "")?.rule;
  const limit = 16 * 2 ** 20;
  assert.equal(ruleFor(limit, "a/", "b.md"), undefined);
  assert.equal(ruleFor(limit + 1), "size");
  assert.equal(ruleFor(0, ""), "unreadable");
});

Deno.test("--check counts characters, and accepts a text of the maximum length", async () => {
  using place = new Place();
  const fields = [
    `description: ${"\u{20000}".repeat(1_024)}`,
    `description: d\ncompatibility: ${"\u{20000}".repeat(500)}`,
  ];
  for (const field of fields) {
    const text = `---\nname: git\n${field}\n---\nDo it.\n`;
    assert.deepEqual(await problemsWith(place, text), []);
  }
});
