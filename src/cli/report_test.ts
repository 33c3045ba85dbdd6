import assert from "node:assert/strict";
import { basename, join, resolve } from "jsr:@std/path@^1";
import { SkillFileError, SkillRegistry } from "../../mod.ts";
import { openSkills } from "../../skill_server.ts";
import { reportSkills } from "./report.ts";
import { createReport, hasErrors, type Report } from "./report_data.ts";
import { reportAsText } from "./report_text.ts";
import {
  createFinding,
  isUnlisting,
  type RuleId,
  RULES,
} from "../skills/validity.ts";
import {
  assertLinearTime,
  lacks,
  Place,
  REPOSITORY,
  root,
  runServer,
  runSync,
  serverCommand,
  settingsFor,
  skillMd,
} from "../../tests/testing.ts";

/** Creates a place with one of everything that a report shows. */
function reportPlace(): Place {
  const place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills", "pdf");
  place.file("home/.claude/skills/pdf/forms.md", "x".repeat(1_451));
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  return place;
}

Deno.test("--list shows roots, skills, shadowed skills, and problems with their fixes", async () => {
  using place = reportPlace();
  const { code, stdout, stderr } = await runServer(place, { args: ["--list"] });
  const at = (path: string) => join(place.path, path);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(
    stdout,
    `Roots (4)
  missing  project            ${at("project/.agent/skills")}
  missing  global             ${at("home/.agent/skills")}
  found    project  1 skill   ${at("project/.claude/skills")}
  found    global   2 skills  ${at("home/.claude/skills")}

Skills (2)
  git  project  1 file   48 B    ${at("project/.claude/skills/git")}
  pdf  global   2 files  1.5 kB  ${at("home/.claude/skills/pdf")}

Shadowed skills (1)
  global:git  ${at("home/.claude/skills/git/SKILL.md")}  by ${
      at("project/.claude/skills/git/SKILL.md")
    }

Problems (1 error, 0 warnings)
  error[skipped]
    ${at("home/.claude/skills/bad/SKILL.md")}:1: there is no frontmatter
    fix: start the file with a line "---", followed by the lines "name: …", "description: …", and "---"
`,
  );
});

Deno.test("--list reports where to put skills if there are none", async () => {
  using place = new Place();
  const { stdout } = await runServer(place, { args: ["--list"] });
  assert.match(stdout, /^Skills \(0\)\n {2}none yet: add a folder/m);
});

Deno.test("--list reports which skills are not in skills/list, and why", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "Übersicht");
  const { code, stdout } = await runServer(place, { args: ["--list"] });
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^Not in skills\/list \(1\)\n {2}Übersicht {2}the name does not consist of/m,
  );
});

Deno.test("--check exits with 1 if there is an error, and with 0 if there is none", async () => {
  using place = reportPlace();
  const args = ["--check"];
  assert.equal((await runServer(place, { args })).code, 1);
  place.remove("home/.claude/skills/bad");
  assert.equal((await runServer(place, { args })).code, 0);
});

Deno.test("--check reports a given folder that does not exist", async () => {
  using place = new Place();
  for (const args of [["typo"], ["--skill-dir", "typo"]]) {
    const { code, stdout, stderr } = await runServer(place, {
      args: ["--check", ...args],
    });
    assert.deepEqual([code, stderr], [1, ""]);
    const folder = join(place.project, "typo");
    assert.ok(
      stdout.endsWith(
        `Problems (1 error, 0 warnings)\n  error[skipped]\n    ${folder}: there is no such folder\n    fix: check its spelling\n`,
      ),
    );
  }
});

Deno.test(
  "--list escapes names that contain control characters or line breaks",
  {
    ignore: lacks("names"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "a\u001b[31m\nRED", skillMd("red"));
    const { stdout } = await runServer(place, { args: ["--list"] });
    assert.ok(!stdout.includes("\u001b"));
    assert.match(stdout, /a\\u001b\[31m\\u000aRED/);
  },
);

Deno.test(
  "--json and --print-config escape control characters for the terminal",
  {
    ignore: lacks("names"),
  },
  async () => {
    using place = new Place();
    const odd = "a\u009b31m\u202eb\u007f";
    const name = JSON.stringify(odd).replace(
      /[^ -~]/g,
      (character) =>
        `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    place.skill("home/.claude/skills", odd, skillMd(name));
    const report = await runServer(place, { args: ["--list", "--json"] });
    const { skills } = JSON.parse(report.stdout);
    assert.equal(basename(skills[0].directory), odd);
    const codex = ["--print-config", "codex", "--skill-dir", odd];
    const config = await runServer(place, { args: codex });
    assert.match(config.stdout, /a\\u009b31m\\u202eb\\u007f/);
    for (const { stdout, stderr } of [report, config]) {
      assert.doesNotMatch(stdout + stderr, /[\u007f-\u009f\u202e]/);
    }
  },
);

Deno.test("--list does not pad cells to the length of an enormous name", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "long", skillMd("n".repeat(50_000)));
  place.skill("home/.claude/skills", "short");
  const { stdout } = await runServer(place, { args: ["--list"] });
  const row = stdout.split("\n").find((line) => line.startsWith("  short"));
  assert.ok(row!.length < 300, row);
});

Deno.test("--list exits with 2 if it cannot write", {
  ignore: lacks("proc"),
}, async () => {
  using place = new Place();
  const [command, options] = serverCommand(place, { args: ["--list"] });
  const { code, stderr } = await new Deno.Command("sh", {
    ...options,
    args: ["-c", '"$@" >/dev/full', "sh", command, ...options.args!],
    stdin: "null",
  }).output();
  assert.equal(code, 2);
  const text = new TextDecoder().decode(stderr);
  assert.match(text, /^skill-server: Cannot write the output: .*\n$/);
});

Deno.test("--json prints the report as JSON", async () => {
  using place = reportPlace();
  const args = ["--check", "--json"];
  const { code, stdout } = await runServer(place, { args });
  const at = (path: string) => join(place.path, path);
  const { roots, skills, shadowed, problems } = JSON.parse(stdout);
  assert.equal(code, 1);
  assert.deepEqual(roots[2], {
    path: at("project/.claude/skills"),
    scope: "project",
    recursive: false,
    status: "found",
    skills: 1,
  });
  assert.deepEqual(skills[0], {
    name: "git",
    description: "About git",
    scope: "project",
    directory: at("project/.claude/skills/git"),
    file: at("project/.claude/skills/git/SKILL.md"),
    files: 1,
    size: 48,
  });
  assert.deepEqual(shadowed, [{
    name: "git",
    qualifiedName: "global:git",
    file: at("home/.claude/skills/git/SKILL.md"),
    by: at("project/.claude/skills/git/SKILL.md"),
  }]);
  assert.deepEqual(problems, [{
    rule: "skipped",
    severity: "error",
    file: at("home/.claude/skills/bad/SKILL.md"),
    line: 1,
    reason: "there is no frontmatter",
    hint:
      'start the file with a line "---", followed by the lines "name: …", "description: …", and "---"',
  }]);
});

/** Lists the findings of `--check` on the global skills as `<severity> <rule> <path>:<line>: <reason>`. */
async function findingsIn(place: Place): Promise<string[]> {
  const folder = join(place.home, ".claude", "skills");
  const settings = settingsFor("--check", "--json", folder);
  const skills = await openSkills(settings, () => {});
  const { text } = await reportSkills(skills, settings);
  const { problems } = JSON.parse(text) as {
    problems: Record<string, string>[];
  };
  return problems.map(({ severity, rule, file, line, reason }) => {
    const path = file!.slice(folder.length + 1).replaceAll("\\", "/");
    return `${severity} ${rule} ${path}${line ? `:${line}` : ""}: ${reason}`;
  });
}

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
    place.skill("home/.claude/skills", name, `---\n${yaml}\n---\n`);
    assert.deepEqual(await findingsIn(place), findings);
  });
}

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
      "warning not-served large/data.bin: it has 1048577 bytes, and the limit is 1048576",
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

Deno.test("--check reports a file that can be listed but not read, as an error that keeps the skill out of skills/list", async () => {
  using place = new Place();
  place.skill("skills", "locked");
  const key = place.file("skills/locked/key.md", "");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const readFile = registry.readFile.bind(registry);
  registry.readFile = (skill, path) => {
    if (path !== "key.md") return readFile(skill, path);
    throw new SkillFileError(path, { reason: "it is locked", hint: "unlock" });
  };
  const list = await createReport({ registry }, settingsFor("--list"));
  assert.equal(list.skills[0]!.unlisted, undefined);
  const report = await createReport({ registry }, settingsFor("--check"));
  assert.equal(report.skills[0]!.unlisted, "it is locked");
  assert.deepEqual(report.findings, [{
    rule: "unreadable",
    severity: "error",
    file: key,
    reason: "it is locked",
    hint: "unlock",
  }]);
});

Deno.test("--list does not open the files of a skill", async () => {
  using place = new Place();
  for (let i = 0; i < 10; i++) {
    place.skill("skills", `s${i}`);
    place.file(`skills/s${i}/a.md`, "text");
  }
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  registry.readFile = () => assert.fail("a file was read");
  registry.digest = () => assert.fail("a file was hashed");
  const report = await createReport({ registry }, settingsFor("--list"));
  assert.equal(report.skills.length, 10);
});

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
    '---\nname: escaped\ndescription: "x\\U000E0049\\u00ad"\n---\n',
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

Deno.test("--check reports no links into unreadable folders, however many there are", async () => {
  await assertLinearTime(async (length) => {
    using place = new Place();
    const folders = Array.from({ length }, (_, index) => `a${index}`);
    const links = folders.map((folder) => `[x](${folder}/b.md)\n`);
    place.skill(
      "skills",
      "links",
      `${skillMd("links")}${links.join("")}[y](c)`,
    );
    using registry = new SkillRegistry([root(join(place.path, "skills"))]);
    await registry.refresh();
    const { files } = registry.inspectFiles(registry.find("links")!);
    const fault = { reason: "it is locked", hint: "unlock" };
    const leftOut = folders.map((folder) => ({ file: `${folder}/`, ...fault }));
    registry.inspectFiles = () => ({ files, leftOut });
    const check = settingsFor("--check");
    const { findings } = await createReport({ registry }, check);
    const broken = findings.filter(({ rule }) => rule === "broken-link");
    assert.deepEqual(broken.map(({ line }) => line), [length + 7]);
  }, { length: 8_000, what: "links into folders that are left out" });
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

Deno.test("--check takes linear time for any repeated text", async () => {
  const pieces = [
    ...["](", "[a](", "`", "<!--", "[a]: ", "~~~\n", "- ", "%", "((", " "],
    ...["](a)", "](<a ", "> ", "1. ", "``` ", "` `` ", '](a "', "\\", "[a]:\n"],
  ];
  for (const piece of pieces) {
    for (const [wrapping, end] of [["", ""], ["](<", ">)"], ["\n```", ""]]) {
      await assertLinearTime(async (length) => {
        using place = new Place();
        const text = piece.repeat(length / piece.length);
        const body = `${wrapping}${text}${end}`;
        place.skill("skills", "odd", skillMd("odd") + body);
        const report = await reportOn(join(place.path, "skills"));
        assert.deepEqual([report.skills.length, hasErrors(report)], [1, false]);
      }, { length: 300_000, what: JSON.stringify(wrapping + piece) });
    }
  }
});

Deno.test("--check exits with 0 if there are only warnings", async () => {
  using place = new Place();
  const text = `${skillMd("links")}[gone](gone.md)`;
  place.skill("home/.claude/skills", "links", text);
  const { code, stdout } = await runServer(place, { args: ["--check"] });
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^Problems \(0 errors, 1 warning\)\n {2}warning\[broken-link\]$/m,
  );
});

Deno.test("reportAsText() groups findings with the same rule and fix, errors first", async () => {
  using place = new Place();
  const folder = place.folder("home", ".claude", "skills");
  place.skill("home/.claude/skills", "a", `${skillMd("a")}[gone](gone.md)`);
  place.skill("home/.claude/skills", "b", "text");
  place.skill("home/.claude/skills", "c", "text");
  const text = await textReportOn(folder, { colors: false });
  assert.equal(
    text.slice(text.indexOf("Problems")),
    `Problems (2 errors, 1 warning)
  error[skipped]
    ${join(folder, "b", "SKILL.md")}:1: there is no frontmatter
    ${join(folder, "c", "SKILL.md")}:1: there is no frontmatter
    fix: start the file with a line "---", followed by the lines "name: …", "description: …", and "---"
  warning[broken-link]
    ${
      join(folder, "a", "SKILL.md")
    }:7: the link "gone.md" does not point to a served file
    fix: link to a served file, or remove the link
`,
  );
});

/** Creates the report on a folder of skills. */
async function reportOn(path: string): Promise<Report> {
  using registry = new SkillRegistry([root(path)], { log: () => {} });
  return await createReport({ registry }, settingsFor("--check"));
}

/** Creates the report on a folder of skills, as text. */
async function textReportOn(
  path: string,
  style: { colors: boolean },
): Promise<string> {
  return reportAsText(await reportOn(path), style);
}

Deno.test("reportAsText() uses colors only on request", async () => {
  const testdata = resolve(REPOSITORY, "testdata", "skills");
  const plain = await textReportOn(testdata, { colors: false });
  const painted = await textReportOn(testdata, { colors: true });
  assert.ok(!plain.includes("\u001b"));
  assert.ok(painted.includes("\u001b[1mSkills\u001b[22m"));
  // deno-lint-ignore no-control-regex -- the test removes control characters
  assert.equal(painted.replace(/\u001b\[\d+m/g, ""), plain);
});

for (
  const [env, isColored] of [[{}, true], [{ NO_COLOR: "1" }, false]] as const
) {
  Deno.test(
    isColored
      ? "--list uses colors on a terminal"
      : "--list uses no colors on a terminal if NO_COLOR is set",
    {
      ignore: lacks("terminal"),
    },
    async () => {
      using place = new Place();
      place.skill("home/.claude/skills", "git");
      const [command, options] = serverCommand(place, { args: ["--list"] });
      const line = [command, ...options.args!].map((word) => `'${word}'`).join(
        " ",
      );
      const { NO_COLOR: _, ...rest } = options.env!;
      const { stdout } = await new Deno.Command("script", {
        ...options,
        args: ["-qec", line, "/dev/null"],
        clearEnv: true,
        env: { ...rest, PATH: Deno.env.get("PATH")!, TERM: "xterm", ...env },
        stdin: "null",
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert.ok(text.includes("git  global  1 file"), text);
      assert.equal(text.includes("\u001b[1mSkills"), isColored);
      assert.equal(text.includes("\u001b"), isColored);
    },
  );
}

Deno.test("--check reports each skill in testdata/invalid", async () => {
  using place = new Place();
  const folder = resolve(REPOSITORY, "testdata", "invalid");
  const args = [folder, "--check", "--json"];
  const { code, stdout } = await runServer(place, { args });
  const { skills, problems } = JSON.parse(stdout);
  assert.deepEqual([code, skills], [1, []]);
  const faulty = problems.map(({ file }: { file: string }) =>
    basename(join(file, ".."))
  );
  assert.deepEqual(
    [...new Set(faulty)],
    [...Deno.readDirSync(folder)].map(({ name }) => name).sort(),
  );
});

Deno.test("docs/check.md describes each rule, with its severity and its effect on skills/list", () => {
  const path = resolve(REPOSITORY, "docs", "check.md");
  const rows = Deno.readTextFileSync(path).split("\n").map((line) =>
    line.split("|").map((cell) => cell.trim())
  );
  const documented = rows.flatMap(([, rule, severity, unlists]) =>
    /^`[\w-]+`$/.test(rule ?? "") && /^(?:error|warning)$/.test(severity ?? "")
      ? [[rule!.slice(1, -1), severity, unlists === "yes"]]
      : []
  );
  const rules = Object.keys(RULES).map((rule) => {
    const finding = createFinding(rule as RuleId, {
      file: "",
      reason: "",
      hint: "",
    });
    return [rule, finding.severity, isUnlisting(finding)];
  });
  assert.deepEqual(documented, rules);
});
