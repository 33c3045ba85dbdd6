/**
 * The error of an invalid policy.
 *
 * @module
 */

import { oneLine, quote } from "../text.ts";
import type { Problem } from "./types.ts";

/** What is wrong with a policy, and how to fix it. */
export type PolicyFault = Pick<Problem, "reason" | "hint">;

/** Thrown for a policy that cannot be used, with everything that is wrong with it. */
export class PolicyError extends Error {
  /** The problems, in the order of their lines. */
  readonly problems: readonly Problem[];

  /** Creates an error from the problems. */
  constructor(problems: readonly Omit<Problem, "rule">[]) {
    super(problems.map(describePolicyProblem).join("\n"));
    this.name = "PolicyError";
    this.problems = problems.map((it) => ({ ...it, rule: "policy" }));
  }
}

/** Describes a problem with a policy in one line. */
export function describePolicyProblem(
  { file, line, reason, hint }: Omit<Problem, "rule">,
): string {
  const name = file === "" ? "" : ` ${quote(file)}`;
  const position = line === undefined ? "" : ` (line ${line})`;
  return oneLine(`Cannot use the policy${name}${position}: ${reason}; ${hint}`);
}
