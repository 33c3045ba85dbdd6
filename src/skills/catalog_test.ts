import assert from "node:assert/strict";
import { EMPTY_CATALOG, logProblems } from "./catalog.ts";

const PROBLEM = {
  rule: "yaml",
  file: "/skills/a/SKILL.md",
  reason: "it is malformed",
  hint: "fix it",
} as const;

Deno.test("logProblems() logs each problem once, also if two roots report it, until it is gone", () => {
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const logAll = (problems: typeof PROBLEM[], logged: ReadonlySet<string>) =>
    logProblems({ ...EMPTY_CATALOG, problems }, { logged, log });
  const logged = logAll([PROBLEM, PROBLEM], new Set());
  assert.equal(lines.length, 1);
  assert.equal(logAll([PROBLEM], logged).size, 1);
  assert.equal(lines.length, 1);
  logAll([PROBLEM], logAll([], logged));
  assert.equal(lines.length, 2);
});
