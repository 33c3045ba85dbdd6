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
 * 3. What cannot be compared is off: a name that is too long for a glob, and what
 *    the wildcard of a rule meets and cannot resolve.
 *
 * This module is loaded only if there is a policy.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import {
  currentFolder,
  isAtOrBelow,
  isAtOrBelowAny,
  realPathOf,
} from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import { skillKey } from "../text.ts";
import {
  comparablePath,
  compileGlob,
  containsLiterals,
  findGlobFault,
  type Glob,
  matchesGlob,
  WILDCARD,
} from "./glob.ts";
import { PolicyError } from "./policy_error.ts";
import { RuleFolders } from "./rule_folders.ts";
import type {
  SkillPolicy,
  SkillPolicyRule,
  SkillScope,
  SkillState,
} from "./types.ts";

/** The maximum length of a name that is matched against a glob with wildcards, in characters. */
const MAX_MATCHED_LENGTH = 128;

/** The states from the strictest on. The others are equally strict. */
const STRICTEST: readonly SkillState[] = ["off", "manual", "name-only"];

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
    this.policy = policy;
    this.#nameOnlyFolders = nameOnlyFolders;
    this.#rules = policy.rules.map((rule) => compileRule(rule, policy));
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
    const { file = "" } = this.policy;
    const problems = this.#rules.flatMap(
      ({ rule: { line }, folders }) => {
        const fault = folders?.expand();
        return fault ? [{ ...fault, file, ...line && { line } }] : [];
      },
    );
    if (problems.length > 0) throw new PolicyError(problems);
  }

  /** Decides on a skill. */
  decide({ names, scope, paths }: PolicySubject): PolicyDecision {
    const decisions = names.flatMap((name) => {
      const key = skillKey(name);
      // There can be many rules, and thousands of links to the same skill.
      const rules = this.#rules.filter((rule) =>
        (rule.rule.scope ?? scope) === scope && matchesName(key, rule.name)
      );
      return paths.map((path) => this.#decideOnPath(path, { key, rules }));
    });
    for (const state of STRICTEST) {
      const strict = decisions.find((decision) => decision.state === state);
      if (strict !== undefined) return strict;
    }
    return decisions[0] ?? { state: "on" };
  }

  /**
   * Lists the rules that match none of the subjects, in order. Rules that may be about
   * other projects, or other folders than the roots, are left out.
   */
  listUnused(
    subjects: readonly PolicySubject[],
    roots: readonly string[],
  ): SkillPolicyRule[] {
    const candidates = subjects.flatMap(({ names, scope, paths }) =>
      names.flatMap((name) =>
        paths.map((path) => ({
          ...{ scope, key: skillKey(name), path: comparablePath(path) },
        }))
      )
    );
    return this.#rules.filter(({ rule, name, folders }) => {
      const scoped = candidates
        .filter(({ scope }) => scope === (rule.scope ?? scope));
      const isAboutOthers = folders === undefined
        ? rule.scope === "project"
        : scoped.length === 0 || !concernsRoots(folders, roots);
      return !isAboutOthers &&
        !scoped.some(({ key, path }) =>
          matchesName(key, name) && (folders?.matches(path) ?? true)
        );
    }).map(({ rule }) => rule);
  }

  #decideOnPath(
    path: string,
    { key, rules }: { key: string; rules: readonly CompiledRule[] },
  ): PolicyDecision {
    const place = comparablePath(path);
    const last = rules.findLast(({ folders }) =>
      folders === undefined || folders.matches(place) ||
      folders.isUnresolved(place)
    );
    if (last === undefined) {
      const isNameOnly = isAtOrBelowAny(path, this.#nameOnlyPlaces);
      return { state: isNameOnly ? "name-only" : "on" };
    }
    const { rule, name, folders } = last;
    const isCertain = !(typeof name === "object" && isTooLong(key)) &&
      !folders?.isUnresolved(place);
    return { state: isCertain ? rule.state : "off", rule };
  }
}

/** A rule that is ready to be matched. */
interface CompiledRule {
  readonly rule: SkillPolicyRule;
  /** The key of the skill's name, or a glob for it. Default: any name. */
  readonly name: string | Glob | undefined;
  /** The folders that must contain the skill directory. Default: any. */
  readonly folders: RuleFolders | undefined;
}

function compileRule(
  rule: SkillPolicyRule,
  { file, homeDirectory }: SkillPolicy,
): CompiledRule {
  const globs = [rule.skill, rule.in].filter((glob) => glob !== undefined);
  const [fault] = globs.flatMap((glob) => findGlobFault(glob) ?? []);
  if (fault !== undefined) {
    throw new PolicyError([{ ...fault, file: file ?? "" }]);
  }
  const workingDirectory = file === undefined ? currentFolder() : dirname(file);
  const base = {
    ...workingDirectory !== undefined && { workingDirectory },
    ...homeDirectory !== undefined && { homeDirectory },
  };
  return {
    rule,
    name: rule.skill === undefined ? undefined : compileName(rule.skill),
    folders: rule.in === undefined ? undefined : createFolders(rule.in, base),
  };
}

function createFolders(glob: string, base: BaseFolders): RuleFolders {
  try {
    return new RuleFolders(glob, base);
  } catch (error) {
    const reason = (error as Error).message;
    const hint = "write an absolute path";
    throw new PolicyError([{ file: "", reason, hint }]);
  }
}

/** Whether one of the folders of a rule does not exist, or lies in a root or around one. */
function concernsRoots(
  folders: RuleFolders,
  roots: readonly string[],
): boolean {
  return folders.fixedFolders.some((folder) =>
    attempt(() => Deno.statSync(folder)) === undefined ||
    isAtOrBelowAny(folder, roots) ||
    roots.some((root) => isAtOrBelow(root, folder))
  );
}

function isTooLong(key: string): boolean {
  return key.length > MAX_MATCHED_LENGTH;
}

/** Whether a name matches, or might match but is too long to check. */
function matchesName(key: string, name: CompiledRule["name"]): boolean {
  if (name === undefined) return true;
  if (typeof name === "string") return name === key;
  return isTooLong(key)
    ? containsLiterals(key, name)
    : matchesGlob(withoutSlashes(key), name);
}

/** Compiles a glob for names. Returns `undefined` if it matches any name. */
function compileName(glob: string): string | Glob | undefined {
  const key = skillKey(glob);
  if (/^\*+$/.test(key)) return undefined;
  return WILDCARD.test(key) ? compileGlob(withoutSlashes(key)) : key;
}

/** Replaces slashes, which are not special in names. */
function withoutSlashes(key: string): string {
  return key.replaceAll("/", "\u0003");
}
