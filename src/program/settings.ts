/**
 * Turns the command line and the environment into settings. Writes nothing: what the
 * user should know is among the settings.
 *
 * @module
 */

import {
  type CommandLine,
  OPTIONS,
  parseMegabytes,
  UsageError,
} from "./command_line.ts";
import { attempt } from "../files/faults.ts";
import {
  basename,
  currentFolder,
  dirname,
  isAbsolute,
  isWindows,
  join,
  resolveFolder,
} from "../files/paths.ts";
import { DEFAULT_MAX_FILE_SIZE } from "../files/reading.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import { isSkillFolder } from "../skills/skill_reader.ts";
import { quote } from "../text.ts";
import type { SkillToolOptions, Toolset } from "../views/options.ts";
import type {
  BaseFolders,
  SkillRegistryOptions,
  SkillRoot,
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
  /** What was ignored, and how to fix it, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Creates settings from the command line and the environment.
 *
 * @throws {UsageError} If the value of an option is invalid.
 */
export function createSettings(command: CommandLine): Settings {
  const bases = findBaseFolders();
  const size = command.values["max-file-size"] ??
    readEnvironment("MAX_FILE_SIZE_MB");
  const isValidSize = parseMegabytes(size) !== undefined;
  const values = {
    ...resolveFolders(command.values, bases),
    "max-file-size": isValidSize ? size : undefined,
  };
  const directories = findDirectories(command, bases);
  const { homeDirectory: home } = bases;
  const needsHome = directories.length === 0 || values.agents === true;
  const warnings: string[] = [];
  if (needsHome && home === undefined) warnings.push(NO_HOME);
  if (size !== undefined && !isValidSize) {
    warnings.push(describeIgnoredSize(size));
  }
  return {
    values,
    roots: listRoots(values, directories, bases),
    home,
    directories,
    options: { ...bases, ...createOptions(values) },
    warnings,
  };
}

/** Makes the paths in the options absolute. */
function resolveFolders(
  values: CommandLine["values"],
  bases: BaseFolders,
): CommandLine["values"] {
  const resolveAll = (paths: readonly string[] = []) =>
    paths.map((path) => resolveGiven(path, bases));
  return {
    ...values,
    "skill-dir": resolveAll(values["skill-dir"]),
    "trust-links": resolveAll(values["trust-links"]),
    "name-only": resolveAll(values["name-only"]),
    policy: values.policy && resolveGiven(values.policy, bases),
  };
}

/** Lists the folders that replace the default ones. */
function findDirectories(command: CommandLine, bases: BaseFolders): string[] {
  const { values: { check = false } } = command;
  return givenFolders(command, bases).flatMap((folder) => {
    const path = resolveGiven(folder, bases);
    if (check) return findChecked(path, bases);
    refuseOptionName(folder, path);
    // A skill's file stands for its folder.
    return [folderOf(path) ?? path];
  });
}

function listRoots(
  { agents, tools, "skill-dir": recursiveDirectories }: CommandLine["values"],
  directories: readonly string[],
  bases: BaseFolders,
): SkillRoot[] {
  const roots = resolveSkillRoots({
    ...bases,
    directories: directories.length === 0 ? undefined : directories,
    recursiveDirectories,
    agents,
  });
  switch (tools) {
    case "agentskills":
      return roots.map((root) => ({ ...root, recursive: true }));
    case "reference":
      return roots.map((root) => ({ ...root, confinesLinks: true }));
    default:
      return roots;
  }
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
    logLoads: values["log-loads"],
    descriptionLimit: numberOf(values["description-limit"]),
  };
}

/**
 * Returns the folders to check for a path: the skill that a file is in, or the folders
 * in the default roots that have the name, if no folder here has it, or the path itself.
 */
function findChecked(path: string, bases: BaseFolders): string[] {
  const skill = skillAround(path);
  if (skill !== undefined) return [skill];
  const isName = dirname(path) === bases.workingDirectory && !isThere(path);
  const folders = !isName ? [] : resolveSkillRoots(bases)
    .map((root) => join(root.path, basename(path))).filter(isThere);
  return folders.length > 0 ? folders : [path];
}

/** Returns the directory of the skill that a file is in, if it is in one. */
function skillAround(file: string): string | undefined {
  if (attempt(() => Deno.statSync(file).isFile) !== true) return folderOf(file);
  let folder = dirname(file);
  while (!isSkillFolder(folder)) {
    if (folder === dirname(folder)) return undefined;
    folder = dirname(folder);
  }
  return folder;
}

/**
 * Refuses a folder that does not exist and has the name of an option.
 *
 * @throws {UsageError} Always, if it is one.
 */
function refuseOptionName(folder: string, path: string): void {
  if (!Object.hasOwn(OPTIONS, folder) || isThere(path)) return;
  throw new UsageError(
    `Cannot find the folder ${quote(folder)}: did you mean --${folder}?`,
  );
}

/** Whether a path exists. Loading `node:fs` for that would delay the start. */
function isThere(path: string): boolean {
  return attempt(() => Deno.statSync(path)) !== undefined;
}

/** Returns the directory of the skill that a file is the `SKILL.md` of, if it is one. */
export function folderOf(file: string): string | undefined {
  return /^skill\.md$/i.test(basename(file)) ? dirname(file) : undefined;
}

/** Says that the size limit of the environment is ignored. */
function describeIgnoredSize(size: string): string {
  return `Ignoring MAX_FILE_SIZE_MB=${
    quote(size)
  }: expected a number of megabytes greater than 0`;
}

/**
 * Returns the folders on the command line, or else those in the environment.
 * Skilljack searches both, in this order, so its toolset does too. An argument is
 * split at its commas, unless it names a folder.
 */
function givenFolders(
  { positionals, values }: CommandLine,
  bases: BaseFolders,
): string[] {
  const others = readEnvironment("SKILLS_DIR");
  const hasOthers = positionals.length === 0 || values.tools === "skilljack";
  const given = hasOthers && others !== undefined
    ? [...positionals, others]
    : positionals;
  return given.flatMap((argument) =>
    isThere(resolveGiven(argument, bases))
      ? [argument]
      : argument.split(",").map((name) => name.trim()).filter(Boolean)
  );
}

/**
 * Returns the absolute path of a file or folder.
 *
 * @throws {UsageError} If the folder that it is relative to is unknown.
 */
function resolveGiven(path: string, bases: BaseFolders): string {
  try {
    return resolveFolder(path, bases);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Returns the value of an environment variable, if it is not empty and Deno may read it. */
export function readEnvironment(name: string): string | undefined {
  return attempt(() => Deno.env.get(name)) || undefined;
}

/** On Windows, other shells set HOME, and they write paths differently. */
const HOME_VARIABLES = isWindows
  ? ["USERPROFILE", "HOME"]
  : ["HOME", "USERPROFILE"];

const NO_HOME =
  `Cannot determine the home folder: its skills are skipped; set ${
    HOME_VARIABLES[0]
  } to its absolute path, and add --allow-env`;

/** Finds the folders that relative paths, and paths that begin with `~`, start from. */
function findBaseFolders(): BaseFolders {
  const value = HOME_VARIABLES.map(readEnvironment)
    .find((folder) => folder !== undefined);
  const homeDirectory = value !== undefined && isAbsolute(value)
    ? value
    : undefined;
  return { workingDirectory: currentFolder(), homeDirectory };
}
