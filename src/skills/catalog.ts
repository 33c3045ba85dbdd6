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
  SkillProblem,
  SkillRoot,
  SkillState,
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

/** Decides which skills have which names. */
export class CatalogBuilder {
  readonly #variants: SkillVariants;
  readonly #skills = new Map<string, Skill>();
  readonly #shadowed: ShadowedSkill[] = [];
  readonly #counts = new Map<SkillRoot, number>();

  /** Creates a builder without skills. The copies of skills are kept for later catalogs. */
  constructor(variants: SkillVariants) {
    this.#variants = variants;
  }

  /** Adds a skill. If its name is taken, it is shadowed. */
  add(found: Skill, state: SkillState): void {
    const skill = state === "on"
      ? found
      : this.#variants.create(found, { state });
    const { root, name } = skill;
    this.#counts.set(root, (this.#counts.get(root) ?? 0) + 1);
    const key = skillKey(name);
    const by = this.#skills.get(key);
    if (by === undefined) this.#skills.set(key, skill);
    else this.#shadowed.push({ skill, by });
  }

  /** Builds the catalog, or returns the previous one if it is the same. */
  build(
    { problems, roots, previous }:
      & Pick<SkillCatalog, "problems" | "roots">
      & { previous: SkillCatalog },
  ): SkillCatalog {
    const found = {
      skills: this.#skills,
      problems,
      shadowed: withPrefixes(this.#skills, {
        shadowed: this.#shadowed,
        variants: this.#variants,
      }),
      roots: roots.map((report) => ({
        ...report,
        skills: this.#counts.get(report.root) ?? 0,
      })),
      revision: previous.revision + 1,
    };
    if (isSameCatalog(found, previous)) return previous;
    const keys = [...this.#skills.keys()].sort();
    const skills = new Map(keys.map((key) => [key, this.#skills.get(key)!]));
    const served = withQualifiedNames(skills, found.shadowed);
    return { ...found, skills, served };
  }
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
    a.problems.length === b.problems.length &&
    a.problems.every((problem, index) =>
      isSameProblem(problem, b.problems[index]!)
    ) &&
    JSON.stringify(a.roots) === JSON.stringify(b.roots);
}

function isSameProblem(a: SkillProblem, b: SkillProblem): boolean {
  return a === b ||
    a.file === b.file && a.line === b.line && a.reason === b.reason &&
      a.hint === b.hint && a.names?.join("\n") === b.names?.join("\n") &&
      JSON.stringify(a.others) === JSON.stringify(b.others);
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
