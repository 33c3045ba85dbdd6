/**
 * Lists what a served folder contains, and what is left out.
 *
 * @module
 */

import { byCodeUnits } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import {
  isAbsence,
  LINK_OUTSIDE,
  MAX_FILE_DEPTH,
  SkillFileError,
  TOO_DEEP,
  tooManyEntries,
} from "./faults.ts";
import {
  isInside,
  isVisible,
  type ServedFolderOptions,
} from "./folder_rules.ts";
import { childPath } from "./paths.ts";
import {
  type Located,
  requireInPlace,
  requireReadable,
  statLocated,
  versionOf,
} from "./reading.ts";
import type { SkillFile, SkillFiles } from "./types.ts";

/** A file or folder below the served folder. */
interface WalkedEntry extends Located {
  /** Its path in the served folder. That of a folder ends with `/`, or is empty. */
  readonly name: string;
  /** The real paths of the folders on the way to it, from the served folder down. */
  readonly above: readonly string[];
  /** Its status, unless it is a folder. */
  readonly status?: Deno.FileInfo;
}

/** A walk through a folder. */
export class FolderWalk {
  readonly #options: ServedFolderOptions;
  readonly #contents: Omit<SkillFiles, "isComplete"> = {
    files: [],
    folders: [],
    leftOut: [],
  };
  /** How many entries may still be visited. It is negative once one was not. */
  #room: number;
  readonly #maxEntries: number;
  readonly #slice = new TimeSlice();

  /** Creates a walk that visits a number of entries at most. */
  constructor(options: ServedFolderOptions, maxEntries: number) {
    this.#options = options;
    this.#maxEntries = maxEntries;
    this.#room = maxEntries;
  }

  /** Walks through the whole folder. */
  async run(): Promise<SkillFiles> {
    const { directory: path, realDirectory: realPath } = this.#options;
    await this.#list({ path, realPath, isLinked: false, name: "", above: [] });
    if (this.#slice.isOver) await this.#slice.pause();
    this.#contents.leftOut.sort((a, b) => byCodeUnits(a.file, b.file));
    return { ...this.#contents, isComplete: this.#room >= 0 };
  }

  /** Lists what a folder contains, at any depth. */
  async #list(folder: WalkedEntry): Promise<void> {
    const { files, folders } = this.#contents;
    folders.push(folder.realPath);
    try {
      for (const child of await this.#listChildren(folder)) {
        if (child.status === undefined) await this.#list(child);
        else files.push(this.#describeFile(child.status, child));
      }
    } catch (error) {
      if (!isAbsence(error)) this.#leaveOut(folder.name, error);
    }
  }

  #describeFile(status: Deno.FileInfo, { path, name }: WalkedEntry): SkillFile {
    const { alias } = this.#options;
    return {
      path: path === alias?.file ? alias.name : name,
      size: status.size,
      version: versionOf(status),
    };
  }

  #leaveOut(file: string, error: unknown): void {
    this.#contents.leftOut.push({ file, ...this.#options.faultOf(error) });
  }

  /**
   * Lists the entries of a folder, and confirms that it still lies at its real path.
   * They are sorted as the paths of the files below them are.
   */
  async #listChildren(folder: WalkedEntry): Promise<WalkedEntry[]> {
    requireInPlace(folder);
    const entries = [...Deno.readDirSync(folder.path)];
    requireInPlace(folder);
    const children: WalkedEntry[] = [];
    for (const entry of entries) {
      if (this.#slice.isOver) await this.#slice.pause();
      if (!isVisible(entry.name)) continue;
      if (this.#room < 0) break;
      const child = this.#enter(entry, folder);
      if (child !== undefined) children.push(child);
    }
    requireInPlace(folder);
    if (this.#slice.isOver) await this.#slice.pause();
    return children.sort((a, b) => byCodeUnits(a.name, b.name));
  }

  /** Inspects an entry, and notes it if it is left out. */
  #enter(entry: Deno.DirEntry, folder: WalkedEntry): WalkedEntry | undefined {
    const name = folder.name + entry.name;
    try {
      this.#room--;
      if (this.#room < 0) {
        throw new SkillFileError(name, tooManyEntries(this.#maxEntries));
      }
      return this.#inspect(entry, folder);
    } catch (error) {
      // An entry that is no link was just removed.
      const isGone = !entry.isSymlink && isAbsence(error);
      if (!isGone) this.#leaveOut(name, error);
      return undefined;
    }
  }

  /**
   * Inspects an entry. Returns nothing if it is hidden, or if it is a link to a folder
   * that contains it.
   *
   * @throws {Error} If it is not served.
   */
  #inspect(
    { name: entryName, isSymlink, isDirectory }: Deno.DirEntry,
    folder: WalkedEntry,
  ): WalkedEntry | undefined {
    const { isHidden, maxFileSize } = this.#options;
    const name = folder.name + entryName;
    const path = childPath(folder.path, entryName);
    const realPath = isSymlink
      ? Deno.realPathSync(path)
      : childPath(folder.realPath, entryName);
    const above = [...folder.above, folder.realPath];
    if (above.includes(realPath)) return undefined;
    if (isHidden(realPath)) return undefined;
    if (isSymlink && !isInside(realPath, this.#options)) {
      throw new SkillFileError(name, LINK_OUTSIDE);
    }
    const isLinked = folder.isLinked || isSymlink;
    const entry = { path, realPath, isLinked, name, above };
    const status = isDirectory ? undefined : statLocated(entry);
    if (status === undefined || status.isDirectory) {
      if (above.length < MAX_FILE_DEPTH) return { ...entry, name: `${name}/` };
      throw new SkillFileError(name, TOO_DEEP);
    }
    requireReadable(name, { status, maxFileSize });
    return { ...entry, status };
  }
}
