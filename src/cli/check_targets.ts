/**
 * Finds the skills that are named on the command line of `--check`, by their paths or
 * by their names.
 *
 * @module
 */

import { basename, dirname, join } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import { currentFolder, isAtOrBelow, SKILL_MD } from "../files/paths.ts";
import { listSkillFolders } from "../skills/near_misses.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import { readSkillText } from "../skills/frontmatter.ts";
import { skillKey } from "../text.ts";
import type { SkillRoot } from "../skills/types.ts";
import type { Settings } from "./settings.ts";

/** The settings of `--check`, and the skills that are named on its command line. */
export interface CheckSettings extends Settings {
  /** The directories of the skills to check alone. */
  readonly targets: ReadonlySet<string>;
}

/**
 * Replaces the roots of each folder on the command line that is itself a skill, is
 * its `SKILL.md`, or is a skill's name, with a root that contains only that skill.
 */
export function findCheckTargets(settings: Settings): CheckSettings {
  const targets = new Set<string>();
  if (!settings.values.check) return { ...settings, targets };
  let roots = settings.roots;
  for (const folder of settings.directories) {
    const skill = skillAt(folder) ?? skillNamed(folder, settings);
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
  return fileIn(folder) === undefined ? undefined : folder;
}

/** Returns the path of the `SKILL.md` in a folder, if there is one. */
function fileIn(folder: string): string | undefined {
  return [SKILL_MD, "skill.md"].map((name) => join(folder, name))
    .find((path) => attempt(() => Deno.lstatSync(path)) !== undefined);
}

/**
 * Returns the directory of the skill with a name, if that is not the name of a
 * folder, too. Skills are looked for in the default roots.
 */
function skillNamed(path: string, { home }: Settings): string | undefined {
  const workingDirectory = currentFolder();
  const isName = dirname(path) === workingDirectory &&
    attempt(() => Deno.lstatSync(path)) === undefined;
  if (!isName) return undefined;
  const key = skillKey(basename(path));
  const folders = resolveSkillRoots({ workingDirectory, homeDirectory: home })
    .flatMap(({ path }) => listSkillFolders(path));
  return folders.find((folder) => skillKey(basename(folder)) === key) ??
    folders.find((folder) => skillKey(nameIn(folder)) === key);
}

/** Returns the name in the frontmatter of the skill in a folder, if it is readable. */
function nameIn(folder: string): string {
  const file = fileIn(folder);
  // Opening anything but a file can block.
  const isFile = file && attempt(() => Deno.statSync(file).isFile);
  const text = isFile ? attempt(() => Deno.readTextFileSync(file)) : "";
  return readSkillText(text ?? "").name ?? "";
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
