/**
 * Turns the command line and the environment into settings, with warnings about ignored
 * environment variables.
 */

import { attempt } from "../attempt.ts";
import type { Advice } from "../diagnostics.ts";
import {
  basename,
  dirname,
  findWorkingDirectory,
  isAbsolute,
  isThere,
  isWindows,
  join,
  realPathOf,
  resolvePath,
  withDirsAbove,
} from "../fs/paths.ts";
import { listDirEntries } from "../fs/read.ts";
import { log } from "../log.ts";
import { Project } from "../skills/project.ts";
import {
  isNamedSkills,
  mayBeGroup,
  resolveSkillRoots,
  withoutDuplicates,
} from "../skills/roots.ts";
import { dirOfSkillMd, isSkillDir } from "../skills/skill_file.ts";
import type {
  BaseDirs,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootOptions,
} from "../skills/types.ts";
import { MAX_LENGTHS, quote } from "../text.ts";
import {
  DEFAULT_TOOLSET,
  type ToolOptions,
  type Toolset,
} from "../views/options.ts";
import { type CommandLine, OPTIONS, UsageError } from "./command_line.ts";

export interface Settings {
  /** The options, with absolute paths. */
  readonly values: CommandLine["values"];
  readonly roots: readonly SkillRoot[];
  /** The absolute paths of the directories that replace the default ones. */
  readonly dirs: readonly string[];
  /** The names and words that choose skills of `--list`. */
  readonly words: readonly string[];
  /** The same options, with what the environment says, as the registry and the tools take them. */
  readonly options: SkillRegistryOptions & BaseDirs & ToolOptions;
  /** The rules whose problems `--ignore` leaves out. */
  readonly ignored: readonly IgnoredRule[];
  /** A line for each ignored setting, with the fix. */
  readonly warnings: readonly string[];
}

interface IgnoredRule {
  readonly rule: string;
  /** The directory in which it is ignored. Default: everywhere. */
  readonly dir: string | undefined;
}

/** What to add to the fix of each rule: the options and settings that help. */
const ADVICE: Advice = {
  "link-outside":
    ", or, if you trust the folder DIR that it points into, use --trust-links DIR",
  "too-large":
    ', or raise the limit for files (MAX_FILE_SIZE_MB, or "Largest file" in the settings)',
  "no-skills": "; --list shows which ones are searched",
};

/** @throws {UsageError} If the value of an option is invalid. */
export function createSettings(command: CommandLine): Settings {
  const warnings: string[] = [];
  const options = {
    ...readBaseDirs(warnings),
    maxFileSize: readMaxFileSize(warnings),
  };
  const values = resolveDirs(command.values, options);
  const words = command.positionals.filter((it) => isWord(it, command.values));
  if (values.as !== undefined) refuseWords(words);
  const positionals = command.positionals.filter((it) => !words.includes(it));
  const dirs = listReplacingDirs({ ...command, positionals }, options);
  const needsHome = dirs.length === 0 || values.agents === true;
  if (needsHome && options.homeDirectory === undefined) {
    warnings.push(NO_HOME);
  }
  const ignored = listIgnored(values, options);
  return withOptions({ options, dirs, words, ignored, warnings }, values);
}

/** Whether an argument of `--list` is no directory, but chooses skills. */
function isWord(
  argument: string,
  { list = false, check }: CommandLine["values"],
): boolean {
  return list && !check && !/[~\\/,]/.test(argument) && !isThere(argument);
}

/** @throws {UsageError} If there are words, because the model sees all skills at once. */
function refuseWords([word]: readonly string[]): void {
  if (word === undefined) return;
  throw new UsageError(
    `Cannot find the folder ${
      quote(word)
    }, and --as shows all skills at once: remove ${quote(word)} or --as`,
  );
}

export function logWarnings({ warnings }: Settings): void {
  for (const warning of warnings) log(warning);
}

/** Returns settings with the same directories and other options, whose paths are absolute. */
export function withOptions(
  settings: Omit<Settings, "values" | "roots" | "options"> & {
    readonly options: SkillRegistryOptions & BaseDirs;
  },
  values: Settings["values"],
): Settings {
  const { options, dirs } = settings;
  return {
    ...settings,
    values,
    roots: listRoots(values, dirs, options),
    options: { ...options, ...createOptions(values), advice: ADVICE },
  };
}

function createOptions(
  values: CommandLine["values"],
): Omit<SkillRegistryOptions & ToolOptions, keyof BaseDirs | "maxFileSize"> {
  const { refresh } = values;
  return {
    policy: values.policy,
    trustedDirs: values["trust-links"],
    refreshSeconds: refresh === undefined ? undefined : Number(refresh),
    watchDirs: !values["no-watch"],
    toolset: (values.tools ?? DEFAULT_TOOLSET) as Toolset,
    profile: values.profile,
    allowShell: !values.remote,
    isRemote: values.remote,
    autoInstallDeps: values["auto-install-deps"],
    logLoads: values["log-loads"],
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
    // The path of a SKILL.md stands for its directory.
    return [dirOfSkillMd(path) ?? path];
  });
}

function listRoots(
  { agents, check, tools, "skill-dir": recursiveDirs }: CommandLine["values"],
  dirs: readonly string[],
  bases: BaseDirs,
): SkillRoot[] {
  const isNamed = dirs.length > 0;
  const roots = resolveSkillRoots({
    ...bases,
    dirs: isNamed ? dirs : undefined,
    recursiveDirs,
    // `--check DIR` checks nothing but DIR.
    agents: agents && !(check && isNamed),
  });
  // Users of chat applications unpack archives in these, at any depth.
  const unpackedIn = tools === "skilljack" ? dirs : [];
  return withoutDuplicates(roots.map((root) => ({
    ...root,
    recursive: tools === "agentskills" || root.recursive === true ||
      unpackedIn.includes(root.path),
    omitsPutAway: unpackedIn.includes(root.path),
    searchesSkills: tools === "agentskills",
    confinesSymlinks: tools === "reference",
  })));
}

/**
 * Lists the directories to check for a path: the skill around a file, or the path
 * itself. A missing path may be the name of a skill in the searched directories.
 */
function listCheckedDirs(
  given: string,
  searched: SkillRootOptions,
): string[] {
  const path = skillAround(given) ?? given;
  const isName = dirname(path) === searched.workingDirectory && !isThere(path);
  if (!isName) return [path];
  const named = listDirsOfSkills(searched)
    .map((dir) => join(dir, basename(path))).filter(isThere);
  return named.length > 0 ? named : [path];
}

/** Lists the roots and the groups in them. */
export function listDirsOfSkills(searched: SkillRootOptions): string[] {
  return resolveSkillRoots(searched).flatMap(({ path: root }) => {
    const mayHoldSkills = ({ name, isFile }: Deno.DirEntry) =>
      !isFile && mayBeGroup(name);
    const dirs = attempt(() => listDirEntries(root, mayHoldSkills)) ?? [];
    const paths = dirs.map(({ name }) => join(root, name));
    return [root, ...paths.filter((dir) => !isSkillDir(dir))];
  });
}

/**
 * Returns the directory of the skill around a file, or else the directory around it
 * that should be a skill or a group, because it is in `skills`.
 */
function skillAround(file: string): string | undefined {
  if (attempt(() => Deno.statSync(file).isFile) !== true) {
    return dirOfSkillMd(file);
  }
  const dirs = withDirsAbove(dirname(file));
  return dirs.find(isSkillDir) ??
    dirs.find((dir) => isNamedSkills(dirname(dir)));
}

/** @throws {UsageError} If a missing directory has the name of an option. */
function refuseOptionName(dir: string, path: string): void {
  if (!Object.hasOwn(OPTIONS, dir) || isThere(path)) return;
  throw new UsageError(
    `Cannot find the folder ${quote(dir)}: did you mean --${dir}?`,
  );
}

/**
 * Returns the directories on the command line, or else the ones in the environment.
 * Skilljack searches both, in this order, so its toolset does too. Commas separate
 * directories, unless the whole argument is the path of one.
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

/** Reads the values of `--ignore`: `RULE` or `RULE:DIR`, separated by commas. */
function listIgnored(
  { ignore = [] }: CommandLine["values"],
  bases: BaseDirs,
): IgnoredRule[] {
  return ignore.flatMap((value) => value.split(",")).map((value) => {
    const [, rule = "", dir] = /^([^:]*)(?::(.*))?$/s.exec(value) ?? [];
    const path = dir === undefined ? dir : resolveGiven(dir.trim(), bases);
    return { rule: rule.trim(), dir: path };
  });
}

/** @throws {UsageError} If the path is relative to an unknown directory. */
function resolveGiven(path: string, bases: BaseDirs): string {
  try {
    return resolvePath(path, bases);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

// ---- The environment ---------------------------------------------------------------

/** Returns the value of an environment variable, unless it is empty or Deno may not read it. */
export function readEnvironment(name: string): string | undefined {
  return attempt(() => Deno.env.get(name)) || undefined;
}

/** On Windows, Unix shells set HOME to a path in another form. */
const HOME_VARIABLES = isWindows
  ? ["USERPROFILE", "HOME"]
  : ["HOME", "USERPROFILE"];

const NO_HOME =
  `Cannot determine the home folder: its skills are skipped; set ${
    HOME_VARIABLES[0]
  } to its absolute path, and add --allow-env`;

function formatIgnored(
  variable: string,
  value: string,
  expected: string,
): string {
  return `Ignoring ${variable}=${quote(value)}: expected ${expected}`;
}

/** Reads the size limit for files, in bytes. */
function readMaxFileSize(warnings: string[]): number | undefined {
  const value = readEnvironment("MAX_FILE_SIZE_MB");
  if (value === undefined) return undefined;
  const size = Math.round(Number(value) * 1024 * 1024);
  if (size >= 1) return size;
  const expected = "a number of MiB greater than 0";
  warnings.push(formatIgnored("MAX_FILE_SIZE_MB", value, expected));
  return undefined;
}

/**
 * Reads the path of the directory that replaces `~/.claude`. Ignores a directory in the
 * project, because the project may have set the variable.
 */
function readClaudeDirectory(
  bases: BaseDirs,
  warnings: string[],
): string | undefined {
  const dir = readEnvironment("CLAUDE_CONFIG_DIR");
  if (dir === undefined) return undefined;
  const isUsable = isPossibleDir(dir) &&
    new Project(bases).scopeOf(realPathOf(dir)) === "global";
  if (isUsable) return dir;
  const expected = "an absolute path outside the project";
  warnings.push(formatIgnored("CLAUDE_CONFIG_DIR", dir, expected));
  return undefined;
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
  const bases = { workingDirectory: findWorkingDirectory(), homeDirectory };
  const claudeDirectory = readClaudeDirectory(bases, warnings);
  return { ...bases, claudeDirectory };
}
