/**
 * Finds out what `--check` is about: folders of skills, single skills, or the names
 * of skills.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { folderOf, type Settings } from "./settings.ts";
import { attempt } from "../files/faults.ts";
import { isAtOrBelowAny } from "../files/paths.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import { skillKey } from "../text.ts";
import type { SkillCatalog } from "../skills/types.ts";

/** The settings of `--check`, and the names on its command line. */
export interface CheckSettings extends Settings {
  /** Skills with these keys are checked, wherever they are. */
  readonly names: ReadonlySet<string>;
  /** The folders in which only skills with these names are checked. */
  readonly namedIn: readonly string[];
}

/** Adds the default roots to the settings of `--check` if it is given the name of a skill. */
export function findCheckTargets(settings: Settings): CheckSettings {
  const { values, directories, options, roots } = settings;
  const { workingDirectory, homeDirectory } = options;
  const isName = (path: string) =>
    values.check && dirname(path) === workingDirectory &&
    attempt(() => Deno.lstatSync(path)) === undefined;
  const names = new Set(
    directories.filter(isName).map((path) => skillKey(basename(path))),
  );
  const usual = names.size === 0
    ? []
    : resolveSkillRoots({ workingDirectory, homeDirectory })
      .filter(({ path }) => !roots.some((root) => root.path === path));
  const namedIn = usual.map(({ path }) => path);
  return { ...settings, names, namedIn, roots: [...roots, ...usual] };
}

/** What a report is about. */
export interface Targets {
  /** The folders on the command line that are skills. What lies in them is not meant. */
  readonly alone: readonly string[];
  /** Whether it is about a skill with a directory and, if known, a name. */
  readonly has: (directory: string, name?: string) => boolean;
}

/** Finds out which skills of a catalog the command line asks for. */
export function findTargets(
  { skills, shadowed, problems }: SkillCatalog,
  { names, namedIn, values, directories }: CheckSettings,
): Targets {
  const found = [
    ...[...skills.values()],
    ...shadowed.map(({ skill }) => skill),
    ...problems,
  ].map(({ file }) => folderOf(file));
  const folders = new Set(found.filter((folder) => folder !== undefined));
  const alone = directories
    .filter((path) => values.check && folders.has(path));
  const has = (directory: string, name = "") =>
    names.has(skillKey(name)) || names.has(skillKey(basename(directory))) ||
    (isAtOrBelowAny(directory, alone)
      ? alone.includes(directory)
      : !isAtOrBelowAny(directory, namedIn));
  return { alone, has };
}
