/**
 * The folders that a search for skills visits, and whether it saw them where they
 * lie.
 *
 * @module
 */

import { isConfirmed, isThere, mayRead } from "../files/confinement.ts";
import { attempt } from "../files/faults.ts";
import { fileVersion } from "../files/open_file.ts";
import { sortByName } from "../files/paths.ts";
import type { Steps, TimeSlice } from "../time_slice.ts";
import { boundaryOf } from "./skill_reader.ts";

/**
 * A folder larger than this, in bytes, is listed asynchronously. It has about
 * 10,000 entries.
 */
const MAX_SHORT_FOLDER_SIZE = 256 * 1024;

/**
 * The names of folders that a recursive search skips: those of version control,
 * and those in which tools install, build, or cache files. Nobody would give a
 * skill any of these names, which is why `site-packages` is listed but not `venv`.
 */
export const UNSEARCHED_NAMES: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".jj",
  ".svn",
  ".bundle",
  ".cache",
  ".cargo",
  ".eggs",
  ".gradle",
  ".idea",
  ".mypy_cache",
  ".next",
  ".nox",
  ".npm",
  ".nuxt",
  ".parcel-cache",
  ".pnpm-store",
  ".pytest_cache",
  ".ruff_cache",
  ".rustup",
  ".svelte-kit",
  ".terraform",
  ".tox",
  ".turbo",
  ".venv",
  ".yarn",
  "__pycache__",
  "node_modules",
  "site-packages",
]);

/**
 * The versions of listed folders, by path, as they were before each was listed.
 * That of a missing folder is `undefined`.
 */
type FolderVersions = ReadonlyMap<string, string | undefined>;

/**
 * Lists the folders and links in a folder, in the order of their names. Returns
 * none if the folder was replaced by a link since its real path was found.
 */
export async function listSubfolders(
  { path, realPath }: { path: string; realPath: string },
  { versions, slice }: {
    versions: Map<string, string | undefined>;
    slice: TimeSlice;
  },
): Promise<Subfolder[]> {
  if (slice.isOver) await slice.yield();
  const info = Deno.statSync(path);
  versions.set(path, fileVersion(info));
  const entries = await readFolder(path, info);
  if (slice.isOver) await slice.yield();
  if (Deno.realPathSync(path) !== realPath) return [];
  return sortByName(entries);
}

/** Whether no entry was added to listed folders or removed from them. */
export function* areUnchanged(versions: FolderVersions): Steps<boolean> {
  for (const [path, version] of versions) {
    if (versionOf(path) !== version) return false;
    yield;
  }
  return true;
}

function versionOf(folder: string): string | undefined {
  return attempt(() => fileVersion(Deno.statSync(folder)));
}

/** An entry that may be searched. Deno's own ones take six times the memory. */
export type Subfolder = Pick<Deno.DirEntry, "name" | "isSymlink">;

async function readFolder(
  path: string,
  { size }: Deno.FileInfo,
): Promise<Subfolder[]> {
  const found: Subfolder[] = [];
  const entries = size > MAX_SHORT_FOLDER_SIZE
    ? Deno.readDir(path)
    : Deno.readDirSync(path);
  for await (const { name, isDirectory, isSymlink } of entries) {
    if (isDirectory || isSymlink) found.push({ name, isSymlink });
  }
  return found;
}

/** Whether a listed entry can be found by its name. It cannot if the name is not UTF-8. */
export function isListedName(path: string): boolean {
  try {
    return isThere(path);
  } catch (error) {
    // Other errors may mean that the name is too long, because an invalid byte
    // becomes a character of three bytes.
    return error instanceof Deno.errors.PermissionDenied;
  }
}

/**
 * Whether a file lies in the folder that listed it, and not in the target of a
 * link that replaced the folder. Without a real path, there is nothing to compare.
 */
export function* isSeen(
  file: string,
  { path, realPath }: { path: string; realPath?: string | undefined },
): Steps<boolean> {
  if (realPath === undefined) return true;
  // A folder that Deno is not allowed to read reveals nothing.
  if (!mayRead(path)) return true;
  const isListed = isListedName(file);
  yield;
  return yield* isConfirmed(
    { path, realPath, boundary: boundaryOf({ path, realPath }) },
    function* () {
      yield;
      return isListedName(file) === isListed;
    },
  );
}
