import assert from "node:assert/strict";
import { join } from "../files/paths.ts";
import { findUnlistingFault } from "./checks.ts";
import type { Skill } from "./types.ts";

Deno.test("findUnlistingFault() allows at most 16 MiB, and names an unreadable skill directory", () => {
  const skill = {
    directory: join("skills", "git"),
    frontmatter: { name: "git", description: "d" },
  } as Skill;
  const problem = {
    rule: "inaccessible" as const,
    reason: "it is locked",
    hint: "unlock",
  };
  const faultFor = (size: number, ...leftOut: string[]) =>
    findUnlistingFault(skill, {
      files: [{ path: "SKILL.md", size, version: "" }],
      folders: [],
      leftOut: leftOut.map((file) => ({ file, ...problem })),
      entries: 1,
    }, "");
  const limit = 16 * 2 ** 20;
  assert.equal(faultFor(limit, "a/", "b.md"), undefined);
  assert.equal(faultFor(0, "")?.rule, "unreadable");
  const fault = faultFor(limit + 1)!;
  assert.deepEqual([fault.rule, fault.reason], [
    "size",
    "the skill has more than 512 files, 2048 files and folders, or 16 MiB",
  ]);
});
