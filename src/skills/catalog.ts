/**
 * Catalogs: building them from the skills of a scan, and comparing them.
 *
 * @module
 */

import { skillKey, withoutInvisible } from "../text.ts";
import { createSkill, type FoundSkill } from "./found_skills.ts";
import { isScopedName, qualifiedName } from "./names.ts";
import type {
  Problem,
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillRootReport,
  SkillScope,
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

/** The result of a search. */
interface SearchResult {
  /** The valid skills that are not off, in the order of their roots. */
  readonly found: readonly FoundSkill[];
  readonly problems: readonly Problem[];
  readonly roots: readonly SkillRootReport[];
}

/**
 * Builds a catalog, or returns the previous one if it is the same. If only its
 * problems are others, it has the maps of the previous one.
 */
export function buildCatalog(
  { found, problems, roots: searched }: SearchResult,
  previous: SkillCatalog,
): SkillCatalog {
  const counts = Map.groupBy(found, ({ listings }) => listings[0]!.root);
  const roots = searched.map((report) => ({
    ...report,
    skills: counts.get(report.root)?.length ?? 0,
  }));
  const named = nameSkills(found);
  const all = listAll(named);
  const before = listAll(previous);
  const hasSameSkills = all.length === before.length &&
    all.every((skill, index) => skill === before[index]);
  const isSame = hasSameSkills &&
    JSON.stringify([problems, roots]) ===
      JSON.stringify([previous.problems, previous.roots]);
  if (isSame) return previous;
  const maps = hasSameSkills ? previous : named;
  return { ...maps, problems, roots, revision: previous.revision + 1 };
}

/** Decides which skill has which name. */
function nameSkills(
  found: readonly FoundSkill[],
): Pick<SkillCatalog, "skills" | "shadowed" | "served"> {
  /** The first skills of each name, and of each name in each scope. */
  const first = new Map<string, Skill>();
  const firstInScope: Record<SkillScope, Map<string, Skill>> = {
    project: new Map(),
    global: new Map(),
  };
  const shadowed: ShadowedSkill[] = [];
  for (const it of found) {
    const key = skillKey(withoutInvisible(it.read.said.frontmatter!.name));
    const inScope = firstInScope[it.scope];
    const isFirstInScope = !inScope.has(key);
    const by = inScope.get(key) ?? first.get(key);
    const isPlain = by === undefined && !isScopedName(key);
    const prefix = isFirstInScope && !isPlain ? it.scope : undefined;
    const skill = createSkill(it, prefix)!;
    if (isFirstInScope) inScope.set(key, skill);
    if (by === undefined) first.set(key, skill);
    else shadowed.push({ skill, by });
  }
  const skills = new Map(
    [...first.keys()].sort().map((key) => [key, first.get(key)!]),
  );
  const others = shadowed.map(({ skill }) => skill)
    .filter(({ prefix }) => prefix !== undefined);
  const served = new Map(
    [...skills.values(), ...others]
      .map((skill) => [skillKey(qualifiedName(skill)), skill]),
  );
  return { skills, shadowed, served };
}

function listAll(
  { skills, shadowed }: Pick<SkillCatalog, "skills" | "shadowed">,
): Skill[] {
  return [...skills.values(), ...shadowed.map(({ skill }) => skill)];
}

/** Returns the keys whose values differ between two maps. */
export function differingKeys<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
): Set<string> {
  const keys = [...a.keys(), ...b.keys()];
  return new Set(keys.filter((key) => a.get(key) !== b.get(key)));
}
