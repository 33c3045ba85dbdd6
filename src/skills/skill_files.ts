/**
 * Access to the files of skills, for all views. Digests are remembered.
 *
 * @module
 */

import { sha256 } from "../files/reading.ts";
import {
  type FolderContents,
  KnownFiles,
  ServedFolder,
} from "../files/served_folder.ts";
import { HiddenFolders } from "./found_skills.ts";
import { resolveTrusted } from "./roots.ts";
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
  /** Digests of files, by version and path. */
  readonly #digests = new Map<string, string>();
  readonly #known = new KnownFiles();

  /** Creates the access. */
  constructor(options: FileAccessOptions) {
    this.#options = options;
  }

  /** Hides folders instead of those that were hidden before. */
  hide(folders: HiddenFolders): void {
    this.#hidden = folders;
  }

  /** Lists the files of a skill, its folders, and what is left out. */
  list(skill: Skill, viewer: SkillViewer = {}): Promise<FolderContents> {
    return this.#open(skill, viewer).list();
  }

  /**
   * Reads a file of a skill.
   *
   * @throws {SkillFileError} If it cannot be read.
   */
  read(
    skill: Skill,
    path: string,
    viewer: SkillViewer = {},
  ): SkillFileContent & { isRecent: boolean } {
    return this.#open(skill, viewer).read(path);
  }

  /**
   * Returns the SHA-256 digest and the size of the current content of a file. The
   * digest is remembered until the file changes.
   *
   * @throws {SkillFileError} If the file cannot be read.
   */
  digest(
    skill: Skill,
    { path, version, size }: SkillFile,
  ): { digest: string; size: number } {
    // The path is part of the key because a number cannot represent every inode exactly.
    const keyOf = (version: string) =>
      `${version}:${skill.realDirectory}:${path}`;
    const known = this.#digests.get(keyOf(version));
    if (known !== undefined) return { digest: known, size };
    const read = this.read(skill, path);
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
