/**
 * Globs for names and paths in the rules of a policy: `*`, `?`, `[a-z]`, `[!a-z]`,
 * alternatives in braces, and `**` between two slashes. All other characters stand
 * for themselves, and a wildcard matches a dot, too.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { isCaseBlind, isWindows, resolveFolder } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import { normalizeText, quote } from "../text.ts";
import type { Fault } from "../problems.ts";

/** The maximum length of a glob, in characters. */
const MAX_GLOB_LENGTH = 256;

/** The maximum number of alternatives that a glob stands for. */
const MAX_ALTERNATIVES = 1_000;

/** The characters that begin a wildcard. */
export const WILDCARD = /[*?[]/;

/** What is wrong with a policy, and how to fix it. */
export type PolicyFault = Omit<Fault, "rule">;

/** Thrown for a policy that cannot be used. */
export class PolicyError extends Error {
  /** What is wrong with it, in the order of the lines. */
  readonly faults: readonly PolicyFault[];

  /** Creates an error from what is wrong. */
  constructor(faults: readonly PolicyFault[]) {
    super(faults[0]?.reason);
    this.faults = faults;
  }
}

/** A folder, and the parts of a glob for what lies below it, up to its end. */
export interface GlobFolder {
  readonly path: string;
  readonly rest: readonly string[];
}

/**
 * Lists the folders above the first wildcard of a glob, one for each alternative.
 * Without a wildcard, everything in a folder matches too.
 *
 * @throws {PolicyError} If the glob is too large, or relative to an unknown folder.
 */
export function listGlobFolders(glob: string, base: BaseFolders): GlobFolder[] {
  return expandBraces(withSlashes(glob)).map((text) => {
    const parts = text.replace(/\/+$/, "").split("/");
    const first = parts.findIndex((part) => WILDCARD.test(part));
    const end = first === -1 ? parts.length : first;
    const folder = parts.slice(0, end).map((part) => `${part}/`).join("");
    const path = attempt(() => resolveFolder(folder, base));
    if (path !== undefined) {
      return { path, rest: first === -1 ? ["**"] : parts.slice(end) };
    }
    const reason = `the folder ${quote(glob)} is relative to an unknown one`;
    throw new PolicyError([{ reason, hint: "write an absolute path" }]);
  });
}

/** Alternatives in braces, without others in them. */
const ALTERNATIVES = /\{([^{}]*,[^{}]*)\}/;

/**
 * Expands the alternatives in braces, which can be nested.
 *
 * @throws {PolicyError} If the glob is too long, or stands for too much.
 */
export function expandBraces(glob: string): string[] {
  let globs = [glob];
  const isSmall = () =>
    glob.length <= MAX_GLOB_LENGTH && globs.length <= MAX_ALTERNATIVES;
  // All of them have the same number of braces.
  while (isSmall() && ALTERNATIVES.test(globs[0]!)) {
    globs = [...new Set(globs.flatMap(expandOnce))];
  }
  if (isSmall()) return globs;
  throw new PolicyError([{
    reason: `the glob ${
      quote(glob)
    } has more than ${MAX_GLOB_LENGTH} characters, or stands for more than ${MAX_ALTERNATIVES} alternatives`,
    hint: "split it into several rules",
  }]);
}

function expandOnce(glob: string): string[] {
  const [group, texts] = ALTERNATIVES.exec(glob)!;
  return texts!.split(",").map((text) => glob.replace(group, () => text));
}

/** Whether an item is what a part of a glob stands for. Without one, any items are. */
type Test = ((item: string) => boolean) | undefined;

/** Compiles a glob for a name, without braces and in comparable form. */
export function compileName(glob: string): (name: string) => boolean {
  const tests = glob.match(/\*+|\[[^\]]+\]|[^]/gu)?.map(compileCharacter) ?? [];
  return (name) => matchAll(tests, [...name]);
}

function compileCharacter(glob: string): Test {
  if (glob.startsWith("*")) return undefined;
  if (glob === "?") return () => true;
  if (!glob.startsWith("[") || glob === "[") return (other) => other === glob;
  const source = glob.replaceAll("\\", "\\\\").replace("[!", "[^");
  // A class that is invalid matches nothing.
  const pattern = attempt(() => new RegExp(source, "u"));
  return (character) => pattern !== undefined && pattern.test(character);
}

/** Compiles a glob for the names in a path from its parts. */
export function compilePath(
  parts: readonly string[],
): (names: readonly string[]) => boolean {
  const tests = parts.map((part) =>
    part === "**" ? undefined : compileName(comparableText(part))
  );
  return (names) => matchAll(tests, names);
}

/**
 * Whether items match tests one by one. The first match of what follows a wildcard
 * is as good as a later one, so only the last wildcard is ever extended, and the
 * time is linear in the number of items.
 */
function matchAll(tests: readonly Test[], items: readonly string[]): boolean {
  let [test, item] = [0, 0];
  /** The last test for any items, and the first item after these. */
  let [any, end] = [-1, 0];
  while (item < items.length) {
    if (test < tests.length && tests[test] === undefined) {
      [any, end] = [test++, item];
    } else if (tests[test]?.(items[item]!)) {
      test++;
      item++;
    } else if (any === -1) return false;
    else {
      item = ++end;
      test = any + 1;
    }
  }
  return tests.slice(test).every((test) => test === undefined);
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
function withSlashes(path: string): string {
  return isWindows ? path.replaceAll("\\", "/") : path;
}
