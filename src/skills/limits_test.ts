import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { join } from "../fs/paths.ts";
import { findUnlistingReason, validName } from "./limits.ts";
import type { Skill } from "./types.ts";

Deno.test("findUnlistingReason() allows at most 512 files, 2,048 files and folders, and 16 MiB, and names an unreadable skill directory", () => {
  const skill = {
    directory: join("skills", "git"),
    frontmatter: { name: "git", description: "d" },
  } as Skill;
  const diagnostic = {
    rule: "inaccessible" as const,
    reason: "it is locked",
    fix: "unlock",
  };
  const least = { files: 1, entries: 1, size: 0 };
  const reasonFor = (
    { files, entries, size }: typeof least,
    ...skipped: string[]
  ) =>
    findUnlistingReason(skill, {
      files: Array.from({ length: files }, (_, index) => {
        return { path: `${index}`, size: index === 0 ? size : 0, version: "" };
      }),
      dirs: [],
      skipped: skipped.map((file) => ({ file, ...diagnostic })),
      entries,
    });
  const most = { files: 512, entries: 2_048, size: 16 * 2 ** 20 };
  assert.equal(reasonFor(most, "a/", "b.md"), undefined);
  assert.equal(reasonFor(least, "")?.rule, "unreadable");
  for (const key of ["files", "entries", "size"] as const) {
    const { rule, reason } = reasonFor({ ...most, [key]: most[key] + 1 })!;
    assert.deepEqual([rule, reason], [
      "size",
      "the skill has more than 512 files, 2048 files and folders, or 16 MiB",
    ], key);
  }
});

Deno.test("validName() returns a name in the form that hosts accept, for any text", () => {
  const cases: [name: string, valid: string | undefined][] = [
    ["git", "git"],
    ["My  Skill!", "my-skill"],
    ["--a__b--", "a-b"],
    ["R&D", "r-d"],
    ["g\u200bit", "git"],
    ["über", undefined],
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
