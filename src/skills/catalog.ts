/**
 * Catalogs: building them from the skills of a scan, and comparing them.
 *
 * @module
 */

import { skillKey } from "../text.ts";
import { withQualifiedNames } from "./names.ts";
import type {
  Problem,
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillRootReport,
} from "./types.ts";

/** The catalog before the first scan. */
export const EMPTY_CATALOG: SkillCatalog = {
  skills: new Map(),
  problems: [],
  shadowed: [],
  off: [],
  served: new Map(),
  roots: [],
  revision: 0,
};

/** What a scan found. */
interface FoundSkills {
  /** The skills that are served, in the order in which they were found. */
  readonly skills: readonly Skill[];
  readonly off: readonly Skill[];
  readonly problems: readonly Problem[];
  readonly roots: readonly SkillRootReport[];
}

/**
 * Builds a catalog, or returns the previous one if it is the same. If only its
 * problems or the skills that are off are others, it has the maps of the previous one.
 */
export function buildCatalog(
  found: FoundSkills,
  previous: SkillCatalog,
): SkillCatalog {
  const first = new Map<string, Skill>();
  const shadowed: ShadowedSkill[] = [];
  const prefixed = new Map<string, Skill>();
  for (const skill of found.skills) {
    const key = skillKey(skill.name);
    const by = first.get(key);
    if (by === undefined) first.set(key, skill);
    else shadowed.push(shadow(skill, { by, key, prefixed }));
  }
  const counts = Map.groupBy(found.skills, ({ root }) => root);
  const roots = found.roots.map((report) => ({
    ...report,
    skills: counts.get(report.root)?.length ?? 0,
  }));
  const { problems, off } = found;
  const revision = previous.revision + 1;
  if (hasSameSkills(previous, { skills: first, shadowed })) {
    const isSame = isSameList(off, previous.off) &&
      JSON.stringify([problems, roots]) ===
        JSON.stringify([previous.problems, previous.roots]);
    return isSame ? previous : { ...previous, problems, off, roots, revision };
  }
  const skills = new Map(
    [...first.keys()].sort().map((key) => [key, first.get(key)!]),
  );
  const served = withQualifiedNames(skills, shadowed);
  return { skills, problems, shadowed, off, served, roots, revision };
}

/** Describes a shadowed skill. Only the first one of the other scope has a prefix. */
function shadow(
  skill: Skill,
  { by, key, prefixed }: {
    by: Skill;
    key: string;
    prefixed: Map<string, Skill>;
  },
): ShadowedSkill {
  if (skill.scope === by.scope) return { skill, by };
  const known = prefixed.get(key);
  if (known !== undefined) return { skill, by: known };
  const named = withPrefix(skill);
  prefixed.set(key, named);
  return { skill: named, by };
}

/** Copies of skills with their scopes as prefixes. What is gone needs no copy. */
const copies = new WeakMap<Skill, Skill>();

/** Returns a copy of a skill with its scope as the prefix. A repeated call returns the same copy. */
function withPrefix(skill: Skill): Skill {
  const copy = copies.get(skill) ?? { ...skill, prefix: skill.scope };
  copies.set(skill, copy);
  return copy;
}

function isSameList(a: readonly Skill[], b: readonly Skill[]): boolean {
  return a.length === b.length && a.every((skill, index) => skill === b[index]);
}

function hasSameSkills(
  a: SkillCatalog,
  b: Pick<SkillCatalog, "skills" | "shadowed">,
): boolean {
  return a.skills.size === b.skills.size &&
    b.skills.entries().every(([key, skill]) => a.skills.get(key) === skill) &&
    a.shadowed.length === b.shadowed.length &&
    b.shadowed.every(({ skill, by }, index) =>
      a.shadowed[index]!.skill === skill && a.shadowed[index]!.by === by
    );
}

/**
 * Returns the keys of the skills that were added or removed, or whose `SKILL.md`
 * changed. Each time one is parsed, it gets a new frontmatter object.
 */
export function changedKeys(
  { served: now }: SkillCatalog,
  { served: before }: SkillCatalog,
): Set<string> {
  return differingKeys(now, before, (skill) => skill?.frontmatter);
}

/** Returns the keys whose values differ between two maps, compared by some aspect. */
export function differingKeys<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
  aspectOf: (value: T | undefined) => unknown = (value) => value,
): Set<string> {
  if (a === b) return new Set();
  const keys = [...a.keys(), ...b.keys()];
  return new Set(
    keys.filter((key) => aspectOf(a.get(key)) !== aspectOf(b.get(key))),
  );
}
