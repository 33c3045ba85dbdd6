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
export const UNSEARCHED_NAMES: ReadonlySet<string> = new Set(
  `.git .hg .jj .svn
  .bundle .cache .cargo .eggs .gradle .idea .mypy_cache .next .nox .npm .nuxt
  .parcel-cache .pnpm-store .pytest_cache .ruff_cache .rustup .svelte-kit
  .terraform .tox .turbo .venv .yarn __pycache__ node_modules site-packages`
    .split(/\s+/),
);

/** An entry that may be searched. Deno's own ones take six times the memory. */
export type Subfolder = Pick<Deno.DirEntry, "name" | "isSymlink">;

/**
 * Lists the folders and links in a folder, in the order of their names. Returns
 * none if the folder was replaced by a link since its real path was found.
 *
 * @param folder The folder.
 * @param options The map that receives the version that the folder had before, and
 *   the time slice of the search.
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
  if (slice.isOver) await slice.yield();
  const found: Subfolder[] = [];
  const entries = info.size > MAX_SHORT_FOLDER_SIZE
    ? Deno.readDir(path)
    : Deno.readDirSync(path);
  for await (const { name, isDirectory, isSymlink } of entries) {
    if (isDirectory || isSymlink) found.push({ name, isSymlink });
  }
  if (slice.isOver) await slice.yield();
  return Deno.realPathSync(path) === realPath ? sortByName(found) : [];
}

/** Whether no entry was added to listed folders or removed from them. */
export function* areUnchanged(
  versions: ReadonlyMap<string, string | undefined>,
): Steps<boolean> {
  for (const [path, version] of versions) {
    const now = attempt(() => fileVersion(Deno.statSync(path)));
    if (now !== version) return false;
    yield;
  }
  return true;
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
