/**
 * Finds near misses in the roots of a scan, by names alone.
 *
 * @module
 */

import { childOn, childPath } from "../files/paths.ts";
import {
  ARCHIVE_NAME,
  isMarkedAsNoSkill,
  kindOfFile,
  MARKDOWN,
} from "../skills/near_misses.ts";
import type { NearMiss, SkillRoot } from "../skills/types.ts";
import type { VisitedFolder } from "./record.ts";

const MAX_NEAR_MISSES = 1_000;

type Folder = Pick<VisitedFolder, "root" | "path" | "realPath" | "depth">;

/** The near misses in all roots of a scan. Each folder counts once. */
export class NearMisses {
  readonly #byRoot = new Map<SkillRoot, NearMiss[]>();
  readonly #looked = new Set<string>();
  /** The roots, and the folders directly in them, that hold skills. */
  readonly #holders = new Set<string>();

  /** Adds those in a folder, and the folder itself if it may be meant as a skill. */
  add(
    folder: Folder,
    entries: readonly Deno.DirEntry[],
    { mayBeSkill }: { mayBeSkill: boolean },
  ): void {
    if (this.#looked.has(folder.realPath)) return;
    this.#looked.add(folder.realPath);
    const files = listFiles(folder, entries);
    const isMisnamed = files.some(({ kind }) => kind === "misnamed");
    const mayBeMeant = mayBeSkill && folder.depth < 2 && !isMisnamed;
    const found = mayBeMeant
      ? [...files, ...listFolder(folder, entries)]
      : files;
    const all = this.#byRoot.get(folder.root) ?? [];
    all.push(...found.slice(0, MAX_NEAR_MISSES - all.length));
    this.#byRoot.set(folder.root, all);
  }

  /** Notes a skill, so that the root and the folder that hold it are not near misses. */
  addSkill({ root, path, depth }: Folder): void {
    if (depth > 0) this.#holders.add(root.path);
    if (depth > 1) this.#holders.add(childOn(path, root.path));
  }

  listIn(root: SkillRoot): readonly NearMiss[] {
    return (this.#byRoot.get(root) ?? [])
      .filter(({ kind, path }) =>
        kind !== "folder" || !this.#holders.has(path)
      );
  }
}

function listFiles(
  { path, depth }: Folder,
  entries: readonly Deno.DirEntry[],
): NearMiss[] {
  const names = new Set(entries.map(({ name }) => name));
  return entries.filter(({ isFile }) => isFile).flatMap(({ name }) => {
    const kind = kindOfFile(name, { isInRoot: depth === 0 });
    const isUnpacked = names.has(name.replace(ARCHIVE_NAME, ""));
    if (kind === undefined || (kind === "archive" && isUnpacked)) return [];
    return [{ kind, path: childPath(path, name) }];
  });
}

/** Lists a folder itself, unless it contains only archives, or no skill can have its name. */
function listFolder(
  { path }: Folder,
  entries: readonly Deno.DirEntry[],
): NearMiss[] {
  const own = entries.filter(({ name, isSymlink }) =>
    !isSymlink && !name.startsWith(".") && !ARCHIVE_NAME.test(name)
  );
  if (own.length === 0 || isMarkedAsNoSkill(path)) return [];
  const documents = own.filter((it) => it.isFile && MARKDOWN.test(it.name));
  const document = documents.length === 1 ? documents[0]!.name : undefined;
  return [{ kind: "folder", path, document }];
}
