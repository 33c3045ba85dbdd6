import assert from "node:assert/strict";
import { escapeInvisible, listInvisible } from "./invisible.ts";
import {
  escapeXml,
  formatIndentedJson,
  nearestWords,
  oneLine,
  quote,
  stringifyJson,
} from "./text.ts";

Deno.test("stringifyJson() replaces lone surrogates in keys and values, and nothing else", () => {
  const value = { "\udfff": ["x \ud800 y", "\ud83d\ude00", "\udead\ud83d"] };
  const json = stringifyJson(value);
  assert.doesNotMatch(json, /\\u/);
  assert.deepEqual(JSON.parse(json), {
    "\ufffd": ["x \ufffd y", "\u{1f600}", "\ufffd\ufffd"],
  });
  for (const text of ["\\ud800", "\\\\ud800", "\\", "C:\\udp", "\u001f\\"]) {
    const value = [text, `${text}\ud800`, `\ud800${text}`];
    const expected = value.map((text) => text.toWellFormed());
    assert.deepEqual(JSON.parse(stringifyJson(value)), expected);
  }
  const fine = { a: ["\u{1f600}", "\n\u0007\u007f", 'C:\\u "q"', null, 1.5] };
  assert.equal(stringifyJson(fine, 2), JSON.stringify(fine, null, 2));
});

/** One invisible character of each kind. */
const HIDDEN_CHARACTERS = {
  "a tag": "\u{e0041}",
  "a bidirectional override": "\u202e",
  "a zero-width space": "\u200b",
  "a zero-width joiner": "\u200d",
  "a byte order mark": "\ufeff",
  "a variation selector": "\ufe00",
  "an interlinear annotation": "\ufff9",
  "a Hangul filler": "\u3164",
  "a control character": "\u0007",
  "a control character of the C1 set": "\u009b",
};

Deno.test("no displayed text contains a hidden character", () => {
  for (const [what, character] of Object.entries(HIDDEN_CHARACTERS)) {
    const text = `gi${character}t`;
    assert.equal(oneLine(` ${text} ${character} x`), "git x", what);
    assert.equal(escapeXml(`<${text}&>`), "&lt;git&amp;&gt;", what);
    const escaped = [
      quote(text),
      escapeInvisible(text),
      formatIndentedJson(text),
    ];
    for (const shown of escaped) {
      assert.match(shown, /^"?gi(?:\\u[\da-f]{4})+t"?\n?$/, what);
    }
    assert.equal(JSON.parse(quote(text)), text, what);
    const codePoint = character.codePointAt(0)!.toString(16).toUpperCase();
    const listed = [`U+${codePoint.padStart(4, "0")}`];
    assert.deepEqual(listInvisible(text + text), listed, what);
  }
});

Deno.test("nearestWords() finds words with a common prefix or few different letters", () => {
  const cases: [word: string, words: string[], nearest: string[]][] = [
    ["of", ["on", "off"], ["off", "on"]],
    ["gti", ["pdf", "git"], ["git"]],
    ["Scop", ["state", "scope"], ["scope"]],
    ["name", ["manual", "name-only"], ["name-only"]],
    ["disabled", ["on", "off"], []],
    ["", ["on", "a"], []],
    ["x", ["y"], []],
  ];
  for (const [word, words, nearest] of cases) {
    assert.deepEqual(nearestWords(word, words), nearest, word);
  }
});
