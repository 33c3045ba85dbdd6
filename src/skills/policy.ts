/**
 * The user's policy: which skills are served, and how prominently. Only this
 * module makes these decisions. The scan applies them, so views never see a
 * skill that is off.
 *
 * 1. The last rule that matches a skill applies. A skill without a matching rule
 *    is on.
 * 2. A skill behind a link gets two decisions, one for its configured path and
 *    one for its real path. The stricter one applies, so a link can neither
 *    evade a rule nor benefit from one.
 * 3. A skill whose name is too long to match is off.
 *
 * This module is loaded only if there is a policy.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { posix } from "node:path";
import { isCaseBlind, isWindows, resolveFolder } from "../files/paths.ts";
import { realPaths } from "../files/confinement.ts";
import type { Fault } from "../files/faults.ts";
import { normalizeText, quote, skillKey } from "../text.ts";
import type {
  Skill,
  SkillPolicy,
  SkillPolicyRule,
  SkillScope,
  SkillState,
} from "./types.ts";

/** The maximum length of a name that is matched against a glob with wildcards, in characters. */
const MAX_NAME_LENGTH = 128;

/** The maximum length of a glob, in characters. */
const MAX_GLOB_LENGTH = 256;

/**
 * The maximum number of `*` between two slashes of a glob. Each one multiplies
 * the matching time by the length of the text.
 */
const MAX_STARS = 3;

/** The maximum number of `{` in a glob. Each one multiplies the number of patterns. */
const MAX_BRACES = 3;

/** The decision of a policy on a skill. */
export interface PolicyDecision {
  readonly state: SkillState;
  /** The rule that applies, if there is one. */
  readonly rule?: SkillPolicyRule;
}

/**
 * The subject of a decision: a skill, or a folder without a valid skill, which
 * may have no name.
 */
export type PolicySubject =
  & Pick<Skill, "scope" | "directory" | "realDirectory">
  & { readonly name?: string };

/** Applies the rules of a policy. */
export class PolicyDecider {
  /** The rules for a single name, by the name's key, in reverse order. */
  readonly #exact = new Map<string, CompiledRule[]>();
  /** All other rules, in reverse order. */
  readonly #general: CompiledRule[] = [];
  readonly #places = new Map<string, Place>();
  #decisions = new WeakMap<PolicySubject, PolicyDecision>();

  /**
   * Compiles the rules.
   *
   * @throws {Error} If a glob is invalid or relative to an unknown folder.
   */
  constructor(policy: SkillPolicy) {
    for (const [index, rule] of policy.rules.entries()) {
      const compiled = this.#compile(rule, { index, policy });
      const { name } = compiled;
      if (typeof name !== "string") this.#general.unshift(compiled);
      else this.#exact.set(name, [compiled, ...this.#exact.get(name) ?? []]);
    }
  }

  /** Resolves the links in the rules' folders again. */
  followLinks(): void {
    for (const place of this.#places.values()) {
      const folders = resolveFolders(place.path);
      if (folders.join("\n") === place.folders.join("\n")) continue;
      place.folders = folders;
      this.#decisions = new WeakMap();
    }
  }

  /** Decides on a skill. Decisions are cached per object. */
  decide(subject: PolicySubject): PolicyDecision {
    const known = this.#decisions.get(subject);
    if (known !== undefined) return known;
    const { directory, realDirectory } = subject;
    const key = subjectKey(subject);
    let decision = this.#decideAt(directory, { key, scope: subject.scope });
    if (directory !== realDirectory) {
      const real = this.#decideAt(realDirectory, { key, scope: subject.scope });
      if (strictness(real) > strictness(decision)) decision = real;
    }
    this.#decisions.set(subject, decision);
    return decision;
  }

  /** Lists the rules that match none of the subjects, in order. */
  listUnused(subjects: readonly PolicySubject[]): SkillPolicyRule[] {
    const candidates = subjects.flatMap((subject) => {
      const { scope, directory, realDirectory } = subject;
      const key = subjectKey(subject);
      return [...new Set([directory, realDirectory])].map((path) => ({
        key,
        scope,
        path: comparablePath(path),
      }));
    });
    return [...this.#general, ...[...this.#exact.values()].flat()]
      .filter((rule) =>
        !candidates.some((candidate) => matchesRule(rule, candidate))
      )
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
    const place = this.#places.get(path) ??
      { path, folders: resolveFolders(path) };
    this.#places.set(path, place);
    const glob = below === undefined ? undefined : compileGlob(below);
    return { rule, index, scope, name, place, glob };
  }

  /** Decides on a skill by one path of its directory. */
  #decideAt(
    directory: string,
    { key, scope }: Pick<Candidate, "key" | "scope">,
  ): PolicyDecision {
    const candidate = { key, scope, path: comparablePath(directory) };
    const isMatch = (rule: CompiledRule) => matchesRule(rule, candidate);
    const exact = this.#exact.get(key ?? "")?.find(isMatch);
    const general = this.#general.find(isMatch);
    const last = (exact?.index ?? -1) > (general?.index ?? -1)
      ? exact
      : general;
    if (last === undefined) return { state: "on" };
    const { rule, name } = last;
    const isUncertain = typeof name === "object" && isTooLong(key);
    return { state: isUncertain ? "off" : rule.state, rule };
  }
}

/** Returns the folder that relative globs start from, if it is known. */
function baseFolder({ file }: SkillPolicy): string | undefined {
  if (file !== undefined) return dirname(file);
  try {
    return Deno.cwd();
  } catch {
    // Only relative globs need it, and they report the error.
  }
}

/** Finds the problem with a glob, if there is one. */
export function findGlobFault(glob: string): Fault | undefined {
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

/** A compiled rule. */
interface CompiledRule {
  readonly rule: SkillPolicyRule;
  /** The position among the rules of the policy. */
  readonly index: number;
  readonly scope: SkillScope | undefined;
  /** The key of the skill's name, or a glob for it. Default: any name. */
  readonly name: string | Glob | undefined;
  /** The folder that must contain the skill directory. */
  readonly place?: Place;
  /** The glob for the path relative to that folder. Default: any path. */
  readonly glob?: Glob;
}

/** A folder in a rule. */
interface Place {
  readonly path: string;
  /** The path and the real path, both in comparable form. */
  folders: readonly string[];
}

/** The properties of a skill that rules are matched against. */
interface Candidate {
  /** The key of its name, if it has one. */
  readonly key: string | undefined;
  readonly scope: SkillScope;
  /** The path of its directory in comparable form. */
  readonly path: string;
}

function subjectKey({ name }: PolicySubject): string | undefined {
  return name === undefined ? undefined : skillKey(name);
}

function isTooLong(key: string | undefined): boolean {
  return key !== undefined && key.length > MAX_NAME_LENGTH;
}

/** Whether a rule matches, or might match a name that is too long to check. */
function matchesRule(
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
  return containsLiterals(key, name) &&
    (isTooLong(key) || matchesGlob(withoutSlashes(key), name));
}

/** Whether a path is the folder or is in it, and a glob matches the rest of the path. */
function isBelow(
  { folders }: Place,
  glob: Glob | undefined,
  path: string,
): boolean {
  return folders.some((folder) => {
    if (path === folder) return glob === undefined;
    if (!path.startsWith(folder) || path[folder.length] !== "/") return false;
    if (glob === undefined) return true;
    const rest = path.slice(folder.length + 1);
    return containsLiterals(rest, glob) && matchesGlob(rest, glob);
  });
}

function strictness({ state }: PolicyDecision): number {
  return state === "off" ? 2 : state === "manual" ? 1 : 0;
}

/** A glob with wildcards. */
interface Glob {
  readonly pattern: string;
  /** Texts that every match contains. Checking them first saves most of the matching time. */
  readonly literals: readonly string[];
}

/**
 * Splits a glob into the folder before its first wildcard and the rest, which
 * is omitted if it matches everything.
 */
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

/** Compiles a glob for names. Returns `undefined` if it matches any name. */
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

/** Whether a text contains the literals of a glob. */
function containsLiterals(text: string, { literals }: Glob): boolean {
  return literals.every((literal) => text.includes(literal));
}

function matchesGlob(text: string, { pattern }: Glob): boolean {
  return posix.matchesGlob(plain(text), pattern);
}

/**
 * Replaces characters that are special in the platform's globs, but not here:
 * the dot (`*` does not match a leading dot, and `{1..9}` is a range), the
 * backslash (a separator), and the parenthesis (the start of a pattern that can
 * take forever to match). Texts and patterns get the same replacements. Neither
 * can contain the replacement characters otherwise.
 */
function plain(text: string): string {
  return text.replaceAll(".", "\u0000").replaceAll("\\", "\u0001")
    .replaceAll("(", "\u0002");
}

/** Replaces slashes, which are not special in names. */
function withoutSlashes(key: string): string {
  return key.replaceAll("/", "\u0003");
}

/** Returns the path and the real path of a folder, both in comparable form. */
function resolveFolders(path: string): string[] {
  return [...new Set([path, ...realPaths([path])].map(comparablePath))];
}

/**
 * Returns a path in comparable form, with slashes. It has no slash at the end,
 * so the root is empty.
 */
function comparablePath(path: string): string {
  const slashed = isWindows ? path.replaceAll("\\", "/") : path;
  return comparable(slashed.replace(/\/+$/, ""));
}

/** Normalizes a text so that all spellings of a file name compare equal. */
function comparable(text: string): string {
  const composed = normalizeText(text);
  return isCaseBlind ? composed.toLowerCase() : composed;
}
