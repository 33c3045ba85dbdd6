import assert from "node:assert/strict";
import { settingsFor } from "../../tests/testing/command_line.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { openSkills } from "../../tests/testing/report.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import { join } from "../fs/paths.ts";
import { isError } from "../diagnostics.ts";
import { listBrokenLinks } from "./markdown_links.ts";
import { createReport } from "./report.ts";

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

Deno.test("listBrokenLinks() ignores links in code and in comments, but not those after them", () => {
  const samples = codeSamples.map((sample) => sample.join("\n\n"));
  const text = [...samples, "[after](after.md)"].join("\n\n");
  const line = text.split("\n").length;
  for (const lineBreak of ["\n", "\r\n"]) {
    const broken = listBrokenLinks(text.replaceAll("\n", lineBreak), []);
    assert.deepEqual(broken.map(({ line, reason }) => [line, reason]), [
      [line, 'the link "after.md" does not point to a served file'],
    ]);
  }
});

Deno.test("listBrokenLinks() describes each link once, with its first line, and at most 20", () => {
  const text = "[a](a.md) [b](b.md)\n[b](./b.md) ![c](<c d.png> 'title')\n";
  const found = listBrokenLinks(text, [])
    .map(({ line, reason }) => [line, reason.split('"')[1]]);
  assert.deepEqual(found, [[1, "a.md"], [1, "b.md"], [2, "c d.png"]]);
  const links = Array.from({ length: 99 }, (_, index) => `[x](${index}.md)\n`);
  assert.equal(listBrokenLinks(links.join(""), []).length, 20);
});

/** What Markdown consists of. */
const REPEATED = {
  links: ["](", "[a](", "](a)", "](<a ", '](a "', "((", "%"],
  definitions: ["[a]: ", "[a]:\n"],
  code: ["`", "~~~\n", "``` ", "` `` "],
  blocks: ["- ", "> ", "1. ", "<!--"],
  characters: [" ", "\\"],
};

Deno.test("--check takes linear time for any repeated text", async () => {
  for (const piece of Object.values(REPEATED).flat()) {
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
        assert.ok(!report.diagnostics.some(isError));
      }, { length: 300_000, what: JSON.stringify(wrapping + piece) });
    }
  }
});

/** The target of a link in a skill with the files below, and what is advised. */
const targets: [target: string, advice?: RegExp][] = [
  ["a.md"],
  ["./docs/../a.md?x#part"],
  ["."],
  ["docs/"],
  ["docs/b%20c.md"],
  ["<docs/b c.md>"],
  ["docs\\b.md"],
  ["file(1).md"],
  ["file\\_2.md"],
  ['a.md "title"'],
  ["my file.md"],
  ["https://example.com/x.md"],
  ["mailto:a@example.com"],
  ["#part"],
  ["/x.md"],
  ["{path}"],
  [".../x.md"],
  ["100%.md", /^write the path of a file of the skill/],
  ["A.MD", /^did you mean "a\.md"\?$/],
  ["b.md", /^did you mean "a\.md"\?$/],
  ["odcs/x.md 'so'", /^did you mean "docs\/x\.md"\?$/],
  [".env", /^write the path of a file of the skill that is not hidden/],
  ["b%20c.md", /^did you mean "docs\/b c\.md"\?$/],
  ["docs/x/../../../a.md", /^name the other skill instead/],
  [`${"x/../".repeat(2_000)}a.md`, /^write the path/],
];

Deno.test("listBrokenLinks() decodes and normalizes a link, and advises what to write instead", () => {
  const files = ["a.md", "docs/b c.md", "docs/x.md"];
  for (const [target, advice] of targets) {
    const fixes = listBrokenLinks(`\n[x](${target})`, files)
      .map(({ line, fix }) => [line, fix]);
    assert.equal(fixes.length, advice === undefined ? 0 : 1, target);
    if (advice === undefined) continue;
    assert.equal(fixes[0]![0], 2);
    assert.match(String(fixes[0]![1]), advice, target);
  }
  assert.deepEqual(listBrokenLinks("", []), []);
});
