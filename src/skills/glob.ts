/**
 * Globs for names and paths in the rules of a policy.
 *
 * @module
 */

import { posix } from "node:path";
import { isCaseBlind, isWindows } from "../files/paths.ts";
import { normalizeText, quote } from "../text.ts";
import type { PolicyFault } from "./policy_error.ts";

/** The maximum length of a glob, in characters. */
const MAX_GLOB_LENGTH = 256;

/**
 * The maximum number of `*` between two slashes of a glob. Each one multiplies
 * the matching time by the length of the text.
 */
const MAX_STARS = 3;

/** The maximum number of `{` in a glob. Each one multiplies the number of patterns. */
const MAX_BRACES = 3;

/** The maximum number of alternatives that a glob stands for. */
const MAX_ALTERNATIVES = 1_000;

/** The characters that begin a wildcard. */
export const WILDCARD = /[*?[{]/;

/** A glob in comparable form. */
export interface Glob {
  readonly pattern: string;
  /** Texts that every match contains. Checking them first saves most of the matching time. */
  readonly literals: readonly string[];
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
  if (isSimple && expandBraces(glob).length > MAX_ALTERNATIVES) {
    return {
      reason: `the glob ${
        quote(glob)
      } stands for more than ${MAX_ALTERNATIVES} alternatives`,
      hint: "split it into several rules",
    };
  }
  return isSimple ? undefined : {
    reason: `the glob ${
      quote(glob)
    } has more than ${MAX_GLOB_LENGTH} characters, ${MAX_BRACES} "{", or ${MAX_STARS} "*" between two slashes`,
    hint: "split it into several rules",
  };
}

/** Compiles a glob in comparable form. */
export function compileGlob(glob: string): Glob {
  const literals = glob.replace(/[[{].*[\]}]/, "*").split(/[*?[\]{}/]+/)
    .filter(Boolean);
  return { pattern: plain(glob), literals };
}

/** Whether a text contains what every match of a glob contains. */
export function containsLiterals(text: string, { literals }: Glob): boolean {
  return literals.every((literal) => text.includes(literal));
}

/** Whether a text in comparable form matches a glob. */
export function matchesGlob(text: string, glob: Glob): boolean {
  return containsLiterals(text, glob) &&
    posix.matchesGlob(plain(text), glob.pattern);
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

/** Expands the alternatives in braces, which can be nested. */
export function expandBraces(glob: string): string[] {
  const group = /\{([^{}]*,[^{}]*)\}/.exec(glob);
  if (group === null) return [glob];
  const before = glob.slice(0, group.index);
  const after = glob.slice(group.index + group[0].length);
  const texts = group[1]!.split(",")
    .flatMap((part) => expandBraces(before + part + after));
  return [...new Set(texts)];
}

/**
 * Returns a path in comparable form, with slashes. It has no slash at the end,
 * so the root is empty.
 */
export function comparablePath(path: string): string {
  return comparableText(withSlashes(path).replace(/\/+$/, ""));
}

/** Normalizes a text so that all spellings of a file name compare equal. */
export function comparableText(text: string): string {
  const composed = normalizeText(text);
  return isCaseBlind ? composed.toLowerCase() : composed;
}

/** Replaces the separators of Windows. */
export function withSlashes(path: string): string {
  return isWindows ? path.replaceAll("\\", "/") : path;
}
