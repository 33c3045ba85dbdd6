/**
 * Finds the skills that are named on the command line of `--check`.
 *
 * @module
 */

import { basename, dirname, join } from "jsr:@std/path@^1";
import { isAtOrBelow, SKILL_MD } from "../files/paths.ts";
import { isSkillFolder } from "../skills/skill_reader.ts";
import type { SkillRoot } from "../skills/types.ts";
import type { Settings } from "./settings.ts";

/** The settings of `--check`, and the skills that are named on its command line. */
export interface CheckSettings extends Settings {
  /** The directories of the skills to check alone. */
  readonly targets: ReadonlySet<string>;
}

/**
 * Replaces the roots of each folder on the command line that is itself a skill,
 * or is its `SKILL.md`, with a root that contains only that skill.
 */
export function findCheckTargets(settings: Settings): CheckSettings {
  const targets = new Set<string>();
  if (!settings.values.check) return { ...settings, targets };
  let roots = settings.roots;
  for (const folder of settings.directories) {
    const skill = skillAt(folder);
    if (skill === undefined) continue;
    targets.add(skill);
    const own = ["", join(".claude", "skills"), "skills"]
      .map((name) => join(folder, name));
    roots = roots.flatMap((root): SkillRoot[] =>
      root.path === folder
        ? [{ ...root, path: skill, recursive: true }]
        : own.includes(root.path)
        ? []
        : [root]
    );
  }
  return { ...settings, roots, targets };
}

/** Returns the directory of the skill that a path names, if it does. */
function skillAt(path: string): string | undefined {
  const isFile = basename(path).toLowerCase() === SKILL_MD.toLowerCase();
  const folder = isFile ? dirname(path) : path;
  return isSkillFolder(folder) ? folder : undefined;
}

/** Whether a file is part of what is checked: of a named skill, but not of one inside it. */
export function isTarget(
  file: string,
  { roots, targets }: CheckSettings,
): boolean {
  if (targets.size === 0) return true;
  if (targets.has(file) || targets.has(dirname(file))) return true;
  return roots.some(({ path }) =>
    !targets.has(path) && isAtOrBelow(file, path)
  );
}
