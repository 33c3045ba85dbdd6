/** Finds the main file of a skill, `SKILL.md`. */

import { attempt } from "../attempt.ts";
import { isAbsence } from "../fs/errors.ts";
import {
  basename,
  childPath,
  dirname,
  isCaseBlind,
  mayRead,
} from "../fs/paths.ts";
import { SKILL_MD } from "./names.ts";

/** The names of a skill's main file, the preferred one first. */
const SKILL_FILE_NAMES = [SKILL_MD, "skill.md"];

export function isSkillFileName(name: string): boolean {
  return SKILL_FILE_NAMES.includes(name) ||
    (isCaseBlind && name.toLowerCase() === SKILL_MD.toLowerCase());
}

/** A `SKILL.md` in a directory, or a symlink with this name. */
export interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly status: Deno.FileInfo;
}

/** Finds the `SKILL.md` in a directory, even a dangling symlink. */
export function findSkillFile(dir: string): FoundFile | undefined {
  for (const expected of SKILL_FILE_NAMES) {
    try {
      const status = Deno.lstatSync(childPath(dir, expected));
      const name = isCaseBlind ? nameOnDisk(dir, expected) : expected;
      return { name, path: childPath(dir, name), status };
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
  }
  return undefined;
}

/** Whether a directory has a `SKILL.md`, valid or not. */
export function isSkillDir(dir: string): boolean {
  return mayRead(dir) && attempt(() => findSkillFile(dir)) !== undefined;
}

/** Returns the directory of a `SKILL.md` that a person or a diagnostic names, in any case. */
export function dirOfSkillMd(file: string): string | undefined {
  return /^skill\.md$/i.test(basename(file)) ? dirname(file) : undefined;
}

/** Returns a name with its capitalization on disk, as in real paths. */
function nameOnDisk(dir: string, name: string): string {
  const key = name.toLowerCase();
  const entries = attempt(() => [...Deno.readDirSync(dir)]) ?? [];
  const names = entries.map((entry) => entry.name)
    .filter((other) => other.toLowerCase() === key);
  return names.includes(name) ? name : names[0] ?? name;
}
