// deno-lint-ignore-file no-import-prefix -- the sources' specifiers are written out, so the tests' are too

import assert from "node:assert/strict";
import { basename, join, resolve } from "jsr:@std/path@^1";
import { SkillRegistry } from "../mod.ts";
import {
  hasErrors,
  makeReport,
  type Report,
  reportAsText,
  type TextStyle,
} from "./skill_report.ts";
import {
  inProportion,
  isWindows,
  MOD,
  Place,
  README,
  REPOSITORY,
  root,
  runServer,
  runSync,
  serverCommand,
  skillMd,
} from "./testing.ts";

/** A place with a bit of everything to report. */
function reportPlace(): Place {
  const place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills", "pdf");
  place.file("home/.claude/skills/pdf/forms.md", "x".repeat(1_451));
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  return place;
}

Deno.test("--list shows roots, skills, what is shadowed, and problems with their mends", async () => {
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
  git  project   1 file    48 B  ${at("project/.claude/skills/git")}
  pdf  global   2 files  1.5 kB  ${at("home/.claude/skills/pdf")}

Shadowed skills (1)
  git      ${at("home/.claude/skills/git/SKILL.md")}
       by  ${at("project/.claude/skills/git/SKILL.md")}

Problems (1 error, 0 warnings)
  error: make "---" the first line, then name: and description:, then "---" again
    ${at("home/.claude/skills/bad/SKILL.md")}:1: there is no frontmatter
`,
  );
});

Deno.test("--list says where to put a skill if there is none", async () => {
  using place = new Place();
  const { stdout } = await runServer(place, { args: ["--list"] });
  assert.match(stdout, /^Skills \(0\)\n {2}none yet: put a folder/m);
});

Deno.test("--list says which skills are not in skills/list, and why", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "Übersicht");
  const { code, stdout } = await runServer(place, { args: ["--list"] });
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^Not in skills\/list \(1\)\n {2}Übersicht {2}its name is not made of/m,
  );
});

Deno.test("--check ends with 1 if there is a problem, and with 0 if there is none", async () => {
  using place = reportPlace();
  const args = ["--check"];
  assert.equal((await runServer(place, { args })).code, 1);
  place.remove("home/.claude/skills/bad");
  assert.equal((await runServer(place, { args })).code, 0);
});

Deno.test("--check takes a named folder that is not there for a problem", async () => {
  using place = new Place();
  for (const args of [["typo"], ["--skill-dir", "typo"]]) {
    const { code, stdout, stderr } = await runServer(place, {
      args: ["--check", ...args],
    });
    assert.deepEqual([code, stderr], [1, ""]);
    const folder = join(place.project, "typo");
    assert.ok(
      stdout.endsWith(
        `Problems (1 error, 0 warnings)\n  error: check its spelling\n    ${folder}: there is no such folder\n`,
      ),
    );
  }
});

Deno.test("--list lets no name act on the terminal or forge a line", {
  ignore: isWindows,
}, async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "a\u001b[31m\nRED", skillMd("red"));
  const { stdout } = await runServer(place, { args: ["--list"] });
  assert.ok(!stdout.includes("\u001b"));
  assert.match(stdout, /a\\u001b\[31m\\u000aRED/);
});

Deno.test("--json and --print-config let no text act on the terminal", {
  ignore: isWindows,
}, async () => {
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
});

Deno.test("--list pads nothing to the length of a name that is far too long", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "long", skillMd("n".repeat(50_000)));
  place.skill("home/.claude/skills", "short");
  const { stdout } = await runServer(place, { args: ["--list"] });
  const row = stdout.split("\n").find((line) => line.startsWith("  short"));
  assert.ok(row!.length < 300, row);
});

Deno.test("--list says with 2 that it cannot write", {
  ignore: Deno.build.os !== "linux",
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

Deno.test("--json gives the report as JSON", async () => {
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
      'make "---" the first line, then name: and description:, then "---" again',
  }]);
});

/** What `--check` finds in a place: `<severity> <rule> <path>:<line>: <reason>`. */
async function findingsIn(place: Place): Promise<string[]> {
  const args = ["--check", "--json"];
  const { stdout } = await runServer(place, { args });
  const { problems } = JSON.parse(stdout) as {
    problems: Record<string, string>[];
  };
  const folder = join(place.home, ".claude", "skills");
  return problems.map(({ severity, rule, file, line, reason }) => {
    const path = file!.slice(folder.length + 1).replaceAll("\\", "/");
    return `${severity} ${rule} ${path}${line ? `:${line}` : ""}: ${reason}`;
  });
}

const misspelled: [string, string, string[]][] = [
  ["UPPER", "name: UPPER\ndescription: d", [
    "error name-characters UPPER/SKILL.md:2: its name is not made of a-z, 0-9 and single hyphens",
  ]],
  ["long", `name: ${"n".repeat(65)}\ndescription: d`, [
    "error name-length long/SKILL.md:2: its name has more than 64 characters",
    `error name-folder long/SKILL.md:2: its name is "${
      "n".repeat(65)
    }", that of its folder "long"`,
  ]],
  ["folder", "description: d\nname: other", [
    'error name-folder folder/SKILL.md:3: its name is "other", that of its folder "folder"',
  ]],
  ["wordy", `name: wordy\ndescription: ${"d".repeat(1025)}`, [
    "error description-length wordy/SKILL.md:3: its description has more than 1024 characters",
  ]],
  ["picky", "name: picky\ndescription: d\ncompatibility: []", [
    "error compatibility picky/SKILL.md:4: its compatibility is not a text of 1 to 500 characters",
  ]],
  ["meta", "name: meta\ndescription: d\nmetadata:\n  version: 1.0", [
    "error metadata meta/SKILL.md:4: its metadata is not a mapping of texts",
  ]],
  ["infinite", "name: infinite\ndescription: d\nsize: .inf", [
    "error frontmatter-json infinite/SKILL.md:2: its frontmatter has the number Infinity",
  ]],
  ["tools", "name: tools\ndescription: d\nallowed-tools:\n- Read", [
    "warning allowed-tools tools/SKILL.md:4: its allowed-tools are no text",
  ]],
  [
    "commas",
    "name: commas\ndescription: d\nallowed-tools: Bash(a,b) Read, Grep",
    [
      "warning allowed-tools commas/SKILL.md:4: its allowed-tools have commas between them",
    ],
  ],
  ["commented", "# c\n\n  name: commented\n  description: d\n  license: 1", [
    "warning license commented/SKILL.md:6: its license is not a text",
  ]],
  ["nested", "metadata:\n  name: x\ndescription: d\nname: Nested", [
    "error name-characters nested/SKILL.md:5: its name is not made of a-z, 0-9 and single hyphens",
    'error name-folder nested/SKILL.md:5: its name is "Nested", that of its folder "nested"',
  ]],
  ["licensed", "name: licensed\ndescription: d\nlicense: 2", [
    "warning license licensed/SKILL.md:4: its license is not a text",
  ]],
];

for (const [name, yaml, findings] of misspelled) {
  Deno.test(`--check tells where the frontmatter of ${name} breaks the specification`, async () => {
    using place = new Place();
    place.skill("home/.claude/skills", name, `---\n${yaml}\n---\n`);
    assert.deepEqual(await findingsIn(place), findings);
  });
}

Deno.test("--check tells of links in the body that lead to no file that is served", async () => {
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
  const finding = (line: number, target: string, place: string) =>
    `warning broken-link links/SKILL.md:${line}: the link "${target}" leads ${place}`;
  assert.deepEqual(await findingsIn(place), [
    finding(9, "gone.md", "to no file that is served"),
    finding(9, "../other/SKILL.md", "outside the skill"),
    finding(11, "titled.md", "to no file that is served"),
    finding(12, ".env", "to no file that is served"),
    finding(14, "references/none.md", "to no file that is served"),
  ]);
});

const codes: [string, string][] = [
  ["a fence", "~~~sh\n[x](code.md)\n```\n~~~"],
  ["a fence in a list", "1. ```js\n   [x](code.md)\n   ```"],
  ["a fence in a quotation", "> ```\n> [x](code.md)"],
  ["a fence in a fence", "````md\n```js\n[x](code.md)\n```\n````"],
  ["a fence after a fence", "```md\n```js\n[x](code.md)\n```"],
  ["a code span", "`[x](code.md)`"],
  ["a code span with backticks in it", "``a ` [x](code.md) ` b``"],
  ["a code span over two lines", "`one\n[x](code.md)`"],
  ["a code span after an escaped backtick", "one \\` and `[x](code.md)`"],
  ["a comment", "<!-- [x](code.md)\n[y](code.md) -->"],
  ["a comment with its beginning twice", "<!-- [x](code.md) <!-- b -->"],
  ["escaped brackets", "\\[x](code.md) [y\\](code.md)"],
];

for (const [what, markdown] of codes) {
  Deno.test(`--check takes no link in ${what} for one, and goes on after it`, async () => {
    using place = new Place();
    const text = `${skillMd("links")}\n${markdown}\n\n[after](after.md)\n`;
    const line = text.split("\n").indexOf("[after](after.md)") + 1;
    for (const lineBreak of ["\n", "\r\n"]) {
      const written = text.replaceAll("\n", lineBreak);
      place.skill("home/.claude/skills", "links", written);
      assert.deepEqual(await findingsIn(place), [
        `warning broken-link links/SKILL.md:${line}: the link "after.md" leads to no file that is served`,
      ]);
    }
  });
}

Deno.test("--check finds links between what looks like a comment in code", async () => {
  using place = new Place();
  const text = `${skillMd("links")}\n\`<!--\`\n[x](gone.md)\n\`-->\`\n`;
  place.skill("home/.claude/skills", "links", text);
  assert.equal((await findingsIn(place)).length, 1);
});

Deno.test("--check tells of files that are not served, and of what is too long or too much", async () => {
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
    "warning length large/SKILL.md: it has 606 lines, more than the 500 that are recommended",
    "warning not-served large/back: it is a link that leads back to a folder that it lies in",
    `warning not-served large/d/d/d/d/d/d/d/d/d/d: it lies more than 10 names deep`,
    "warning not-served large/dangling.txt: it is a link that leads nowhere",
    "warning not-served large/data.bin: it has 1048577 bytes, more than the 1048576 allowed",
    "warning not-served large/out.txt: it is a link that leads outside its skill, or to what is hidden in it",
    "warning not-served large/self: it is a link that leads back to itself",
    "error utf-8 latin/SKILL.md: its SKILL.md is not UTF-8",
    "warning size many: it has more than 512 files",
  ]);
});

Deno.test("--check takes a SKILL.md that is not UTF-8 for what it says", async () => {
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

Deno.test("--check tells of names that are not UTF-8", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  using place = new Place();
  const folder = place.skill("home/.claude/skills", "odd");
  runSync("sh", "-c", `printf x > "$(printf '%s/\\377.md' '${folder}')"`);
  assert.deepEqual(await findingsIn(place), [
    "warning not-served odd/\ufffd.md: its name is not UTF-8, so that it cannot be opened",
  ]);
});

Deno.test(
  "--check tells of files and folders that the system does not let it read",
  {
    ignore: isWindows || Deno.uid() === 0,
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
      "warning not-served locked/keys/: the system does not let it be read",
      'error unlisted locked/SKILL.md: Cannot read "key.md": the system does not let it be read; give yourself the right to read it, or remove it',
      "warning not-served shut: the system does not let it be read",
      "error unlisted shut/SKILL.md: its folder cannot be listed: the system does not let it be read",
    ]);
  },
);

Deno.test("--check tells each target once, and of very many links how many more there are", async () => {
  using place = new Place();
  const links = Array.from({ length: 30 }, (_, index) => `[x](${index}.md)\n`);
  const text = skillMd("links") + links.join("") + "[x](a.md)".repeat(100_000);
  place.skill("home/.claude/skills", "links", text);
  const findings = await findingsIn(place);
  assert.equal(findings.length, 21);
  assert.match(findings.at(-1)!, /there are 11 more links like these$/);
});

Deno.test("--check takes time in proportion to the text, however odd it is", async () => {
  const pieces = [
    ...["](", "[a](", "`", "<!--", "[a]: ", "~~~\n", "- ", "%", "((", " "],
    ...["](a)", "](<a ", "> ", "1. ", "``` ", "` `` ", '](a "', "\\", "[a]:\n"],
  ];
  for (const piece of pieces) {
    for (const [wrapping, end] of [["", ""], ["](<", ">)"], ["\n```", ""]]) {
      await inProportion(async (length) => {
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

Deno.test("--check ends with 0 if there are but warnings", async () => {
  using place = new Place();
  const text = `${skillMd("links")}[gone](gone.md)`;
  place.skill("home/.claude/skills", "links", text);
  const { code, stdout } = await runServer(place, { args: ["--check"] });
  assert.equal(code, 0);
  assert.match(stdout, /^Problems \(0 errors, 1 warning\)\n {2}warning: make/m);
});

Deno.test("reportAsText() tells what has the same mend together, errors first", async () => {
  using place = new Place();
  const folder = place.folder("home", ".claude", "skills");
  place.skill("home/.claude/skills", "a", `${skillMd("a")}[gone](gone.md)`);
  place.skill("home/.claude/skills", "b", "text");
  place.skill("home/.claude/skills", "c", "text");
  const text = await reportOf(folder, { columns: Infinity, colors: false });
  assert.equal(
    text.slice(text.indexOf("Problems")),
    `Problems (2 errors, 1 warning)
  error: make "---" the first line, then name: and description:, then "---" again
    ${join(folder, "b", "SKILL.md")}:1: there is no frontmatter
    ${join(folder, "c", "SKILL.md")}:1: there is no frontmatter
  warning: make the link lead to a file that is served, or take it out
    ${
      join(folder, "a", "SKILL.md")
    }:7: the link "gone.md" leads to no file that is served
`,
  );
});

/** The report of a folder of skills. */
async function reportOn(path: string): Promise<Report> {
  using registry = new SkillRegistry([root(path)], { log: () => {} });
  await registry.refresh();
  return await makeReport(registry, {
    check: true,
    problems: [],
    unlisted: () => Promise.resolve(undefined),
  });
}

/** The report of a folder of skills, as text. */
async function reportOf(path: string, style: TextStyle): Promise<string> {
  return reportAsText(await reportOn(path), style);
}

Deno.test("reportAsText() fits the terminal, with its columns aligned, whatever the script", async () => {
  using place = new Place();
  const folder = place.folder("home", ".claude", "skills");
  const names = [
    "a",
    "a-rather-long-name-of-a-skill-that-says-it-all",
    "日本語の技能",
  ];
  for (const name of names) place.skill("home/.claude/skills", name);
  for (const columns of [30, 40, 60, 80, 100]) {
    const text = await reportOf(folder, { columns, colors: false });
    const width = (line: string) =>
      line.replace(/\p{Script=Han}|\p{Script=Hiragana}/gu, "xx").length;
    assert.deepEqual(
      text.split("\n").filter((line) =>
        width(line) > columns && line.trim().includes(" ")
      ),
      [],
    );
    const rows = text.split("\n").filter((line) => line.includes(" 1 file "));
    const places = rows.map((row) =>
      width(row.slice(0, row.indexOf(" 1 file ")))
    );
    const isWide = columns >= 60;
    assert.deepEqual(
      [rows.length, new Set(places).size],
      isWide ? [3, 1] : [0, 0],
    );
  }
});

Deno.test("reportAsText() uses colors only where it is told to", async () => {
  const testdata = resolve(REPOSITORY, "testdata", "skills");
  const plain = await reportOf(testdata, { columns: 80, colors: false });
  const painted = await reportOf(testdata, { columns: 80, colors: true });
  assert.ok(!plain.includes("\u001b"));
  assert.ok(painted.includes("\u001b[1mSkills\u001b[22m"));
  // deno-lint-ignore no-control-regex -- they are what is taken out
  assert.equal(painted.replace(/\u001b\[\d+m/g, ""), plain);
});

for (
  const [env, isColored] of [[{}, true], [{ NO_COLOR: "1" }, false]] as const
) {
  Deno.test(
    `--list ${
      isColored ? "uses colors" : "uses none, with NO_COLOR,"
    } on a terminal, and fits it`,
    {
      ignore: Deno.build.os !== "linux",
    },
    async () => {
      using place = new Place();
      place.skill(
        "home/.claude/skills",
        "a-skill-whose-path-is-too-long-for-a-narrow-terminal",
      );
      const [command, options] = serverCommand(place, { args: ["--list"] });
      const line = [command, ...options.args!].map((word) => `'${word}'`).join(
        " ",
      );
      const { NO_COLOR: _, ...rest } = options.env!;
      const { stdout } = await new Deno.Command("script", {
        ...options,
        args: ["-qec", `stty cols 60; ${line}`, "/dev/null"],
        clearEnv: true,
        env: { ...rest, PATH: Deno.env.get("PATH")!, TERM: "xterm", ...env },
        stdin: "null",
      }).output();
      const text = new TextDecoder().decode(stdout).replaceAll("\r\n", "\n");
      // Before it the terminal itself may have been set up.
      const report = text.slice(text.indexOf("\n") + 1);
      assert.equal(report.includes("\u001b[1mSkills"), isColored);
      assert.equal(report.includes("\u001b"), isColored);
      // deno-lint-ignore no-control-regex -- they are what is taken out
      const lines = report.replace(/\u001b\[\d+m/g, "").split("\n");
      assert.deepEqual(lines.filter((line) => line.length > 60), []);
      assert.ok(lines.some((line) => line.includes("…")));
    },
  );
}

Deno.test("testdata/invalid holds a skill for each way to be wrong, and each is told", async () => {
  using place = new Place();
  const folder = resolve(REPOSITORY, "testdata", "invalid");
  const args = [folder, "--check", "--json"];
  const { code, stdout } = await runServer(place, { args });
  const { skills, problems } = JSON.parse(stdout);
  assert.deepEqual([code, skills], [1, []]);
  assert.deepEqual(
    problems.map(({ file }: { file: string }) => basename(join(file, ".."))),
    [...Deno.readDirSync(folder)].map(({ name }) => name).sort(),
  );
});

Deno.test("the README tells of every rule of --check, and how bad it is to break it", () => {
  const source = ["skill_rules.ts", "skill_report.ts"].map((file) =>
    Deno.readTextFileSync(resolve(MOD, "..", "src", file))
  ).join("");
  const rules = [...source.matchAll(
    /rule: "([\w-]+)",\s+severity: "(error|warning)"/g,
  )];
  assert.ok(rules.length > 14);
  for (const [, rule, severity] of rules) {
    const row = new RegExp(`^\\| \`${rule}\` +\\| ${severity} `, "m");
    assert.ok(row.test(README), `${rule} ${severity}`);
  }
});
