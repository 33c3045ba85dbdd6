import assert from "node:assert/strict";
import { parse as parseYaml } from "jsr:@std/yaml@^1";
import fc from "npm:fast-check@^4";
import { parseYamlOrError } from "./yaml_errors.ts";

/** Words with which a line is, or only resembles, a field with a text. */
const word = fc.constantFrom(
  ...["name", "description", "a-b", "null", "True", "~", "y", "1.0", "0x1f"],
  ...[".inf", "a:", ":b", "a:b", "#", "a#", "#b", "-", "---", "...", "?", "&"],
  ...["*", "!", "|", ">", "@", "`", "%", "'", '"', '\\"', "\\n", "[", "]", "{"],
  ...["}", ",", "=", "<<", "é", "\u2028", "\ufeff", "\t", "\r", "\0", "", " "],
);

const text = fc.tuple(
  fc.constantFrom("", '"', "'", " "),
  fc.array(word, { maxLength: 4 }),
  fc.constantFrom("", '"', "'", " "),
).map(([opening, words, closing]) => opening + words.join(" ") + closing);

const key = fc.oneof(
  word,
  fc.constantFrom("__proto__", "constructor", "a".repeat(64), "a".repeat(65)),
);

const line = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(key, text).map((pair) => pair.join(": ")) },
  text,
);

const yaml = fc.array(line, { maxLength: 3 }).map((lines) => lines.join("\n"));

Deno.test("parseYamlOrError() returns what the YAML parser returns", () => {
  fc.assert(
    fc.property(yaml, (yaml) => {
      let expected;
      try {
        expected = parseYaml(yaml, { schema: "core" });
      } catch (error) {
        assert.throws(() => {
          throw parseYamlOrError(yaml);
        }, error as Error);
        return;
      }
      assert.deepEqual(parseYamlOrError(yaml), expected);
    }),
    { numRuns: 5_000 },
  );
});
