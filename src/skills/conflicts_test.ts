import assert from "node:assert/strict";
import { findConflict, keepFirstVersion } from "./conflicts.ts";

const TEXT = `name: a
description: >-
  Number
<<<<<<< HEAD
  one
||||||| base
  Zero
=======
  Two
user-invocable: false
>>>>>>> b
license: MIT`;

Deno.test("findConflict() finds the first line of a conflict", () => {
  assert.equal(findConflict(TEXT)?.line, 4);
  for (const text of ["a\n=======\nb", "<<<<<<<", " <<<<<<< HEAD"]) {
    assert.equal(findConflict(text), undefined, text);
  }
});

Deno.test("keepFirstVersion() leaves the lines where they are", () => {
  const lines = keepFirstVersion(TEXT).split("\n");
  const kept = TEXT.split("\n").map((line, index) =>
    [3, 5, 6, 7, 8, 9, 10].includes(index) ? "" : line
  );
  assert.deepEqual(lines, kept);
});
