/**
 * Describes problems with skills.
 *
 * @module
 */

import { oneLine, quote } from "../text.ts";
import { qualifiedName } from "./names.ts";
import { MAX_SHOWN_NAME } from "./skill_md.ts";
import type { SkillCatalog, SkillProblem } from "./types.ts";

/** The maximum number of shadowed skills that are described. */
const MAX_SHADOWED = 1_000;

/** Describes a problem in one line, with all reasons to skip the file. */
export function describeProblem(
  { file, others = [], ...first }: SkillProblem,
): string {
  const faults = [first, ...others].map(describeFault);
  return oneLine(`Skipped ${quote(file)}${faults.join("; and ")}`);
}

function describeFault(
  { line, reason, hint }: Omit<SkillProblem, "file">,
  index: number,
): string {
  const start = index === 0 ? "" : " in the same file";
  const position = line === undefined ? "" : ` (line ${line})`;
  return `${start}${position}: ${reason}; ${hint}`;
}

/** Describes each problem and each shadowed skill of a catalog in one line. */
export function describeProblems(
  { problems, shadowed }: SkillCatalog,
): string[] {
  const lines = shadowed.slice(0, MAX_SHADOWED).map(({ skill, by }) =>
    `Shadowed ${quote(skill.file)}: the name ${
      shortName(skill.name)
    } is taken by ${quote(by.file)}, which comes first; load it as ${
      shortName(qualifiedName(skill))
    }`
  );
  const rest = shadowed.length - lines.length;
  if (rest > 0) lines.push(`Shadowed ${rest} more skills`);
  return [...problems.map(describeProblem), ...lines];
}

function shortName(name: string): string {
  return quote(name.slice(0, MAX_SHOWN_NAME));
}

/** Describes a problem with a policy in one line. */
export function describePolicyProblem(
  { file, ...fault }: SkillProblem,
): string {
  const name = file === "" ? "" : ` ${quote(file)}`;
  return `Cannot use the policy${name}${describeFault(fault, 0)}`;
}

/** What an invalid policy means for the skills, until there is a valid one. */
export const NO_PROJECT_SKILLS =
  "No project skills are served until it is fixed";
