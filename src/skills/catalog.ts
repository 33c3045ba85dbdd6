/** Functions that list, compare, and log the contents of catalogs. */

import { type Diagnostic, FAILURES, formatDiagnostic } from "../diagnostics.ts";
import type { Skill, SkillCatalog } from "./types.ts";

/** The catalog before the first scan. */
export const EMPTY_CATALOG: SkillCatalog = {
  skills: new Map(),
  diagnostics: [],
  shadowed: [],
  skipped: [],
  off: [],
  served: new Map(),
  roots: [],
  revision: 0,
};

export function listAll({ skills, shadowed, off }: SkillCatalog): Skill[] {
  return [...skills.values(), ...shadowed.map(({ skill }) => skill), ...off];
}

/** Finds the diagnostic of an invalid policy or of a scan that failed. */
export function findFailure(
  { diagnostics }: SkillCatalog,
): Diagnostic | undefined {
  return diagnostics.find(({ rule }) => FAILURES.includes(rule));
}

/** Returns the keys under which two catalogs serve different skills. */
export function changedKeys(
  { served: a }: SkillCatalog,
  { served: b }: SkillCatalog,
): Set<string> {
  const keys = new Set([...a.keys(), ...b.keys()]);
  return new Set(
    keys.values().filter((key) => !isSame(a.get(key), b.get(key))),
  );
}

/** Compares skills by their fields, except frontmatter, which changes only with the version. */
function isSame(a: Skill | undefined, b: Skill | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  // All skills have the same fields.
  const fields = Object.keys(a) as (keyof Skill)[];
  return fields.every((it) => it === "frontmatter" || a[it] === b[it]);
}

/** Whether two catalogs have the same diagnostics, which lists and error messages contain. */
export function hasSameDiagnostics(a: SkillCatalog, b: SkillCatalog): boolean {
  return JSON.stringify(a.diagnostics) === JSON.stringify(b.diagnostics);
}

/** Logs what the last scan did not log, and returns all messages, for the next call. */
export function logDiagnostics(
  { diagnostics }: SkillCatalog,
  logged: ReadonlySet<string>,
  log: (message: string) => void,
): ReadonlySet<string> {
  const messages = new Set(diagnostics.map(formatDiagnostic));
  for (const message of messages) {
    if (!logged.has(message)) log(message);
  }
  return messages;
}
