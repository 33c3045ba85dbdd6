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

import { basename, isAbsolute, normalize, relative } from "jsr:@std/path@^1";
import type { Problem } from "../problems.ts";
import { byCodeUnits } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import {
  attempt,
  faultOf,
  isAbsence,
  LINK_OUT_OF_SKILL,
  MAX_FILE_DEPTH,
  MAX_WALKED_ENTRIES,
  NOT_THERE,
  SkillFileError,
  TOO_DEEP,
  TOO_MANY_ENTRIES,
} from "./faults.ts";
import {
  childPath,
  isAtOrBelow,
  isAtOrBelowAny,
  isMisread,
  isWindows,
  SKILL_MD,
} from "./paths.ts";
import {
  isRecent,
  type Located,
  readLocated,
  requireInPlace,
  requireReadable,
  statLocated,
  versionOf,
} from "./reading.ts";
import type { SkillFile, SkillFileContent } from "./types.ts";

/** What {@linkcode ServedFolder} serves. */
interface ServedFolderOptions {
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
  /** Files that were read before. */
  readonly known?: KnownFiles;
}

/** The total size of the files that are remembered, in bytes. */
const MAX_KNOWN_SIZE = 2 * 1024 * 1024;

/** The last files that were read, so that an unchanged one is not read again. */
export class KnownFiles {
  /** By their real paths. */
  readonly #contents = new Map<string, FileContent>();
  #size = 0;

  /** Returns the content of a file, if it is known in this version. */
  find(realPath: string, version: string): FileContent | undefined {
    const known = this.#contents.get(realPath);
    return known?.version === version ? known : undefined;
  }

  /** Remembers a file, unless it may change again and keep its version. */
  add(realPath: string, content: FileContent): void {
    if (content.isRecent) return;
    this.#size += content.size;
    if (this.#size > MAX_KNOWN_SIZE) {
      this.#contents.clear();
      this.#size = content.size;
    }
    this.#contents.set(realPath, content);
  }
}

/** The content of a file, whatever the path that leads there. */
type FileContent = Omit<SkillFileContent, "path"> & {
  /** Whether it may change again and keep its version. */
  readonly isRecent: boolean;
};

/** Whether a file or folder with this name is served. */
export function isVisible(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" &&
    name !== "__pycache__" && !isMisread(name);
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
  const names = normalize(path).split(isWindows ? /[\\/]/ : "/")
    .filter((name: string) => name !== "" && name !== ".");
  const isServed = !isAbsolute(path) && names[0] !== ".." &&
    names.length <= MAX_FILE_DEPTH;
  return isServed ? names : undefined;
}

/** Access to the files of a folder. */
export class ServedFolder {
  readonly #options: ServedFolderOptions;

  /** Creates the access. Nothing is read yet. */
  constructor(options: ServedFolderOptions) {
    this.#options = options;
  }

  /**
   * Reads the current content of a file.
   *
   * @param path The path relative to the folder, with `/` as the separator.
   * @throws {SkillFileError} If the file does not exist, does not belong to the
   *   folder, is not a regular file, is too large, or cannot be read.
   */
  read(path: string): SkillFileContent & FileContent {
    try {
      const located = this.#locate(path);
      const status = statLocated(located);
      const { known } = this.#options;
      const content = known?.find(located.realPath, versionOf(status)) ??
        this.#readContent(located, status);
      // A copy, because the caller may change the bytes.
      const bytes = content.bytes.slice();
      return { path: splitPath(path)!.join("/"), ...content, bytes };
    } catch (error) {
      // Nobody can tell a file outside the folder from a missing one.
      throw new SkillFileError(
        path,
        isAbsence(error) ? NOT_THERE : faultOf(error),
      );
    }
  }

  #readContent(located: Located, status: Deno.FileInfo): FileContent {
    const { maxFileSize, known } = this.#options;
    requireReadable(located.path, { status, maxFileSize });
    const buffer = new Uint8Array(status.size);
    const bytes = readLocated(located, { before: status, buffer });
    const content = {
      size: bytes.length,
      version: versionOf(status),
      bytes,
      text: decode(bytes),
      isRecent: isRecent(status),
    };
    known?.add(located.realPath, content);
    return content;
  }

  /** Lists the files, the real paths of the folders, and what is left out. */
  async list(): Promise<FolderWalk["contents"]> {
    const { directory, realDirectory } = this.#options;
    const walk = new FolderWalk(this.#options);
    const place = { path: directory, realPath: realDirectory, isLinked: false };
    await walk.list({ ...place, name: "", above: [] });
    walk.contents.files.sort((a, b) => byCodeUnits(a.path, b.path));
    walk.contents.leftOut.sort((a, b) => byCodeUnits(a.file, b.file));
    return walk.contents;
  }

  /**
   * Finds a path in the folder: resolves it first, and then applies the rules to
   * the names that were asked for and to the real ones.
   *
   * @throws {Error} If there is nothing that belongs to the folder.
   */
  #locate(path: string): Located {
    const { directory, realDirectory, file, isHidden } = this.#options;
    const names = splitPath(path);
    if (!names?.every(isVisible)) throw new Deno.errors.NotFound(path);
    if (names.join("/") === SKILL_MD) names[0] = basename(file);
    let [listed, realPath] = [directory, realDirectory];
    for (const name of names) {
      listed = childPath(listed, name);
      realPath = Deno.realPathSync(listed);
      // A link in a hidden folder does not count either, wherever it leads.
      if (isHidden(realPath)) throw new Deno.errors.NotFound(path);
    }
    const isLinked = realPath !== names.reduce(childPath, realDirectory);
    if (!isLinked || isOwn(realPath, this.#options)) {
      return { path: listed, realPath, isLinked };
    }
    throw new Deno.errors.NotFound(path);
  }
}

/** Returns the exact text of some bytes, or `undefined` if they are not valid UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return attempt(() => decoder.decode(bytes));
}

/** A file or folder below the served folder. */
interface TreeNode extends Located {
  /** Its path in the served folder. */
  readonly name: string;
  /** The real paths of the folders on the way to it, from the served folder down. */
  readonly above: readonly string[];
  /** Its status, unless it is a folder. */
  readonly status?: Deno.FileInfo;
}

/** A walk through a folder. */
class FolderWalk {
  readonly #options: ServedFolderOptions;
  readonly contents = {
    files: [] as SkillFile[],
    folders: [] as string[],
    leftOut: [] as Problem[],
  };
  /** The number of visited entries. */
  #entries = 0;
  readonly #slice = new TimeSlice();

  constructor(options: ServedFolderOptions) {
    this.#options = options;
  }

  /** Lists what a folder contains. */
  async list(folder: TreeNode): Promise<void> {
    const { files, folders, leftOut } = this.contents;
    const prefix = folder.name && `${folder.name}/`;
    folders.push(folder.realPath);
    try {
      for (const child of await this.#listChildren(folder, prefix)) {
        const { path, name, status } = child;
        if (status === undefined) await this.list(child);
        else {
          files.push({
            path: path === this.#options.file ? SKILL_MD : name,
            size: status.size,
            version: versionOf(status),
          });
        }
      }
    } catch (error) {
      if (!isAbsence(error)) leftOut.push({ file: prefix, ...faultOf(error) });
    }
  }

  /** Lists the entries of a folder, and confirms that it still lies at its real path. */
  async #listChildren(folder: TreeNode, prefix: string): Promise<TreeNode[]> {
    requireInPlace(folder);
    const entries = [...Deno.readDirSync(folder.path)];
    requireInPlace(folder);
    const children: TreeNode[] = [];
    for (const entry of entries) {
      if (!isVisible(entry.name)) continue;
      if (this.#slice.isOver) await this.#slice.pause();
      const name = prefix + entry.name;
      try {
        if (++this.#entries > MAX_WALKED_ENTRIES) {
          throw new SkillFileError(name, TOO_MANY_ENTRIES);
        }
        const child = this.#inspect(entry, { name, folder });
        if (child !== undefined) children.push(child);
      } catch (error) {
        // An entry that is no link was just removed.
        if (!entry.isSymlink && isAbsence(error)) continue;
        this.contents.leftOut.push({ file: name, ...faultOf(error) });
      }
      if (this.#entries > MAX_WALKED_ENTRIES) break;
    }
    requireInPlace(folder);
    return children;
  }

  /**
   * Inspects an entry. Returns nothing if the policy hides it, or if it is a link to
   * a folder that contains it.
   *
   * @throws {Error} If it is not served.
   */
  #inspect(
    { name: entryName, isSymlink, isDirectory }: Deno.DirEntry,
    { name, folder }: { name: string; folder: TreeNode },
  ): TreeNode | undefined {
    const { isHidden, maxFileSize } = this.#options;
    const path = childPath(folder.path, entryName);
    const realPath = isSymlink
      ? Deno.realPathSync(path)
      : childPath(folder.realPath, entryName);
    const above = [...folder.above, folder.realPath];
    if (above.includes(realPath)) return undefined;
    if (isHidden(realPath)) return undefined;
    if (isSymlink && !isOwn(realPath, this.#options)) {
      throw new SkillFileError(name, LINK_OUT_OF_SKILL);
    }
    const isLinked = folder.isLinked || isSymlink;
    const node = { path, realPath, isLinked, name, above };
    const status = isDirectory ? undefined : statLocated(node);
    if (status === undefined || status.isDirectory) {
      if (above.length < MAX_FILE_DEPTH) return node;
      throw new SkillFileError(name, TOO_DEEP);
    }
    requireReadable(name, { status, maxFileSize });
    return { ...node, status };
  }
}
