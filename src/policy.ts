// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * The user's policy: which skills are served, and how prominently. This is the
 * one place that decides. The scan asks it, and the views see what is left.
 *
 * 1. The last rule that fits a skill decides. A skill that no rule fits is on.
 * 2. A skill that is reached through a link is judged twice, by its path as
 *    configured and by its real path, and the stricter decision holds. So a
 *    link can neither evade a rule nor profit from one.
 * 3. A skill that cannot be judged is off.
 *
 * The module is loaded only where there is a policy.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { posix } from "node:path";
import { isCaseBlind, isWindows, resolveFolder } from "./paths.ts";
import { type Fault, realPaths } from "./skill_files.ts";
import { normalizeText, quote, skillKey } from "./text.ts";
import type {
  Skill,
  SkillPolicy,
  SkillPolicyRule,
  SkillScope,
  SkillState,
} from "./types.ts";

/** Longest name that is matched against a glob with wildcards, in characters. */
const MAX_NAME_LENGTH = 128;

/** Longest glob, in characters. */
const MAX_GLOB_LENGTH = 256;

/** How many `*` a glob may have between two slashes: each multiplies the time by the length of the text. */
const MAX_STARS = 3;

/** How many `{` a glob may have: each multiplies the number of patterns. */
const MAX_BRACES = 3;

/** What a policy says of a skill. */
export interface PolicyDecision {
  readonly state: SkillState;
  /** The rule that decided, if one fits. */
  readonly rule?: SkillPolicyRule;
}

/** What a policy decides on: a skill, or a folder that is none and may have no name. */
export type PolicySubject =
  & Pick<Skill, "scope" | "directory" | "realDirectory">
  & { readonly name?: string };

/** Decides by the rules of a policy. */
export class PolicyDecider {
  /** The rules about one name, by its key, the last one first. */
  readonly #exact = new Map<string, CompiledRule[]>();
  /** All other rules, the last one first. */
  readonly #general: CompiledRule[] = [];
  readonly #places = new Map<string, Place>();
  #decisions = new WeakMap<PolicySubject, PolicyDecision>();

  /**
   * Prepares the rules.
   *
   * @throws {Error} If a glob is not valid, or needs a folder that is not known.
   */
  constructor(policy: SkillPolicy) {
    for (const [index, rule] of policy.rules.entries()) {
      const compiled = this.#compile(rule, { index, policy });
      const { name } = compiled;
      if (typeof name !== "string") this.#general.unshift(compiled);
      else this.#exact.set(name, [compiled, ...this.#exact.get(name) ?? []]);
    }
  }

  /** Finds out where the links in the rules' folders lead now. */
  followLinks(): void {
    for (const place of this.#places.values()) {
      const folders = foldersAt(place.path);
      if (folders.join("\n") === place.folders.join("\n")) continue;
      place.folders = folders;
      this.#decisions = new WeakMap();
    }
  }

  /** Decides on a skill. The decision on one object is made once. */
  decide(subject: PolicySubject): PolicyDecision {
    const known = this.#decisions.get(subject);
    if (known !== undefined) return known;
    const { directory, realDirectory } = subject;
    const key = keyOf(subject);
    let decision = this.#decideAt(directory, { key, scope: subject.scope });
    if (directory !== realDirectory) {
      const real = this.#decideAt(realDirectory, { key, scope: subject.scope });
      if (strictness(real) > strictness(decision)) decision = real;
    }
    this.#decisions.set(subject, decision);
    return decision;
  }

  /** Lists the rules that fit none of the skills, in their order. */
  listUnused(subjects: readonly PolicySubject[]): SkillPolicyRule[] {
    const candidates = subjects.flatMap((subject) => {
      const { scope, directory, realDirectory } = subject;
      const key = keyOf(subject);
      return [...new Set([directory, realDirectory])].map((path) => ({
        key,
        scope,
        path: comparablePath(path),
      }));
    });
    return [...this.#general, ...[...this.#exact.values()].flat()]
      .filter((rule) => !candidates.some((other) => fits(rule, other)))
      .sort((a, b) => a.index - b.index)
      .map(({ rule }) => rule);
  }

  #compile(
    rule: SkillPolicyRule,
    { index, policy }: { index: number; policy: SkillPolicy },
  ): CompiledRule {
    const { skill, scope } = rule;
    for (const glob of [skill, rule.in]) requireGlob(glob);
    const name = skill === undefined ? undefined : compileName(skill);
    if (rule.in === undefined) return { rule, index, scope, name };
    const { folder, below } = splitGlob(rule.in);
    const path = resolveFolder(folder, {
      workingDirectory: baseFolder(policy),
      homeDirectory: policy.homeDirectory,
    });
    const place = this.#places.get(path) ?? { path, folders: foldersAt(path) };
    this.#places.set(path, place);
    const glob = below === undefined ? undefined : compileGlob(below);
    return { rule, index, scope, name, place, glob };
  }

  /** Decides on a skill by one of the paths of its directory. */
  #decideAt(
    directory: string,
    { key, scope }: Pick<Candidate, "key" | "scope">,
  ): PolicyDecision {
    const candidate = { key, scope, path: comparablePath(directory) };
    const isFit = (compiled: CompiledRule) => fits(compiled, candidate);
    const exact = this.#exact.get(key ?? "")?.find(isFit);
    const general = this.#general.find(isFit);
    const last = (exact?.index ?? -1) > (general?.index ?? -1)
      ? exact
      : general;
    if (last === undefined) return { state: "on" };
    const { rule, name } = last;
    const isUnsure = typeof name === "object" && isTooLong(key);
    return { state: isUnsure ? "off" : rule.state, rule };
  }
}

/** Returns the folder that relative globs start in, if it is known. */
function baseFolder({ file }: SkillPolicy): string | undefined {
  if (file !== undefined) return dirname(file);
  try {
    return Deno.cwd();
  } catch {
    // Only a relative glob needs it, and says so.
  }
}

/** Says what is wrong with a glob, if anything. */
export function globFault(glob: string): Fault | undefined {
  if (glob.trim() === "") {
    return { reason: "a glob is empty", hint: 'leave it out, or write "*"' };
  }
  const stars = glob.split("/").map((part) => part.match(/\*+/g)?.length ?? 0);
  const braces = glob.split("{").length - 1;
  const isSimple = glob.length <= MAX_GLOB_LENGTH &&
    Math.max(...stars) <= MAX_STARS && braces <= MAX_BRACES;
  return isSimple ? undefined : {
    reason: `the glob ${
      quote(glob)
    } has more than ${MAX_GLOB_LENGTH} characters, ${MAX_BRACES} "{", or ${MAX_STARS} "*" between two slashes`,
    hint: "divide it among several rules",
  };
}

/** @throws {Error} If there is anything wrong with a glob. */
function requireGlob(glob: string | undefined): void {
  const fault = glob === undefined ? undefined : globFault(glob);
  if (fault === undefined) return;
  throw new Error(`Cannot use the policy: ${fault.reason}; ${fault.hint}`);
}

/** A rule made ready. */
interface CompiledRule {
  readonly rule: SkillPolicyRule;
  /** Its place among the rules. */
  readonly index: number;
  readonly scope: SkillScope | undefined;
  /** What fits the skill's key: a text, a glob, or anything. */
  readonly name: string | Glob | undefined;
  /** The folder that the skill directory must lie in. */
  readonly place?: Place;
  /** What fits its path from there. Default: anything. */
  readonly glob?: Glob;
}

/** A folder that rules name. */
interface Place {
  readonly path: string;
  /** The path, and where it leads, both comparable. */
  folders: readonly string[];
}

/** What rules are tried on. */
interface Candidate {
  /** The key of the skill's name, if it has one. */
  readonly key: string | undefined;
  readonly scope: SkillScope;
  /** The comparable path of its directory. */
  readonly path: string;
}

function keyOf({ name }: PolicySubject): string | undefined {
  return name === undefined ? undefined : skillKey(name);
}

function isTooLong(key: string | undefined): boolean {
  return key !== undefined && key.length > MAX_NAME_LENGTH;
}

/** Whether a rule fits, or may fit where the name is too long to be sure. */
function fits(
  { scope, name, place, glob }: CompiledRule,
  candidate: Candidate,
): boolean {
  if (scope !== undefined && scope !== candidate.scope) return false;
  if (place !== undefined && !isBelow(place, glob, candidate.path)) {
    return false;
  }
  if (name === undefined) return true;
  const { key } = candidate;
  if (key === undefined || typeof name === "string") return name === key;
  return isPossible(name, key) &&
    (isTooLong(key) || matches(name, withoutSlashes(key)));
}

/** Whether a path is that of a folder or lies in it, and a glob fits the way from there. */
function isBelow(
  { folders }: Place,
  glob: Glob | undefined,
  path: string,
): boolean {
  return folders.some((folder) => {
    if (path === folder) return glob === undefined;
    if (!path.startsWith(folder) || path[folder.length] !== "/") return false;
    if (glob === undefined) return true;
    const way = path.slice(folder.length + 1);
    return isPossible(glob, way) && matches(glob, way);
  });
}

function strictness({ state }: PolicyDecision): number {
  return state === "off" ? 2 : state === "manual" ? 1 : 0;
}

/** A glob with wildcards. */
interface Glob {
  readonly pattern: string;
  /** Texts that are in all that it fits. Looking for them first saves most of the time. */
  readonly literals: readonly string[];
}

/** Takes a glob apart: the folder before its first wildcard, and the glob from there, if that is not everything. */
function splitGlob(glob: string): { folder: string; below?: string } {
  const parts = (isWindows ? glob.replaceAll("\\", "/") : glob)
    .replace(/\/+$/, "").split("/");
  const first = parts.findIndex((part) => WILDCARD.test(part));
  const end = first === -1 ? parts.length : first;
  const folder = parts.slice(0, end).map((part) => `${part}/`).join("");
  const below = comparable(parts.slice(end).join("/"));
  return {
    folder: folder || "./",
    ...(below !== "" && below !== "**" && { below }),
  };
}

const WILDCARD = /[*?[{]/;

/** Prepares a glob on names: `undefined` fits any. */
function compileName(glob: string): string | Glob | undefined {
  const key = skillKey(glob);
  if (/^\*+$/.test(key)) return undefined;
  return WILDCARD.test(key) ? compileGlob(withoutSlashes(key)) : key;
}

function compileGlob(glob: string): Glob {
  const literals = glob.replace(/[[{].*[\]}]/, "*").split(/[*?[\]{}/]+/)
    .filter(Boolean);
  return { pattern: plain(glob), literals };
}

/** Whether a text has what all that a glob fits have. */
function isPossible({ literals }: Glob, text: string): boolean {
  return literals.every((literal) => text.includes(literal));
}

function matches({ pattern }: Glob, text: string): boolean {
  return posix.matchesGlob(plain(text), pattern);
}

/**
 * Replaces what the platform's globs take for more than itself: a dot (`*` does
 * not match a leading one, `{1..9}` is a range), a backslash (a separator), and
 * a parenthesis (which opens a pattern that can take forever). Both sides of a
 * comparison are replaced alike, by characters that neither has.
 */
function plain(text: string): string {
  return text.replaceAll(".", "\u0000").replaceAll("\\", "\u0001")
    .replaceAll("(", "\u0002");
}

/** Replaces slashes, which are nothing special in names. */
function withoutSlashes(key: string): string {
  return key.replaceAll("/", "\u0003");
}

/** Returns the folders that a path stands for: its own, and the one that links lead to. */
function foldersAt(path: string): string[] {
  return [...new Set([path, ...realPaths([path])].map(comparablePath))];
}

/** Returns a path as it is compared: without a slash at its end, so that the root is empty. */
function comparablePath(path: string): string {
  const slashed = isWindows ? path.replaceAll("\\", "/") : path;
  return comparable(slashed.replace(/\/+$/, ""));
}

/** Makes texts alike that name the same file. */
function comparable(text: string): string {
  const composed = normalizeText(text);
  return isCaseBlind ? composed.toLowerCase() : composed;
}
