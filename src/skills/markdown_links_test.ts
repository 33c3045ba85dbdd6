import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { findLinks, pathOfTarget } from "./markdown_links.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";

Deno.test("pathOfTarget() resolves a target to a path relative to the skill", () => {
  const paths = {
    "a.md": "a.md",
    "./a/../b//c.md#part?x": "b/c.md",
    "a%20b.md": "a b.md",
    "%C3%BC.md": "\u00fc.md",
    "100%.md": "100%.md",
    "a\\b.md": "a/b.md",
    "a/": "a",
    "./": "",
    "a/..": "",
    "..": "..",
    "a/../../b": "../b",
    "../../b/..": "../..",
    "%2e%2e/b": "../b",
  };
  for (const [target, path] of Object.entries(paths)) {
    assert.equal(pathOfTarget(target), path, target);
  }
});

Deno.test("pathOfTarget() returns undefined for targets that are not paths in a skill", () => {
  const targets = [
    "https://example.com/a.md",
    "mailto:a@example.com",
    ...["/a.md", "\\\\server\\a.md", "#part", "?query", "~/a.md", "@a/b"],
    ...["{path}", "$HOME/a.md", "*.md", "a|b", "..."],
  ];
  for (const target of targets) {
    assert.equal(pathOfTarget(target), undefined, target);
  }
});

/** Resolves the links in a text to paths. */
function findPaths(markdown: string): (string | undefined)[] {
  return findLinks(markdown).map(({ target }) => pathOfTarget(target))
    .toArray();
}

const slow: [string, string, string, string, number?][] = [
  ["a link through many parent folders", "[a](", "../", ")"],
  ["a link through many encoded parent folders", "[a](", "%2e%2e/", ")"],
  ["a link through many nested folders", "[a](", "a/", ")"],
  ["links to a parent folder", "", "[a](../", ""],
  ["malformed links", "", "[a](%ff)", ""],
  ["a fence before a line separator", "", "`", "\u2028", 20_000],
  ["a fence before a carriage return", "> ", "~", "\ra", 20_000],
];

for (const [what, start, piece, end, length = 200_000] of slow) {
  Deno.test(`findLinks() and pathOfTarget() take linear time for ${what}`, async () => {
    await assertLinearTime((length) => {
      findPaths(start + piece.repeat(length / piece.length) + end);
    }, { length, what });
  });
}

/** Markdown syntax and line endings. */
const piece = fc.constantFrom(
  ...["](", "[", "]", "(", ")", "<", ">", "<!--", "-->", "]: ", "[a]: b"],
  ...["`", "``", "```", "~~~", "- ", "* ", "1.", "> ", "^", "!", "\\", "\\`"],
  ...['"', "'", "%", "%2e", "../", "./", "/", "a", "\u00e9", "&amp;"],
  ...[" ", "\t", "\n", "\r", "\r\n", "\u2028", "\u3000", "\ufeff", "\ud800"],
);

Deno.test("findLinks() and pathOfTarget() take linear time for any repeated text", async () => {
  const text = (maxLength: number) =>
    fc.array(piece, { maxLength }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(
      text(2),
      text(5).filter((pieces) => pieces !== ""),
      text(2),
      async (start, middle, end) => {
        await assertLinearTime((length) => {
          const count = Math.ceil(length / middle.length);
          findPaths(start + middle.repeat(count) + end);
        }, {
          length: 20_000,
          what: JSON.stringify([start, middle, end]),
        });
      },
    ),
    { numRuns: 200 },
  );
});
