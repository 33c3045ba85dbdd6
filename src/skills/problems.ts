/**
 * Describes the problems that scans find, and logs each one once.
 *
 * @module
 */

import { oneLine, quote } from "../text.ts";
import { qualifiedName } from "./names.ts";
import { RULES } from "./validity.ts";
import type { Problem, SkillCatalog } from "./types.ts";

/** The maximum number of shadowed skills that are described. */
const MAX_SHADOWED = 1_000;

/** The maximum length of a name that is shown, in characters. */
const MAX_SHOWN_NAME = 200;

/** Describes a problem in one line. */
export function describeProblem({ file, ...problem }: Problem): string {
  const start = RULES[problem.rule] === "skipped" ? "Skipped" : "Check";
  return oneLine(`${start} ${quote(file)}${describeFault(problem)}`);
}

/** Describes a problem with a policy in one line. */
export function describePolicyProblem({ file, ...problem }: Problem): string {
  const name = file === "" ? "" : ` ${quote(file)}`;
  return `Cannot use the policy${name}${describeFault(problem)}`;
}

function describeFault({ line, reason, hint }: Omit<Problem, "file">): string {
  const place = line === undefined ? "" : ` (line ${line})`;
  return `${place}: ${reason}; ${hint}`;
}

/** Describes each problem and each shadowed skill of a catalog in one line. */
function describeProblems({ problems, shadowed }: SkillCatalog): string[] {
  const shorten = (name: string) => quote(name.slice(0, MAX_SHOWN_NAME));
  const lines = shadowed.slice(0, MAX_SHADOWED).map(({ skill, by }) =>
    `Shadowed ${quote(skill.file)}: the name ${
      shorten(skill.name)
    } is taken by ${quote(by.file)}, which comes first; load it as ${
      shorten(qualifiedName(skill))
    }`
  );
  const rest = shadowed.length - lines.length;
  if (rest > 0) lines.push(`Shadowed ${rest} more skills`);
  return [...problems.map(describeProblem), ...lines];
}

/** What an invalid policy means for the skills, until there is a valid one. */
export const NO_PROJECT_SKILLS =
  "No project skills are served until it is fixed";

/** Knows which problems were logged and still exist. */
export class ProblemLog {
  readonly #log: (line: string) => void;
  #logged: ReadonlySet<string> = new Set();

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /**
   * Logs the problems that are new.
   *
   * @param catalog The catalog of the last scan.
   * @param unresolved The rules of the policy whose folders cannot be resolved.
   */
  update(catalog: SkillCatalog, unresolved: readonly Problem[]): void {
    const lines = new Set([
      ...unresolved.map((problem) =>
        `${describePolicyProblem(problem)}. ${NO_PROJECT_SKILLS}`
      ),
      ...describeProblems(catalog),
    ]);
    for (const line of lines.difference(this.#logged)) this.#log(line);
    this.#logged = lines;
  }
}
