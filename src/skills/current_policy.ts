/**
 * The policy that applies now: the last valid one.
 *
 * @module
 */

import type { PolicyDecider } from "./policy.ts";
import { PolicyError } from "./policy_error.ts";
import type { Problem, SkillRegistryOptions } from "./types.ts";

/** Loads the policy before each scan. */
export class CurrentPolicy {
  readonly #options: SkillRegistryOptions;
  #decider: PolicyDecider | undefined;
  #isUsable = true;

  /** Creates it from the options of a registry. Nothing is loaded yet. */
  constructor(options: SkillRegistryOptions) {
    this.#options = options;
  }

  /** Applies the rules of the last valid policy, if there is one. */
  get decider(): PolicyDecider | undefined {
    return this.#decider;
  }

  /** Whether skills can be served: without a policy, or once there was a valid one. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Loads the policy, and expands its globs on disk. Returns what is wrong with it. */
  async load(): Promise<readonly Problem[]> {
    const { policy, policySource, nameOnlyFolders = [] } = this.#options;
    const isNeeded = policySource !== undefined || policy !== undefined ||
      nameOnlyFolders.length > 0;
    if (!isNeeded) return [];
    // Only now is the module for policies loaded.
    const { PolicyDecider } = await import("./policy.ts");
    try {
      const current = policySource?.load() ?? policy ?? { rules: [] };
      const decider = current === this.#decider?.policy
        ? this.#decider
        : new PolicyDecider(current, nameOnlyFolders);
      decider.expand();
      this.#decider = decider;
      this.#isUsable = true;
      return [];
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      this.#isUsable = this.#decider !== undefined;
      const effect = this.#isUsable
        ? "until then, the last valid policy applies"
        : "until then, no skills are served";
      return error.problems.map((problem) => ({
        ...problem,
        hint: `${problem.hint}; ${effect}`,
      }));
    }
  }
}
