import assert from "node:assert/strict";
import {
  escapeInvisible,
  listInvisible,
  withoutInvisible,
} from "./invisible.ts";
import {
  escapeXml,
  formatIndentedJson,
  isCopyable,
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

Deno.test("withoutInvisible() keeps visible characters and normalizes line breaks", () => {
  const seen = "Größe 日本語 سلام \u{1f600} \u{1d400} a\u0301\t|\u00a0|\u3000|";
  assert.equal(withoutInvisible(seen), seen);
  assert.equal(
    withoutInvisible("a\r\nb\rc\nd\u2028e\u2029f\vg\fh"),
    "a\nb\nc\nd\ne\nf\ng\nh",
  );
  assert.equal(withoutInvisible("x \ud800 y"), "x \ufffd y");
});

/** Texts with characters that only emoji and joining scripts need. */
const JOINED = [
  "\u{1f468}\u200d\u{1f469}\u{1f3fd}\u200d\u{1f467}",
  "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
  "\u0915\u094d\u200d\u0937",
];

Deno.test("withoutInvisible() keeps joiners only in emoji and in scripts without case", () => {
  for (const text of JOINED) assert.equal(withoutInvisible(text), text);
  const dropped = [
    "a\u200db",
    "\u0436\u200c\u0436",
    "1\u200d\u{1f468}",
    "\u200d\u0915",
    "\u0915\u200d",
    "\u0915\u200c\u200d\u0937",
    "\u{1f468}\u200da",
    "\u0915\u200b\u0937",
    "\u{1f468}\ufe0f",
  ];
  for (const text of dropped) {
    const visible = text.replace(/[\u200b-\u200d\ufe0f]/g, "");
    assert.equal(withoutInvisible(text), visible, JSON.stringify(text));
  }
  // The style of an emoji goes, and its joiner stays.
  const styled = "\u2764\ufe0f\u200d\u{1f525}";
  assert.equal(withoutInvisible(styled), "\u2764\u200d\u{1f525}");
});

Deno.test("isCopyable() refuses what looks like the log, hides something, or is a command", () => {
  const refused = [
    "::error::x",
    "  ::error::x",
    "\u00a0::x",
    "a ##[error]x",
    "##vso[task.setvariable variable=PATH]/evil",
    "skill-server: Serving",
    "skill-server:x",
    "a\u200bb",
    "a\nb",
    "a\tb",
    "a\u001b[0m",
  ];
  const accepted = ["name: a", "  version: '1'", "---", "a: b::c #[d]", "## a"];
  for (const line of refused) assert.equal(isCopyable(line), false, line);
  for (const line of accepted) assert.equal(isCopyable(line), true, line);
});

Deno.test("listInvisible() ignores characters that emoji and joining scripts need", () => {
  const cases: [text: string, ...listed: string[]][] = [
    ...JOINED.map((text): [string] => [text]),
    ["\u26a0\ufe0f 1\ufe0f\u20e3 \u2764\ufe0f\u200d\u{1f525}"],
    ["a\tb\r\nc"],
    ["a\ufe0f b\u200dc \u26a0\ufe0f\ufe0f", "U+FE0F", "U+200D"],
    // Scripts with uppercase letters do not join them.
    ["\u0436\u200d\u0436", "U+200D"],
  ];
  for (const [text, ...listed] of cases) {
    assert.deepEqual(listInvisible(text), listed);
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
