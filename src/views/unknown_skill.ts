/**
 * The answer to a name that no skill has.
 *
 * @module
 */

import { describeProblem } from "../skills/problems.ts";
import type { SearchableSkills } from "../skills/search.ts";
import {
  type DirectoryOptions,
  formatSkillLine,
  listModelSkills,
} from "./skill_lists.ts";
import { oneLine, skillKey } from "../text.ts";
import type { Skill, SkillCatalog, SkillProblem } from "../skills/types.ts";

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

/** Thrown when no skill has the requested name. The message is for the model. */
export class UnknownSkillError extends Error {
  /** Whether the message lists the results of a search for the name. */
  readonly isSearchResult: boolean;

  constructor(
    message: string,
    { isSearchResult }: { isSearchResult: boolean },
  ) {
    super(message);
    this.isSearchResult = isSearchResult;
  }
}

/**
 * Creates the error for an unknown skill. It lists the available skills and, if
 * a skill with that name was skipped, says why.
 */
export async function createUnknownSkillError(
  name: string,
  { registry, search, options }: SkillsForModel,
): Promise<UnknownSkillError> {
  const { catalog } = registry;
  const problems = listProblemsOf(name, catalog);
  const skipped = problems.length > 0 && options?.isRemote
    // The problems contain paths of this machine.
    ? "The server skipped a skill with this name. Its log says why.\n\n"
    : problems.map((problem) => `${describeProblem(problem)}\n\n`).join("");
  const skills = listModelSkills(catalog);
  const echo = oneLine(name.slice(0, MAX_ECHO_LENGTH));
  const isSearchResult = skills.length > MAX_LISTED_SKILLS;
  const text = isSearchResult
    ? formatSearchResults(echo, {
      found: await search.find(echo, catalog),
      count: skills.length,
    })
    : formatSkillList(echo, skills);
  return new UnknownSkillError(skipped + text, { isSearchResult });
}

/** Lists the problems with skills of a name, up to a limit. */
export function listProblemsOf(
  name: string,
  { problems }: SkillCatalog,
): SkillProblem[] {
  const key = skillKey(name);
  return problems
    .filter(({ names = [] }) => names.some((name) => skillKey(name) === key))
    .slice(0, MAX_NAMED_PROBLEMS);
}

/** Creates the contract's answer to an unknown name, which lists all skills. */
function formatSkillList(name: string, skills: readonly Skill[]): string {
  const lines = skills.map((skill) => `${formatSkillLine(skill)}\n`);
  return `Skill '${name}' not found.

Available skills:
${lines.join("")}
Use the exact skill name (case-insensitive) to load a skill.`;
}

/** Creates the answer to an unknown name that lists the best-matching skills. */
function formatSearchResults(
  name: string,
  { found, count }: { found: readonly Skill[]; count: number },
): string {
  const lines = found.map((skill) => `${formatSkillLine(skill)}\n`);
  const rest = count - found.length;
  if (found.length > 0) lines.push(`(and ${rest} other skills)\n`);
  const heading = found.length > 0
    ? "Search results for these words, best match first:"
    : `None of these words occurs in the names, the descriptions, or the first lines of the instructions of the ${count} skills.`;
  const next = found.length > 0
    ? "To load one of these skills, use its exact name (case-insensitive). To search again, pass other words instead of a name."
    : "To search again, pass other words instead of a name.";
  return `Skill '${name}' not found.

${heading}
${lines.join("")}
${next}`;
}
