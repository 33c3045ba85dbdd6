/**
 * Describes the problems that scans find, and logs each one once.
 *
 * @module
 */

import { oneLine, quote, shownName } from "../text.ts";
import { qualifiedName } from "./names.ts";
import { hasEffect } from "./checks.ts";
import type { Problem, ShadowedSkill, SkillCatalog } from "./types.ts";

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
  const name = quote(shownName(skill.name));
  const advice = skill.prefix === undefined
    ? "rename it to load it"
    : `load it as ${quote(shownName(qualifiedName(skill)))}`;
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
  const lines = new Set([
    ...problems.map(describeProblem),
    ...shadowed.map(describeShadowed),
  ]);
  for (const line of lines.difference(logged)) log(line);
  return lines;
}
