/**
 * The folders in a rule of a policy. Its glob is expanded on disk once for each
 * scan, so that a link can neither evade a rule nor benefit from one.
 *
 * 1. Alternatives in braces are folders of their own.
 * 2. A folder counts by its path and by its real path. So do the links that match
 *    a wildcard, up to the first `**`.
 * 3. A folder that does not exist matches nothing.
 * 4. If the folder above the first wildcard cannot be read, the policy is invalid.
 *    What a wildcard meets and cannot resolve is off: a clone must not be able to
 *    invalidate a policy.
 *
 * @module
 */

import { faultOf, isAbsence } from "../files/faults.ts";
import { childPath, resolveFolder } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import { quote } from "../text.ts";
import {
  comparablePath,
  comparableText,
  compileGlob,
  expandBraces,
  type Glob,
  matchesGlob,
  WILDCARD,
  withSlashes,
} from "./glob.ts";
import type { PolicyFault } from "./policy_error.ts";

/** The maximum number of places that a glob can stand for. The others are off. */
const MAX_PLACES = 1_000;

/** A folder, and the rest of a glob, which begins with a wildcard unless it is empty. */
interface GlobFolder {
  readonly path: string;
  readonly rest: readonly string[];
  /** Whether everything in a matching folder matches too. */
  readonly isDeep: boolean;
}

/** A folder in comparable form, and the pattern for what lies in it. */
interface Place extends Pick<GlobFolder, "isDeep"> {
  readonly folder: string;
  readonly glob: Glob | undefined;
}

/** The folders that a glob of a rule stands for. */
export class RuleFolders {
  readonly #folders: readonly GlobFolder[];
  #places: readonly Place[] = [];
  /** What a wildcard met and could not resolve, in comparable form. */
  #unresolved = new Set<string>();

  /**
   * Prepares a glob. Nothing matches before it is expanded.
   *
   * @throws {Error} If it is relative to an unknown folder.
   */
  constructor(glob: string, base: BaseFolders) {
    this.#folders = listGlobFolders(glob, base);
  }

  /**
   * Expands the glob on disk.
   *
   * @returns Why it cannot be expanded, if it cannot. It then stays as it was.
   */
  expand(): PolicyFault | undefined {
    const expansion = new Expansion();
    for (const folder of this.#folders) {
      try {
        expansion.record(folder);
        expansion.follow(folder, folder.path);
      } catch (error) {
        return describeFault(folder, error);
      }
    }
    this.#places = expansion.places;
    this.#unresolved = expansion.unresolved;
  }

  /** Whether a path in comparable form is a matching folder, or lies in one if the glob says so. */
  matches(path: string): boolean {
    return this.#places.some((place) => isInPlace(path, place));
  }

  /** Whether a path in comparable form is, or lies in, something that could not be resolved. */
  isUnresolved(path: string): boolean {
    if (this.#unresolved.size === 0) return false;
    for (let folder = path; folder !== ""; folder = parentOf(folder)) {
      if (this.#unresolved.has(folder)) return true;
    }
    return false;
  }

  /** The folders above the first wildcard of each alternative. */
  get fixedFolders(): string[] {
    return this.#folders.map(({ path }) => path);
  }
}

/**
 * Lists the folders above the first wildcard of a glob, one for each alternative.
 *
 * @throws {Error} If the glob is relative to an unknown folder.
 */
export function listGlobFolders(glob: string, base: BaseFolders): GlobFolder[] {
  return expandBraces(withSlashes(glob)).map((text) => {
    const parts = text.replace(/\/+$/, "").split("/");
    const first = parts.findIndex((part) => WILDCARD.test(part));
    const end = first === -1 ? parts.length : first;
    const folder = parts.slice(0, end).map((part) => `${part}/`).join("");
    const rest = parts.slice(end);
    const isDeep = rest.length === 0 || rest.at(-1)!.endsWith("**");
    return { path: resolveFolder(folder, base), rest, isDeep };
  });
}

/** One expansion of a glob on disk. */
class Expansion {
  readonly #found = new Map<string, GlobFolder>();
  readonly unresolved = new Set<string>();

  get places(): Place[] {
    return [...this.#found.values()].map(createPlace);
  }

  /** Records a folder by its path. */
  record(folder: GlobFolder): void {
    this.#found.set(`${folder.path}\0${folder.rest.join("/")}`, folder);
  }

  /**
   * Records a folder by its real path, and follows the links in it that match the
   * next wildcard.
   *
   * @param expected The real path, if there is no link that was not recorded.
   * @throws {Error} If the folder exists and cannot be resolved.
   */
  follow(folder: GlobFolder, expected: string): void {
    const { path, rest } = folder;
    try {
      const realPath = Deno.realPathSync(path);
      if (realPath !== expected) this.record({ ...folder, path: realPath });
      const [pattern, ...below] = rest;
      if (pattern === undefined || pattern === "**") return;
      for (const name of listMatching(path, { pattern, below })) {
        const child = { ...folder, path: childPath(path, name), rest: below };
        this.#followChild(child, childPath(realPath, name));
      }
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
  }

  #followChild(child: GlobFolder, expected: string): void {
    try {
      if (this.#found.size < MAX_PLACES) return this.follow(child, expected);
    } catch {
      // A stranger may have created it.
    }
    this.unresolved.add(comparablePath(child.path));
    this.unresolved.add(comparablePath(expected));
  }
}

function createPlace({ path, rest, isDeep }: GlobFolder): Place {
  const names = rest.at(-1) === "**" ? rest.slice(0, -1) : rest;
  const glob = names.length === 0
    ? undefined
    : compileGlob(comparableText(names.join("/")));
  return { folder: comparablePath(path), glob, isDeep };
}

function isInPlace(path: string, { folder, glob, isDeep }: Place): boolean {
  if (glob === undefined) {
    return path === folder || isDeep && path.startsWith(`${folder}/`);
  }
  if (!path.startsWith(`${folder}/`)) return false;
  const rest = path.slice(folder.length + 1);
  return matchesGlob(rest, glob) ||
    isDeep && matchesGlob(rest, { ...glob, pattern: `${glob.pattern}/**` });
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

/** Lists the links in a folder, and the folders that can contain links, whose names match a pattern. */
function listMatching(
  folder: string,
  { pattern, below }: { pattern: string; below: readonly string[] },
): string[] {
  if (!WILDCARD.test(pattern)) return [pattern];
  const glob = compileGlob(comparableText(pattern));
  const hasLinks = ({ isSymlink, isDirectory }: Deno.DirEntry) =>
    isSymlink || isDirectory && below.length > 0 && below[0] !== "**";
  return [...Deno.readDirSync(folder)].filter(hasLinks)
    .map(({ name }) => name)
    .filter((name) => matchesGlob(comparableText(name), glob));
}

function describeFault(
  { path, rest }: GlobFolder,
  error: unknown,
): PolicyFault {
  const what = rest.length > 0 && rest[0] !== "**"
    ? `the folder ${quote(path)} above the wildcard cannot be listed`
    : `the folder ${quote(path)} cannot be resolved`;
  if (!(error instanceof Deno.errors.NotCapable)) {
    const { reason, hint } = faultOf(error);
    return { reason: `${what}: ${reason}`, hint };
  }
  const others = rest.length > 0
    ? ", or write the folders without wildcards"
    : "";
  return {
    reason: `${what}: Deno is not allowed to read it`,
    hint: `add --allow-read=${path}${others}`,
  };
}
