import assert from "node:assert/strict";
import { settingsFor } from "../../tests/testing/command_line.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import {
  findingsIn,
  openSkills,
  problemsIn,
} from "../../tests/testing/report.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import { join } from "../files/paths.ts";
import { isError } from "../problems.ts";
import { listBrokenLinks } from "./markdown_links.ts";
import { createReport } from "./report.ts";

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

Deno.test("--check reports at most 20 broken links of a skill", async () => {
  using place = new Place();
  const links = Array.from({ length: 99 }, (_, index) => `[x](${index}.md)\n`);
  const text = skillMd("links") + links.join("");
  place.skill("home/.claude/skills", "links", text);
  assert.equal((await findingsIn(place)).length, 20);
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

Deno.test("--check takes linear time for any repeated text", async () => {
  const pieces = [
    "](",
    "[a](",
    "`",
    "<!--",
    "[a]: ",
    "~~~\n",
    "- ",
    "%",
    "((",
    " ",
    "](a)",
    "](<a ",
    "> ",
    "1. ",
    "``` ",
    "` `` ",
    '](a "',
    "\\",
    "[a]:\n",
  ];
  for (const piece of pieces) {
    for (const [wrapping, end] of [["", ""], ["](<", ">)"], ["\n```", ""]]) {
      await assertLinearTime(async (length) => {
        using place = new Place();
        const text = piece.repeat(length / piece.length);
        const body = `${wrapping}${text}${end}`;
        place.skill("skills", "odd", skillMd("odd") + body);
        const folder = join(place.path, "skills");
        const settings = settingsFor("--check", folder);
        const report = await createReport(settings, openSkills);
        assert.equal(report.skills.length, 1);
        assert.ok(!report.problems.some(isError));
      }, { length: 300_000, what: JSON.stringify(wrapping + piece) });
    }
  }
});

/** The target of a link in a skill with `a.md` and `docs/b c.md`, and what is advised. */
const targets: [target: string, advice?: RegExp][] = [
  ["a.md"],
  ["./docs/../a.md?x#part"],
  ["."],
  ["docs/"],
  ["docs/b%20c.md"],
  ["<docs/b c.md>"],
  ["docs\\b.md"],
  ["https://example.com/x.md"],
  [".../x.md"],
  ["100%.md", /^write the path of a file of the skill/],
  ["A.MD", /^did you mean "a\.md"\?$/],
  ["b.md", /^did you mean "a\.md"\?$/],
  ["b%20c.md", /^did you mean "docs\/b c\.md"\?$/],
  ["docs/x/../../../a.md", /^name the other skill instead/],
  [`${"x/../".repeat(2_000)}a.md`, /^write the path/],
];

Deno.test("listBrokenLinks() decodes and normalizes a link, and advises what to write instead", () => {
  const files = ["a.md", "docs/b c.md"];
  for (const [target, advice] of targets) {
    const hints = listBrokenLinks(`\n[x](${target})`, files)
      .map(({ line, hint }) => [line, hint]);
    assert.equal(hints.length, advice === undefined ? 0 : 1, target);
    if (advice === undefined) continue;
    assert.equal(hints[0]![0], 2);
    assert.match(String(hints[0]![1]), advice, target);
  }
  assert.deepEqual(listBrokenLinks("", []), []);
});
