/**
 * A folder whose files are served: finding, reading, and listing them. What belongs to
 * it is in `boundary.ts`.
 *
 * @module
 */

import { attempt } from "../attempt.ts";
import { type BoundEntry, isVisible, splitPath } from "./boundary.ts";
import {
  isAbsence,
  LINK_OUTSIDE,
  NOT_THERE,
  SkillFileError,
} from "./faults.ts";
import {
  FileList,
  MAX_WALKED_ENTRIES,
  type ServedFolderOptions,
} from "./file_list.ts";
import { isSettled, versionOf } from "./file_status.ts";
import { basename } from "./paths.ts";
import {
  type Located,
  readLocated,
  requireReadable,
  statLocated,
} from "./reading.ts";
import type { SkillFileContent, SkillFiles } from "./served_files.ts";

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
    if (!content.isSettled) return;
    this.#size += content.size - (this.#contents.get(realPath)?.size ?? 0);
    if (this.#size > MAX_KNOWN_SIZE) {
      this.#contents.clear();
      this.#size = content.size;
    }
    this.#contents.set(realPath, content);
  }
}

/** The content of a file, whatever the path that leads there. */
export type FileContent = Omit<SkillFileContent, "path"> & {
  /** Whether its version identifies the content. See `isSettled` in `file_status.ts`. */
  readonly isSettled: boolean;
};

/** Access to the files of a folder. */
export class ServedFolder {
  readonly #options: ServedFolderOptions;
  readonly #known: KnownFiles;

  /**
   * Creates the access. Nothing is read yet.
   *
   * @param known Files that were read before.
   */
  constructor(options: ServedFolderOptions, known: KnownFiles) {
    this.#options = options;
    this.#known = known;
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
      const version = versionOf(status);
      const content = this.#known.find(located.realPath, version) ??
        this.#readContent(located, status);
      // A copy, because the caller may change the bytes.
      const bytes = content.bytes.slice();
      return { path: splitPath(path)!.join("/"), ...content, bytes };
    } catch (error) {
      // Nobody can tell a file outside the folder from a missing one.
      const isMissing = isAbsence(error) ||
        (error instanceof SkillFileError && error.rule === LINK_OUTSIDE.rule);
      throw new SkillFileError(
        path,
        isMissing ? NOT_THERE : this.#options.faultOf(error),
      );
    }
  }

  #readContent(located: Located, status: Deno.FileInfo): FileContent {
    const { maxFileSize } = this.#options;
    requireReadable(located.path, { status, maxFileSize });
    const buffer = new Uint8Array(status.size);
    const bytes = readLocated(located, { expected: status, buffer });
    const content = {
      size: bytes.length,
      version: versionOf(status),
      bytes,
      text: decode(bytes),
      isSettled: isSettled(status),
    };
    this.#known.add(located.realPath, content);
    return content;
  }

  /**
   * Lists what it contains, and what is left out.
   *
   * @param maxEntries How many entries are visited at most.
   */
  async list(maxEntries: number = MAX_WALKED_ENTRIES): Promise<SkillFiles> {
    return await new FileList(this.#options, maxEntries).create(this.#top());
  }

  #top(): BoundEntry {
    const { directory: path, realDirectory: realPath } = this.#options;
    // A link to the folder may be on the path.
    return { path, realPath, isLink: true, above: [] };
  }

  /**
   * Finds a path in the folder, name by name.
   *
   * @throws {Error} If there is nothing that belongs to the folder.
   */
  #locate(path: string): Located {
    const { boundary, alias } = this.#options;
    const names = splitPath(path);
    if (!names?.every(isVisible)) throw new Deno.errors.NotFound(path);
    if (alias && names.join("/") === alias.name) {
      names[0] = basename(alias.file);
    }
    let found: BoundEntry | undefined = this.#top();
    for (const name of names) {
      found = boundary.find(name, found);
      // A link in a hidden folder does not count either, wherever it leads.
      if (found === undefined) throw new Deno.errors.NotFound(path);
    }
    return found;
  }
}

/** Returns the exact text of some bytes, or `undefined` if they are not valid UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return attempt(() => decoder.decode(bytes));
}
