/**
 * The user's policy, which decides whether and how prominently to serve each skill.
 *
 * Rules match skills by name, directory, and scope. The last matching rule decides for
 * each path that lists a skill and for its real path, and the strictest of these states
 * applies. So a symlink can neither evade a rule nor benefit from one.
 */

import type { Diagnostic } from "../diagnostics.ts";
import {
  type BaseDirs,
  comparablePath,
  dirname,
  resolvePath,
} from "../fs/paths.ts";
import { skillKey } from "../skills/names.ts";
import type { Project } from "../skills/project.ts";
import type {
  AppliedPolicyRule,
  ScanOptions,
  Skill,
  SkillScope,
} from "../skills/types.ts";
import type { PolicyFile } from "./policy_file.ts";
import { STATES } from "./states.ts";

/** A skill, or a directory with an invalid one, for the policy to decide on. */
export interface PolicySubject {
  /** Its name, or its possible names. */
  readonly names: readonly string[];
  readonly scope: SkillScope;
  /** The paths that list it, in order, and its real path. */
  readonly paths: readonly string[];
}

type PolicyDecision = Pick<Skill, "state" | "policyRule">;

const DEFAULT_DECISION: PolicyDecision = { state: "on" };

const READABLE_DIRS =
  "use absolute paths, and allow Deno to read these folders";

/** The policy in effect: the last valid one. */
export class Policy {
  /** The absolute path of the policy file, if there is one. */
  readonly file: string | undefined;
  readonly #options: ScanOptions;
  /** The base directories of the paths in rules. */
  readonly #base: BaseDirs;
  #loaded: PolicyFile | undefined;
  #rules: readonly ActiveRule[] | undefined;

  /** @throws {Error} If the path of the file is relative to an unknown directory. */
  constructor(options: ScanOptions) {
    const { policy } = options;
    this.#options = options;
    this.#base = options;
    if (typeof policy === "string" || policy instanceof URL) {
      this.file = resolvePath(policy, options);
      this.#base = { ...options, workingDirectory: dirname(this.file) };
    }
  }

  /** Whether skills can be served: without a policy, or after a valid one was loaded. */
  get isUsable(): boolean {
    return this.#rules !== undefined;
  }

  /** Loads the policy. If it is invalid, returns diagnostics and keeps the last valid one. */
  async load(project: Project): Promise<readonly Diagnostic[]> {
    const { rules, diagnostics } = await this.#readRules(project);
    if (diagnostics.length > 0) return this.#addEffect(diagnostics);
    try {
      this.#rules = rules.map((rule) => this.#activate(rule, project));
      return [];
    } catch (error) {
      const { message } = error as Error;
      const details = { reason: message, fix: READABLE_DIRS };
      return this.#addEffect([
        { rule: "policy", file: this.#source, ...details },
      ]);
    }
  }

  async #readRules(project: Project): Promise<PolicyFile> {
    const { policy } = this.#options;
    if (policy === undefined) return { rules: [], diagnostics: [] };
    // Loaded on demand, because only a policy needs a schema.
    const { checkPolicy, loadPolicy } = await import("./policy_file.ts");
    this.#loaded = this.file === undefined
      ? this.#loaded ?? checkPolicy(policy, this.#source)
      : loadPolicy(this.file, project, this.#loaded);
    return this.#loaded;
  }

  #addEffect(diagnostics: readonly Diagnostic[]): Diagnostic[] {
    const effect = this.isUsable
      ? "until then, the last valid policy applies"
      : "until then, no skills are served";
    return diagnostics.map((it) => ({ ...it, fix: `${it.fix}; ${effect}` }));
  }

  get #source(): string {
    return this.file ?? "options.policy";
  }

  /** @throws {Error} If a directory of the rule cannot be resolved. */
  #activate(rule: AppliedPolicyRule, project: Project): ActiveRule {
    const named = textsOf(rule.in)
      .map((dir) => resolvePath(dir, this.#base));
    const real = named.map((path) => project.resolveReadable(path));
    return {
      rule,
      patterns: textsOf(rule.skill).map((name) => [...skillKey(name)]),
      named,
      dirs: [...named, ...real].map(comparablePath),
    };
  }

  listNamedDirs(): string[] {
    return (this.#rules ?? []).flatMap(({ named }) => named);
  }

  /**
   * Decides on a skill: the strictest state of its paths applies.
   *
   * @param outer The skill around it, if it is no skill by itself. A rule without names
   *   that matches both decides only on the outer one.
   */
  decide(subject: PolicySubject, outer?: PolicySubject): PolicyDecision {
    const rules = this.#rules ?? [];
    if (rules.length === 0) return DEFAULT_DECISION;
    const around = outer === undefined ? [] : listingsOf(outer);
    const isForOuter = (active: ActiveRule) =>
      active.rule.skill === undefined &&
      around.some((listing) => isMatch(active, listing));
    const decisions = listingsOf(subject)
      .map((listing) => decideOn(listing, rules, isForOuter))
      .sort((a, b) => STATES[b.state].strictness - STATES[a.state].strictness);
    return decisions[0] ?? DEFAULT_DECISION;
  }

  /** Lists the rules that match none of the subjects. They may be misspelled. */
  listUnused(subjects: readonly PolicySubject[]): Diagnostic[] {
    const listings = subjects.flatMap(listingsOf);
    return (this.#rules ?? []).flatMap((active, index) => {
      const isUsed = listings.some((listing) => isMatch(active, listing));
      return isUsed ? [] : {
        rule: "policy-unused",
        file: this.#source,
        reason: `rules[${index}] matches no skill`,
        fix: "check its spelling, unless it is meant for skills elsewhere",
      };
    });
  }
}

/** A subject under one of its names and paths, both in comparable form. */
interface Listing {
  readonly key: string;
  readonly scope: SkillScope;
  readonly path: string;
}

function listingsOf({ names, scope, paths }: PolicySubject): Listing[] {
  const keys = names.map(skillKey);
  return paths.map(comparablePath)
    .flatMap((path) => keys.map((key) => ({ key, scope, path })));
}

/** A rule with its conditions prepared for one scan. */
interface ActiveRule {
  readonly rule: AppliedPolicyRule;
  /** The characters of each pattern of names. */
  readonly patterns: readonly (readonly string[])[];
  /** The absolute paths of its directories. */
  readonly named: readonly string[];
  /** These and their real paths, in comparable form. */
  readonly dirs: readonly string[];
}

function decideOn(
  listing: Listing,
  rules: readonly ActiveRule[],
  isForOuter: (active: ActiveRule) => boolean,
): PolicyDecision {
  const found = rules.findLast((active) => isMatch(active, listing));
  return found === undefined || isForOuter(found)
    ? DEFAULT_DECISION
    : { state: found.rule.state, policyRule: found.rule };
}

function isMatch(
  { rule, patterns, dirs }: ActiveRule,
  { key, scope, path }: Listing,
): boolean {
  return (rule.scope ?? scope) === scope &&
    (rule.skill === undefined ||
      patterns.some((pattern) => matchesName(key, pattern))) &&
    (rule.in === undefined ||
      dirs.some((dir) => `${path}/`.startsWith(`${dir}/`)));
}

/**
 * Whether a name matches a pattern, in which `*` stands for any text and `?` for one
 * character. Follows all beginnings of the name that match at the same time, because a
 * regular expression could take seconds on a name that a stranger chose.
 */
function matchesName(key: string, pattern: readonly string[]): boolean {
  const characters = [...key];
  let ends = [0];
  for (const expected of pattern) {
    const [first = Infinity] = ends;
    ends = expected === "*"
      ? [...characters.keys(), characters.length].filter((end) => end >= first)
      : ends.filter((end) =>
        end < characters.length && ["?", characters[end]].includes(expected)
      ).map((end) => end + 1);
  }
  return ends.includes(characters.length);
}

function textsOf(
  condition: string | readonly string[] | undefined,
): string[] {
  return [condition ?? []].flat();
}
