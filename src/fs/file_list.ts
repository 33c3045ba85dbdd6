/** Lists the files of a served folder, and what is left out. */

import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { byCodeUnits } from "../text.ts";
import {
  type Boundary,
  type BoundEntry,
  isVisible,
  MAX_FILE_DEPTH,
} from "./boundary.ts";
import { isAbsence, SkillFileError } from "./faults.ts";
import { confirmPlace, requireReadable, statLocated } from "./reading.ts";
import type { SkillFile, SkillFiles } from "./served_files.ts";
import { type FolderSnapshot, isExposed, versionOf } from "./snapshot.ts";
import { type PlacedFolder, walk, type WalkSteps } from "./walker.ts";

export const MAX_WALKED_ENTRIES = 20_000;

const TOO_DEEP: DiagnosticDetails = {
  rule: "too-many",
  reason: `its entries are more than ${MAX_FILE_DEPTH} levels deep`,
  fix: "move them closer to the top",
};

function tooManyEntries(limit: number): DiagnosticDetails {
  return {
    rule: "too-many",
    reason:
      `the limit of ${limit} entries was reached here, and the rest was skipped`,
    fix: "move files that the skill does not need out of it",
  };
}

/** A folder, and how it is served. */
export interface ServedFolderOptions {
  readonly directory: string;
  readonly realDirectory: string;
  readonly boundary: Boundary;
  /** Whether other users may be able to swap folders above it. Default: `true`. */
  readonly isShared?: boolean;
  /** The path of a file in it, and the name under which it is served instead of its own. */
  readonly alias?: { readonly file: string; readonly name: string };
  readonly maxFileSize: number | undefined;
  readonly faultOf: (error: unknown) => DiagnosticDetails;
}

interface ListedFolder extends BoundEntry, PlacedFolder {
  /** Its path in the served folder, with a slash at its end, unless it is empty. */
  readonly prefix: string;
}

export class FileList implements WalkSteps<ListedFolder> {
  readonly maxEntries: number;
  readonly isShared: boolean;
  readonly #options: ServedFolderOptions;
  readonly #files = new Map<ListedFolder, SkillFile[]>();
  readonly #leftOut: Diagnostic[] = [];
  #entries = 0;

  constructor(options: ServedFolderOptions, maxEntries: number) {
    this.#options = options;
    this.maxEntries = maxEntries;
    this.isShared = options.isShared ?? true;
  }

  async create(top: BoundEntry): Promise<SkillFiles> {
    const end = await walk({
      ...top,
      parent: undefined,
      prefix: "",
      isExposed: isExposed(top, this.isShared),
    }, this);
    if (end !== undefined) {
      const { folder, entry } = end;
      const path = folder.prefix + entry.name;
      const limit = tooManyEntries(this.maxEntries);
      this.#leaveOut(path, new SkillFileError(path, limit));
      this.#entries++;
    }
    return {
      files: [...this.#files.values()].flat()
        .sort((a, b) => byCodeUnits(a.path, b.path)),
      folders: Array.from(this.#files.keys(), ({ realPath }) => realPath),
      leftOut: this.#leftOut.sort((a, b) => byCodeUnits(a.file, b.file)),
      entries: this.#entries,
    };
  }

  isLookedAt({ name }: Deno.DirEntry): boolean {
    return isVisible(name);
  }

  isListed(): boolean {
    return true;
  }

  onListed(folder: ListedFolder): void {
    this.#files.set(folder, []);
  }

  onEntry(
    entry: Deno.DirEntry,
    folder: ListedFolder,
    parent: FolderSnapshot,
  ): ListedFolder | undefined {
    const { boundary, maxFileSize, alias } = this.#options;
    this.#entries++;
    const path = folder.prefix + entry.name;
    const found = boundary.find(entry.name, folder, {
      mayBeLink: entry.isSymlink,
    });
    if (found === undefined) return undefined;
    const status = entry.isDirectory ? undefined : statLocated(found);
    if (status === undefined || status.isDirectory) {
      if (found.above.length < MAX_FILE_DEPTH) {
        return { ...found, parent, prefix: `${path}/` };
      }
      throw new SkillFileError(path, TOO_DEEP);
    }
    // The folder may have been swapped since it was listed.
    if (this.isShared && !parent.holds()) confirmPlace(found, status);
    requireReadable(found, { status, maxFileSize });
    this.#files.get(folder)!.push({
      path: found.path === alias?.file ? alias.name : path,
      size: status.size,
      version: versionOf(status),
    });
    return undefined;
  }

  onFailure(error: unknown, folder: ListedFolder, entry?: Deno.DirEntry): void {
    // The files that were found in a swapped folder may lie elsewhere.
    if (entry === undefined) this.#files.delete(folder);
    // Unless it is a link, it was removed after the folder was listed.
    const isGone = !entry?.isSymlink && isAbsence(error);
    if (!isGone) this.#leaveOut(folder.prefix + (entry?.name ?? ""), error);
  }

  #leaveOut(file: string, error: unknown): void {
    this.#leftOut.push({ file, ...this.#options.faultOf(error) });
  }
}
