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
import { sortByName } from "../files/paths.ts";
import { isInPlace, isRecent, versionOf } from "../files/reading.ts";

/** A folder larger than this, in bytes, is listed asynchronously. It has about 40,000 entries. */
const MAX_SHORT_FOLDER_SIZE = 1024 * 1024;

/** The names of folders that a recursive search skips, because tools fill them. */
export const UNSEARCHED_NAMES: ReadonlySet<string> = new Set(
  `.git .hg .jj .svn
  .bundle .cache .cargo .eggs .gradle .idea .mypy_cache .next .nox .npm .nuxt
  .parcel-cache .pnpm-store .pytest_cache .ruff_cache .rustup .svelte-kit
  .terraform .tox .turbo .venv .yarn __pycache__ node_modules site-packages`
    .split(/\s+/),
);

/** An entry that may be searched. Deno's own ones take six times the memory. */
export type Subfolder = Pick<Deno.DirEntry, "name" | "isSymlink">;

/** What a folder contains. */
export interface ListedFolder {
  readonly path: string;
  readonly realPath: string;
  /** Its folders and links, in the order of their names. */
  readonly entries: readonly Subfolder[];
  /** Whether nothing in it was added, removed, or swapped since it was listed. */
  readonly isSettled: () => boolean;
}

/**
 * Lists the folders and links in a folder.
 *
 * @throws {Error} If it cannot be listed, or was swapped for a link.
 */
export async function listSubfolders(
  { path, realPath }: { path: string; realPath: string },
): Promise<ListedFolder> {
  requireInPlace({ path, realPath });
  const status = Deno.statSync(path);
  const entries = status.size > MAX_SHORT_FOLDER_SIZE
    ? await Array.fromAsync(Deno.readDir(path))
    : [...Deno.readDirSync(path)];
  requireInPlace({ path, realPath });
  const version = isRecent(status) ? undefined : versionOf(status);
  return {
    path,
    realPath,
    entries: sortByName(
      entries.filter(({ isDirectory, isSymlink }) => isDirectory || isSymlink)
        .map(({ name, isSymlink }) => ({ name, isSymlink })),
    ),
    isSettled: () => version === versionOf(Deno.statSync(path)),
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
