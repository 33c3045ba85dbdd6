/**
 * Catalogs: building them from the skills of a scan, and comparing them.
 *
 * @module
 */

import {
  type SkillVariants,
  withPrefixes,
  withQualifiedNames,
} from "./names.ts";
import { skillKey } from "../text.ts";
import type {
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillChange,
} from "./types.ts";

/** The catalog before the first scan. */
export const EMPTY_CATALOG: SkillCatalog = {
  skills: new Map(),
  problems: [],
  shadowed: [],
  served: new Map(),
  roots: [],
  revision: 0,
};

/**
 * Builds the catalog of some skills, or returns the previous one if it is the same.
 *
 * @param found The skills that are served, in the order in which they were found.
 * @param options The problems, the roots, the previous catalog, and the owner of
 *   the copies that have prefixes.
 */
export function buildCatalog(
  found: readonly Skill[],
  { problems, roots, previous, variants }:
    & Pick<SkillCatalog, "problems" | "roots">
    & { previous: SkillCatalog; variants: SkillVariants },
): SkillCatalog {
  const first = new Map<string, Skill>();
  const others: ShadowedSkill[] = [];
  const counts = new Map(roots.map(({ root }) => [root, 0]));
  for (const skill of found) {
    const key = skillKey(skill.name);
    const by = first.get(key);
    if (by === undefined) first.set(key, skill);
    else others.push({ skill, by });
    counts.set(skill.root, counts.get(skill.root)! + 1);
  }
  const catalog = {
    skills: first,
    problems,
    shadowed: withPrefixes(first, { shadowed: others, variants }),
    roots: roots.map((report) => {
      return { ...report, skills: counts.get(report.root)! };
    }),
    revision: previous.revision + 1,
  };
  if (isSameCatalog(catalog, previous)) return previous;
  const skills = new Map(
    [...first.keys()].sort().map((key) => [key, first.get(key)!]),
  );
  const served = withQualifiedNames(skills, catalog.shadowed);
  return { ...catalog, skills, served };
}

function isSameCatalog(
  a: Omit<SkillCatalog, "served">,
  b: SkillCatalog,
): boolean {
  return a.skills.size === b.skills.size &&
    a.skills.entries().every(([key, skill]) => b.skills.get(key) === skill) &&
    a.shadowed.length === b.shadowed.length &&
    a.shadowed.every(({ skill, by }, index) =>
      b.shadowed[index]!.skill === skill && b.shadowed[index]!.by === by
    ) &&
    JSON.stringify([a.problems, a.roots]) ===
      JSON.stringify([b.problems, b.roots]);
}

/** Returns the keys of the skills that differ between two catalogs. */
export function changedSkills(
  catalog: SkillCatalog,
  previous: SkillCatalog,
): Pick<SkillChange, "keys" | "states"> {
  if (catalog === previous) return { keys: new Set(), states: new Set() };
  const { served: now } = catalog;
  const { served: before } = previous;
  // Each time a SKILL.md is parsed, it gets a new frontmatter object.
  const keys = differingKeys(now, before, (skill) => skill?.frontmatter);
  const states = differingKeys(now, before, (skill) => skill?.state);
  return { keys, states: states.difference(keys) };
}

/** Returns the keys whose values differ between two maps, compared by some aspect. */
export function differingKeys<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
  aspectOf: (value: T | undefined) => unknown = (value) => value,
): Set<string> {
  const keys = [...a.keys(), ...b.keys()];
  return new Set(
    keys.filter((key) => aspectOf(a.get(key)) !== aspectOf(b.get(key))),
  );
}
