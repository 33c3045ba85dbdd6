/**
 * The grammar of a rule of a policy, which names skills and folders: what is wrong with
 * one, and what it matches.
 */

import { attempt } from "../attempt.ts";
import { diagnosticOf } from "../fs/errors.ts";
import {
  type BaseFolders,
  comparablePath,
  isWindows,
  resolvePath,
} from "../fs/paths.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { isScoped, skillKey } from "../skills/names.ts";
import type { Project } from "../skills/project.ts";
import type { SkillPolicyRule, SkillScope } from "../skills/types.ts";
import { MAX_LENGTHS, quote } from "../text.ts";

export const MAX_POLICY_FAULTS = 20;

/** A fault of a policy. All of them break the same rule. */
type PolicyFault = Omit<DiagnosticDetails, "rule">;

export class PolicyError extends Error {
  readonly faults: readonly DiagnosticDetails[];

  constructor(...faults: PolicyFault[]) {
    super(faults.map(({ reason }) => reason).join("; "));
    this.name = "PolicyError";
    this.faults = faults.slice(0, MAX_POLICY_FAULTS)
      .map((fault) => ({ ...fault, rule: "policy" }));
  }
}

/** A skill, or a folder without a valid one. */
export interface PolicySubject {
  /** Its name, or the names that it may have. */
  readonly names: readonly string[];
  readonly scope: SkillScope;
  /** The paths that list it, in order, and its real path. */
  readonly paths: readonly string[];
}

/** A rule with the folders that its own lead to in one scan. */
export interface ActiveRule {
  readonly rule: SkillPolicyRule;
  readonly matchesName: (key: string) => boolean;
  /** The folders in comparable form. If there are any, the skill must be in one of them. */
  readonly folders: readonly string[] | undefined;
}

/**
 * @param base The folders that those of the rule are relative to.
 * @throws {PolicyError} If it cannot be used.
 */
export function activateRule(
  rule: SkillPolicyRule,
  base: BaseFolders,
  project: Project,
): ActiveRule {
  const names = textsOf(rule.skill);
  const folders = textsOf(rule.in);
  const [fault] = [
    ...names.map(findNameFault),
    ...folders.map(findFolderFault),
  ].filter((it) => it !== undefined);
  const { line } = rule;
  if (fault !== undefined) throw new PolicyError({ line, ...fault });
  const located = folders.flatMap((folder) =>
    locateFolder(folder, { base, project, line })
  );
  return {
    rule,
    matchesName: compileNames(rule.skill),
    folders: rule.in === undefined ? undefined : located,
  };
}

export function isMatch(
  active: ActiveRule,
  { names, scope, paths }: PolicySubject,
): boolean {
  return names.some((name) => isAbout(active, skillKey(name), scope)) &&
    paths.some((path) => isInAny(comparablePath(path), active.folders));
}

/** Says that a rule, or one of its names, matches nothing, and may be misspelled. */
export function listUnusedFaults(
  active: ActiveRule,
  subjects: readonly PolicySubject[],
): DiagnosticDetails[] {
  const { rule: { skill, line } } = active;
  const matched = subjects.filter((subject) => isMatch(active, subject));
  const found = matched.flatMap(({ names }) => names.map(skillKey));
  const unused = textsOf(skill).filter((name) =>
    !found.some(compileNames(name))
  );
  const reasons = matched.length === 0
    ? ["this rule matches no skill"]
    : unused.map((name) => `the name ${quote(name)} matches no skill`);
  const fix = "check its spelling, unless it is for skills that are not here";
  return reasons
    .map((reason) => ({ rule: "policy-unused", line, reason, fix }));
}

/** Whether a rule is about a name, given by its key, and a scope, in any folder. */
export function isAbout(
  { rule, matchesName }: ActiveRule,
  key: string,
  scope: SkillScope,
): boolean {
  return (rule.scope ?? scope) === scope && matchesName(key);
}

/** Whether a path is one of the folders or lies in one. Without folders, any path does. */
export function isInAny(
  path: string,
  folders: readonly string[] | undefined,
): boolean {
  return folders === undefined ||
    folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

export function textsOf(
  condition: string | readonly string[] | undefined,
): string[] {
  return [condition ?? []].flat();
}

/** Says why a name cannot be used. If it matched nothing, an `off` would have no effect. */
function findNameFault(name: string): PolicyFault | undefined {
  if (skillKey(name) === "") {
    return {
      reason:
        `a name is empty, or has more than ${MAX_LENGTHS.name} characters`,
      fix: 'write a name, or "*" for all skills',
    };
  }
  if (isScoped(name)) {
    return {
      reason: `the name ${quote(name)} begins with a scope`,
      fix: 'write the rest of the name, and the scope as "scope:"',
    };
  }
  if (!/[{}[\],]/.test(name)) return undefined;
  const odd = "braces, brackets, or commas, which have no meaning";
  return {
    reason: `the name ${quote(name)} contains ${odd}`,
    fix:
      'write a list of names, as in ["a", "b"], or "?" for any one character',
  };
}

/** The end of a folder's path that adds nothing to its meaning: slashes, and `**`. */
const FOLDER_END = isWindows
  ? /(?<![\\/])[\\/]+(?:\*\*[\\/]*)?$/
  : /(?<!\/)\/+(?:\*\*\/*)?$/;

const WILDCARDS = /[*?]|\{[^{}]*,/;

/** Says why the path of a folder cannot be used, from its text alone. */
function findFolderFault(folder: string): PolicyFault | undefined {
  if (folder.trim() === "") {
    return {
      reason: "a folder is empty",
      fix: 'write its path, as in "~/code"',
    };
  }
  if (!WILDCARDS.test(folder.replace(FOLDER_END, ""))) return undefined;
  const odd = "wildcards, which have no meaning";
  return {
    reason: `the folder ${quote(folder)} contains ${odd}`,
    fix:
      'write a list of folders, as in ["~/a", "~/b"]; everything in a folder matches, at any depth',
  };
}

/**
 * Resolves a folder of a rule to comparable paths.
 *
 * @throws {PolicyError} If it cannot be resolved.
 */
function locateFolder(
  folder: string,
  { base, project, line }: {
    base: BaseFolders;
    project: Project;
    line: number | undefined;
  },
): string[] {
  const path = resolveRuleFolder(folder, base);
  if (path === undefined) {
    const shown = quote(folder);
    const reason = `the folder ${shown} is relative to an unknown folder`;
    throw new PolicyError({ line, reason, fix: "write an absolute path" });
  }
  try {
    return [path, project.resolve(path)].map(comparablePath);
  } catch (error) {
    const { reason, fix } = diagnosticOf(error);
    const what = `the folder ${quote(path)} cannot be used`;
    throw new PolicyError({ line, reason: `${what}: ${reason}`, fix });
  }
}

/** Returns the absolute path of a folder of a rule, unless it is relative to an unknown one. */
export function resolveRuleFolder(
  folder: string,
  base: BaseFolders,
): string | undefined {
  const path = folder.replace(FOLDER_END, "") || "/";
  return attempt(() => resolvePath(path, base));
}

function compileNames(
  condition: SkillPolicyRule["skill"],
): (key: string) => boolean {
  if (condition === undefined) return () => true;
  const patterns = textsOf(condition).map((name) => [...skillKey(name)]);
  return (key) => {
    const characters = [...key];
    return patterns.some((pattern) => matchesPattern(characters, pattern));
  };
}

/**
 * Whether characters match a pattern, in which `*` stands for any characters and `?` for
 * one. Only the last `*` is ever extended, because the first match of what follows an
 * earlier one is as good as any.
 */
function matchesPattern(
  characters: readonly string[],
  pattern: readonly string[],
): boolean {
  let [next, position] = [0, 0];
  let lastStar = -1;
  let starEnd = 0;
  while (position < characters.length) {
    const expected = pattern[next];
    if (expected === "*") {
      lastStar = next++;
      starEnd = position;
    } else if (expected === "?" || expected === characters[position]) {
      next++;
      position++;
    } else if (lastStar >= 0) {
      next = lastStar + 1;
      position = ++starEnd;
    } else {
      return false;
    }
  }
  return pattern.slice(next).every((character) => character === "*");
}
