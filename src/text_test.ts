import assert from "node:assert/strict";
import { inProportion } from "./testing.ts";
import {
  escapeHidden,
  escapeXml,
  jsonText,
  listInvisible,
  oneLine,
  quote,
  skillKey,
  stringifyJson,
  withoutInvisible,
} from "./text.ts";

Deno.test("stringifyJson() replaces what is half of a surrogate pair, in keys and values", () => {
  const value = { "\udfff": ["x \ud800 y", "\ud83d\ude00", "\udead\ud83d"] };
  const json = stringifyJson(value);
  assert.doesNotMatch(json, /\\u/);
  assert.deepEqual(JSON.parse(json), {
    "\ufffd": ["x \ufffd y", "\u{1f600}", "\ufffd\ufffd"],
  });
});

Deno.test("stringifyJson() leaves literal backslashes alone", () => {
  for (
    const text of [
      "\\ud800",
      "\\\\ud800",
      "\\\\\\ud800",
      "\\",
      "C:\\udp",
      "\u001f\\",
    ]
  ) {
    const value = [text, `${text}\ud800`, `\ud800${text}`];
    assert.deepEqual(
      JSON.parse(stringifyJson(value)),
      value.map((text) => text.toWellFormed()),
    );
  }
});

Deno.test("stringifyJson() writes what JSON.stringify() does where nothing is wrong", () => {
  const value = { a: ["\u{1f600}", "\n\u0007\u007f", 'C:\\u "q"', null, 1.5] };
  assert.equal(stringifyJson(value), JSON.stringify(value));
  assert.equal(stringifyJson(value, 2), JSON.stringify(value, null, 2));
});

Deno.test("jsonText() is well-formed", () => {
  assert.deepEqual(JSON.parse(jsonText({ a: "\ud800" })), { a: "\ufffd" });
});

/** One of each kind of character that nobody can see. */
const HIDDEN_CHARACTERS = [
  ["a tag", "\u{e0041}"],
  ["a bidirectional override", "\u202e"],
  ["a bidirectional isolate", "\u2066"],
  ["a left-to-right mark", "\u200e"],
  ["an Arabic letter mark", "\u061c"],
  ["a zero-width space", "\u200b"],
  ["a zero-width joiner", "\u200d"],
  ["a word joiner", "\u2060"],
  ["an invisible plus", "\u2064"],
  ["a byte order mark", "\ufeff"],
  ["a soft hyphen", "\u00ad"],
  ["a Mongolian vowel separator", "\u180e"],
  ["a variation selector", "\ufe00"],
  ["a variation selector of the supplement", "\u{e0100}"],
  ["an interlinear annotation", "\ufff9"],
  ["a Hangul filler", "\u3164"],
  ["a control character", "\u0007"],
  ["a control character of the C1 set", "\u009b"],
] as const;

for (const [what, character] of HIDDEN_CHARACTERS) {
  Deno.test(`nothing that is shown holds ${what}`, () => {
    const text = `gi${character}t`;
    assert.equal(withoutInvisible(text), "git");
    assert.equal(oneLine(` ${text} ${character} x`), "git x");
    assert.equal(escapeXml(`<${text}>`), "&lt;git&gt;");
    assert.equal(skillKey(text), skillKey("git"));
    const escaped = JSON.stringify(text).slice(1, -1);
    for (const shown of [quote(text), escapeHidden(text), jsonText(text)]) {
      assert.match(shown, /^"?gi(?:\\u[\da-f]{4})+t"?\n?$/, escaped);
    }
    assert.equal(JSON.parse(quote(text)), text);
    assert.equal(JSON.parse(jsonText(text)), text);
    const codePoint = character.codePointAt(0)!.toString(16).toUpperCase();
    assert.deepEqual(listInvisible(text + text), [
      `U+${codePoint.padStart(4, "0")}`,
    ]);
  });
}

Deno.test("withoutInvisible() keeps what can be seen, and makes each line break a line feed", () => {
  const seen = "Größe 日本語 سلام \u{1f600} \u{1d400} a\u0301\t|\u00a0|\u3000|";
  assert.equal(withoutInvisible(seen), seen);
  assert.equal(
    withoutInvisible("a\r\nb\rc\nd\u2028e\u2029f\vg\fh"),
    "a\nb\nc\nd\ne\nf\ng\nh",
  );
  assert.equal(withoutInvisible("x \ud800 y"), "x \ufffd y");
});

Deno.test("listInvisible() lists nothing that emoji or joining scripts need", () => {
  for (
    const text of [
      "\u26a0\ufe0f 1\ufe0f\u20e3",
      "\u{1f468}\u200d\u{1f469}\u{1f3fd}\u200d\u{1f467} \u2764\ufe0f\u200d\u{1f525}",
      "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
      "\u0915\u094d\u200d\u0937",
      "a\tb\r\nc",
    ]
  ) {
    assert.deepEqual(listInvisible(text), []);
  }
  assert.deepEqual(listInvisible("a\ufe0f b\u200dc \u26a0\ufe0f\ufe0f"), [
    "U+FE0F",
    "U+200D",
  ]);
});

Deno.test("skillKey() takes time in proportion to the name, however many marks it has", async () => {
  await inProportion(
    (length) => skillKey(`a${"\u0301\u0316".repeat(length / 2)}`),
    { length: 100_000, what: "the key" },
  );
});

Deno.test("skillKey() composes accents in names as long as they come", () => {
  const composed = "\u00e9".repeat(2_000);
  assert.equal(skillKey("e\u0301".repeat(2_000)), composed);
  const marks = "\u0316\u0301".repeat(15);
  assert.equal(skillKey(`e${marks}`), `e${marks}`.normalize("NFC"));
});
