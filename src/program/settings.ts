/**
 * Turns the command line and the environment into settings, with warnings about what
 * was ignored.
 */

import { attempt } from "../attempt.ts";
import {
  basename,
  currentDir,
  dirname,
  isAbsolute,
  isThere,
  isWindows,
  join,
  realPathOf,
  resolvePath,
  withDirsAbove,
} from "../fs/paths.ts";
import { DEFAULT_MAX_FILE_SIZE } from "../fs/read.ts";
import { Project } from "../skills/project.ts";
import {
  isNamedSkills,
  resolveSkillRoots,
  withoutDuplicates,
} from "../skills/roots.ts";
import { isSkillDir } from "../skills/skill_file.ts";
import type {
  BaseDirs,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootOptions,
} from "../skills/types.ts";
import { log, MAX_LENGTHS, quote } from "../text.ts";
import type { ToolOptions, Toolset } from "../mcp/options.ts";
import {
  type CommandLine,
  OPTIONS,
  parseMebibytes,
  UsageError,
} from "./command_line.ts";

export interface Settings {
  /** The options, with absolute paths, and the size limit of the environment. */
  readonly values: CommandLine["values"];
  readonly roots: readonly SkillRoot[];
  readonly home: string | undefined;
  /** The absolute paths of the directories that replace the default ones. */
  readonly dirs: readonly string[];
  /** The same options as the registry and the tools take them. */
  readonly options: SkillRegistryOptions & ToolOptions;
  /** The settings that are ignored, and how to fix them, in a line each. */
  readonly warnings: readonly string[];
}

/** @throws {UsageError} If the value of an option is invalid. */
export function createSettings(command: CommandLine): Settings {
  const warnings: string[] = [];
  const bases = readBaseDirs(warnings);
  const size = command.values["max-file-size"] ??
    readEnvironment("MAX_FILE_SIZE_MB");
  const isValidSize = parseMebibytes(size) !== undefined;
  const values = {
    ...resolveDirs(command.values, bases),
    "max-file-size": isValidSize ? size : undefined,
  };
  const dirs = listReplacingDirs(command, bases);
  const { homeDirectory: home } = bases;
  const needsHome = dirs.length === 0 || values.agents === true;
  if (needsHome && home === undefined) warnings.push(NO_HOME);
  if (size !== undefined && !isValidSize) {
    const { expected } = OPTIONS["max-file-size"];
    warnings.push(formatIgnored("MAX_FILE_SIZE_MB", size, expected));
  }
  const derived = deriveSettings(values, dirs, bases);
  return { values, home, dirs, warnings, ...derived };
}

export function logWarnings({ warnings }: Settings): void {
  for (const warning of warnings) log(warning);
}

/** Returns settings with other options, whose paths may be relative, and the same directories. */
export function withOptions(
  settings: Settings,
  options: CommandLine["values"],
): Settings {
  const { workingDirectory, homeDirectory, homeDirs } = settings.options;
  const bases = { workingDirectory, homeDirectory, homeDirs };
  const values = resolveDirs(options, bases);
  const derived = deriveSettings(values, settings.dirs, bases);
  return { ...settings, values, ...derived };
}

function deriveSettings(
  values: Settings["values"],
  dirs: readonly string[],
  bases: BaseDirs,
): Pick<Settings, "roots" | "options"> {
  return {
    roots: listRoots(values, dirs, bases),
    options: { ...bases, ...createOptions(values) },
  };
}

function resolveDirs(
  values: CommandLine["values"],
  bases: BaseDirs,
): CommandLine["values"] {
  const resolveAll = (paths: readonly string[] = []) =>
    paths.map((path) => resolveGiven(path, bases));
  return {
    ...values,
    "skill-dir": resolveAll(values["skill-dir"]),
    "trust-links": resolveAll(values["trust-links"]),
    policy: values.policy && resolveGiven(values.policy, bases),
  };
}

function listReplacingDirs(
  command: CommandLine,
  bases: BaseDirs,
): string[] {
  const { check = false, agents, "skill-dir": recursiveDirs } = command.values;
  const searched = { ...bases, agents, recursiveDirs };
  return givenDirs(command, bases).flatMap((dir) => {
    const path = resolveGiven(dir, bases);
    if (check) return listCheckedDirs(path, searched);
    refuseOptionName(dir, path);
    // A skill's file stands for its directory.
    return [dirOf(path) ?? path];
  });
}

function listRoots(
  { agents, check, tools, recursive, "skill-dir": recursiveDirs }:
    CommandLine["values"],
  dirs: readonly string[],
  bases: BaseDirs,
): SkillRoot[] {
  const isNamed = dirs.length > 0;
  const roots = resolveSkillRoots({
    ...bases,
    dirs: isNamed ? dirs : undefined,
    recursiveDirs,
    // `--check` looks only at the directories that are named.
    agents: agents && !(check && isNamed),
  });
  const isDeep = recursive || tools === "agentskills";
  return withoutDuplicates(roots.map((root) => ({
    ...root,
    recursive: isDeep || root.recursive === true,
    confinesLinks: tools === "reference",
  })));
}

function createOptions(
  values: Settings["values"],
): SkillRegistryOptions & ToolOptions {
  const numberOf = (option: string | undefined) =>
    option === undefined ? undefined : Number(option);
  return {
    policy: values.policy,
    trustLinks: values["trust-links"],
    maxFileSize: parseMebibytes(values["max-file-size"]) ??
      DEFAULT_MAX_FILE_SIZE,
    refreshSeconds: numberOf(values.refresh),
    watchDirs: !values["no-watch"],
    toolset: (values.tools ?? "skill") as Toolset,
    profile: values.profile,
    allowShell: !values.remote,
    isRemote: values.remote,
    shellTimeout: numberOf(values["shell-timeout"]),
    autoInstallDeps: values["auto-install-deps"],
    logLoads: values["log-loads"],
    descriptionLimit: numberOf(values["description-limit"]),
  };
}

/**
 * Lists the directories to check for a path: the skill that a file is in, or the path
 * itself. If nothing is there, it may be the name of skills in the searched
 * directories.
 */
function listCheckedDirs(
  path: string,
  searched: SkillRootOptions,
): string[] {
  const skill = skillAround(path);
  if (skill !== undefined) return [skill];
  const isName = dirname(path) === searched.workingDirectory && !isThere(path);
  if (!isName) return [path];
  const named = resolveSkillRoots(searched)
    .map((root) => join(root.path, basename(path))).filter(isThere);
  return named.length > 0 ? named : [path];
}

/**
 * Returns the directory of the skill that a file is in, or the one among skills that
 * should be a skill or a group, if it is in one.
 */
function skillAround(file: string): string | undefined {
  if (attempt(() => Deno.statSync(file).isFile) !== true) return dirOf(file);
  const dirs = withDirsAbove(dirname(file));
  return dirs.find(isSkillDir) ??
    dirs.find((dir) => isNamedSkills(dirname(dir)));
}

/** @throws {UsageError} If a directory that is missing has the name of an option. */
function refuseOptionName(dir: string, path: string): void {
  if (!Object.hasOwn(OPTIONS, dir) || isThere(path)) return;
  throw new UsageError(
    `Cannot find the folder ${quote(dir)}: did you mean --${dir}?`,
  );
}

/** Returns the directory of a `SKILL.md`, and `undefined` for any other file. */
export function dirOf(file: string): string | undefined {
  return /^skill\.md$/i.test(basename(file)) ? dirname(file) : undefined;
}

function formatIgnored(
  variable: string,
  value: string,
  expected: string,
): string {
  return `Ignoring ${variable}=${quote(value)}: expected ${expected}`;
}

/**
 * Returns the directories on the command line, or else those in the environment.
 * Skilljack searches both, in this order, so its toolset does too. An argument is
 * split at its commas, unless it names a directory.
 */
function givenDirs(
  { positionals, values }: CommandLine,
  bases: BaseDirs,
): string[] {
  const variable = readEnvironment("SKILLS_DIR");
  const usesVariable = positionals.length === 0 || values.tools === "skilljack";
  const given = usesVariable && variable !== undefined
    ? [...positionals, variable]
    : positionals;
  return given.flatMap((argument) =>
    isThere(resolveGiven(argument, bases))
      ? [argument]
      : argument.split(",").map((name) => name.trim()).filter(Boolean)
  );
}

/** @throws {UsageError} If the directory that the path is relative to is unknown. */
function resolveGiven(path: string, bases: BaseDirs): string {
  try {
    return resolvePath(path, bases);
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

/** The variables with which clients move their directories in the home directory. */
const DIR_VARIABLES = { ".claude": "CLAUDE_CONFIG_DIR" };

const HOME_DIR = "an absolute path outside of the project";

/**
 * Reads which directories replace those in the home directory. One in the project is
 * ignored, because the project may have set the variable.
 */
function readHomeDirs(
  bases: BaseDirs,
  warnings: string[],
): Record<string, string> {
  const project = new Project(bases);
  const dirs: Record<string, string> = {};
  for (const [name, variable] of Object.entries(DIR_VARIABLES)) {
    const dir = readEnvironment(variable);
    if (dir === undefined) continue;
    const isUsable = isPossibleDir(dir) &&
      project.scopeOf(realPathOf(dir)) === "global";
    if (isUsable) dirs[name] = dir;
    else warnings.push(formatIgnored(variable, dir, HOME_DIR));
  }
  return dirs;
}

function isPossibleDir(path: string): boolean {
  return path.length <= MAX_LENGTHS.path && isAbsolute(path);
}

function readBaseDirs(warnings: string[]): BaseDirs {
  const value = HOME_VARIABLES.map(readEnvironment)
    .find((dir) => dir !== undefined);
  const homeDirectory = value !== undefined && isPossibleDir(value)
    ? value
    : undefined;
  const bases = { workingDirectory: currentDir(), homeDirectory };
  return { ...bases, homeDirs: readHomeDirs(bases, warnings) };
}
