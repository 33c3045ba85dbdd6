/**
 * A folder whose files are served: finding, reading, and listing them. What belongs to
 * it is in `boundary.ts`.
 */

import { attempt } from "../attempt.ts";
import { type BoundEntry, isVisible, leadsOut, splitPath } from "./boundary.ts";
import {
  isAbsence,
  LEADS_OUT,
  LINK_OUTSIDE,
  NOT_THERE,
  SkillFileError,
} from "./faults.ts";
import {
  FileList,
  MAX_WALKED_ENTRIES,
  type ServedFolderOptions,
} from "./file_list.ts";
import { type FileContent, type KnownFiles, sha256 } from "./known_files.ts";
import { basename, childPath } from "./paths.ts";
import {
  type Located,
  readLocated,
  requireReadable,
  statLocated,
} from "./reading.ts";
import type { SkillFile, SkillFiles } from "./served_files.ts";
import { isSettled, versionOf } from "./snapshot.ts";

export class ServedFolder {
  readonly #options: ServedFolderOptions;
  readonly #known: KnownFiles;

  constructor(options: ServedFolderOptions, known: KnownFiles) {
    this.#options = options;
    this.#known = known;
  }

  /**
   * @param path The path relative to the folder, with `/` as the separator.
   * @throws {SkillFileError} If the file does not exist, does not belong to the
   *   folder, is not a regular file, is too large, or cannot be read.
   */
  read(path: string): FileContent {
    try {
      const located = this.#locate(path);
      const status = statLocated(located);
      const file = { path: located.realPath, version: versionOf(status) };
      const content = this.#known.contents.find(file) ??
        this.#readContent(located, status);
      // A copy, because the caller may change the bytes.
      const bytes = content.bytes.slice();
      return { ...content, path: splitPath(path)!.join("/"), bytes };
    } catch (error) {
      // A file outside the folder must look like a missing one.
      const isMissing = isAbsence(error) ||
        (error instanceof SkillFileError && error.rule === LINK_OUTSIDE.rule);
      const missing = leadsOut(path) ? LEADS_OUT : NOT_THERE;
      throw new SkillFileError(
        path,
        isMissing ? missing : this.#options.faultOf(error),
      );
    }
  }

  #readContent(located: Located, status: Deno.FileInfo): FileContent {
    const { maxFileSize, isShared } = this.#options;
    requireReadable(located, { status, maxFileSize });
    const buffer = new Uint8Array(status.size);
    const options = { expected: status, buffer, isShared };
    const { bytes, isProven } = readLocated(located, options);
    const content = {
      path: located.realPath,
      size: bytes.length,
      version: versionOf(status),
      bytes,
      text: decode(bytes),
      isCertain: isProven && isSettled(status),
    };
    if (content.isCertain) this.#known.contents.add(content, content);
    return content;
  }

  /** @throws {SkillFileError} As {@linkcode read} does. */
  digest(file: SkillFile): { digest: string; size: number } {
    const { digests } = this.#known;
    const path = childPath(this.#options.realDirectory, file.path);
    const known = digests.find({ ...file, path });
    if (known !== undefined) return { digest: known, size: file.size };
    const { bytes, size, version, isCertain } = this.read(file.path);
    const digest = sha256(bytes);
    if (isCertain) digests.add({ path, version, size: 1 }, digest);
    return { digest, size };
  }

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

function decode(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return attempt(() => decoder.decode(bytes));
}
