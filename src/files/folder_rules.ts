/**
 * What belongs to a folder that is served. Whatever the path, a file belongs to the
 * folder only by where it really lies.
 *
 * 1. Names that begin with a dot, `node_modules`, and `__pycache__` do not belong
 *    to the folder, and neither does what lies more than 10 levels deep.
 * 2. A link counts if its target lies in the folder's real directory, without
 *    such names on its path, or in a trusted folder.
 * 3. What is hidden is hidden by its real path.
 *
 * @module
 */

import type { Fault } from "../problems.ts";
import { MAX_FILE_DEPTH } from "./faults.ts";
import {
  isAbsolute,
  isAtOrBelow,
  isAtOrBelowAny,
  isMisread,
  isWindows,
  normalize,
  relative,
} from "./paths.ts";

/** A folder, and the other folders that links in it may point into. */
export interface FolderBoundary {
  /** The folder's path with all links resolved. */
  readonly realDirectory: string;
  /** The real paths of other folders that links are allowed to point into. */
  readonly trusted: readonly string[];
}

/** What a `ServedFolder` serves. */
export interface ServedFolderOptions extends FolderBoundary {
  /** The folder's path as configured. */
  readonly directory: string;
  /** The path of a file in it, and the name under which that is served, whatever its own. */
  readonly alias?: { readonly file: string; readonly name: string };
  /** Whether a file or folder, given by its real path, is hidden. */
  readonly isHidden: (realPath: string) => boolean;
  /** The maximum size of a file in bytes. */
  readonly maxFileSize: number | undefined;
  /** Describes an error, and how to fix it. */
  readonly faultOf: (error: unknown) => Fault;
}

/** Whether a file or folder with this name is served. */
export function isVisible(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" &&
    name !== "__pycache__" && !isMisread(name);
}

/**
 * Whether a real path is inside a folder: it lies in the folder's real directory and is
 * not hidden by its name, or it lies in a trusted folder.
 */
export function isInside(
  realPath: string,
  { realDirectory, trusted }: FolderBoundary,
): boolean {
  if (!isAtOrBelow(realPath, realDirectory)) {
    return isAtOrBelowAny(realPath, trusted);
  }
  const names = relative(realDirectory, realPath).split(/[\\/]/);
  // Kubernetes mounts a file as a link into a folder with a name such as `..data`.
  return names.every((name: string) =>
    isVisible(name) || name.startsWith("..")
  );
}

/** Splits a path into names. Returns `undefined` if it cannot be the path of a served file. */
export function splitPath(path: string): string[] | undefined {
  const names = normalize(path).split(isWindows ? /[\\/]/ : "/")
    .filter((name: string) => name !== "" && name !== ".");
  const isServed = !isAbsolute(path) && names[0] !== ".." &&
    names.length <= MAX_FILE_DEPTH;
  return isServed ? names : undefined;
}
