/**
 * Access to the files of skills, for all views. Listings are shared, and digests
 * are remembered.
 *
 * @module
 */

import { sha256 } from "../files/reading.ts";
import {
  type FolderContents,
  KnownFiles,
  ServedFolder,
} from "../files/served_folder.ts";
import { SharedTask, SLICE_MS, TimeSlice } from "../time_slice.ts";
import { HiddenFolders } from "./hidden_folders.ts";
import { resolveTrusted } from "./project.ts";
import type {
  FileAccessOptions,
  Skill,
  SkillFile,
  SkillFileContent,
  SkillViewer,
} from "./types.ts";

/** The maximum number of remembered digests. */
const MAX_DIGESTS = 100_000;

/** Access to the files of the skills of one registry. */
export class SkillFiles {
  readonly #options: FileAccessOptions;
  #hidden = new HiddenFolders();
  /** The running listings of each skill. A WeakMap, because each scan can replace a skill. */
  readonly #listings = new WeakMap<
    Skill,
    Record<"model" | "user", SharedTask<FolderContents>>
  >();
  /** Digests of files, by version and path. */
  readonly #digests = new Map<string, string>();
  readonly #known = new KnownFiles();
  readonly #slice = new TimeSlice();
  /** Whether the last read took a whole slice, as on a slow disk. */
  #isSlow = false;

  /** Creates the access. */
  constructor(options: FileAccessOptions) {
    this.#options = options;
  }

  /** Hides folders instead of those that were hidden before. */
  hide(folders: HiddenFolders): void {
    this.#hidden = folders;
  }

  /**
   * Lists the files of a skill, its folders, and what is left out. Calls during a
   * listing share the next one, because the running one may have missed the latest
   * changes.
   */
  list(skill: Skill, viewer: SkillViewer = {}): Promise<FolderContents> {
    const listings = this.#listings.get(skill) ??
      { model: new SharedTask(), user: new SharedTask() };
    this.#listings.set(skill, listings);
    return listings[viewer.forModel ? "model" : "user"].run(() =>
      this.#open(skill, viewer).list()
    );
  }

  /**
   * Reads a file of a skill.
   *
   * @throws {SkillFileError} If it cannot be read.
   */
  async read(
    skill: Skill,
    path: string,
    viewer: SkillViewer = {},
  ): Promise<SkillFileContent & { isRecent: boolean }> {
    // Reads that start together would block other tasks for the sum of their times.
    if (this.#isSlow) await this.#slice.pause();
    const start = Date.now();
    const content = this.#open(skill, viewer).read(path);
    this.#isSlow = Date.now() - start >= SLICE_MS;
    return content;
  }

  /**
   * Returns the SHA-256 digest and the size of the current content of a file. The
   * digest is remembered until the file changes.
   *
   * @throws {SkillFileError} If the file cannot be read.
   */
  async digest(
    skill: Skill,
    { path, version, size }: SkillFile,
  ): Promise<{ digest: string; size: number }> {
    // The path is part of the key because a number cannot represent every inode exactly.
    const keyOf = (version: string) =>
      `${version}:${skill.realDirectory}:${path}`;
    const known = this.#digests.get(keyOf(version));
    if (known !== undefined) return { digest: known, size };
    const read = await this.read(skill, path);
    const digest = sha256(read.bytes);
    if (this.#digests.size >= MAX_DIGESTS) this.#digests.clear();
    if (!read.isRecent) this.#digests.set(keyOf(read.version), digest);
    return { digest, size: read.size };
  }

  #open(skill: Skill, { forModel = false }: SkillViewer): ServedFolder {
    const { maxFileSize, trustLinks = [] } = this.#options;
    const hidden = this.#hidden;
    const viewer = { skill: skill.realDirectory, forModel };
    return new ServedFolder({
      directory: skill.directory,
      realDirectory: skill.realDirectory,
      file: skill.file,
      trusted: resolveTrusted(trustLinks),
      isHidden: (realPath) => hidden.isHidden(realPath, viewer),
      maxFileSize,
      known: this.#known,
    });
  }
}
