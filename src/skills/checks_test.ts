import assert from "node:assert/strict";
import { basename, dirname, join } from "jsr:@std/path@^1";
import { SkillRegistry } from "../../mod.ts";
import { findingsIn, problemsIn } from "../../tests/testing/report.ts";
import { Place, runSync, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { root } from "../../tests/testing/registry.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import { checkSkill } from "./checks.ts";

const violations: [string, string, string[]][] = [
  ["UPPER", "name: UPPER\ndescription: d", [
    "error name-characters UPPER/SKILL.md:2: the name does not consist of a-z, 0-9, and single hyphens",
  ]],
  ["long", `name: ${"n".repeat(65)}\ndescription: d`, [
    "error name-length long/SKILL.md:2: the name is longer than 64 characters",
    `error name-folder long/SKILL.md:2: the name "${
      "n".repeat(65)
    }" differs from the folder name "long"`,
  ]],
  ["folder", "description: d\nname: other", [
    'error name-folder folder/SKILL.md:3: the name "other" differs from the folder name "folder"',
  ]],
  ["wordy", `name: wordy\ndescription: ${"d".repeat(1025)}`, [
    "error description-length wordy/SKILL.md:3: the description is longer than 1024 characters",
  ]],
  ["picky", "name: picky\ndescription: d\ncompatibility: []", [
    "error compatibility picky/SKILL.md:4: compatibility is not a string of 1 to 500 characters",
  ]],
  ["meta", "name: meta\ndescription: d\nmetadata:\n  version: 1.0", [
    "error metadata meta/SKILL.md:4: metadata is not a mapping of strings",
  ]],
  ["infinite", "name: infinite\ndescription: d\nsize: .inf", [
    "error frontmatter-json infinite/SKILL.md:2: the frontmatter contains the number Infinity",
  ]],
  ["tools", "name: tools\ndescription: d\nallowed-tools:\n- Read", [
    "warning allowed-tools tools/SKILL.md:4: allowed-tools is not a string",
  ]],
  [
    "commas",
    "name: commas\ndescription: d\nallowed-tools: Bash(a,b) Read, Grep",
    [
      "warning allowed-tools commas/SKILL.md:4: allowed-tools is separated by commas",
    ],
  ],
  [
    "flags",
    'name: flags\ndescription: d\ndisable-model-invocation: yes\nuser-invocable: "false"',
    [
      "warning flags flags/SKILL.md:4: disable-model-invocation is not true or false, so it has no effect",
      "warning flags flags/SKILL.md:5: user-invocable is not true or false, so it has no effect",
    ],
  ],
  ["commented", "# c\n\n  name: commented\n  description: d\n  license: 1", [
    "warning license commented/SKILL.md:6: license is not a string",
  ]],
  ["nested", "metadata:\n  name: x\ndescription: d\nname: Nested", [
    "error name-characters nested/SKILL.md:5: the name does not consist of a-z, 0-9, and single hyphens",
    'error name-folder nested/SKILL.md:5: the name "Nested" differs from the folder name "nested"',
  ]],
  ["licensed", "name: licensed\ndescription: d\nlicense: 2", [
    "warning license licensed/SKILL.md:4: license is not a string",
  ]],
];

for (const [name, yaml, findings] of violations) {
  Deno.test(`--check reports where the frontmatter of ${name} violates the specification`, async () => {
    using place = new Place();
    place.skill("home/.claude/skills", name, `---\n${yaml}\n---\nText\n`);
    assert.deepEqual(await findingsIn(place), findings);
  });
}

Deno.test("--check reports the line of a field, not of a bare word that equals its name", async () => {
  using place = new Place();
  const yaml = "name\nname: bare\ndescription: d\nlicense: 1";
  place.skill("home/.claude/skills", "folder", `---\n${yaml}\n---\nText\n`);
  const findings = await findingsIn(place);
  assert.deepEqual(findings.filter((line) => !line.startsWith("error yaml")), [
    "warning license folder/SKILL.md:5: license is not a string",
    'error name-folder folder/SKILL.md:3: the name "bare" differs from the folder name "folder"',
  ]);
});

/** A value of the description, and the line that keeps its text, if it is cut off. */
const descriptions: [string, string | undefined][] = [
  ["C# and issue #12", "description: 'C# and issue #12'"],
  ["it's #1", "description: 'it''s #1'"],
  ["two\n  lines # here", "description: 'two lines # here'"],
  ["'C# and issue #12'", undefined],
  ["'quoted' # with a comment", undefined],
  ["C# and issue#12", undefined],
  ["|\n  a #1", undefined],
  ["|-\n  a\n # with a comment", undefined],
  ["text\nwhen to use: always", undefined],
];

for (const [value, line] of descriptions) {
  Deno.test(`--check ${line === undefined ? "does not report" : "reports"} a description that is cut off: ${JSON.stringify(value)}`, async () => {
    using place = new Place();
    const yaml = `name: cut\ndescription: ${value}`;
    place.skill("home/.claude/skills", "cut", `---\n${yaml}\n---\nText\n`);
    const problems = await problemsIn(
      "--check",
      join(place.home, ".claude", "skills"),
    );
    assert.deepEqual(
      problems.map(({ rule, line, hint }) => [rule, line, hint.split("\n")[1]]),
      line === undefined ? [] : [["description-cut", 3, line]],
    );
  });
}

const placeholders = [
  "TODO",
  "TODO: describe it",
  "...",
  "<description>",
  "[TODO: Complete and informative explanation of what the skill does]",
  "Replace with description of the skill and when Claude should use it.",
  "A brief description of what this skill does",
  "Your skill description here",
  "What this skill does and when to use it",
];

Deno.test("--check reports descriptions that are placeholders, and no others", async () => {
  using place = new Place();
  const folder = join(place.home, ".claude", "skills");
  const others = [
    "Todo lists: create and sort them",
    "Describes images",
    "Writes the description of a pull request",
    "[Beta] Fills forms",
  ];
  for (const [index, text] of [...placeholders, ...others].entries()) {
    const name = `s${index + 10}`;
    place.skill(
      "home/.claude/skills",
      name,
      skillMd(name, JSON.stringify(text)),
    );
  }
  const problems = await problemsIn("--check", folder);
  assert.deepEqual(
    problems.map(({ rule, file }) => `${rule} ${basename(dirname(file))}`),
    placeholders.map((_, index) => `description-placeholder s${index + 10}`),
  );
});

Deno.test("--check reports fields whose names are one letter from a known one", async () => {
  using place = new Place();
  const fields =
    "alowed-tools: Read\nlicence: MIT\nallowed_tools: Read\nMetadata: {}\nmodel: x\nversion: 1\n";
  const text = `---\nname: fields\ndescription: d\n${fields}---\nText\n`;
  place.skill("home/.claude/skills", "fields", text);
  const problems = await problemsIn(
    "--check",
    join(place.home, ".claude", "skills"),
  );
  assert.deepEqual(
    problems.map(({ rule, line, hint }) => [rule, line, hint.split("\n")[1]]),
    [
      ["field-misspelled", 4, "allowed-tools: Read"],
      ["field-misspelled", 5, "license: MIT"],
      ["field-misspelled", 6, "allowed-tools: Read"],
      ["field-misspelled", 7, "metadata: {}"],
    ],
  );
});

Deno.test("--check does not call a field misspelled that it cannot repair", async () => {
  using place = new Place();
  const fields = `name: long\ndescription: d\nlicence: @${"x".repeat(9_000)}`;
  const text = `---\n${fields}\n---\nText\n`;
  place.skill("home/.claude/skills", "long", text);
  const problems = await problemsIn(
    "--check",
    join(place.home, ".claude", "skills"),
  );
  assert.deepEqual(problems.map(({ rule }) => rule), ["yaml"]);
});

Deno.test("checkSkill() reports once that a SKILL.md was removed or became invalid after the scan", async () => {
  for (const text of [undefined, "---\nname: git\n---\n"]) {
    using place = new Place();
    const directory = place.skill("skills", "git");
    using registry = new SkillRegistry([root(dirname(directory))]);
    await registry.refresh();
    const skill = registry.find("git")!;
    const contents = await registry.inspectFiles(skill);
    const file = join(directory, "SKILL.md");
    if (text === undefined) Deno.removeSync(file);
    else Deno.writeTextFileSync(file, text);
    const findings = checkSkill(skill, { source: registry, contents });
    assert.deepEqual(
      (await Array.fromAsync(findings)).map(({ rule }) => rule),
      ["changed"],
    );
  }
});

Deno.test("--check reports a skill without instructions", async () => {
  using place = new Place();
  const text = "---\nname: empty\ndescription: d\n---\n\n  \n";
  place.skill("home/.claude/skills", "empty", text);
  assert.deepEqual(await findingsIn(place), [
    "warning body-empty empty/SKILL.md:5: there are no instructions below the frontmatter",
  ]);
});

Deno.test("--check has a rule for each reason to skip a skill", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "a", "");
  place.skill(
    skills,
    "b",
    `---\nname: b\n${`#${"x".repeat(200)}\n`.repeat(400)}---\n`,
  );
  place.file(
    `${skills}/c/SKILL.md`,
    new Uint8Array([0xff, 0xfe, 45, 0, 45, 0, 45, 0, 10, 0]),
  );
  place.skill(skills, "d", "---\nname: d\ndescription: d: e\n---\nText");
  place.skill(skills, "e", "---\ndescription: d\n---\nText");
  place.skill(skills, "f", "---\nname: f\n---\nText");
  place.skill(skills, "g", "x".repeat(1_200_000));
  place.file(`${skills}/h/SKILL.md/README.md`, "");
  place.file(`${skills}/i/SKILL.txt`, "");
  const reasons = (await findingsIn(place)).map((line) => line.slice(6));
  assert.deepEqual(reasons, [
    "frontmatter-missing a/SKILL.md:1: the file is empty",
    "frontmatter-size b/SKILL.md:1: the frontmatter does not end within 64 KiB",
    "utf-16 c/SKILL.md:1: the file is encoded as UTF-16",
    'yaml d/SKILL.md:3: the value of "description" contains a colon, which starts another value in YAML',
    'name-missing e/SKILL.md:1: the field "name" is missing',
    'description-missing f/SKILL.md:1: the field "description" is missing',
    "too-large g/SKILL.md: it has 1.15 MB, and the limit is 1 MB",
    "not-a-file h/SKILL.md: it is a folder, where a file was expected",
    'file-name i/SKILL.txt: the file of a skill must be named "SKILL.md"',
  ]);
});

Deno.test("--check reports links in the body to files that are not served", async () => {
  using place = new Place();
  place.skill(
    "home/.claude/skills",
    "links",
    `${skillMd("links")}
[a file](references/a.md#part) ![an image](<b c.png> "title") [a folder](./references/)
[gone](gone.md) and [up](../other/SKILL.md), [encoded](b%20c.png), [defined][1]
- [site](https://example.com/x.md) [mail](mailto:a@example.com) [part](#part) [root](/x.md)
[titled](titled.md 'so') [round](file(1).md) [escaped](file\\_2.md) [again](gone.md)
[no link](my file.md) \\[none\\](at-all.md) [placeholder]({path}) [hidden](.env)

[1]: references/none.md
[Note]: this is prose
[^1]: foot.md
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
  const finding = (line: number, target: string, fault: string) =>
    `warning broken-link links/SKILL.md:${line}: the link "${target}" ${fault}`;
  assert.deepEqual(await findingsIn(place), [
    finding(9, "gone.md", "does not point to a served file"),
    finding(9, "../other/SKILL.md", "points outside the skill"),
    finding(11, "titled.md", "does not point to a served file"),
    finding(12, ".env", "does not point to a served file"),
    finding(14, "references/none.md", "does not point to a served file"),
  ]);
});

const codeSamples: [string, string][] = [
  ["a fence", "~~~sh\n[x](code.md)\n```\n~~~"],
  ["a fence in a list", "1. ```js\n   [x](code.md)\n   ```"],
  ["a fence in a quotation", "> ```\n> [x](code.md)"],
  ["a fence in a fence", "````md\n```js\n[x](code.md)\n```\n````"],
  ["a fence after a fence", "```md\n```js\n[x](code.md)\n```"],
  ["a code span", "`[x](code.md)`"],
  ["a code span that contains backticks", "``a ` [x](code.md) ` b``"],
  ["a code span over two lines", "`one\n[x](code.md)`"],
  ["a code span after an escaped backtick", "one \\` and `[x](code.md)`"],
  ["a comment", "<!-- [x](code.md)\n[y](code.md) -->"],
  ["a comment that opens twice", "<!-- [x](code.md) <!-- b -->"],
  ["escaped brackets", "\\[x](code.md) [y\\](code.md)"],
];

for (const [what, markdown] of codeSamples) {
  Deno.test(`--check ignores links in ${what}, but not those after it`, async () => {
    using place = new Place();
    const text = `${skillMd("links")}\n${markdown}\n\n[after](after.md)\n`;
    const line = text.split("\n").indexOf("[after](after.md)") + 1;
    for (const lineBreak of ["\n", "\r\n"]) {
      const written = text.replaceAll("\n", lineBreak);
      place.skill("home/.claude/skills", "links", written);
      assert.deepEqual(await findingsIn(place), [
        `warning broken-link links/SKILL.md:${line}: the link "after.md" does not point to a served file`,
      ]);
    }
  });
}

Deno.test("--check finds links between code spans that look like comment delimiters", async () => {
  using place = new Place();
  const text = `${skillMd("links")}\n\`<!--\`\n[x](gone.md)\n\`-->\`\n`;
  place.skill("home/.claude/skills", "links", text);
  assert.equal((await findingsIn(place)).length, 1);
});

Deno.test(
  "--check reports files that are not served, and skills that are too long or too large",
  {
    ignore: lacks("links"),
  },
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
      "warning length large/SKILL.md: it has 606 lines, more than the recommended 500",
      "warning not-served large/back: it is a link to a folder that contains it",
      `warning not-served large/d/d/d/d/d/d/d/d/d/d: its entries are more than 10 levels deep`,
      "warning not-served large/dangling.txt: it is a link to a missing file or folder",
      "warning not-served large/data.bin: it has 1.01 MB, and the limit is 1 MB",
      "warning not-served large/out.txt: it is a link that points outside its skill, or to a hidden file or folder",
      "warning not-served large/self: it is a link to itself",
      "error utf-8 latin/SKILL.md: SKILL.md is not valid UTF-8",
      "error size many: the skill has more than 512 files",
    ]);
  },
);

Deno.test("--check checks the readable part of a SKILL.md that is not valid UTF-8", async () => {
  using place = new Place();
  const text = skillMd("Café");
  const latin1 = Uint8Array.from(text, (character) => character.charCodeAt(0));
  place.file("home/.claude/skills/other/SKILL.md", latin1);
  const rules = (await findingsIn(place)).map((line) => line.split(" ", 2)[1]);
  assert.deepEqual(rules, [
    "utf-8",
    "name-characters",
    "name-folder",
  ]);
});

Deno.test("--check reports names that are not valid UTF-8", {
  ignore: lacks("bytes"),
}, async () => {
  using place = new Place();
  const folder = place.skill("home/.claude/skills", "odd");
  runSync("sh", "-c", `printf x > "$(printf '%s/\\377.md' '${folder}')"`);
  assert.deepEqual(await findingsIn(place), [
    "warning not-served odd/\ufffd.md: its name is not valid UTF-8, so it cannot be opened",
  ]);
});

Deno.test(
  "--check reports files and folders without read permission",
  {
    ignore: lacks("modes"),
  },
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
      "error unreadable locked/key.md: you have no permission to read it",
      "error unreadable shut: you have no permission to read it",
    ]);
  },
);

Deno.test("--check reports invisible characters, by line and code point", async () => {
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
  const reason = "the line contains invisible characters:";
  const findings = await findingsIn(place);
  assert.deepEqual([findings[0], findings[1], ...findings.slice(19)], [
    `warning invisible-characters body/SKILL.md:7: ${reason} U+202E`,
    `warning invisible-characters body/SKILL.md:9: ${reason} U+200B`,
    `warning invisible-characters body/SKILL.md:27: ${reason} U+200B`,
    "warning invisible-characters body/SKILL.md:27: there are 1 more like these",
    `warning invisible-characters escaped/SKILL.md:3: ${reason} U+E0049, U+00AD`,
    `warning invisible-characters raw/SKILL.md:3: ${reason} U+E0069, U+E0067, U+E006E, U+E006F, U+E0072, U+E0065, U+E0020, U+E0061, U+E006C`,
  ]);
});

Deno.test("--check reports a control character once, as what YAML does not allow", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "plain", skillMd("plain", "Fill \u001b[31mforms"));
  place.skill(skills, "quoted", skillMd("quoted", '"Fill \u001b[31mforms"'));
  const reason =
    'the value of "description" contains an invisible character, which YAML does not allow';
  assert.deepEqual(await findingsIn(place), [
    `error yaml plain/SKILL.md:3: ${reason}`,
    `error yaml quoted/SKILL.md:3: ${reason}`,
    "warning invisible-characters plain/SKILL.md:3: the line contains invisible characters: U+001B",
    "warning invisible-characters quoted/SKILL.md:3: the line contains invisible characters: U+001B",
  ]);
});

Deno.test("--check reports each target once and counts the rest if there are many", async () => {
  using place = new Place();
  const links = Array.from({ length: 30 }, (_, index) => `[x](${index}.md)\n`);
  const text = skillMd("links") + links.join("") + "[x](a.md)".repeat(100_000);
  place.skill("home/.claude/skills", "links", text);
  const findings = await findingsIn(place);
  assert.equal(findings.length, 21);
  assert.match(findings.at(-1)!, /there are 11 more like these$/);
});

Deno.test("--check takes linear time for broken links with different targets", async () => {
  await assertLinearTime(async (length) => {
    using place = new Place();
    let text = skillMd("links");
    for (let index = 0; text.length < length; index++) {
      text += `[x](${index}.md)\n`;
    }
    place.skill("home/.claude/skills", "links", text);
    assert.equal((await findingsIn(place)).length > 20, true);
  }, { length: 400_000, what: "links" });
});
