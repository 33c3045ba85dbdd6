// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * From the command line and the environment to settings.
 *
 * @module
 */

import { isAbsolute } from "jsr:@std/path@^1";
import { parseArgs } from "node:util";
import {
  DEFAULT_REFRESH_SECONDS,
  resolveSkillRoots,
  type SkillRegistryOptions,
} from "../mod.ts";
import { resolveFolder } from "./paths.ts";
import { DEFAULT_MAX_FILE_SIZE } from "./skill_files.ts";
import { log, oneLine, quote } from "./text.ts";
import {
  type SkillToolOptions,
  type Toolset,
  TOOLSET_NAMES,
} from "./toolsets.ts";
import type { SkillCatalog, SkillRoot, SkillRootOptions } from "./types.ts";

/** How the program is called. */
export const USAGE_LINE = "Usage: skill-server [options] [DIR...]";

/** Returns what `--help` prints. */
export function helpText(clients: readonly string[]): string {
  return `Finds Agent Skills and serves them to an MCP client over stdin and stdout.

${USAGE_LINE}

  DIR                  search DIR, DIR/.claude/skills and DIR/skills, in place of
                       ./.agent/skills, ~/.agent/skills, ./.claude/skills and
                       ~/.claude/skills; several may be given, also with commas

Options:
  --skill-dir DIR      search DIR as well, and the folders in it; repeatable
  --agents             search ./.agents/skills and ~/.agents/skills as well
  --tools SET          which tools there are: ${TOOLSET_NAMES.join(", ")};
                       default skill
  --trust-links DIR    let links lead into DIR; repeatable
  --max-file-size MB   do not read larger files; default 1
  --description-limit CHARS
                       shorten the list of skills in a tool's description, so
                       that the whole has at most CHARS characters, from 300
  --refresh SECONDS    look for changes this often, 0 for never; default ${DEFAULT_REFRESH_SECONDS}
  --no-watch           do not watch folders, rely on --refresh
  --shell-timeout SECONDS
                       stop a shell command (of agentskills) after; default 60
  --auto-install-deps  install what Python files import before a shell command
                       that contains "py", where pipreqs is there
  --list               show what is found and where, and end
  --check              the same, check each skill as well, and end with 1 if
                       there is an error
  --json               with --list or --check: show it as JSON
  --print-config CLIENT
                       show what to write into the configuration of an MCP
                       client: ${clients.slice(0, 5).join(", ")},
                       ${clients.slice(5).join(", ")}
  --help               show this
  --version            show the version

Environment:
  SKILLS_DIR           stands for DIR where none is given; commas between several
  MAX_FILE_SIZE_MB     stands for --max-file-size where that is not given
`;
}

export const OPTIONS = {
  "tools": { type: "string" },
  "skill-dir": { type: "string", multiple: true },
  "agents": { type: "boolean" },
  "trust-links": { type: "string", multiple: true },
  "max-file-size": { type: "string" },
  "description-limit": { type: "string" },
  "refresh": { type: "string" },
  "no-watch": { type: "boolean" },
  "shell-timeout": { type: "string" },
  "auto-install-deps": { type: "boolean" },
  "list": { type: "boolean" },
  "check": { type: "boolean" },
  "json": { type: "boolean" },
  "print-config": { type: "string" },
  "help": { type: "boolean", short: "h" },
  "version": { type: "boolean", short: "V" },
} as const;

/** Least room that a tool's description needs to say what it does, in characters. */
const MIN_DESCRIPTION_LIMIT = 300;

/** Longest time a timer can wait, in seconds. */
const MAX_SECONDS = 2_000_000;

/** The command line is wrong. */
export class UsageError extends Error {}

/** Where skills are looked for, and how. */
export interface Settings {
  /** The options as they are on the command line. */
  readonly values: CommandLine["values"];
  readonly roots: readonly SkillRoot[];
  /** The home folder, if it is known. */
  readonly home: string | undefined;
  /** The folders that the user named in place of the usual ones, and beside them: they should be there. */
  readonly directories: readonly string[];
  readonly recursiveDirectories: readonly string[];
  readonly options: SkillRegistryOptions;
  readonly tools: SkillToolOptions;
}

export type CommandLine = ReturnType<typeof parseCommandLine>;

export function parseCommandLine(args: readonly string[]) {
  try {
    const command = parseArgs({
      args: withoutSeparator(args),
      options: OPTIONS,
      allowPositionals: true,
    });
    const { json, list, check } = command.values;
    if (!json || list || check) return command;
  } catch (error) {
    // What follows is about names that begin with a hyphen.
    const [message] = (error as Error).message.split(". ", 1);
    throw new UsageError(oneLine(message!));
  }
  throw new UsageError("--json goes with --list or --check");
}

/** Leaves out a "--" before an option: other programs want one there, to pass options on. */
function withoutSeparator([first, ...rest]: readonly string[]): string[] {
  if (first === undefined) return [];
  const [, name] = /^--([\w-]+)/.exec(rest[0] ?? "") ?? [];
  const isPassedOn = first === "--" && name !== undefined &&
    Object.hasOwn(OPTIONS, name);
  return isPassedOn ? rest : [first, ...rest];
}

/** Makes settings of the command line and the environment. */
export function createSettings({ values, positionals }: CommandLine): Settings {
  const homeFolder = homeDirectory();
  const places = {
    workingDirectory: workingDirectory(homeFolder),
    homeDirectory: homeFolder,
  };
  const tools = toolOptions(values);
  const given = givenFolders(positionals, { ...places, ...tools })
    .flatMap((folder) => foldersIn(folder, places));
  const absolute = (folders: readonly string[] = []) =>
    folders.flatMap((folder) => absoluteFolder(folder, places));
  const directories = absolute(given);
  const recursiveDirectories = absolute(values["skill-dir"]);
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
    home: homeFolder,
    directories,
    recursiveDirectories,
    options: {
      trustLinks: absolute(values["trust-links"]),
      linkTargets: linkTargets(places),
      maxFileSize: maxFileSize(values["max-file-size"]),
      refreshSeconds: seconds("--refresh", values.refresh),
      watchFolders: !values["no-watch"],
    },
  };
}

/**
 * Returns the folders on the command line, else those in the environment.
 * Skilljack searches both, in this order, so its toolset does too.
 */
function givenFolders(
  positionals: readonly string[],
  { toolset, ...places }: SkillRootOptions & Pick<SkillToolOptions, "toolset">,
): readonly string[] {
  if (positionals.some((folder) => folder.trim() === "")) {
    throw new UsageError("DIR is empty");
  }
  const folders = positionals.filter((folder) => !isLeftOver(folder, places));
  const others = readEnvironment("SKILLS_DIR") ?? "";
  const hasOthers = others.trim() !== "" &&
    (folders.length === 0 || toolset === "skilljack");
  return hasOthers ? [...folders, others] : folders;
}

/**
 * Whether an argument is the subcommand that starts many other servers, left
 * behind where only the program was replaced in a client's configuration.
 */
function isLeftOver(argument: string, places: SkillRootOptions): boolean {
  if (argument !== "mcp" || isFolder(argument, places)) return false;
  log(`Ignoring the argument "mcp": there is no folder of that name`);
  return true;
}

/** Returns an environment variable, if it is set and Deno may read it. */
export function readEnvironment(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
    log(
      `Cannot read the environment variable ${name}: Deno was not allowed to; add --allow-env`,
    );
  }
}

function workingDirectory(home: string | undefined): string | undefined {
  try {
    const folder = Deno.cwd();
    // By one name, so that they are seen to be the same.
    return home !== undefined && isSameFolder(folder, home) ? home : folder;
  } catch {
    log(
      "Cannot tell the working directory: the project's skills are left out; start in a folder that is there",
    );
  }
}

function isSameFolder(a: string, b: string): boolean {
  try {
    return Deno.realPathSync(a) === Deno.realPathSync(b);
  } catch {
    return false;
  }
}

function homeDirectory(): string | undefined {
  // On Windows a HOME is that of another shell, which writes paths its own way.
  const names = Deno.build.os === "windows"
    ? ["USERPROFILE", "HOME"]
    : ["HOME", "USERPROFILE"];
  const home = names.map(readEnvironment).find((folder) => folder);
  if (home && isAbsolute(home)) return home;
  log(
    `Cannot tell the home folder: the skills in it are left out; set ${
      names[0]
    } to its whole path`,
  );
}

/** Where links in a project may lead: into it, and into the user's own skill roots. */
function linkTargets(places: SkillRootOptions): string[] {
  const roots = [
    ...resolveSkillRoots(places),
    ...resolveSkillRoots({ ...places, agents: true }),
  ];
  const own = roots.filter(({ scope }) => scope === "global");
  const { workingDirectory: project } = places;
  return [...project ? [project] : [], ...own.map(({ path }) => path)];
}

/** Returns the folders in an argument that may have commas between several. */
function foldersIn(argument: string, places: SkillRootOptions): string[] {
  if (isFolder(argument, places)) return [argument];
  return argument.split(",").map((name) => name.trim()).filter(Boolean);
}

/** Returns the absolute path of a folder, if it can be told. */
function absoluteFolder(folder: string, places: SkillRootOptions): string[] {
  try {
    return [resolveFolder(folder, places)];
  } catch (error) {
    log((error as Error).message);
    return [];
  }
}

function isFolder(folder: string, places: SkillRootOptions): boolean {
  try {
    return Deno.statSync(resolveFolder(folder, places)).isDirectory;
  } catch {
    return false;
  }
}

function toolOptions(values: CommandLine["values"]): SkillToolOptions {
  const toolset = values.tools ?? "skill";
  if (!TOOLSET_NAMES.includes(toolset as Toolset)) {
    throw new UsageError(
      `--tools takes one of ${TOOLSET_NAMES.join(", ")}, not ${quote(toolset)}`,
    );
  }
  return {
    toolset: toolset as Toolset,
    shellTimeout: seconds("--shell-timeout", values["shell-timeout"], 0.1),
    autoInstallDeps: values["auto-install-deps"],
    descriptionLimit: descriptionLimit(values["description-limit"]),
  };
}

/** Returns the size limit in bytes. Only an option is an error if it is wrong. */
function maxFileSize(option: string | undefined): number {
  const value = option ?? readEnvironment("MAX_FILE_SIZE_MB");
  const size = parseMegabytes(value);
  if (size !== undefined) return size;
  if (option !== undefined) {
    throw new UsageError(
      `--max-file-size takes a number of megabytes above 0, not ${
        quote(option)
      }`,
    );
  }
  if (value) {
    log(
      `Ignoring MAX_FILE_SIZE_MB=${
        quote(value)
      }: it is not a number of megabytes above 0; the limit is 1 MB`,
    );
  }
  return DEFAULT_MAX_FILE_SIZE;
}

/** Returns how many bytes a number of megabytes is, if it is one. */
export function parseMegabytes(value: string | undefined): number | undefined {
  const size = Math.round(Number(value) * 1024 * 1024);
  return size >= 1 && Number.isSafeInteger(size) ? size : undefined;
}

function descriptionLimit(option: string | undefined): number | undefined {
  if (option === undefined) return undefined;
  const limit = Number(option);
  if (Number.isSafeInteger(limit) && limit >= MIN_DESCRIPTION_LIMIT) {
    return limit;
  }
  throw new UsageError(
    `--description-limit takes a number of characters from ${MIN_DESCRIPTION_LIMIT}, not ${
      quote(option)
    }`,
  );
}

/** Returns the seconds that an option gives, if it is given. */
function seconds(
  option: string,
  value: string | undefined,
  least = 0,
): number | undefined {
  if (value === undefined) return undefined;
  const number = value.trim() === "" ? NaN : Number(value);
  if (number >= least && number <= MAX_SECONDS) return number;
  throw new UsageError(
    `${option} takes a number of seconds from ${least} to ${MAX_SECONDS}, not ${
      quote(value)
    }`,
  );
}

/** Returns the folders that the user named and that are not there. */
export function missingFolders(
  { roots }: SkillCatalog,
  { directories, recursiveDirectories }: Settings,
): string[] {
  const named = [...directories, ...recursiveDirectories];
  return roots
    .filter(({ root, status }) =>
      status === "missing" && named.includes(root.path)
    )
    .map(({ root }) => root.path);
}
