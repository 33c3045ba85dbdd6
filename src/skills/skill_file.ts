/** The main file of a skill, `SKILL.md`: its names, and whether a folder has one. */

import { attempt } from "../attempt.ts";
import { isAbsence } from "../fs/errors.ts";
import { childPath, isCaseBlind, mayRead } from "../fs/paths.ts";
import { SKILL_MD } from "./names.ts";

/** The names of a skill's main file, the preferred one first. */
const SKILL_FILE_NAMES = [SKILL_MD, "skill.md"];

export function isSkillFileName(name: string): boolean {
  return SKILL_FILE_NAMES.includes(name) ||
    (isCaseBlind && name.toLowerCase() === SKILL_MD.toLowerCase());
}

/** A `SKILL.md` in a folder, or a link with this name. */
export interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly status: Deno.FileInfo;
}

/** Finds the `SKILL.md` in a folder, even if it is a dangling link. */
export function findSkillFile(folder: string): FoundFile | undefined {
  for (const asked of SKILL_FILE_NAMES) {
    try {
      const status = Deno.lstatSync(childPath(folder, asked));
      const name = isCaseBlind ? nameOnDisk(asked, folder) : asked;
      return { name, path: childPath(folder, name), status };
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
  }
}

/** Whether a folder has a `SKILL.md`, valid or not. */
export function isSkillFolder(folder: string): boolean {
  return mayRead(folder) && attempt(() => findSkillFile(folder)) !== undefined;
}

/** Returns a name with its capitalization on disk, which real paths have too. */
function nameOnDisk(name: string, folder: string): string {
  const key = name.toLowerCase();
  const names = Array.from(Deno.readDirSync(folder), (entry) => entry.name)
    .filter((other) => other.toLowerCase() === key);
  return names.includes(name) ? name : names[0] ?? name;
}
