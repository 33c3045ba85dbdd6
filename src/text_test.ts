import assert from "node:assert/strict";
import { jsonText, stringifyJson } from "./text.ts";

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
