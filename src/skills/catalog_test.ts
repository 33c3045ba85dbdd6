import assert from "node:assert/strict";
import { EMPTY_CATALOG, logDiagnostics } from "./catalog.ts";

const DIAGNOSTIC = {
  rule: "yaml",
  file: "/skills/a/SKILL.md",
  reason: "it is malformed",
  fix: "fix it",
} as const;

Deno.test("logDiagnostics() logs each problem once, also if two roots report it, until it is gone", () => {
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const logAll = (
    diagnostics: typeof DIAGNOSTIC[],
    logged: ReadonlySet<string>,
  ) => logDiagnostics({ ...EMPTY_CATALOG, diagnostics }, { logged, log });
  const logged = logAll([DIAGNOSTIC, DIAGNOSTIC], new Set());
  assert.equal(lines.length, 1);
  assert.equal(logAll([DIAGNOSTIC], logged).size, 1);
  assert.equal(lines.length, 1);
  logAll([DIAGNOSTIC], logAll([], logged));
  assert.equal(lines.length, 2);
});
