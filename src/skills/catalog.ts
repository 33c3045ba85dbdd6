/** Catalogs: their contents, their differences, and their problems in the log. */

import { type Diagnostic, formatDiagnostic } from "../diagnostics.ts";
import { quote } from "../text.ts";
import { qualifiedName } from "./names.ts";
import type { ShadowedSkill, Skill, SkillCatalog } from "./types.ts";

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

/** The advice for a skill that no name loads. The name of its directory does not count. */
export const RENAME =
  "no name loads it, so change the name in the SKILL.md of one of the two";

function formatShadowed({ skill, by }: ShadowedSkill): string {
  const name = quote(skill.name);
  const advice = skill.prefix === undefined
    ? RENAME
    : `load it as ${quote(qualifiedName(skill))}`;
  const [file, holder] = [skill.file, by.file].map(quote);
  return `Shadowed ${file}: the name ${name} is taken by ${holder}, which takes precedence; ${advice}`;
}

const MAX_NAMED_SHADOWED = 3;

function formatAllShadowed(shadowed: readonly ShadowedSkill[]): string[] {
  return shadowed.length <= MAX_NAMED_SHADOWED
    ? shadowed.map(formatShadowed)
    : [
      `Shadowed ${shadowed.length} skills: their names are taken by others; use --list to see them`,
    ];
}

/**
 * Logs the problems of a catalog, except those that were logged before.
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
  const messages = [
    ...diagnostics.map(formatDiagnostic),
    ...formatAllShadowed(shadowed),
  ];
  const now = new Set<string>();
  for (const message of messages) {
    if (!logged.has(message) && !now.has(message)) log(message);
    now.add(message);
  }
  return now;
}
