import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { validName } from "./limits.ts";

Deno.test("validName() returns a name in the form that hosts accept, for any text", () => {
  const cases: [name: string, valid: string | undefined][] = [
    ["git", "git"],
    ["My  Skill!", "my-skill"],
    ["--a__b--", "a-b"],
    ["R&D", "r-d"],
    ["g\u200bit", "git"],
    ["\u00fcber", undefined],
    ["u\u0308ber", undefined],
    ["- -", undefined],
    ["", undefined],
  ];
  for (const [name, valid] of cases) assert.equal(validName(name), valid, name);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const valid = validName(name);
      if (valid === undefined) return;
      assert.match(valid, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      assert.equal(validName(valid), valid);
    }),
  );
});
