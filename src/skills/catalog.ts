/** Catalogs: what they contain, how they differ, and what the log says of them. */

import { type Diagnostic, formatDiagnostic } from "../diagnostics.ts";
import { count } from "../text.ts";
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

export function listAll(
  { skills, shadowed, off }: Pick<SkillCatalog, "skills" | "shadowed" | "off">,
): Skill[] {
  return [...skills.values(), ...shadowed.map(({ skill }) => skill), ...off];
}

export function findPolicyDiagnostic(
  { diagnostics }: SkillCatalog,
): Diagnostic | undefined {
  return diagnostics.find(({ rule }) => rule === "policy");
}

export function differingKeys<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
): Set<string> {
  return new Set(
    [...a.keys(), ...b.keys()].filter((key) => a.get(key) !== b.get(key)),
  );
}

/**
 * Logs the diagnostics of a catalog, and how many skills are shadowed, except what was
 * logged before.
 *
 * @returns The messages about all of them.
 */
export function logDiagnostics(
  { diagnostics, shadowed }: SkillCatalog,
  { logged, log }: {
    logged: ReadonlySet<string>;
    log: (message: string) => void;
  },
): ReadonlySet<string> {
  const messages = new Set(diagnostics.map(formatDiagnostic));
  if (shadowed.length > 0) messages.add(formatShadowed(shadowed.length));
  for (const message of messages) {
    if (!logged.has(message)) log(message);
  }
  return messages;
}

function formatShadowed(number: number): string {
  const skills = count(number, "skill");
  return `${skills} shadowed by others of the same name; --list shows which names load them`;
}
