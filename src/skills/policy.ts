/**
 * The user's policy: which skills are served, and how prominently. Only this
 * module makes these decisions. The scan applies them, so views never see a
 * skill that is off.
 *
 * 1. The last rule that matches a skill applies. A skill without a matching rule
 *    is on.
 * 2. Rules are asked about every face of a skill: each path through which a root
 *    lists it, and its real path, each with the scope that it has there. The
 *    strictest answer wins, so a link can neither evade a rule nor benefit from
 *    one.
 * 3. A skill whose name is too long to match is off.
 * 4. While the folder of a rule cannot be resolved, project skills are off.
 *
 * This module is loaded only if there is a policy.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { currentFolder } from "../files/paths.ts";
import { quote, skillKey } from "../text.ts";
import {
  comparablePath,
  compileGlob,
  containsLiterals,
  FolderGlob,
  type Glob,
  matchesGlob,
  type PolicyFault,
  WILDCARD,
} from "./rule_folders.ts";
import type {
  Problem,
  SkillPolicy,
  SkillPolicyRule,
  SkillScope,
  SkillState,
} from "./types.ts";

/** The maximum length of a name that is matched against a glob with wildcards, in characters. */
const MAX_MATCHED_LENGTH = 128;

/** The maximum length of a glob, in characters. */
const MAX_GLOB_LENGTH = 256;

/**
 * The maximum number of `*` between two slashes of a glob. Each one multiplies
 * the matching time by the length of the text.
 */
const MAX_STARS = 3;

/** The maximum number of `{` in a glob. Each one multiplies the number of patterns. */
const MAX_BRACES = 3;

export interface PolicyDecision {
  readonly state: SkillState;
  /** The rule that applies, if there is one. */
  readonly rule?: SkillPolicyRule;
}

/** A path of a folder, and the scope of what lies there. */
export interface Face {
  readonly path: string;
  readonly scope: SkillScope;
}

/** The subject of a decision: a skill, or a folder without a valid skill. */
export interface PolicySubject {
  /** Its name, or the names that it may have. `undefined` stands for no name. */
  readonly names: readonly (string | undefined)[];
  readonly faces: readonly Face[];
}

/** Applies the rules of a policy. */
export class PolicyDecider {
  readonly #rules: readonly CompiledRule[];
  /** The globs for folders, by their texts. */
  readonly #folders = new Map<string, FolderGlob>();
  /** The policy as it was given. */
  readonly policy: SkillPolicy;
  #problems: Problem[] = [];

  /**
   * Compiles the rules.
   *
   * @throws {Error} If a glob is invalid or relative to an unknown folder.
   */
  constructor(policy: SkillPolicy) {
    this.policy = policy;
    this.#rules = policy.rules.map((rule) => this.#compile(rule));
    this.#findProblems();
  }

  /** The rules whose folders cannot be resolved, in order. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /** Whether a rule is about a folder. */
  get hasFolders(): boolean {
    return this.#folders.size > 0;
  }

  /** Resolves the rules' folders again. */
  resolveFolders(): void {
    for (const folder of this.#folders.values()) folder.resolve();
    this.#findProblems();
  }

  decide({ names, faces }: PolicySubject): PolicyDecision {
    const decisions = names.flatMap((name) => {
      const key = keyOf(name);
      // There can be many rules, and thousands of links to the same skill.
      const rules = this.#rules.filter((rule) => matchesName(key, rule.name));
      return faces.map((face) => this.#decideOnFace(face, { name, rules }));
    });
    return decisions.find(({ state }) => state === "off") ??
      decisions.find(({ state }) => state === "manual") ??
      decisions[0] ?? { state: "on" };
  }

  /** Decides on a folder that is not a skill. It is on unless a rule names it. */
  decideOnFolder(face: Face): SkillState {
    const path = comparablePath(face.path);
    const isNamed = [...this.#folders.values()]
      .some((folder) => folder.names(path));
    const subject = { name: undefined, rules: this.#rules };
    return isNamed ? this.#decideOnFace(face, subject).state : "on";
  }

  /**
   * Lists the rules that match none of the subjects, in order, without those that
   * are about other folders than the given ones, or about other projects.
   */
  listUnused(
    subjects: readonly PolicySubject[],
    folders: readonly string[],
  ): SkillPolicyRule[] {
    const candidates = subjects.flatMap(({ names, faces }) =>
      names.flatMap((name) => faces.map((face) => candidateOf(name, face)))
    );
    return this.#rules
      .filter(({ rule: { scope }, folder }) =>
        scope !== "project" && !folder?.fitsElsewhere(folders)
      )
      .filter((rule) =>
        !candidates.some((candidate) => matchesRule(rule, candidate))
      )
      .map(({ rule }) => rule);
  }

  #findProblems(): void {
    const { file = "" } = this.policy;
    this.#problems = this.#rules.flatMap(({ rule: { line }, folder }) =>
      folder?.fault ? [createPolicyProblem(folder.fault, { file, line })] : []
    );
  }

  #compile(rule: SkillPolicyRule): CompiledRule {
    const { skill } = rule;
    const { file, homeDirectory } = this.policy;
    for (const glob of [skill, rule.in]) requireGlob(glob);
    const name = skill === undefined ? undefined : compileName(skill);
    if (rule.in === undefined) return { rule, name };
    const folder = this.#folders.get(rule.in) ?? new FolderGlob(rule.in, {
      workingDirectory: file === undefined ? currentFolder() : dirname(file),
      homeDirectory,
    });
    this.#folders.set(rule.in, folder);
    return { rule, name, folder };
  }

  #decideOnFace(
    face: Face,
    { name, rules }: {
      name: string | undefined;
      rules: readonly CompiledRule[];
    },
  ): PolicyDecision {
    if (this.#problems.length > 0 && face.scope === "project") {
      return UNRESOLVED;
    }
    const candidate = candidateOf(name, face);
    const last = rules.findLast((rule) => matchesRule(rule, candidate));
    if (last === undefined) return { state: "on" };
    const { rule } = last;
    const isUncertain = typeof last.name === "object" &&
      isTooLong(candidate.key);
    return { state: isUncertain ? "off" : rule.state, rule };
  }
}

/** The decision on project skills while the folder of a rule cannot be resolved. */
const UNRESOLVED: PolicyDecision = { state: "off" };

/** Creates the problem with a policy at a line, if that is known. */
function createPolicyProblem(
  { reason, hint }: PolicyFault,
  { file, line }: { file: string; line: number | undefined },
): Problem {
  const place = line === undefined ? { file } : { file, line };
  return { rule: "policy", ...place, reason, hint };
}

/** Finds the problem with a glob, if there is one. */
export function findGlobFault(glob: string): PolicyFault | undefined {
  if (glob.trim() === "") {
    return { reason: "a glob is empty", hint: 'omit it, or write "*"' };
  }
  const stars = glob.split("/").map((part) => part.match(/\*+/g)?.length ?? 0);
  const braces = glob.split("{").length - 1;
  const isSimple = glob.length <= MAX_GLOB_LENGTH &&
    Math.max(...stars) <= MAX_STARS && braces <= MAX_BRACES;
  return isSimple ? undefined : {
    reason: `the glob ${
      quote(glob)
    } has more than ${MAX_GLOB_LENGTH} characters, ${MAX_BRACES} "{", or ${MAX_STARS} "*" between two slashes`,
    hint: "split it into several rules",
  };
}

/**
 * Checks a glob.
 *
 * @throws {Error} If it is invalid.
 */
function requireGlob(glob: string | undefined): void {
  const fault = glob === undefined ? undefined : findGlobFault(glob);
  if (fault === undefined) return;
  throw new Error(`Cannot use the policy: ${fault.reason}; ${fault.hint}`);
}

interface CompiledRule {
  readonly rule: SkillPolicyRule;
  /** The key of the skill's name, or a glob for it. Default: any name. */
  readonly name: string | Glob | undefined;
  /** The folders that must contain the skill directory. Default: any. */
  readonly folder?: FolderGlob;
}

/** The properties of a skill that rules are matched against. */
interface Candidate {
  /** The key of its name, if it has one. */
  readonly key: string | undefined;
  readonly scope: SkillScope;
  /** The path of its directory in comparable form. */
  readonly path: string;
}

function candidateOf(
  name: string | undefined,
  { path, scope }: Face,
): Candidate {
  return { key: keyOf(name), scope, path: comparablePath(path) };
}

function keyOf(name: string | undefined): string | undefined {
  return name === undefined ? undefined : skillKey(name);
}

function isTooLong(key: string | undefined): boolean {
  return key !== undefined && key.length > MAX_MATCHED_LENGTH;
}

/** Whether a rule matches, or might match a name that is too long to check. */
function matchesRule(
  { rule: { scope }, name, folder }: CompiledRule,
  candidate: Candidate,
): boolean {
  return (scope === undefined || scope === candidate.scope) &&
    matchesName(candidate.key, name) &&
    (folder === undefined || folder.matches(candidate.path));
}

function matchesName(
  key: string | undefined,
  name: CompiledRule["name"],
): boolean {
  if (name === undefined) return true;
  if (key === undefined || typeof name === "string") return name === key;
  return containsLiterals(key, name) &&
    (isTooLong(key) || matchesGlob(withoutSlashes(key), name));
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
