/**
 * The boundary of a folder: what belongs to it, for reading, for listing, and for links.
 * Whatever the path, a file belongs to a folder only by where it really lies.
 *
 * 1. Names that begin with a dot do not belong to the folder, except a few that templates
 *    need. Nor do `node_modules`, `__pycache__`, and what lies more than 10 levels deep.
 * 2. A link counts if its target really lies in the folder, without such names on its
 *    path, or in a trusted folder.
 * 3. What is hidden is hidden by its real path, and so is what a link in it leads to.
 */

import { MAX_LENGTHS } from "../text.ts";
import { LINK_OUTSIDE, SkillFileError } from "./faults.ts";
import {
  childPath,
  isAbsolute,
  isAtOrBelow,
  isAtOrBelowAny,
  isMisread,
  namesIn,
  normalize,
  relative,
} from "./paths.ts";
import type { Located } from "./reading.ts";

/** The maximum number of names in the path of a file. */
export const MAX_FILE_DEPTH = 10;

interface BoundaryOptions {
  readonly realDirectory: string;
  /** The real paths of other folders that links are allowed to point into. */
  readonly trusted: readonly string[];
  /** Whether a file or folder, given by its real path, is hidden. Default: nothing is. */
  readonly isHidden?: (realPath: string) => boolean;
}

/** A file or folder that belongs to a folder. */
export interface BoundEntry extends Located {
  /** The real paths of the folders on the way to it. */
  readonly above: readonly string[];
}

export class Boundary {
  readonly #options: BoundaryOptions;

  constructor(options: BoundaryOptions) {
    this.#options = options;
  }

  /**
   * Whether a real path is inside: it lies in the folder and is not hidden by its name,
   * or it lies in a trusted folder.
   */
  includes(realPath: string): boolean {
    const { realDirectory, trusted } = this.#options;
    if (!isAtOrBelow(realPath, realDirectory)) {
      return isAtOrBelowAny(realPath, trusted);
    }
    const names = namesIn(relative(realDirectory, realPath));
    // Kubernetes mounts a file as a link into a folder with a name such as `..data`.
    return names.every((name) => isVisible(name) || name.startsWith(".."));
  }

  /**
   * Finds an entry of a folder. There is none if it is hidden, or if it is a link to a
   * folder that contains it.
   *
   * @throws {SkillFileError} If it is a link that leads outside.
   * @throws {Error} If it does not exist.
   */
  find(
    name: string,
    folder: BoundEntry,
    { mayBeLink = true }: { mayBeLink?: boolean } = {},
  ): BoundEntry | undefined {
    const { isHidden } = this.#options;
    const path = childPath(folder.path, name);
    const location = childPath(folder.realPath, name);
    const realPath = mayBeLink ? Deno.realPathSync(path) : location;
    const above = [...folder.above, folder.realPath];
    if (isHidden?.(realPath) || above.includes(realPath)) return undefined;
    const isLink = realPath !== location;
    if (isLink && !this.includes(realPath)) {
      throw new SkillFileError(path, LINK_OUTSIDE, realPath);
    }
    return { path, realPath, isLink, above };
  }
}

/** Names that begin with a dot, but are parts of templates and documents, and hold no secrets. */
const TEMPLATE_NAMES: ReadonlySet<string> = new Set(
  `.rels .github .gitignore .gitattributes .gitkeep .editorconfig .dockerignore
  .npmignore .nvmrc .python-version .tool-versions .env.example .well-known
  .devcontainer .claude-plugin`.split(/\s+/),
);

const TEMPLATE_CONFIG = /^\.(?:prettier|eslint)rc(?:\.[a-z]+)?$/;

/** Whether a file or folder with this name is served. */
export function isVisible(name: string): boolean {
  const isHidden = name.startsWith(".") && !TEMPLATE_NAMES.has(name) &&
    !TEMPLATE_CONFIG.test(name);
  return !isHidden && name !== "node_modules" && name !== "__pycache__" &&
    !isMisread(name);
}

/** Whether a path leads out of the folder that it starts in, by its names alone. */
export function leadsOut(path: string): boolean {
  return path.length <= MAX_LENGTHS.path &&
    namesIn(normalize(path))[0] === "..";
}

/** Splits a path into names. Returns `undefined` if it cannot be the path of a served file. */
export function splitPath(path: string): string[] | undefined {
  // Normalizing takes time quadratic in the length.
  if (path.length > MAX_LENGTHS.path) return undefined;
  const names = namesIn(normalize(path))
    .filter((name) => name !== "" && name !== ".");
  const isServed = !isAbsolute(path) && names[0] !== ".." &&
    names.length <= MAX_FILE_DEPTH;
  return isServed ? names : undefined;
}
