/**
 * Globs for names and paths in the rules of a policy: `*`, `?`, `[a-z]`, `[!a-z]`,
 * and `**` between two slashes. All other characters stand for themselves, and a
 * wildcard matches a dot, too.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { isCaseBlind, isWindows, resolveFolder } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import { normalizeText, quote } from "../text.ts";
import type { Problem } from "./types.ts";

/** The maximum length of a glob, in characters. */
const MAX_GLOB_LENGTH = 256;

/** The characters that begin a wildcard. */
export const WILDCARD = /[*?[]/;

/** What is wrong with a policy, and how to fix it. */
export type PolicyFault = Pick<Problem, "line" | "reason" | "hint">;

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
 * Finds the folder above the first wildcard of a glob. Without a wildcard, everything
 * in a folder matches too.
 *
 * @throws {PolicyError} If the glob cannot be used, or is relative to an unknown folder.
 */
export function findGlobFolder(glob: string, base: BaseFolders): GlobFolder {
  checkGlob(glob);
  const parts = withSlashes(glob).replace(/\/+$/, "").split("/");
  const first = parts.findIndex((part) => WILDCARD.test(part));
  const end = first === -1 ? parts.length : first;
  const folder = parts.slice(0, end).map((part) => `${part}/`).join("");
  const path = attempt(() => resolveFolder(folder, base));
  if (path !== undefined) {
    return { path, rest: first === -1 ? ["**"] : parts.slice(end) };
  }
  const reason = `the folder ${quote(glob)} is relative to an unknown one`;
  throw new PolicyError([{ reason, hint: "write an absolute path" }]);
}

/**
 * Refuses braces, too, because in the globs of other programs they stand for
 * alternatives: a rule that turns off a skill must not silently match nothing.
 *
 * @throws {PolicyError} If a glob cannot be used.
 */
export function checkGlob(glob: string): void {
  if (glob.length <= MAX_GLOB_LENGTH && !/[{}]/.test(glob)) return;
  const reason = `the glob ${
    quote(glob)
  } has braces, or more than ${MAX_GLOB_LENGTH} characters`;
  throw new PolicyError([{ reason, hint: "split it into several rules" }]);
}

/** Whether an item is what a part of a glob stands for. Without one, any items are. */
type Test = ((item: string) => boolean) | undefined;

/** Compiles a glob for a name, in comparable form. */
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
