/**
 * Turns the command line and the environment into settings.
 *
 * @module
 */

import { basename, dirname, isAbsolute, join } from "jsr:@std/path@^1";
import {
  type CommandLine,
  parseMegabytes,
  UsageError,
} from "./command_line.ts";
import { attempt } from "../files/faults.ts";
import { currentFolder, resolveFolder } from "../files/paths.ts";
import { DEFAULT_MAX_FILE_SIZE } from "../files/reading.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import { log, quote } from "../text.ts";
import type { SkillToolOptions, Toolset } from "../views/reading.ts";
import type {
  Problem,
  SkillCatalog,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootOptions,
} from "../skills/types.ts";

export interface Settings {
  /** The options, with absolute paths, and the size limit of the environment. */
  readonly values: CommandLine["values"];
  readonly roots: readonly SkillRoot[];
  /** The home folder, if known. */
  readonly home: string | undefined;
  /** The absolute paths of the folders that replace the default ones. */
  readonly directories: readonly string[];
  /** What these options mean for the registry and the tools. */
  readonly options: SkillRegistryOptions & SkillToolOptions;
}

/**
 * Creates settings from the command line and the environment.
 *
 * @throws {UsageError} If the value of an option is invalid.
 */
export function createSettings(
  { values: written, positionals }: CommandLine,
): Settings {
  const places = findPlaces();
  const { homeDirectory: home } = places;
  const absolute = (paths: readonly string[] = []) =>
    paths.map((path) => resolveGiven(path, places));
  const values = {
    ...written,
    "skill-dir": absolute(written["skill-dir"]),
    "trust-links": absolute(written["trust-links"]),
    "name-only": absolute(written["name-only"]),
    policy: written.policy && resolveGiven(written.policy, places),
    "max-file-size": written["max-file-size"] ?? sizeInEnvironment(),
  };
  const given = givenFolders(positionals, { ...places, tools: values.tools });
  const isUsual = given.length === 0;
  if (home === undefined && (isUsual || values.agents)) log(NO_HOME);
  // A skill's file stands for its folder.
  const directories = absolute(given).map((path) => folderOf(path) ?? path)
    .flatMap((path) => values.check ? findNamed(path, places) : [path]);
  const options = { ...places, ...createOptions(values) };
  const roots = resolveSkillRoots({
    ...places,
    directories: isUsual ? undefined : directories,
    recursiveDirectories: values["skill-dir"],
    agents: values.agents,
  }).map((root) =>
    options.toolset === "agentskills" ? { ...root, recursive: true } : root
  );
  return { values, roots, home, directories, options };
}

function createOptions(
  values: Settings["values"],
): SkillRegistryOptions & SkillToolOptions {
  const numberOf = (option: string | undefined) =>
    option === undefined ? undefined : Number(option);
  return {
    policy: values.policy,
    trustLinks: values["trust-links"],
    nameOnlyFolders: values["name-only"],
    maxFileSize: parseMegabytes(values["max-file-size"]) ??
      DEFAULT_MAX_FILE_SIZE,
    refreshSeconds: numberOf(values.refresh),
    watchFolders: !values["no-watch"],
    toolset: (values.tools ?? "skill") as Toolset,
    shellTimeout: numberOf(values["shell-timeout"]),
    autoInstallDeps: values["auto-install-deps"],
    descriptionLimit: numberOf(values["description-limit"]),
  };
}

/**
 * Returns the folders in the default roots that have a name, if no folder in the
 * working directory has it. Any other path stays.
 */
function findNamed(path: string, places: SkillRootOptions): string[] {
  const isName = dirname(path) === places.workingDirectory && !isThere(path);
  const folders = !isName ? [] : resolveSkillRoots(places)
    .map((root) => join(root.path, basename(path))).filter(isThere);
  return folders.length > 0 ? folders : [path];
}

/** Whether a path exists. Loading `node:fs` for that would delay the start. */
function isThere(path: string): boolean {
  return attempt(() => Deno.statSync(path)) !== undefined;
}

/** Returns the directory of the skill that a file is the `SKILL.md` of, if it is one. */
export function folderOf(file: string): string | undefined {
  return /^skill\.md$/i.test(basename(file)) ? dirname(file) : undefined;
}

/** Reports the folders that the user named and that do not exist. */
export function missingFolders(
  { roots }: SkillCatalog,
  { directories, values }: Settings,
): Problem[] {
  const named = [...directories, ...values["skill-dir"] ?? []];
  return roots.filter(({ status }) => status === "missing")
    .filter(({ root }) => named.includes(root.path))
    .map(({ root }) => ({
      rule: "folder-missing",
      file: root.path,
      reason: "there is no such folder",
      hint: "check its spelling",
    }));
}

/** Returns the size limit in the environment, in megabytes. An invalid one is ignored. */
function sizeInEnvironment(): string | undefined {
  const value = readEnvironment("MAX_FILE_SIZE_MB");
  if (!value || parseMegabytes(value)) return value || undefined;
  log(
    `Ignoring MAX_FILE_SIZE_MB=${
      quote(value)
    }: expected a number of megabytes greater than 0`,
  );
}

/**
 * Returns the folders on the command line, or else those in the environment.
 * Skilljack searches both, in this order, so its toolset does too. An argument is
 * split at its commas, unless it names a folder.
 */
function givenFolders(
  positionals: readonly string[],
  { tools, ...places }: SkillRootOptions & Pick<Settings["values"], "tools">,
): string[] {
  const others = readEnvironment("SKILLS_DIR");
  const hasOthers = others &&
    (positionals.length === 0 || tools === "skilljack");
  return (hasOthers ? [...positionals, others] : positionals)
    .flatMap((argument) =>
      isThere(resolveGiven(argument, places))
        ? [argument]
        : argument.split(",").map((name) => name.trim()).filter(Boolean)
    );
}

/**
 * Returns the absolute path of a file or folder.
 *
 * @throws {UsageError} If the folder that it is relative to is unknown.
 */
function resolveGiven(path: string, places: SkillRootOptions): string {
  try {
    return resolveFolder(path, places);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Returns the value of an environment variable, if it is set and Deno may read it. */
function readEnvironment(name: string): string | undefined {
  return attempt(() => Deno.env.get(name));
}

/** On Windows, other shells set HOME, and they write paths differently. */
const HOME_VARIABLES = Deno.build.os === "windows"
  ? ["USERPROFILE", "HOME"]
  : ["HOME", "USERPROFILE"];

const NO_HOME =
  `Cannot determine the home folder: its skills are skipped; set ${
    HOME_VARIABLES[0]
  } to its absolute path, and add --allow-env`;

/** Finds the home folder and the working directory. */
function findPlaces() {
  const value = HOME_VARIABLES.map(readEnvironment).find((folder) => folder);
  const homeDirectory = value && isAbsolute(value) ? value : undefined;
  return { workingDirectory: currentFolder(), homeDirectory };
}
