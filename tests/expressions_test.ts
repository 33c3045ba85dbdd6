// No regular expression of the source takes more than linear time, whatever the text.
import assert from "node:assert/strict";
import { listExpressions, listTexts } from "./testing/expressions.ts";
import { read } from "./testing/pages.ts";
import { MODULES } from "./testing/sources.ts";
import { assertLinearTime } from "./testing/waiting.ts";

/** Does what may be done with an expression: searches a whole text for all matches. */
function searchAll(text: string, { source, flags }: RegExp): void {
  text.replaceAll(new RegExp(source, `${flags.replace("g", "")}g`), "");
}

for (const path of MODULES) {
  const text = read(path);
  const expressions = listExpressions(path, text);
  if (expressions.length === 0) continue;
  Deno.test(`each regular expression of ${path} takes linear time`, async () => {
    for (const { place, regExp } of expressions) {
      for (const { start, piece } of listTexts(regExp)) {
        await assertLinearTime((length) => {
          // What ends the text is no part of a match.
          const text = `${start}${piece.repeat(length / piece.length)}\0`;
          searchAll(text, regExp);
        }, {
          length: 60_000,
          what: `${place} ${regExp} with ${JSON.stringify([start, piece])}`,
        });
      }
    }
  });
}

Deno.test("listExpressions() finds literals, and expressions with and without new, of others", () => {
  const text = `
const WORD = /\\w+/u;
const BOTH = new RegExp(\`\${WORD.source}|"\`, "g");
if (RegExp("[/]").test(a / b / c)) f(/x/.source);`;
  assert.deepEqual(
    listExpressions("a.ts", text).map(({ place, regExp }) =>
      `${place} ${regExp}`
    ),
    ["a.ts:2 /\\w+/u", 'a.ts:3 /\\w+|"/g', "a.ts:4 /[/]/", "a.ts:4 /x/"],
  );
});

Deno.test("listTexts() lists what makes a quadratic expression slow", () => {
  const slow: [RegExp, string, string][] = [
    [/\/+$/, "", "/"],
    [/^:[ \t]+(?![^]*\v)@/, ":", " "],
    [/^[{[](?:\s*,)?\s*\s*[^}\]]?[}\]]$/, "{", " "],
    [/^(?:\u00fc\p{Lo}|ab{3})\d*\d*x/u, "abbb", "0"],
    [/<a(?=b)[^>]+>/, "<a", "b"],
    [/x(?:--)*(?:--)*y/, "x", "--"],
  ];
  for (const [regExp, start, piece] of slow) {
    const isListed = listTexts(regExp).some((text) =>
      text.start === start && text.piece === piece
    );
    assert.ok(isListed, `${regExp}`);
  }
});
