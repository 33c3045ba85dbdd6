/**
 * Describes the problems that scans find, and logs each one once.
 *
 * @module
 */

import { oneLine, quote } from "../text.ts";
import { qualifiedName } from "./names.ts";
import { hasEffect } from "./checks.ts";
import type { Problem, ShadowedSkill, SkillCatalog } from "./types.ts";

/** The maximum number of shadowed skills that are described. */
const MAX_SHADOWED = 1_000;

/** The maximum length of a name in a line, in characters. */
const MAX_SHOWN_NAME = 200;

/** Describes a problem in one line. */
export function describeProblem(problem: Problem): string {
  const { rule, file, line, reason, hint } = problem;
  const position = line === undefined ? "" : ` (line ${line})`;
  const effect = rule === "policy"
    ? "Cannot use the policy"
    : hasEffect(problem, "skipped")
    ? "Skipped"
    : "Check";
  return oneLine(`${effect} ${quote(file)}${position}: ${reason}; ${hint}`);
}

function describeShadowed({ skill, by }: ShadowedSkill): string {
  const name = quote(skill.name.slice(0, MAX_SHOWN_NAME));
  const advice = skill.prefix === undefined
    ? "rename it to load it"
    : `load it as ${quote(qualifiedName(skill).slice(0, MAX_SHOWN_NAME))}`;
  return `Shadowed ${quote(skill.file)}: the name ${name} is taken by ${
    quote(by.file)
  }, which comes first; ${advice}`;
}

/**
 * Logs the problems of a catalog, except those that were logged before.
 *
 * @returns The lines about all of them.
 */
export function logProblems(
  { problems, shadowed }: SkillCatalog,
  { logged, log }: {
    logged: ReadonlySet<string>;
    log: (line: string) => void;
  },
): ReadonlySet<string> {
  const rest = shadowed.length - MAX_SHADOWED;
  const lines = new Set([
    ...problems.map(describeProblem),
    ...shadowed.slice(0, MAX_SHADOWED).map(describeShadowed),
    ...rest > 0 ? [`Shadowed ${rest} more skills`] : [],
  ]);
  for (const line of lines.difference(logged)) log(line);
  return lines;
}
