/**
 * The folders and links in a folder that is searched for skills.
 *
 * @module
 */

import {
  NAME_IS_NOT_UTF_8,
  SkillFileError,
  WAS_REPLACED,
} from "../files/faults.ts";
import { isInPlace, isRecent, isUnchanged } from "../files/reading.ts";

/** The names of folders that a recursive search skips, because tools fill them. */
export const UNSEARCHED_NAMES: ReadonlySet<string> = new Set(
  `.git .hg .jj .svn
  .bundle .cache .cargo .eggs .gradle .idea .mypy_cache .next .nox .npm .nuxt
  .parcel-cache .pnpm-store .pytest_cache .ruff_cache .rustup .svelte-kit
  .terraform .tox .turbo .venv .yarn __pycache__ node_modules site-packages`
    .split(/\s+/),
);

/** What a folder contains. */
export interface ListedFolder {
  /** The names of its folders and links, in their order. */
  readonly names: readonly string[];
  /** Those of the links. */
  readonly links: ReadonlySet<string>;
  /**
   * Whether certainly nothing in it was added, removed, or swapped since it was
   * listed. Then a folder in it that was no link is none yet.
   */
  readonly isSettled: () => boolean;
}

/**
 * Lists the folders and links in a folder.
 *
 * @throws {Error} If it cannot be listed, or was swapped for a link.
 */
export function listSubfolders(
  { path, realPath }: { path: string; realPath: string },
): ListedFolder {
  requireInPlace({ path, realPath });
  const status = Deno.statSync(path);
  const names: string[] = [];
  const links = new Set<string>();
  for (const { name, isDirectory, isSymlink } of Deno.readDirSync(path)) {
    if (isDirectory || isSymlink) names.push(name);
    if (isSymlink) links.add(name);
  }
  requireInPlace({ path, realPath });
  const isOld = !isRecent(status);
  return {
    names: names.sort(),
    links,
    isSettled: () => isOld && isUnchanged(Deno.statSync(path), status),
  };
}

function requireInPlace(folder: { path: string; realPath: string }): void {
  if (isInPlace(folder)) return;
  throw new SkillFileError(folder.path, WAS_REPLACED);
}

/**
 * Checks that an entry whose name may not be UTF-8 can be found by it.
 *
 * @throws {SkillFileError} If it cannot be found.
 */
export function requireName(path: string): void {
  try {
    Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return;
    throw new SkillFileError(path, NAME_IS_NOT_UTF_8);
  }
}
