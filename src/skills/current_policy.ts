/**
 * The policy that applies now: the last valid one.
 *
 * @module
 */

import type { PolicyDecider } from "./policy.ts";
import { PolicyError } from "./policy_error.ts";
import type { Problem, SkillPolicy, SkillRegistryOptions } from "./types.ts";

const NO_RULES: SkillPolicy = { rules: [] };

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
    const { policy, nameOnlyFolders = [] } = this.#options;
    if (policy === undefined && nameOnlyFolders.length === 0) return [];
    // Only now is the module for policies loaded.
    const { PolicyDecider } = await import("./policy.ts");
    try {
      const current = policy !== undefined && "load" in policy
        ? policy.load()
        : policy ?? NO_RULES;
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
