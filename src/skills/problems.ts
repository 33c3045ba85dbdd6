/**
 * Describes problems with skills.
 *
 * @module
 */

import { oneLine, quote } from "../text.ts";
import { withoutViolations } from "./validity.ts";
import type { SkillProblem } from "./types.ts";

/** Describes a problem in one line, with all reasons to skip the file. */
export function describeProblem(problem: SkillProblem): string {
  const { file, others = [], ...first } = withoutViolations(problem);
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

/** Describes a problem with a policy in one line. */
export function describePolicyProblem(
  { file, line, reason, hint }: SkillProblem,
): string {
  const name = file === "" ? "" : ` ${quote(file)}`;
  const place = line === undefined ? "" : ` (line ${line})`;
  return `Cannot use the policy${name}${place}: ${reason}; ${hint}`;
}

/** What an invalid policy means for the skills, until there is a valid one. */
export const NO_PROJECT_SKILLS =
  "No project skills are served until it is fixed";
