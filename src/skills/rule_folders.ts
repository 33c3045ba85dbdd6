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
  compileName,
  compilePath,
  expandBraces,
  WILDCARD,
  withSlashes,
} from "./glob.ts";
import type { PolicyFault } from "./policy_error.ts";

/** The maximum number of places that a glob can stand for. The others are off. */
const MAX_PLACES = 1_000;

/** A folder, and the parts of a glob for what lies below it, up to its end. */
interface GlobFolder {
  readonly path: string;
  readonly rest: readonly string[];
}

/** What a glob stands for on disk. All paths are in comparable form. */
interface Expansion {
  /** Folders with a slash at the end, and the globs for what lies below them. */
  readonly places: { readonly folder: string; readonly glob: RegExp }[];
  /** What a wildcard met and could not resolve. */
  readonly unresolved: Set<string>;
}

/** The folders that a glob of a rule stands for. */
export class RuleFolders {
  readonly #folders: readonly GlobFolder[];
  #expansion: Expansion = { places: [], unresolved: new Set() };

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
    const expansion: Expansion = { places: [], unresolved: new Set() };
    for (const folder of this.#folders) {
      try {
        addPlace(folder, expansion);
        followLinks({ ...folder, known: folder.path }, expansion);
      } catch (error) {
        const { reason, hint } = faultOf(error);
        const path = quote(folder.path);
        return { reason: `the folder ${path} cannot be used: ${reason}`, hint };
      }
    }
    this.#expansion = expansion;
  }

  /**
   * Whether a path in comparable form matches. This is `undefined` if it is, or lies
   * in, something that could not be resolved.
   */
  matches(path: string): boolean | undefined {
    const { places, unresolved } = this.#expansion;
    let end = unresolved.size === 0 ? 0 : path.length;
    for (; end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (unresolved.has(path.slice(0, end))) return undefined;
    }
    const names = `${path}/`;
    return places.some(({ folder, glob }) =>
      names.startsWith(folder) && glob.test(names.slice(folder.length))
    );
  }
}

/**
 * Lists the folders above the first wildcard of a glob, one for each alternative.
 * Without a wildcard, everything in a folder matches too.
 *
 * @throws {Error} If the glob is relative to an unknown folder.
 */
export function listGlobFolders(glob: string, base: BaseFolders): GlobFolder[] {
  return expandBraces(withSlashes(glob)).map((text) => {
    const parts = text.replace(/\/+$/, "").split("/");
    const first = parts.findIndex((part) => WILDCARD.test(part));
    const end = first === -1 ? parts.length : first;
    const folder = parts.slice(0, end).map((part) => `${part}/`).join("");
    const rest = first === -1 ? ["**"] : parts.slice(end);
    return { path: resolveFolder(folder, base), rest };
  });
}

/** Adds a folder by a path. */
function addPlace({ path, rest }: GlobFolder, { places }: Expansion): void {
  const folder = `${comparablePath(path)}/`;
  places.push({ folder, glob: compilePath(rest) });
}

/**
 * Adds a folder by its real path, and follows the links in it that match the next
 * wildcard.
 *
 * @param folder The folder, and the path by which it is known already.
 * @throws {Error} If the folder exists and cannot be resolved.
 */
function followLinks(
  { path, rest, known }: GlobFolder & { readonly known: string },
  expansion: Expansion,
): void {
  try {
    const realPath = Deno.realPathSync(path);
    if (realPath !== known) addPlace({ path: realPath, rest }, expansion);
    if (rest.length === 0 || rest[0] === "**") return;
    for (const name of listMatching(path, rest)) {
      const child = { path: childPath(path, name), rest: rest.slice(1) };
      followChild({ ...child, known: childPath(realPath, name) }, expansion);
    }
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
}

/** Follows what a wildcard met. What a stranger may have created is no error. */
function followChild(
  child: GlobFolder & { readonly known: string },
  expansion: Expansion,
): void {
  const { places, unresolved } = expansion;
  try {
    if (places.length < MAX_PLACES) return followLinks(child, expansion);
  } catch {
    // Falls through to what cannot be resolved.
  }
  unresolved.add(comparablePath(child.path));
  unresolved.add(comparablePath(child.known));
}

/** Lists the links in a folder, and the folders that can contain links, whose names match. */
function listMatching(
  folder: string,
  [pattern, below = "**"]: readonly string[],
): string[] {
  if (!WILDCARD.test(pattern!)) return [pattern!];
  const glob = compileName(comparableText(pattern!));
  return [...Deno.readDirSync(folder)]
    .filter((entry) => entry.isSymlink || entry.isDirectory && below !== "**")
    .map(({ name }) => name)
    .filter((name) => glob.test(comparableText(name)));
}
