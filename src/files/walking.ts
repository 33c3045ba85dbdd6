/**
 * Lists what belongs to a folder, and finds a path in it. Each folder is confirmed
 * when it is listed.
 *
 * @module
 */

import { basename } from "jsr:@std/path@^1";
import {
  boundaries,
  confirmFile,
  DEFAULT_MAX_FILE_SIZE,
  type Entry,
  FEW_CHECKS,
  isDirect,
  isInPlace,
  isOwn,
  isVisible,
  listConfirmed,
  type Located,
  requireReadable,
  statLocated,
} from "./confinement.ts";
import {
  type Fault,
  faultOf,
  isAbsence,
  LEADS_BACK,
  LINK_BACK,
  LINK_OUT_OF_SKILL,
  MAX_FILE_DEPTH,
  MAX_WALKED_ENTRIES,
  NAME_IS_MISREAD,
  NAME_IS_NOT_UTF_8,
  SkillFileError,
  TOO_DEEP,
  TOO_MANY_ENTRIES,
} from "./faults.ts";
import { fileVersion, isRacy } from "./open_file.ts";
import {
  childPath,
  isMisread,
  isWindows,
  SKILL_MD,
  sortByName,
} from "./paths.ts";
import { byCodeUnits } from "../text.ts";
import { runSteps, type Steps } from "../time_slice.ts";
import type { Boundary, FileAccessOptions, SkillFile } from "./types.ts";

/** Splits a path into names. Returns `undefined` if it cannot be the path of a served file. */
export function splitPath(path: string): string[] | undefined {
  const names: string[] = [];
  const parts = path.split(isWindows ? /[\\/]/ : "/");
  if (parts.length > 1 && parts[0] === "") return undefined;
  for (const part of parts) {
    if (part === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (part !== "." && part !== "") {
      names.push(part);
    }
  }
  if (names.some(isMisread)) return undefined;
  return names.length > MAX_FILE_DEPTH ? undefined : names;
}

/** A folder whose files are served. */
export interface ServedFolder extends Boundary {
  /** The path of its main file, which is served as `SKILL.md` whatever its name. */
  readonly file: string;
}

export interface FolderContents {
  /** The files that can be read, sorted by path. */
  readonly files: SkillFile[];
  /** The real paths of the folders. */
  readonly folders: string[];
  /** The entries that are not served, by path, with the reasons. */
  readonly leftOut: Map<string, Fault>;
}

/** A file or folder in a served folder, and the folder that contains it. */
interface TreeNode extends Located {
  readonly parent: TreeNode | undefined;
  /** The number of levels below the served folder. */
  readonly depth: number;
}

/** Thrown when a link points to something that does not belong to the served folder. */
export class ForeignLinkError extends SkillFileError {}

/** A walk through a folder. It defines which files belong to the folder. */
export class FolderWalk {
  readonly #served: ServedFolder;
  readonly #trustLinks: readonly string[];
  readonly #isClosed: (realPath: string) => boolean;
  readonly #maxFileSize: number;
  readonly #top: TreeNode;
  readonly #contents: FolderContents = {
    files: [],
    folders: [],
    leftOut: new Map(),
  };
  /** The number of visited entries. */
  #entries = 0;

  constructor(served: ServedFolder, options: FileAccessOptions) {
    this.#served = served;
    this.#trustLinks = runSteps(boundaries(options.trustLinks ?? []));
    this.#isClosed = options.isClosed ?? (() => false);
    this.#maxFileSize = options.maxFileSize ?? DEFAULT_MAX_FILE_SIZE;
    this.#top = {
      path: served.directory,
      realPath: served.realDirectory,
      boundary: served,
      parent: undefined,
      depth: 0,
    };
  }

  /**
   * Resolves a path in the folder.
   *
   * @param path The path.
   * @param isListed Whether a walk has just listed it, so that its names are those
   *   on disk.
   */
  *find(path: string, isListed = false): Steps<Located> {
    const names = splitPath(path);
    const isForeign = names === undefined || !names.every(isVisible) ||
      names[0] !== SKILL_MD && names.length === 1 &&
        (yield* this.#isMain(names[0]!));
    if (isForeign) throw new Deno.errors.NotFound(path);
    if (names.join("/") === SKILL_MD) names[0] = basename(this.#served.file);
    else if (!isListed && !(yield* this.#isListed(names))) {
      throw new Deno.errors.NotFound(path);
    }
    const direct = this.#findDirect(names);
    yield;
    if (direct !== undefined) return direct;
    if (!isInPlace(this.#top)) throw new Deno.errors.NotFound(path);
    let node = this.#top;
    for (const name of names) {
      yield;
      node = this.#follow(node, name);
    }
    return node;
  }

  /**
   * Whether each name on a path is listed in its folder. File systems can find an
   * entry by other names too: in other case, without the dots at the end, or by a
   * short name such as `NODE_M~1`. These names must not evade any rule.
   */
  *#isListed(names: readonly string[]): Steps<boolean> {
    let folder = this.#served.directory;
    for (const name of names) {
      yield;
      const entries = Deno.readDirSync(folder);
      if (!entries.some((entry) => entry.name === name)) return false;
      folder = childPath(folder, name);
    }
    return true;
  }

  /**
   * Whether a name in the served folder is that of its main file. If the file
   * system ignores case, the folder may list it in other case.
   */
  *#isMain(name: string): Steps<boolean> {
    const main = basename(this.#served.file);
    if (name.toLowerCase() !== main.toLowerCase()) return false;
    return name === main || !(yield* this.#isListed([main]));
  }

  /** Lists the files, the real paths of the folders, and the entries that are left out. */
  *list(): Steps<FolderContents> {
    yield* this.#listFolder(this.#top, "");
    yield;
    this.#contents.files.sort((a, b) => byCodeUnits(a.path, b.path));
    return this.#contents;
  }

  /** Resolves names with a single call, if none of them is a link. */
  #findDirect(names: readonly string[]): Located | undefined {
    const boundary = this.#served;
    const path = names.reduce(childPath, boundary.directory);
    const located = { path, realPath: Deno.realPathSync(path), boundary };
    if (!isDirect(located)) return undefined;
    if (this.#isClosed(located.realPath)) {
      throw new Deno.errors.NotFound(path);
    }
    return located;
  }

  /**
   * Resolves a name in a folder, which may be a link.
   *
   * @throws {ForeignLinkError} If the link points outside the folder, to a hidden
   *   file or folder, or back to a folder that contains it.
   */
  #follow(parent: TreeNode, name: string): TreeNode {
    const path = childPath(parent.path, name);
    const realPath = Deno.realPathSync(path);
    if (isAtOrAbove(realPath, parent)) {
      throw new ForeignLinkError(path, LINK_BACK);
    }
    const isOwnPath =
      isOwn(realPath, this.#served.realDirectory, this.#trustLinks) &&
      !this.#isClosed(realPath);
    if (!isOwnPath) throw new ForeignLinkError(path, LINK_OUT_OF_SKILL);
    return childNode(parent, { name, realPath });
  }

  *#listFolder(folder: TreeNode, prefix: string): Steps<void> {
    const { folders, leftOut } = this.#contents;
    folders.push(folder.realPath);
    let entries: readonly Entry[] = [];
    try {
      const limit = MAX_WALKED_ENTRIES - this.#entries + 1;
      entries = yield* listConfirmed(
        folder,
        () => readEntries(folder.path, limit),
      );
    } catch (error) {
      if (!isAbsence(error)) leftOut.set(prefix, faultOf(error));
    }
    for (const entry of entries) {
      const path = prefix + entry.name;
      if (++this.#entries > MAX_WALKED_ENTRIES) {
        leftOut.set(path, TOO_MANY_ENTRIES);
        return;
      }
      try {
        yield* this.#listEntry(entry, { folder, path });
      } catch (error) {
        const fault = findEntryFault(entry, error);
        if (fault !== undefined) leftOut.set(path, fault);
      }
    }
  }

  *#listEntry(
    entry: Entry,
    { folder, path }: { folder: TreeNode; path: string },
  ): Steps<void> {
    yield;
    const { name, isSymlink } = entry;
    if (isMisread(name)) throw new SkillFileError(path, NAME_IS_MISREAD);
    const node = isSymlink
      ? this.#follow(folder, name)
      : childNode(folder, { name, realPath: childPath(folder.realPath, name) });
    if (this.#isClosed(node.realPath)) return;
    // A link to a trusted folder above the skill leads back to it.
    if (isAtOrAbove(node.realPath, folder)) {
      throw new ForeignLinkError(path, LEADS_BACK);
    }
    if (entry.error !== undefined) throw entry.error;
    const info = isSymlink ? yield* statTarget(node) : entry.info;
    if (info === undefined || info.isDirectory) {
      if (node.depth === MAX_FILE_DEPTH) {
        throw new SkillFileError(path, TOO_DEEP);
      }
      return yield* this.#listFolder(node, `${path}/`);
    }
    requireReadable({ path, info }, this.#maxFileSize);
    this.#contents.files.push({
      path: node.depth === 1 && (yield* this.#isMain(path)) ? SKILL_MD : path,
      size: info.size,
      version: fileVersion(info),
      isRacy: isRacy(info),
    });
  }
}

function childNode(
  parent: TreeNode,
  { name, realPath }: { name: string; realPath: string },
): TreeNode {
  const path = childPath(parent.path, name);
  return { ...parent, path, realPath, parent, depth: parent.depth + 1 };
}

/** Whether a real path is that of a node or of a folder that contains it. */
function isAtOrAbove(realPath: string, node: TreeNode | undefined): boolean {
  while (node !== undefined && node.realPath !== realPath) {
    node = node.parent;
  }
  return node !== undefined;
}

/** Returns why an entry of a folder is inaccessible, or `undefined` if it was just removed. */
function findEntryFault(
  { name, isSymlink }: Deno.DirEntry,
  error: unknown,
): Fault | undefined {
  if (isSymlink || !isAbsence(error)) return faultOf(error);
  return name.includes("\ufffd") ? NAME_IS_NOT_UTF_8 : undefined;
}

/** Lists the first visible entries of a folder, sorted by name, with their status. */
function* readEntries(folder: string, limit: number): Steps<Entry[]> {
  const listed = [...Deno.readDirSync(folder)];
  yield;
  const visible = sortByName(listed.filter(({ name }) => isVisible(name)));
  const entries: Entry[] = [];
  for (const entry of visible.slice(0, limit)) {
    yield;
    entries.push(statEntry(folder, entry));
  }
  return entries;
}

function statEntry(folder: string, entry: Deno.DirEntry): Entry {
  if (entry.isSymlink || entry.isDirectory) return entry;
  try {
    const info = Deno.lstatSync(childPath(folder, entry.name));
    return { ...entry, info };
  } catch (error) {
    return { ...entry, error };
  }
}

/**
 * Stats the target of a link, and confirms it unless it is a folder.
 * Folders are confirmed when they are listed.
 */
function* statTarget(link: Located): Steps<Deno.FileInfo> {
  const since = Date.now();
  const info = statLocated(link);
  yield;
  if (info.isDirectory) return info;
  yield* confirmFile(link, { since, info, checks: FEW_CHECKS });
  return info;
}
