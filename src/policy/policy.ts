/**
 * The user's policy: which skills are served, and how prominently, as far as rules
 * decide. The scan adds what frontmatter and the skills around a skill hide, so that
 * views never see a skill that is off.
 *
 * 1. Rules name skills and folders. They are asked about each path through which a
 *    root lists a skill, and about its real path. For each path, the last rule that
 *    matches decides. Without one, the skill is on.
 * 2. The strictest of these states applies, and of equally strict ones that of the
 *    first path. So a link can neither evade a rule nor benefit from one.
 * 3. A folder counts by its path and by its real path. One that is missing counts by
 *    its path. If one exists and cannot be resolved, the policy is not valid.
 */

import { attempt } from "../attempt.ts";
import {
  type BaseFolders,
  comparablePath,
  dirname,
  resolvePath,
} from "../fs/paths.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { SCOPES, skillKey } from "../skills/names.ts";
import type { Project } from "../skills/project.ts";
import type {
  ScanOptions,
  SkillPolicyRule,
  SkillState,
} from "../skills/types.ts";
import { requireChoice } from "../text.ts";
import type { LoadedPolicy } from "./policy_file.ts";
import {
  activateRule,
  type ActiveRule,
  isAbout,
  isInAny,
  listUnusedFaults,
  PolicyError,
  type PolicySubject,
  resolveRuleFolder,
  textsOf,
} from "./policy_rules.ts";
import { STATE_NAMES, STATES } from "./states.ts";

export interface PolicyDecision {
  readonly state: SkillState;
  readonly policyRule?: SkillPolicyRule | undefined;
}

/** The decision without a rule. */
export const DEFAULT_DECISION: PolicyDecision = { state: "on" };

/** The policy in effect: the last valid one. */
export class Policy {
  readonly #options: ScanOptions;
  readonly file: string | undefined;
  #loaded: LoadedPolicy | undefined;
  #rules: readonly ActiveRule[] | undefined;
  /** The folders whose skills are name-only, in comparable form. */
  #nameOnly: ReadonlySet<string> = new Set();

  /** @throws {TypeError} If a policy that is passed as an object has an unknown state or scope. */
  constructor(options: ScanOptions) {
    const { policy } = options;
    this.#options = options;
    if (typeof policy === "string") this.file = resolvePath(policy, options);
    else {
      for (const { state, scope = SCOPES[0] } of policy?.rules ?? []) {
        requireChoice("state", state, STATE_NAMES);
        requireChoice("scope", scope, SCOPES);
      }
    }
  }

  /** Whether skills can be served: once there was a valid policy, or without one. */
  get isUsable(): boolean {
    return this.#rules !== undefined;
  }

  /** Whether it can give a skill another state than `on`. */
  get decidesAnything(): boolean {
    return this.#nameOnly.size > 0 || (this.#rules ?? []).length > 0;
  }

  /** Loads the policy, and returns what is wrong with it. */
  async load(project: Project): Promise<readonly Diagnostic[]> {
    const { nameOnlyFolders = [] } = this.#options;
    this.#nameOnly = new Set(
      [...nameOnlyFolders, ...project.resolveAll(nameOnlyFolders)]
        .map(comparablePath),
    );
    try {
      await this.#loadRules(project);
      return [];
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      return this.#toProblems(error.faults, project);
    }
  }

  /** @throws {PolicyError} If the policy cannot be used. */
  async #loadRules(project: Project): Promise<void> {
    const { policy } = this.#options;
    if (this.file === undefined) {
      return this.#apply(
        typeof policy === "object" ? policy.rules : [],
        project,
      );
    }
    // Only a policy file needs a parser.
    const { loadPolicy } = await import("./policy_file.ts");
    this.#loaded = loadPolicy(this.file, project, this.#loaded);
    this.#apply(this.#loaded.rules, project);
  }

  #toProblems(
    faults: readonly DiagnosticDetails[],
    project: Project,
  ): Diagnostic[] {
    // The folders of the last valid policy may lead elsewhere by now.
    const valid = this.#rules?.map(({ rule }) => rule);
    if (valid) attempt(() => this.#apply(valid, project));
    const effect = valid
      ? "until then, the last valid policy applies"
      : "until then, no skills are served";
    return faults.map((fault) => ({
      ...fault,
      file: this.file ?? "options.policy",
      fix: `${fault.fix}; ${effect}`,
    }));
  }

  /** @throws {PolicyError} If one of the rules cannot be used. Then none of them applies. */
  #apply(rules: readonly SkillPolicyRule[], project: Project): void {
    const active: ActiveRule[] = [];
    const faults: DiagnosticDetails[] = [];
    for (const rule of rules) {
      try {
        active.push(activateRule(rule, this.#base, project));
      } catch (error) {
        if (!(error instanceof PolicyError)) throw error;
        faults.push(...error.faults);
      }
    }
    if (faults.length > 0) throw new PolicyError(...faults);
    this.#rules = active;
  }

  get #base(): BaseFolders {
    return this.file === undefined
      ? this.#options
      : { ...this.#options, workingDirectory: dirname(this.file) };
  }

  listNamedFolders(): string[] {
    const { nameOnlyFolders = [] } = this.#options;
    const inRules = (this.#rules ?? []).flatMap(({ rule }) => textsOf(rule.in))
      .flatMap((folder) => resolveRuleFolder(folder, this.#base) ?? []);
    return [...nameOnlyFolders, ...inRules];
  }

  decide({ names, scope, paths }: PolicySubject): PolicyDecision {
    const comparable = paths.map(comparablePath);
    const decisions = names.flatMap((name) => {
      // Once for each name, because there can be many rules, and thousands of links to a
      // skill. Nobody asks without a valid policy, because no root is searched then.
      const key = skillKey(name);
      const rules = this.#rules!.filter((rule) => isAbout(rule, key, scope));
      return comparable.map((path) => this.#decideOnPath(path, rules));
    });
    const [strictest = DEFAULT_DECISION] = decisions.sort((a, b) =>
      STATES[b.state].strictness - STATES[a.state].strictness
    );
    return strictest;
  }

  #decideOnPath(path: string, rules: readonly ActiveRule[]): PolicyDecision {
    const found = rules.findLast(({ folders }) => isInAny(path, folders));
    if (found !== undefined) {
      const { rule } = found;
      return { state: rule.state, policyRule: rule };
    }
    const parent = path.slice(0, path.lastIndexOf("/"));
    return this.#nameOnly.has(parent)
      ? { state: "name-only" }
      : DEFAULT_DECISION;
  }

  /** Lists the rules, and the names in them, that match none of the subjects. */
  listUnused(subjects: readonly PolicySubject[]): Diagnostic[] {
    const file = this.file ?? "options.policy";
    return (this.#rules ?? [])
      .flatMap((active) => listUnusedFaults(active, subjects))
      .map((fault) => ({ ...fault, file }));
  }
}
