import assert from "node:assert/strict";
import { followHints } from "../../tests/testing/fixes.ts";
import { findingsIn, problemsIn } from "../../tests/testing/report.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { basename, dirname, join } from "../files/paths.ts";
import { findUnlisting } from "./checks.ts";
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
  ["description: d\nmetadata:\n  a: b\n  version: 1.0", "error metadata 4"],
  ["description: d\nmetadata:\n  a: [b, c]", "error metadata 4"],
  [
    "description: d\nmetadata:\n  a:\n    - 1\n    - x\n  b: c",
    "error metadata 4",
  ],
  ["description: d\nmetadata:\n  a: { b: c }", "error metadata 4"],
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
  ["other", "x", [
    "name-folder",
    'the name "other" differs from the folder name "x"',
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

Deno.test("--check reports links in the body to files that are not served", async () => {
  using place = new Place();
  place.skill(
    "home/.claude/skills",
    "links",
    `${skillMd("links")}
[a file](references/a.md#part) ![an image](<b c.png> "title") [a folder](./references/)
[gone](gone.md) and [up](../other/SKILL.md), [encoded](b%20c.png)
- [site](https://example.com/x.md) [mail](mailto:a@example.com) [part](#part) [root](/x.md)
[titled](titled.md 'so') [round](file(1).md) [escaped](file\\_2.md) [again](gone.md)
[no link](my file.md) [placeholder]({path}) [hidden](.env)
[elsewhere](a.md) [again](./gone.md)
`,
  );
  const files = [
    "references/a.md",
    "b c.png",
    "file(1).md",
    "file_2.md",
    ".env",
  ];
  for (const file of files) {
    place.file(`home/.claude/skills/links/${file}`, "");
  }
  const found = await problemsIn(
    "--check",
    join(place.home, ".claude", "skills"),
  );
  assert.deepEqual(
    found.map(({ line, reason }) => [line, reason.split('"')[1]]),
    [
      [9, "gone.md"],
      [9, "../other/SKILL.md"],
      [11, "titled.md"],
      [12, ".env"],
      [13, "a.md"],
    ],
  );
});

const codeSamples: [string, string][] = [
  ["a fence", "~~~sh\n[x](code.md)\n```\n~~~"],
  ["a fence in a list", "1. ```js\n   [x](code.md)\n   ```"],
  ["a fence in a quotation", "> ```\n> [x](code.md)\n> ```"],
  ["a fence in a fence", "````md\n```js\n[x](code.md)\n```\n````"],
  ["a fence after a fence", "```md\n```js\n[x](code.md)\n```"],
  ["a code span", "`[x](code.md)`"],
  ["a code span in two backticks", "``[x](code.md)``"],
  ["a code span after an escaped backtick", "one \\` and `[x](code.md)`"],
  ["a comment", "<!-- [x](code.md)\n[y](code.md) -->"],
  ["a comment that opens twice", "<!-- [x](code.md) <!-- b -->"],
];

Deno.test("--check ignores links in code and in comments, but not those after them", async () => {
  using place = new Place();
  const samples = codeSamples.map(([what, markdown]) =>
    `${what}\n\n${markdown}`
  );
  const text = `${skillMd("links")}\n${
    samples.join("\n\n")
  }\n\n[after](after.md)`;
  const line = text.split("\n").length;
  for (const lineBreak of ["\n", "\r\n"]) {
    const written = text.replaceAll("\n", lineBreak);
    place.skill("home/.claude/skills", "links", written);
    assert.deepEqual(await findingsIn(place), [
      `warning broken-link links/SKILL.md:${line}: the link "after.md" does not point to a served file`,
    ]);
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
      `warning not-served large/d/d/d/d/d/d/d/d/d/d: its entries are more than 10 levels deep`,
      "warning not-served large/dangling.txt: it is a link to a missing file or folder",
      "warning not-served large/data.bin: it has more than 1 MB",
      "warning not-served large/out.txt: it is a link that points outside its skill, or to a hidden file or folder",
      "warning not-served large/self: it is a link to a missing file or folder",
      "warning long large/SKILL.md: it has 606 lines, and 500 are recommended",
      "error utf-8 latin/SKILL.md: it is not valid UTF-8",
      "error size many: the skill has more than 512 files, or more than 16 MiB",
    ]);
  },
);

Deno.test(
  "--check reports files and folders without read permission",
  { ignore: lacks("modes") },
  async () => {
    using place = new Place();
    const skills = "home/.claude/skills";
    const text = `${skillMd("locked")}[x](keys/one.md)`;
    const modes: [string, number, number][] = [
      [place.file(`${skills}/locked/SKILL.md`, text), 0o600, 0o600],
      [place.file(`${skills}/locked/key.md`, ""), 0, 0o600],
      [join(place.file(`${skills}/locked/keys/one.md`, ""), ".."), 0, 0o700],
      [
        place.skill(skills, "shut", `${skillMd("shut")}[x](y.md)`),
        0o300,
        0o700,
      ],
    ];
    for (const [path, mode] of modes) Deno.chmodSync(path, mode);
    const findings = await findingsIn(place);
    for (const [path, , mode] of modes) Deno.chmodSync(path, mode);
    assert.deepEqual(findings, [
      "warning not-served locked/keys/: you have no permission to read it",
      'warning broken-link locked/SKILL.md:7: the link "keys/one.md" does not point to a served file',
      "error unreadable locked/key.md: you have no permission to read it",
      "error unreadable shut: you have no permission to read it",
    ]);
  },
);

Deno.test("--check reports the first line with invisible characters", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  const tags = Array.from(
    "ignore all",
    (character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0)),
  ).join("");
  const lines = `a\u202eb\n\n${"x\u200b\n".repeat(20)}`;
  place.skill(
    skills,
    "body",
    `\ufeff${skillMd("body", "\u26a0\ufe0f Care")}${lines}`.replaceAll(
      "\n",
      "\r\n",
    ),
  );
  place.skill(
    skills,
    "escaped",
    '---\nname: escaped\ndescription: "x\\U000E0049\\u00ad"\n---\nText\n',
  );
  place.skill(skills, "raw", skillMd("raw", `Fine${tags}`));
  const reason = "there are invisible characters, such as";
  assert.deepEqual(await findingsIn(place), [
    `warning invisible-characters body/SKILL.md:7: ${reason} U+202E`,
    "error hidden-characters escaped/SKILL.md:3: the description has invisible characters, such as U+E0049",
    "error hidden-characters raw/SKILL.md:3: the description has invisible characters, such as U+E0069",
    `warning invisible-characters raw/SKILL.md:3: ${reason} U+E0069`,
  ]);
});

Deno.test("--check reports at most 20 broken links of a skill", async () => {
  using place = new Place();
  const links = Array.from({ length: 99 }, (_, index) => `[x](${index}.md)\n`);
  const text = skillMd("links") + links.join("");
  place.skill("home/.claude/skills", "links", text);
  assert.equal((await findingsIn(place)).length, 20);
});

Deno.test("--check reports a name that is taken twice", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "first");
  const file = join(place.skill(skills, "git"), "SKILL.md");
  place.skill(skills, "third", skillMd("git"));
  const findings = await findingsIn(place);
  assert.deepEqual(findings.filter((it) => it.includes("name-twice")), [
    `warning name-twice third/SKILL.md: the name "git" is also that of "${
      file.replaceAll("\\", "/")
    }"`,
  ]);
});

Deno.test("--check says which file a broken link most likely means", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.skill(
    skills,
    "links",
    `${
      skillMd("links")
    }[x](forms.md) [y](references/form.md)\n[z](other.md) \`references/none.md\`\n`,
  );
  place.file(`${skills}/links/references/forms.md`, "");
  const folder = join(place.home, ".claude", "skills");
  const found = await problemsIn("--check", folder);
  assert.deepEqual(
    found.map(({ rule, line, reason, hint }) => [
      `${rule} ${line}`,
      reason.split('"')[1],
      hint.split('"')[1],
    ]),
    [
      ["broken-link 7", "forms.md", "references/forms.md"],
      ["broken-link 7", "references/form.md", "references/forms.md"],
      ["broken-link 8", "other.md", undefined],
    ],
  );
});

Deno.test("findUnlisting() allows at most 16 MiB, and names an unreadable skill directory", () => {
  const skill = {
    directory: join("skills", "git"),
    frontmatter: { name: "git", description: "d" },
  } as Skill;
  const problem = {
    rule: "skipped" as const,
    reason: "it is locked",
    hint: "unlock",
  };
  const ruleFor = (size: number, ...leftOut: string[]) =>
    findUnlisting(skill, {
      files: [{ path: "SKILL.md", size, version: "" }],
      folders: [],
      leftOut: leftOut.map((file) => ({ file, ...problem })),
      isComplete: true,
    })?.rule;
  const limit = 16 * 2 ** 20;
  assert.equal(ruleFor(limit, "a/", "b.md"), undefined);
  assert.equal(ruleFor(limit + 1), "size");
  assert.equal(ruleFor(0, ""), "unreadable");
});

Deno.test("--check looks at the text of a skill.md in lower case, too", async () => {
  using place = new Place();
  const text =
    "---\nname: low\ndescription: Fill <b>forms</b>\n---\n[x](none.md)\n";
  place.file("skills/low/skill.md", text);
  const problems = await problemsIn("--check", join(place.path, "skills"));
  const found = problems.map(({ rule, file, line }) =>
    `${rule} ${basename(file)} ${line}`
  );
  assert.deepEqual(found.sort(), [
    "broken-link skill.md 5",
    "description-tag skill.md 3",
  ]);
});

Deno.test("--check warns of a SKILL.md without instructions", async () => {
  const head = "---\nname: git\ndescription: About git\n---";
  const empty = [head, `${head}\n\n \n`, `${head}\n`.replaceAll("\n", "\r\n")];
  const full = [`${head}\na`, `${head}\na\n---\n`];
  full.push(`${head}\na`.replaceAll("\n", "\r"));
  for (const text of [...empty, ...full]) {
    using place = new Place();
    place.skill("home/.claude/skills", "git", text);
    const expected = full.includes(text) ? [] : [
      "warning body-empty git/SKILL.md: there are no instructions below the frontmatter",
    ];
    const findings = (await findingsIn(place))
      .filter((line) => !line.includes(" invisible-characters "));
    assert.deepEqual(findings, expected, JSON.stringify(text));
  }
});
