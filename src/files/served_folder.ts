/**
 * A folder whose files are served: finding, reading, and listing them. Whatever
 * the path, a file belongs to the folder only by where it really lies.
 *
 * 1. Names that begin with a dot, `node_modules`, and `__pycache__` do not belong
 *    to the folder, and neither does what lies more than 10 levels deep.
 * 2. A link counts if its target lies in the folder's real directory, without
 *    such names on its path, or in a trusted folder.
 * 3. What a policy hides is hidden by its real path.
 *
 * @module
 */

import { basename, relative } from "jsr:@std/path@^1";
import { byCodeUnits } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
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
  NOT_THERE,
  SkillFileError,
  TOO_DEEP,
  TOO_MANY_ENTRIES,
  tooLarge,
  WAS_REPLACED,
} from "./faults.ts";
import {
  childPath,
  isAtOrBelow,
  isAtOrBelowAny,
  isMisread,
  isWindows,
  SKILL_MD,
  sortByName,
} from "./paths.ts";
import {
  confirmLocation,
  DEFAULT_MAX_FILE_SIZE,
  isInPlace,
  isRecent,
  type Located,
  openFile,
  readUpTo,
  requireReadable,
  statLocated,
  versionOf,
} from "./reading.ts";
import type { SkillFile, SkillFileContent } from "./types.ts";

/** What {@linkcode ServedFolder} serves. */
export interface ServedFolderOptions {
  /** The folder's path as configured. */
  readonly directory: string;
  /** The path with all links resolved. */
  readonly realDirectory: string;
  /** The path of its main file, which is served as `SKILL.md` whatever its name. */
  readonly file: string;
  /** The real paths of other folders that links are allowed to point into. */
  readonly trusted: readonly string[];
  /** Whether a file or folder, given by its real path, is hidden. */
  readonly isHidden: (realPath: string) => boolean;
  /** The maximum size of a file in bytes. */
  readonly maxFileSize: number | undefined;
}

/** What a folder contains. */
export interface FolderContents {
  /** The files that can be read, sorted by path. */
  readonly files: SkillFile[];
  /** The real paths of the folders. */
  readonly folders: string[];
  /** The entries that are not served, with the reasons. */
  readonly leftOut: (Fault & { readonly file: string })[];
}

/** A file or folder below the served folder. */
interface TreeNode extends Located {
  /** The real paths of the folders on the way to it, from the served folder down. */
  readonly above: readonly string[];
}

/** Thrown for a link that does not belong to the folder, of which nothing may be told. */
class ForeignLinkError extends SkillFileError {}

/** Whether a file or folder with this name is served. */
export function isVisible(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" &&
    name !== "__pycache__";
}

/**
 * Whether a real path belongs to a folder: it lies in the folder's real directory
 * and is not hidden by its name, or it lies in a trusted folder.
 */
export function isOwn(
  realPath: string,
  { realDirectory, trusted }: Pick<
    ServedFolderOptions,
    "realDirectory" | "trusted"
  >,
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

/** Access to the files of a folder. */
export class ServedFolder {
  readonly #options: ServedFolderOptions;
  readonly #top: TreeNode;

  /** Creates the access. Nothing is read yet. */
  constructor(options: ServedFolderOptions) {
    this.#options = options;
    this.#top = {
      path: options.directory,
      realPath: options.realDirectory,
      isLinked: false,
      above: [],
    };
  }

  /**
   * Reads the current content of a file.
   *
   * @param path The path relative to the folder, with `/` as the separator.
   * @returns The content, and whether it may change again and keep its version.
   * @throws {SkillFileError} If the file does not exist, does not belong to the
   *   folder, is not a regular file, is too large, or cannot be read.
   */
  read(path: string): SkillFileContent & { isRecent: boolean } {
    try {
      const { maxFileSize = DEFAULT_MAX_FILE_SIZE } = this.#options;
      const located = this.#locate(path);
      requireReadable(path, { status: statLocated(located), maxFileSize });
      using file = openFile(located.path);
      const { status } = file;
      if (!status.isFile) throw new SkillFileError(path, WAS_REPLACED);
      confirmLocation(located, status);
      const bytes = readUpTo(file, maxFileSize + 1);
      if (bytes.length > maxFileSize) {
        throw new SkillFileError(path, tooLarge(bytes.length, maxFileSize));
      }
      return {
        path: splitPath(path)!.join("/"),
        size: bytes.length,
        version: versionOf(status),
        bytes,
        text: decode(bytes),
        isRecent: isRecent(status),
      };
    } catch (error) {
      // Nobody can tell a file outside the folder from a missing one.
      const isNotThere = isAbsence(error) || error instanceof ForeignLinkError;
      throw new SkillFileError(path, isNotThere ? NOT_THERE : faultOf(error));
    }
  }

  /** Lists the files, the real paths of the folders, and what is left out. */
  async list(): Promise<FolderContents> {
    const walk = new FolderWalk(this.#options);
    await walk.list(this.#top, "");
    walk.contents.files.sort((a, b) => byCodeUnits(a.path, b.path));
    return walk.contents;
  }

  /**
   * Finds a path in the folder: resolves it first, and then applies the rules to
   * the names that were asked for and to the real ones.
   *
   * @throws {Error} If there is nothing that belongs to the folder.
   */
  #locate(path: string): Located {
    const names = splitPath(path);
    const main = basename(this.#options.file);
    if (!names?.every(isVisible)) throw new Deno.errors.NotFound(path);
    const isMain = names.length === 1 && names[0] === SKILL_MD;
    // The main file has only one name.
    const isMisnamed = names.length === 1 && names[0] === main && !isMain;
    if (isMisnamed) throw new Deno.errors.NotFound(path);
    if (isMain) names[0] = main;
    const { directory, realDirectory, isHidden } = this.#options;
    const located = {
      path: names.reduce(childPath, directory),
      realPath: names.reduce(childPath, realDirectory),
      isLinked: false,
    };
    if (!isInPlace(located)) return this.#followLinks(names);
    if (isHidden(located.realPath)) throw new Deno.errors.NotFound(path);
    return located;
  }

  /** Resolves names one by one, at least one of which is a link, or no name of the file. */
  #followLinks(names: readonly string[]): Located {
    if (!isInPlace(this.#top)) throw new Deno.errors.NotFound();
    return names.reduce((parent, name) => {
      const node = childNode(parent, name);
      const resolved = resolveNode(node, this.#options);
      const isListed = resolved.realPath === node.realPath ||
        Deno.lstatSync(node.path).isSymlink;
      // Some file systems also find names in other case, and short names.
      if (!isListed) throw new Deno.errors.NotFound(node.path);
      return resolved;
    }, this.#top);
  }
}

/** Returns the exact text of some bytes, or `undefined` if they are not valid UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** An entry of a folder: a file or folder that is served, or what is wrong with it. */
interface Child {
  readonly path: string;
  readonly node: TreeNode;
  readonly status: Deno.DirEntry | Deno.FileInfo;
  readonly fault?: Fault | undefined;
}

/** A walk through a folder. */
class FolderWalk {
  readonly #options: ServedFolderOptions;
  readonly contents: FolderContents = {
    files: [],
    folders: [],
    leftOut: [],
  };
  /** The number of visited entries. */
  #entries = 0;
  readonly #slice = new TimeSlice();

  constructor(options: ServedFolderOptions) {
    this.#options = options;
  }

  /** Lists what a folder contains, with a prefix for the paths. */
  async list(folder: TreeNode, prefix: string): Promise<void> {
    const { files, folders, leftOut } = this.contents;
    folders.push(folder.realPath);
    try {
      for (const child of await this.#listChildren(folder, prefix)) {
        const { path, node, status, fault } = child;
        if (fault !== undefined) leftOut.push({ file: path, ...fault });
        else if (status.isDirectory) await this.list(node, `${path}/`);
        else files.push(this.#describeFile(path, child));
      }
    } catch (error) {
      if (!isAbsence(error)) leftOut.push({ file: prefix, ...faultOf(error) });
    }
  }

  /** Lists the entries of a folder, and confirms that it still lies at its real path. */
  async #listChildren(folder: TreeNode, prefix: string): Promise<Child[]> {
    requireInPlace(folder);
    const entries = [...Deno.readDirSync(folder.path)];
    requireInPlace(folder);
    const children: Child[] = [];
    for (const entry of sortByName(entries)) {
      if (!isVisible(entry.name)) continue;
      if (this.#slice.isOver) await this.#slice.pause();
      const path = prefix + entry.name;
      const node = childNode(folder, entry.name);
      if (++this.#entries > MAX_WALKED_ENTRIES) {
        children.push({ path, node, status: entry, fault: TOO_MANY_ENTRIES });
        break;
      }
      const child = this.#inspect(entry, { path, node });
      if (child !== undefined) children.push(child);
    }
    requireInPlace(folder);
    return children;
  }

  /** Inspects an entry. Returns nothing if the policy hides it, or if it was just removed. */
  #inspect(
    entry: Deno.DirEntry,
    { path, node: listed }: Pick<Child, "path" | "node">,
  ): Child | undefined {
    const { isHidden, maxFileSize } = this.#options;
    try {
      if (isMisread(entry.name)) {
        throw new SkillFileError(path, NAME_IS_MISREAD);
      }
      if (!entry.isSymlink && isHidden(listed.realPath)) return undefined;
      const node = entry.isSymlink
        ? resolveNode(listed, this.#options)
        : requireOutside(listed);
      const status = entry.isDirectory ? entry : statLocated(node);
      if (!status.isDirectory) {
        requireReadable(path, { status: status as Deno.FileInfo, maxFileSize });
      } else if (node.above.length >= MAX_FILE_DEPTH) {
        throw new SkillFileError(path, TOO_DEEP);
      }
      return { path, node, status };
    } catch (error) {
      const fault = findEntryFault(entry, error);
      return fault && { path, node: listed, status: entry, fault };
    }
  }

  #describeFile(path: string, { node, status }: Child): SkillFile {
    const isMain = node.path === this.#options.file;
    const info = status as Deno.FileInfo;
    const version = versionOf(info);
    return { path: isMain ? SKILL_MD : path, size: info.size, version };
  }
}

/** Returns the node of an entry that is no link. */
function childNode(parent: TreeNode, name: string): TreeNode {
  const { realPath, isLinked } = parent;
  return {
    path: childPath(parent.path, name),
    realPath: childPath(realPath, name),
    isLinked,
    above: [...parent.above, realPath],
  };
}

/**
 * Resolves a node that may be a link.
 *
 * @throws {SkillFileError} If it leads out of the folder, to something hidden, or
 *   back to a folder that contains it.
 */
function resolveNode(node: TreeNode, options: ServedFolderOptions): TreeNode {
  const realPath = Deno.realPathSync(node.path);
  if (node.above.includes(realPath)) {
    throw new ForeignLinkError(node.path, LINK_BACK);
  }
  if (!isOwn(realPath, options) || options.isHidden(realPath)) {
    throw new ForeignLinkError(node.path, LINK_OUT_OF_SKILL);
  }
  const isLinked = node.isLinked || realPath !== node.realPath;
  return { ...node, realPath, isLinked };
}

/** Throws an error if a folder contains itself, through a link to a trusted folder above it. */
function requireOutside(node: TreeNode): TreeNode {
  if (!node.above.includes(node.realPath)) return node;
  throw new SkillFileError(node.path, LEADS_BACK);
}

/** Throws an error if a folder was swapped for a link. */
function requireInPlace(folder: TreeNode): void {
  if (isInPlace(folder)) return;
  throw new SkillFileError(folder.path, WAS_REPLACED);
}

/** Returns why an entry of a folder is not served, or `undefined` if it was just removed. */
function findEntryFault(
  { name, isSymlink }: Deno.DirEntry,
  error: unknown,
): Fault | undefined {
  if (isSymlink || !isAbsence(error)) return faultOf(error);
  return name.includes("\ufffd") ? NAME_IS_NOT_UTF_8 : undefined;
}
