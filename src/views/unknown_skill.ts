/**
 * The answer to a name that no skill has.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { SKILL_MD } from "../files/paths.ts";
import { describeProblem } from "../skills/problems.ts";
import type { SearchableSkills } from "../skills/search.ts";
import {
  type DirectoryOptions,
  formatSkillLine,
  listModelSkills,
} from "./skill_lists.ts";
import { oneLine, skillKey } from "../text.ts";
import type { Problem, Skill, SkillCatalog } from "../skills/types.ts";

/**
 * The maximum number of skills that the answer to an unknown name lists. If
 * there are more, it lists search results instead.
 */
const MAX_LISTED_SKILLS = 100;

/** The maximum number of problems that the answer to an unknown name reports. */
const MAX_NAMED_PROBLEMS = 20;

/** How many characters of an unknown name the answer repeats. */
const MAX_ECHO_LENGTH = 200;

/** The skills of a registry, and how the model is told about them. */
export interface SkillsForModel extends SearchableSkills {
  readonly options?: DirectoryOptions;
}

/** Thrown if the answer to an unknown name lists the results of a search for it. */
export class SearchResults extends Error {}

/**
 * Creates the error for an unknown skill. The message is for the model. It lists
 * the available skills and, if a skill with that name was skipped, says why.
 */
export async function createUnknownSkillError(
  name: string,
  { registry, search, options }: SkillsForModel,
): Promise<Error> {
  const { catalog } = registry;
  const problems = listProblemsOf(name, catalog);
  const skipped = problems.length > 0 && options?.isRemote
    // The problems contain paths of this machine.
    ? "The server skipped a skill with this name. Its log says why.\n\n"
    : problems.map((problem) => `${describeProblem(problem)}\n\n`).join("");
  const skills = listModelSkills(catalog);
  const echo = oneLine(name.slice(0, MAX_ECHO_LENGTH));
  const start = `${skipped}Skill '${echo}' not found.\n\n`;
  if (skills.length > MAX_LISTED_SKILLS) {
    const found = await search.find(echo, catalog);
    return new SearchResults(start + describeFound(found, skills.length));
  }
  // The wording of the contract of the tool "skill".
  return new Error(`${start}Available skills:
${formatLines(skills)}
Use the exact skill name (case-insensitive) to load a skill.`);
}

/** Lists the problems with the skill in a folder of a name, and with the policy, up to a limit. */
export function listProblemsOf(
  name: string,
  { problems }: SkillCatalog,
): Problem[] {
  const key = skillKey(name);
  return problems
    .filter(({ rule, file }) => {
      const isMain = basename(file).toLowerCase() === SKILL_MD.toLowerCase();
      return rule === "policy" ||
        skillKey(basename(isMain ? dirname(file) : file)) === key;
    })
    .slice(0, MAX_NAMED_PROBLEMS);
}

function describeFound(found: readonly Skill[], count: number): string {
  const again = "To search again, pass other words instead of a name.";
  if (found.length === 0) {
    return `None of these words occurs in the names, the descriptions, or the first lines of the instructions of the ${count} skills.

${again}`;
  }
  return `Search results for these words, best match first:
${formatLines(found)}(and ${count - found.length} other skills)

To load one of these skills, use its exact name (case-insensitive). ${again}`;
}

function formatLines(skills: readonly Skill[]): string {
  return skills.map((skill) => `${formatSkillLine(skill)}\n`).join("");
}
