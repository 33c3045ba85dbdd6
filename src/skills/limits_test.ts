import assert from "node:assert/strict";
import { join } from "../fs/paths.ts";
import { findUnlistingReason } from "./limits.ts";
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
    ...leftOut: string[]
  ) =>
    findUnlistingReason(skill, {
      files: Array.from({ length: files }, (_, index) => {
        return { path: `${index}`, size: index === 0 ? size : 0, version: "" };
      }),
      folders: [],
      leftOut: leftOut.map((file) => ({ file, ...diagnostic })),
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
