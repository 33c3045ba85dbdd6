/**
 * Who can load which skills, and in which order all views list them. The user's own
 * skills precede the project's, so that a cloned repository pushes none of them out.
 *
 * @module
 */

import { SkillSearch } from "../skills/search.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";

/** Whether the model can load a skill. */
export function isForModel({ isHiddenFromModel, state }: Skill): boolean {
  return !isHiddenFromModel && state !== "manual";
}

/** Whether the user can load a skill. */
export function isForUser({ isHiddenFromUser }: Skill): boolean {
  return !isHiddenFromUser;
}

/** Lists the skills that the model can load, in list order. */
export function listModelSkills({ skills }: SkillCatalog): Skill[] {
  return [...skills.values()].filter(isForModel).sort(byListRank);
}

/** Lists the skills that the user can load, in list order. */
export function listUserSkills({ skills }: SkillCatalog): Skill[] {
  return [...skills.values()].filter(isForUser).sort(byListRank);
}

/** Compares two skills by their places in lists. */
export function byListRank(a: Skill, b: Skill): number {
  return listRank(a) - listRank(b);
}

/**
 * Returns the rank of a skill in lists: pinned ones first, those listed by name only
 * last, and among equals the user's own first.
 */
function listRank({ state, scope }: Skill): number {
  const rank = state === "pinned" ? 0 : state === "name-only" ? 2 : 1;
  return 2 * rank + (scope === "project" ? 1 : 0);
}

/** Returns the sort key of an item in a paged list: the rank of its skill, then a text. */
export function listKey(skill: Skill, text: string): string {
  return `${listRank(skill)} ${text}`;
}

/**
 * Returns how much of something the project's skills get: what they need, but at most
 * half while the user's own skills need the rest.
 */
export function shareOfProject(
  total: number,
  { own, project }: { own: number; project: number },
): number {
  return Math.min(project, Math.max(total / 2, total - own));
}

/** The maximum number of results of a search. */
const MAX_RESULTS = 20;

/** Searches the user's own skills and the project's separately. */
export class RankedSearch {
  readonly #own: SkillSearch;
  readonly #project: SkillSearch;

  /** Creates a search for skills that are allowed as results. */
  constructor(isAllowed: (skill: Skill) => boolean) {
    const searchIn = (scope: Skill["scope"]) =>
      new SkillSearch((skill) => skill.scope === scope && isAllowed(skill));
    this.#own = searchIn("global");
    this.#project = searchIn("project");
  }

  /** Finds the 20 skills that match some words, in list order, then best match first. */
  async find(query: string, catalog: SkillCatalog): Promise<Skill[]> {
    const own = await this.#own.find(query, catalog);
    const project = await this.#project.find(query, catalog);
    const count = shareOfProject(MAX_RESULTS, {
      own: own.length,
      project: project.length,
    });
    return [...own.slice(0, MAX_RESULTS - count), ...project.slice(0, count)]
      .sort(byListRank);
  }
}
