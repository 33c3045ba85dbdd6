/**
 * The user's policy: which skills are served, and how prominently. Only this
 * module makes these decisions. The scan applies them, so views never see a
 * skill that is off.
 *
 * 1. Rules are asked about each path through which a root lists a skill, and about
 *    its real path. For each path, the last rule that matches decides. Without
 *    one, the skill is on.
 * 2. The strictest of these states applies (off, manual, name-only), or else that
 *    of the first path. So a link can neither evade a rule nor benefit from one.
 * 3. What the wildcard of a rule meets and cannot resolve is off.
 *
 * This module is loaded only if there is a policy.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import { currentFolder, isAtOrBelowAny, realPathOf } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import { quote, skillKey } from "../text.ts";
import {
  comparablePath,
  compileName,
  expandBraces,
  findGlobFault,
} from "./glob.ts";
import { PolicyError, type PolicyFault } from "./policy_error.ts";
import { listGlobFolders, RuleFolders } from "./rule_folders.ts";
import type {
  SkillPolicy,
  SkillPolicyRule,
  SkillScope,
  SkillState,
} from "./types.ts";

/** The states from the strictest on. The others are equally strict. */
const STRICTEST: readonly SkillState[] = ["off", "manual", "name-only"];

/** What errors name instead of the file of a policy. */
const NO_FILE = "options.policy";

/** What a policy decides. */
export interface PolicyDecision {
  readonly state: SkillState;
  /** The rule that applies, if there is one. */
  readonly rule?: SkillPolicyRule | undefined;
}

/** What is decided on: a skill, or a folder without a valid one. */
export interface PolicySubject {
  /** Its name, or the names that it may have. */
  readonly names: readonly string[];
  readonly scope: SkillScope;
  /** The paths that list it, in order, and its real path. */
  readonly paths: readonly string[];
}

/** A rule that is ready to be matched. */
interface CompiledRule {
  readonly rule: SkillPolicyRule;
  /** The globs for the key of the skill's name. */
  readonly names: readonly RegExp[];
  /** The folders that must contain the skill directory. Default: any. */
  readonly folders: RuleFolders | undefined;
}

/** Applies the rules of a policy. */
export class PolicyDecider {
  /** The policy as it was given. */
  readonly policy: SkillPolicy;
  readonly #rules: readonly CompiledRule[];
  readonly #nameOnlyFolders: readonly string[];
  #nameOnlyPlaces: readonly string[] = [];

  /**
   * Compiles the rules.
   *
   * @param policy The policy.
   * @param nameOnlyFolders Folders whose skills are `"name-only"`, unless a rule
   *   applies to them.
   * @throws {PolicyError} If a glob is invalid or relative to an unknown folder.
   */
  constructor(policy: SkillPolicy, nameOnlyFolders: readonly string[] = []) {
    const { rules, file = NO_FILE } = policy;
    const faults = rules.flatMap((rule) => checkGlobs(rule, policy));
    if (faults.length > 0) {
      throw new PolicyError(faults.map((fault) => ({ file, ...fault })));
    }
    this.policy = policy;
    this.#nameOnlyFolders = nameOnlyFolders;
    this.#rules = rules.map((rule) => compileRule(rule, policy));
  }

  /**
   * Expands the globs for folders on disk.
   *
   * @throws {PolicyError} If the folder above the first wildcard of a glob cannot be
   *   read. Rules with such a folder stay as they were.
   */
  expand(): void {
    this.#nameOnlyPlaces = this.#nameOnlyFolders
      .flatMap((folder) => [folder, realPathOf(folder)]);
    const { file = NO_FILE } = this.policy;
    const problems = this.#rules.flatMap(({ rule: { line }, folders }) => {
      const fault = folders?.expand();
      return fault ? [{ ...fault, file, line }] : [];
    });
    if (problems.length > 0) throw new PolicyError(problems);
  }

  /** Decides on a skill. */
  decide({ names, scope, paths }: PolicySubject): PolicyDecision {
    const decisions = names.flatMap((name) => {
      // There can be many rules, and thousands of links to the same skill.
      const named = { key: skillKey(name), scope };
      const rules = this.#rules.filter((rule) => isAbout(rule, named));
      return paths.map((path) => this.#decideOnPath(path, rules));
    });
    const [strictest] = STRICTEST
      .flatMap((state) => decisions.find((it) => it.state === state) ?? []);
    return strictest ?? decisions[0] ?? { state: "on" };
  }

  #decideOnPath(
    path: string,
    rules: readonly CompiledRule[],
  ): PolicyDecision {
    const place = comparablePath(path);
    const last = rules.findLast(({ folders }) =>
      folders?.matches(place) !== false
    );
    if (last === undefined) {
      const isNameOnly = isAtOrBelowAny(path, this.#nameOnlyPlaces);
      return { state: isNameOnly ? "name-only" : "on" };
    }
    const { rule, folders } = last;
    const isResolved = folders === undefined || folders.matches(place);
    return { state: isResolved ? rule.state : "off", rule };
  }
}

/** Whether a rule is about the skills with a name and scope. */
function isAbout(
  { rule, names }: CompiledRule,
  { key, scope }: { readonly key: string; readonly scope: SkillScope },
): boolean {
  return (rule.scope ?? scope) === scope &&
    names.some((glob) => glob.test(key));
}

/** Lists what is wrong with the globs of a rule. */
function checkGlobs(
  { skill, in: folder, line }: SkillPolicyRule,
  policy: Pick<SkillPolicy, "file" | "homeDirectory">,
): (PolicyFault & { line: number | undefined })[] {
  const faults = [skill, folder].filter((glob) => glob !== undefined)
    .flatMap((glob) => findGlobFault(glob) ?? []);
  const isKnown = folder === undefined || faults.length > 0 ||
    attempt(() => listGlobFolders(folder, baseOf(policy))) !== undefined;
  if (!isKnown) {
    const reason = `the folder ${quote(folder)} is relative to an unknown one`;
    faults.push({ reason, hint: "write an absolute path" });
  }
  return faults.map((fault) => ({ ...fault, line }));
}

/** Returns the folders that the globs of a policy are relative to. */
export function baseOf(
  { file, homeDirectory }: Pick<SkillPolicy, "file" | "homeDirectory">,
): BaseFolders {
  const workingDirectory = file === undefined ? currentFolder() : dirname(file);
  return { workingDirectory, homeDirectory };
}

function compileRule(rule: SkillPolicyRule, policy: SkillPolicy): CompiledRule {
  const { skill = "*", in: folder } = rule;
  const names = expandBraces(skillKey(skill)).map(compileName);
  const folders = folder === undefined
    ? undefined
    : new RuleFolders(folder, baseOf(policy));
  return { rule, names, folders };
}
