/**
 * Turns the command line and the environment into settings.
 *
 * @module
 */

import { isAbsolute } from "jsr:@std/path@^1";
import { type CommandLine, UsageError } from "./command_line.ts";
import { parseMegabytes, SERVING_OPTIONS } from "./options.ts";
import { attempt } from "../files/faults.ts";
import { resolveFolder } from "../files/paths.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import { realPathOf } from "../files/paths.ts";
import { DEFAULT_MAX_FILE_SIZE } from "../files/reading.ts";
import { log, quote } from "../text.ts";
import type { SkillToolOptions, Toolset } from "../views/options.ts";
import type {
  SkillCatalog,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootOptions,
} from "../skills/types.ts";

export interface Settings {
  /** The options as given on the command line. */
  readonly values: CommandLine["values"];
  readonly roots: readonly SkillRoot[];
  /** The home folder, if known. */
  readonly home: string | undefined;
  /** The absolute paths of the folders that replace the default ones. */
  readonly directories: readonly string[];
  /** The absolute paths of the folders given with `--skill-dir`. */
  readonly recursiveDirectories: readonly string[];
  /** Those folders that were given by their absolute path, or by one that begins with `~`. */
  readonly spelledOut: readonly string[];
  /** The absolute path of the file given with `--policy`. */
  readonly policyFile: string | undefined;
  readonly options: SkillRegistryOptions;
  readonly tools: SkillToolOptions;
}

/**
 * Creates settings from the command line and the environment.
 *
 * @throws {UsageError} If the value of an option is invalid.
 */
export function createSettings({ values, positionals }: CommandLine): Settings {
  const places = findPlaces();
  const home = places.homeDirectory;
  const tools = createToolOptions(values);
  const given = givenFolders(positionals, { ...places, ...tools });
  if (home === undefined && (given.length === 0 || values.agents)) log(NO_HOME);
  warnOfNoEffect({ values, positionals });
  const absolute = (folders: readonly string[] = []) =>
    folders.flatMap((folder) => resolveGiven(folder, places));
  const directories = absolute(given);
  const recursiveDirectories = absolute(values["skill-dir"]);
  const trustLinks = absolute(values["trust-links"]);
  trustLinks.forEach(warnIfAbsent);
  const roots = resolveSkillRoots({
    ...places,
    directories: given.length > 0 ? directories : undefined,
    recursiveDirectories,
    agents: values.agents,
  });
  return {
    values,
    roots: tools.toolset === "agentskills"
      ? roots.map((root) => ({ ...root, recursive: true }))
      : roots,
    tools,
    home,
    directories,
    recursiveDirectories,
    spelledOut: listSpelledOut(given, { values, places }),
    policyFile: resolvePolicyFile(values.policy, places),
    options: {
      ...places,
      trustLinks,
      nameOnlyFolders: absolute(values["name-only"]),
      maxFileSize: findMaxFileSize(values["max-file-size"]),
      refreshSeconds: toNumber(values.refresh),
      watchFolders: !values["no-watch"],
    },
  };
}

/** Returns the folders that the user named and that do not exist. */
export function missingFolders(
  { roots }: SkillCatalog,
  { directories, recursiveDirectories }: Settings,
): string[] {
  const named = [...directories, ...recursiveDirectories];
  return roots.filter(({ status }) => status === "missing")
    .map(({ root }) => root.path).filter((path) => named.includes(path));
}

/** Lists the folders that were given by absolute paths, or by paths that begin with `~`. */
function listSpelledOut(
  given: readonly string[],
  { values, places }: Pick<CommandLine, "values"> & {
    places: SkillRootOptions;
  },
): string[] {
  return [given, values["skill-dir"] ?? [], values["trust-links"] ?? []].flat()
    .filter((path) => isAbsolute(path) || path.startsWith("~"))
    .map((path) => attempt(() => resolveFolder(path, places)) ?? path);
}

function createToolOptions(values: CommandLine["values"]): SkillToolOptions {
  return {
    toolset: (values.tools ?? "skill") as Toolset,
    shellTimeout: toNumber(values["shell-timeout"]),
    autoInstallDeps: values["auto-install-deps"],
    descriptionLimit: toNumber(values["description-limit"]),
  };
}

function toNumber(option: string | undefined): number | undefined {
  return option === undefined ? undefined : Number(option);
}

/** Returns the size limit in bytes. An invalid environment variable is ignored. */
function findMaxFileSize(option: string | undefined): number {
  const value = option ?? readEnvironment("MAX_FILE_SIZE_MB");
  const size = parseMegabytes(value);
  if (size === undefined && value) {
    log(
      `Ignoring MAX_FILE_SIZE_MB=${
        quote(value)
      }: expected a number of megabytes greater than 0`,
    );
  }
  return size ?? DEFAULT_MAX_FILE_SIZE;
}

/** Logs which options have no effect, and why. */
function warnOfNoEffect({ values, positionals }: CommandLine): void {
  const given = SERVING_OPTIONS.filter((name) => values[name] !== undefined);
  const hasShell = values.tools === "agentskills";
  const [ignored, reason] = values.url !== undefined
    ? [given, "with --url, set this where that server runs"]
    : [
      given.filter((name) => !hasShell && SHELL_OPTIONS.includes(name)),
      "it has an effect only with --tools agentskills",
    ];
  for (const name of ignored) log(`Ignoring --${name}: ${reason}`);
  if (values.url !== undefined && positionals.length > 0) {
    log(`Ignoring DIR: ${reason}`);
  }
}

/** The options that concern only the tool that runs shell commands. */
export const SHELL_OPTIONS: readonly string[] = [
  "shell-timeout",
  "auto-install-deps",
];

/** Logs that a folder of `--trust-links` does not exist. */
function warnIfAbsent(folder: string): void {
  try {
    Deno.statSync(folder);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return;
    log(
      `Cannot find the folder ${
        quote(folder)
      } of --trust-links: check its spelling; until it exists, no link can point into it`,
    );
  }
}

/**
 * Returns the folders on the command line, or else those in the environment.
 * Skilljack searches both, in this order, so its toolset does too. An argument is
 * split at its commas, unless it names a folder.
 */
function givenFolders(
  positionals: readonly string[],
  { toolset, ...places }: SkillRootOptions & Pick<SkillToolOptions, "toolset">,
): string[] {
  const folders = positionals.filter((word) => isFolder(word, places));
  const others = readEnvironment("SKILLS_DIR");
  const hasOthers = others && (folders.length === 0 || toolset === "skilljack");
  return (hasOthers ? [...folders, others] : folders).flatMap((argument) =>
    isGivenFolder(argument, places)
      ? [argument]
      : argument.split(",").map((name) => name.trim()).filter(Boolean)
  );
}

/** Options that people write without hyphens, as other programs have them. */
const COMMANDS = ["list", "check", "help", "version", "print-config"];

/**
 * Whether an argument stands for a folder. The subcommand of another server does
 * not: it is left over in a client's configuration where only the program was
 * replaced.
 *
 * @throws {UsageError} If it is empty, or an option without its hyphens.
 */
function isFolder(argument: string, places: SkillRootOptions): boolean {
  if (argument.trim() === "") throw new UsageError("DIR must not be empty");
  const isCommand = COMMANDS.includes(argument) || argument === "mcp";
  if (!isCommand || isGivenFolder(argument, places)) return true;
  if (argument === "mcp") {
    log(`Ignoring the argument "mcp": there is no folder with that name`);
    return false;
  }
  throw new UsageError(
    `Cannot find the folder ${
      quote(argument)
    }: did you mean --${argument}? (write ./${argument} for a folder that you will create)`,
  );
}

function isGivenFolder(folder: string, places: SkillRootOptions): boolean {
  const info = attempt(() => Deno.statSync(resolveFolder(folder, places)));
  return info?.isDirectory ?? false;
}

/** Returns the absolute path of a folder, if it can be determined. */
function resolveGiven(folder: string, places: SkillRootOptions): string[] {
  try {
    return [resolveFolder(folder, places)];
  } catch (error) {
    log((error as Error).message);
    return [];
  }
}

/** Returns the absolute path of the policy file, if there is one. */
function resolvePolicyFile(
  option: string | undefined,
  places: SkillRootOptions,
): string | undefined {
  try {
    return option && resolveFolder(option, places);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/**
 * Returns the value of an environment variable, if it is set and Deno has
 * permission to read it.
 */
function readEnvironment(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
    log(
      `Cannot read the environment variable ${name}: Deno has no permission; add --allow-env`,
    );
  }
}

/** On Windows, other shells set HOME, and they write paths differently. */
const HOME_VARIABLES = Deno.build.os === "windows"
  ? ["USERPROFILE", "HOME"]
  : ["HOME", "USERPROFILE"];

const NO_HOME =
  `Cannot determine the home folder: its skills are skipped; set ${
    HOME_VARIABLES[0]
  } to its absolute path`;

/** Finds the home folder and the working directory. */
function findPlaces() {
  const value = HOME_VARIABLES.map(readEnvironment).find((folder) => folder);
  const homeDirectory = value && isAbsolute(value) ? value : undefined;
  return {
    workingDirectory: findWorkingDirectory(homeDirectory),
    homeDirectory,
  };
}

function findWorkingDirectory(home: string | undefined): string | undefined {
  try {
    const folder = Deno.cwd();
    // Use the same path for both, so that they compare as equal.
    const isHome = home !== undefined &&
      realPathOf(folder) === realPathOf(home);
    return isHome ? home : folder;
  } catch {
    log(
      "Cannot determine the working directory: project skills are skipped; start the server in an existing folder",
    );
  }
}
