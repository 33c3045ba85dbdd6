import assert from "node:assert/strict";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import { listBrokenLinks } from "./links.ts";

const FILES = [
  "SKILL.md",
  "a.md",
  "docs/b c.md",
  "docs/x.md",
  "scripts/run.py",
  "it's b&c.md",
  // As macOS packs the name of a file.
  "docs/cafe\u0301.md",
];

/** Text in `SKILL.md`, and what is advised about each link that leads to no file. */
const TEXTS: [text: string, ...fixes: RegExp[]][] = [
  ["[x](a.md) [x](./docs/../a.md?x#part) [x](.) [x](docs/) [x](docs)"],
  ["[x](docs/b%20c.md) ![x](<docs/b c.md>) [x](docs\\b.md) [x](my file.md)"],
  ["[x](https://example.com/x.md) [x](mailto:a@example.com) [x](#part)"],
  ["[x](/x.md) [x]({path}) [x](.../x.md)"],
  ['[x](a.md "title")'],
  ["[x](it's%20b&c.md) [x](<it&#39;s b&amp;c.md>) [x](a.md?b&amp;c)"],
  ["[x](docs/caf\u00e9.md) [x](docs/cafe%CC%81.md)"],
  ["[x](caf\u00e9.md)", /^did you mean "docs\/cafe\u0301\.md"\?$/],
  ["[x](docs/caf\u00e9s.md)", /^did you mean "docs\/cafe\u0301\.md"\?$/],
  ["[x](100%.md)", /^add the file, or write the path of one/],
  ["[x](.env)", /^add the file/],
  ["[x](A.MD)", /^did you mean "a\.md"\?$/],
  ["[x](odcs/x.md 'so')", /^did you mean "docs\/x\.md"\?$/],
  ["[x](b%20c.md)", /^did you mean "docs\/b c\.md"\?$/],
  ["[x](b.md) [x](./b.md)", /^did you mean "a\.md"\?$/],
  ["[x](docs/x/../../../a.md)", /^copy the file into the skill/],
  ["[x](..)", /^copy the file into the skill/],
  ["[x](../other/SKILL.md)", /^copy the file into the skill/],
  [`[x](${"x/../".repeat(1_000)}a.md)`, /^add the file/],
  // Paths in code spans.
  ["Run `scripts/run.py`, `./scripts/run.py`, or `python scripts/run.py x`"],
  ["`scripts/`, `scripts/<name>.py`, `docs/none.md`, `scripts/*.py`"],
  ["Run `scripts/none.py`", /^add the file/],
  ["Run `python3 -u scripts/none.py --x`", /^add the file/],
  ["See `references/x.md` and `assets/b.png`", /docs\/x/, /^add the file/],
  // Code and comments.
  ["~~~sh\n[x](code.md)\n```\n~~~\n[x](b.md)", /a\.md/],
  ["1. ```js\n   [x](code.md)\n   ```\n[x](b.md)", /a\.md/],
  ["> ```\n> [x](code.md)\n> ```\n[x](b.md)", /a\.md/],
  ["````md\n```js\n[x](code.md)\n```\n````\n[x](b.md)", /a\.md/],
  ["```sh\npython scripts/none.py\n```\n`scripts/none.sh`", /^add the file/],
  ["`[x](code.md)` ``[x](code.md)`` one \\` and `[x](code.md)`"],
  ["<!-- [x](code.md)\n[y](code.md) -->\n[x](b.md)", /a\.md/],
  ["Text <!-- [x](code.md) <!-- b --> [x](b.md)", /a\.md/],
  ["Text\n\n    [x](code.md)\n\n\\[x](code.md) [x](b.md)", /a\.md/],
  ["- a\n\n  [x](b.md)", /a\.md/],
  // Links by reference, and in HTML.
  ["[x][y] [y]\n\n[y]: <docs/b c.md>\n[^1]: none.md"],
  ["[x][y] [y]\n\n[y]: b.md 'title'", /a\.md/],
  ['<pre>\n[x](code.md) <img src="code.png">\n</pre>'],
  ["<div>\n<code><img src='code.png'></code><img src='a.md'></div>"],
  ["Text <img alt='' src='b.png'>", /^add the file/],
  ['<p align="center">\n<a href="b.md">', /a\.md/],
];

Deno.test("listBrokenLinks() says what to write instead of a path to no file", () => {
  for (const [text, ...fixes] of TEXTS) {
    for (const lineBreak of ["\n", "\r\n"]) {
      const found = listBrokenLinks(
        text.replaceAll("\n", lineBreak),
        "SKILL.md",
        FILES,
      );
      assert.equal(found.length, fixes.length, text);
      for (const [index, { fix, line }] of found.entries()) {
        assert.match(fix, fixes[index]!, text);
        assert.equal(line, text.split("\n").length, text);
      }
    }
  }
});

Deno.test("listBrokenLinks() accepts a link relative to its file, or to the skill", () => {
  const text =
    "[a](x.md) [b](docs/x.md) [c](../a.md) [d](../../a.md) [e](y.md)";
  const found = listBrokenLinks(text, "docs/b c.md", FILES);
  assert.deepEqual(found.map(({ reason }) => reason), [
    'the link "../../a.md" leads outside the skill, which serves only its own files',
    'the link "y.md" does not lead to a file that the skill serves',
  ]);
});

Deno.test("listBrokenLinks() reports 20 links, each once, with its first line", () => {
  const text = "[a](a.md) [b](b.md)\n[b](./b.md) ![c](<c d.png> 'title')\n";
  const found = listBrokenLinks(text, "SKILL.md", [])
    .map(({ line, reason }) => [line, reason.split('"')[1]]);
  assert.deepEqual(found, [[1, "a.md"], [1, "b.md"], [2, "c d.png"]]);
  const links = Array.from({ length: 99 }, (_, index) => `[x](${index}.md)\n`);
  assert.equal(listBrokenLinks(links.join(""), "SKILL.md", []).length, 20);
});

Deno.test("listBrokenLinks() reads the first 256 KiB of a file", () => {
  const link = "\n\n[b](b.md)";
  const start = "Text\n\n".repeat(256 * 1024 / 6 - 3);
  assert.equal(listBrokenLinks(start + link, "SKILL.md", []).length, 1);
  const longer = start + start + link;
  assert.equal(listBrokenLinks(longer, "SKILL.md", []).length, 0);
});

/** What Markdown consists of. */
const REPEATED = {
  links: ["](", "[a](", "](a)", "](<a ", '](a "', "((", "%"],
  code: ["`", "~~~\n", "``` ", "` `` ", "`scripts/", "scripts/", "a -b "],
  blocks: ["- ", "> ", "1. ", "[a]: ", "[a](b 'c", "[a](\n"],
  html: ["<!--", "<pre>", ' src="', " href=", "<a "],
  characters: [" ", "\\"],
};

Deno.test("listBrokenLinks() takes linear time for any repeated text", async () => {
  for (const piece of Object.values(REPEATED).flat()) {
    const cases = [
      ["", ""],
      ["](<", ">)"],
      ["\n```", ""],
      // No fence of code, because of the second backtick.
      ["``` `", ""],
      ["`", "`"],
      ["<p>", ""],
    ];
    for (const [start, end] of cases) {
      await assertLinearTime((length) => {
        const text = piece.repeat(length / piece.length);
        listBrokenLinks(`${start}${text}${end}`, "SKILL.md", FILES);
      }, { length: 100_000, what: JSON.stringify(start + piece) });
    }
  }
});
