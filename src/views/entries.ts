/**
 * The view of the catalog: an entry for each skill, with a name that loads it, its
 * description on one line, and the skill itself. Every list, prompt, resource, and
 * answer formats entries, in the order of this module unless a list is cut.
 */

import { STATES } from "../policy/states.ts";
import { remember } from "../remember.ts";
import { qualifiedName } from "../skills/names.ts";
import { byScope } from "../skills/project.ts";
import type { Skill, SkillCatalog, Viewer } from "../skills/types.ts";
import { sees } from "../skills/visibility.ts";
import { oneLine } from "../text.ts";

export interface SkillEntry {
  readonly skill: Skill;
  /** A name that loads it, on one line. */
  readonly name: string;
  /** Its description for the viewer, on one line. Empty if the policy hides it. */
  readonly description: string;
}

/** Lists the skills that a viewer sees, pinned ones first, in the order of the catalog. */
export function listEntries(
  viewer: Viewer,
  catalog: SkillCatalog,
): readonly SkillEntry[] {
  return LISTS[viewer](catalog);
}

const LISTS: Readonly<Record<Viewer, typeof listForModel>> = {
  model: remember((catalog) => pinnedFirst(listForModel(catalog))),
  user: remember((catalog) => pinnedFirst(listServed("user", catalog))),
  host: remember((catalog) => pinnedFirst(listServed("host", catalog))),
};

function pinnedFirst(entries: SkillEntry[]): SkillEntry[] {
  const rankOf = ({ skill }: SkillEntry) => STATES[skill.state].isFirst ? 0 : 1;
  return entries.sort((a, b) => rankOf(a) - rankOf(b));
}

function listServed(viewer: Viewer, { served }: SkillCatalog): SkillEntry[] {
  return [...served.values()].filter((skill) => sees(viewer, skill))
    .map(toEntry);
}

/**
 * Sorts global entries before project entries, wherever a list is cut or shortened: a
 * cloned repository must not push the user's skills out.
 */
export function globalFirst<T extends SkillEntry>(entries: readonly T[]): T[] {
  return entries.toSorted((a, b) => byScope(a.skill, b.skill));
}

/** Lists each name once. A project's skill that shadows a global one says so. */
function listForModel({ skills, shadowed }: SkillCatalog): SkillEntry[] {
  const ofGlobal = shadowed.filter(({ skill }) => skill.scope === "global");
  const shadowing = new Set(ofGlobal.map(({ by }) => by));
  const seen = [...skills.values()].filter((skill) => sees("model", skill));
  return seen.map((skill) => {
    const { name, description } = toEntry(skill);
    const isMarked = skill.scope === "project" && shadowing.has(skill);
    return {
      skill,
      name: isMarked ? `project:${name}` : name,
      description: STATES[skill.state].isDescribed ? description : "",
    };
  });
}

function toEntry(skill: Skill): SkillEntry {
  const description = oneLine(skill.description);
  return { skill, name: qualifiedName(skill), description };
}
