import assert from "node:assert/strict";
import { listInvisible, withoutInvisible } from "./invisible.ts";

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
