/**
 * Describes the problems that scans find, and logs each one once.
 *
 * @module
 */

import { oneLine, quote } from "../text.ts";
import { qualifiedName } from "./names.ts";
import { hasEffect } from "./validity.ts";
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

/** Knows which problems were logged and still exist. */
export class ProblemLog {
  readonly #log: (line: string) => void;
  #logged: ReadonlySet<string> = new Set();

  /** Creates a log in which nothing was logged yet. */
  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Logs the problems of a catalog that are new. */
  update({ problems, shadowed }: SkillCatalog): void {
    const rest = shadowed.length - MAX_SHADOWED;
    const lines = [
      ...problems.map(describeProblem),
      ...shadowed.slice(0, MAX_SHADOWED).map(describeShadowed),
      ...rest > 0 ? [`Shadowed ${rest} more skills`] : [],
    ];
    for (const line of lines) {
      if (!this.#logged.has(line)) this.#log(line);
    }
    this.#logged = new Set(lines);
  }
}
