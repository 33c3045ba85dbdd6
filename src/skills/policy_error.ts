/**
 * The error for a policy that cannot be used.
 *
 * @module
 */

import { describeProblem } from "./problems.ts";
import type { Problem } from "./types.ts";

/** What is wrong with a policy, and how to fix it. */
export type PolicyFault = Pick<Problem, "reason" | "hint">;

/** Thrown for a policy that cannot be used, with everything that is wrong with it. */
export class PolicyError extends Error {
  /** The problems, in the order of their lines. */
  readonly problems: readonly Problem[];

  /** Creates an error from the problems. */
  constructor(problems: readonly Omit<Problem, "rule">[]) {
    const all = problems.map((problem) => ({ ...problem, rule: "policy" }));
    super(all.map(describeProblem).join("\n"));
    this.name = "PolicyError";
    this.problems = all;
  }
}
