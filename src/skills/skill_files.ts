/**
 * Access to the files of a skill, confined to the skill's directory.
 *
 * @module
 */

import { readSkillBytes, withFileErrors, withText } from "../files/reading.ts";
import { SkillWalk, walkSkill } from "../files/walking.ts";
import type {
  FileAccessOptions,
  Skill,
  SkillFile,
  SkillFileContent,
} from "./types.ts";

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
  const located = withFileErrors(
    path,
    () => new SkillWalk(skill, options).find(path),
  );
  return { path: located.path, realPath: located.realPath };
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
  return withText(readSkillBytes(skill, path, options));
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
  return walkSkill(skill, options).files;
}
