/**
 * Globs for names and paths in the rules of a policy: `*`, `?`, `[a-z]`, `[!a-z]`,
 * alternatives in braces, and `**` between two slashes. All other characters stand
 * for themselves, and a wildcard matches a dot, too.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { isCaseBlind, isWindows } from "../files/paths.ts";
import { normalizeText, quote } from "../text.ts";
import type { PolicyFault } from "./policy_error.ts";

/** The maximum length of a glob, in characters. */
const MAX_GLOB_LENGTH = 256;

/** The maximum number of alternatives that a glob stands for. */
const MAX_ALTERNATIVES = 1_000;

/** The characters that begin a wildcard. */
export const WILDCARD = /[*?[]/;

/** A glob for a name: characters, `*`, `?`, and classes of characters. */
export type NameGlob = readonly (string | RegExp)[];

/** A glob for a path: globs for names, and `**`. */
export type PathGlob = readonly (NameGlob | "**")[];

/** Finds the problem with a glob, if there is one. */
export function findGlobFault(glob: string): PolicyFault | undefined {
  const isSmall = glob.length <= MAX_GLOB_LENGTH &&
    expandBraces(glob).length <= MAX_ALTERNATIVES;
  return isSmall ? undefined : {
    reason: `the glob ${
      quote(glob)
    } has more than ${MAX_GLOB_LENGTH} characters, or stands for more than ${MAX_ALTERNATIVES} alternatives`,
    hint: "split it into several rules",
  };
}

/** Alternatives in braces, without others in them. */
const ALTERNATIVES = /\{([^{}]*,[^{}]*)\}/;

/** Expands the alternatives in braces, which can be nested. Ends early if there are too many. */
export function expandBraces(glob: string): string[] {
  let globs = [glob];
  // All of them have the same number of braces.
  while (globs.length <= MAX_ALTERNATIVES && ALTERNATIVES.test(globs[0]!)) {
    globs = [...new Set(globs.flatMap(expandOnce))];
  }
  return globs;
}

function expandOnce(glob: string): string[] {
  const [group, texts] = ALTERNATIVES.exec(glob)!;
  return texts!.split(",").map((text) => glob.replace(group, () => text));
}

/** Compiles a glob for a name, without braces and in comparable form. */
export function compileName(glob: string): NameGlob {
  const parts = glob.replace(/\*+/g, "*").match(/\[[^\]]+\]|[^]/g) ?? [];
  return parts.map((part) => part.length === 1 ? part : compileClass(part));
}

/** Compiles a class of characters. One that is invalid matches nothing. */
function compileClass(written: string): RegExp {
  const characters = written.replaceAll("\\", "\\\\").replace("[!", "[^");
  return attempt(() => new RegExp(characters)) ?? /(?!)/;
}

/** Compiles a glob for a path from its parts between slashes. */
export function compilePath(parts: readonly string[]): PathGlob {
  return parts.map((part) =>
    part === "**" ? part : compileName(comparableText(part))
  );
}

/** Whether a name in comparable form matches a glob. */
export function matchesName(name: string, glob: NameGlob): boolean {
  return matchesParts(glob, {
    length: name.length,
    isAny: (part) => part === "*",
    matches: (part, index) =>
      typeof part === "string"
        ? part === "?" || part === name[index]
        : part.test(name[index]!),
  });
}

/** Whether the names of a path in comparable form match a glob. */
export function matchesPath(names: readonly string[], glob: PathGlob): boolean {
  return matchesParts(glob, {
    length: names.length,
    isAny: (part) => part === "**",
    matches: (part, index) => matchesName(names[index]!, part as NameGlob),
  });
}

/** What the parts of a glob are compared with. */
interface Items<T> {
  /** The number of items. */
  readonly length: number;
  /** Whether a part stands for any number of items. */
  readonly isAny: (part: T) => boolean;
  /** Whether another part matches an item. */
  readonly matches: (part: T, index: number) => boolean;
}

/**
 * Whether all items match. After a mismatch, only the last part that stands for any
 * number of items takes one more, so the time is at most quadratic.
 */
function matchesParts<T>(
  parts: readonly T[],
  { length, isAny, matches }: Items<T>,
): boolean {
  let [part, item] = [0, 0];
  let retry: { part: number; item: number } | undefined;
  while (item < length || part < parts.length) {
    if (part < parts.length && isAny(parts[part]!)) {
      retry = { part: part++, item: item + 1 };
    } else if (
      part < parts.length && item < length && matches(parts[part]!, item)
    ) {
      part++;
      item++;
    } else if (retry !== undefined && retry.item <= length) {
      ({ part, item } = retry);
    } else {
      return false;
    }
  }
  return true;
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
