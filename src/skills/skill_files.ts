/**
 * Access to the files of a skill, confined to the skill's directory.
 *
 * @module
 */

import { fileVersion } from "../files/open_file.ts";
import {
  checkFile,
  readChecked,
  sha256,
  toFileError,
  withText,
} from "../files/reading.ts";
import { type FolderContents, FolderWalk } from "../files/walking.ts";
import { runInSlices, runSteps, SharedTask, TimeSlice } from "../time_slice.ts";
import type {
  ClosedFolders,
  FileAccessOptions,
  Skill,
  SkillFile,
  SkillFileContent,
  SkillViewer,
} from "./types.ts";

/** The maximum total size of cached file contents, in bytes. */
const MAX_CONTENTS_SIZE = 4 * 1024 * 1024;

/** The maximum number of files with cached contents. */
const MAX_CONTENTS = 1_000;

/** The maximum number of cached digests. */
const MAX_DIGESTS = 100_000;

/**
 * Resolves the path of a file or folder of a skill. Names that begin with a
 * dot, `node_modules`, and `__pycache__` do not belong to the skill, and
 * neither does anything whose real path is outside the skill's real directory
 * and the trusted folders. A path has at most 10 names.
 *
 * ```ts
 * import { resolveSkillFile, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * const { realPath } = resolveSkillFile(skills.get("pdf")!, "SKILL.md");
 * console.log(realPath);
 * ```
 *
 * @param skill The skill.
 * @param path The path relative to the skill directory, with `/` as the
 *   separator, or an empty string for the directory itself.
 * @param options The trusted folders.
 * @returns The path as configured, and the path with all links resolved.
 * @throws {SkillFileError} If the path does not exist or does not belong to the skill.
 */
export function resolveSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions = {},
): { path: string; realPath: string } {
  try {
    const located = runSteps(new FolderWalk(skill, options).find(path));
    return { path: located.path, realPath: located.realPath };
  } catch (error) {
    throw toFileError(path, error);
  }
}

/**
 * Reads the current content of a file of a skill.
 *
 * ```ts
 * import { readSkillFile, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * const { text, size } = readSkillFile(skills.get("git")!, "SKILL.md");
 * console.log(size, text);
 * ```
 *
 * @param skill The skill.
 * @param path The path relative to the skill directory, as in {@linkcode resolveSkillFile}.
 * @param options The trusted folders and the size limit.
 * @returns The file's content.
 * @throws {SkillFileError} If the file does not exist, does not belong to the
 *   skill, is not a regular file, is too large, or cannot be read.
 */
export function readSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions = {},
): SkillFileContent {
  const checked = runSteps(checkFile(skill, path, options));
  return withText(runSteps(readChecked(checked, path, options)));
}

/**
 * Lists the files of a skill that can be read: the files that
 * {@linkcode resolveSkillFile} finds and that are not too large, including those
 * of nested skills. A `skill.md` is listed as `SKILL.md`.
 *
 * ```ts
 * import { listSkillFiles, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * for (const { path, size } of listSkillFiles(skills.get("pdf")!)) {
 *   console.log(path, size);
 * }
 * ```
 *
 * @param skill The skill.
 * @param options The trusted folders and the size limit.
 * @returns The files, sorted by path. The search ends after 20,000 entries.
 */
export function listSkillFiles(
  skill: Skill,
  options: FileAccessOptions = {},
): SkillFile[] {
  return runSteps(new FolderWalk(skill, options).list()).files;
}

/** Access to the files of skills that remembers what it listed and read. */
export class SkillFiles {
  readonly #options: FileAccessOptions;
  #closed: ClosedFolders = { isClosed: () => false };
  /**
   * The walks through the files of a skill. A WeakMap, because each scan can
   * replace a skill.
   */
  readonly #walks = new WeakMap<
    Skill,
    Record<"model" | "user", SharedTask<FolderContents>>
  >();
  /** Contents of files that were read recently, by version and path. */
  readonly #contents = new Map<string, SkillFileContent>();
  #contentsSize = 0;
  /** Digests of files, by version and path. */
  readonly #digests = new Map<string, string>();

  constructor(options: FileAccessOptions) {
    this.#options = options;
  }

  /** Closes folders instead of those that were closed before. */
  close(folders: ClosedFolders): void {
    this.#closed = folders;
  }

  /**
   * Lists the files of a skill, its folders, and what is left out. Calls during a
   * walk share the next one, because the running one may have missed the latest
   * changes.
   */
  walk(skill: Skill, viewer: SkillViewer = {}): Promise<FolderContents> {
    const walks = this.#walks.get(skill) ??
      { model: new SharedTask(), user: new SharedTask() };
    this.#walks.set(skill, walks);
    return walks[viewer.forModel ? "model" : "user"].run(() =>
      runInSlices(new FolderWalk(skill, this.#accessTo(skill, viewer)).list())
    );
  }

  /**
   * Reads a file of a skill. See {@linkcode readSkillFile}. The file is a path, or
   * what {@linkcode walk} has just listed, which is faster.
   *
   * @throws {SkillFileError} If it cannot be read.
   */
  async read(
    skill: Skill,
    file: string | SkillFile,
    viewer: SkillViewer = {},
  ): Promise<SkillFileContent> {
    const isListed = typeof file !== "string";
    const path = isListed ? file.path : file;
    const options = { ...this.#accessTo(skill, viewer), isListed };
    const slice = new TimeSlice();
    const checked = await runInSlices(checkFile(skill, path, options), slice);
    const key = `${fileVersion(checked.info)}:${checked.path}`;
    const known = this.#contents.get(key);
    if (known !== undefined) return { ...known, bytes: known.bytes.slice() };
    const reading = readChecked(checked, path, options);
    const content = withText(await runInSlices(reading, slice));
    if (!content.isRacy) this.#cacheContent(checked.path, content);
    return content;
  }

  /**
   * Returns the SHA-256 digest and the size of the current content of a file. The
   * digest is cached until the file changes.
   *
   * @throws {SkillFileError} If the file cannot be read.
   */
  async digest(
    skill: Skill,
    file: SkillFile,
  ): Promise<{ digest: string; size: number }> {
    // The path is part of the key because a number cannot represent every inode exactly.
    const key = `${file.version}:${skill.directory}:${file.path}`;
    const known = file.isRacy ? undefined : this.#digests.get(key);
    if (known !== undefined) return { digest: known, size: file.size };
    const { path } = file;
    const options = { ...this.#accessTo(skill), isListed: true };
    const slice = new TimeSlice();
    const checked = await runInSlices(checkFile(skill, path, options), slice);
    const reading = readChecked(checked, path, options);
    const { bytes, size, version, isRacy } = await runInSlices(reading, slice);
    const digest = sha256(bytes);
    if (this.#digests.size >= MAX_DIGESTS) this.#digests.clear();
    if (!isRacy && version === file.version) this.#digests.set(key, digest);
    return { digest, size };
  }

  #accessTo(
    skill: Skill,
    { forModel = false }: SkillViewer = {},
  ): FileAccessOptions {
    const viewer = { skill: skill.realDirectory, forModel };
    const isClosed = (realPath: string) =>
      this.#closed.isClosed(realPath, viewer);
    return { ...this.#options, isClosed };
  }

  /** Caches a copy of the content of a file, and evicts the oldest entries if the cache is full. */
  #cacheContent(path: string, content: SkillFileContent): void {
    const key = `${content.version}:${path}`;
    if (this.#contents.has(key)) return;
    this.#contents.set(key, { ...content, bytes: content.bytes.slice() });
    this.#contentsSize += content.size;
    for (const [key, { size }] of this.#contents) {
      const hasRoom = this.#contentsSize <= MAX_CONTENTS_SIZE &&
        this.#contents.size <= MAX_CONTENTS;
      if (hasRoom) break;
      this.#contents.delete(key);
      this.#contentsSize -= size;
    }
  }
}
