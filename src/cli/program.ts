/**
 * What the program is called, and how its reader runs it.
 *
 * @module
 */

import { basename, dirname, isAbsolute, relative } from "jsr:@std/path@^1";
import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { attempt } from "../files/faults.ts";
import { currentFolder, isAtOrBelow } from "../files/paths.ts";
import { quoteCommand, shellInUse } from "../shell_quoting.ts";

/** The specifier of the program in the registry. */
export const SPECIFIER = `jsr:${config.name}`;

export const VERSION: string = config.version;

export const DOCUMENTATION_URL = `https://jsr.io/${config.name}`;

export interface Program {
  /** The file that runs: Deno, or the server as an executable. */
  readonly executable: string;
  /** The path or URL of the main module, or `undefined` if it is part of the executable. */
  readonly mainModule: string | undefined;
  /** The import map that Deno runs with, if any is known. */
  readonly importMap: string | undefined;
  readonly os: typeof Deno.build.os;
  /** Returns the value of an environment variable, if it is set. */
  readonly variable: (name: string) => string | undefined;
  /** The working directory, if it is known. */
  readonly folder: string | undefined;
}

export function runningProgram(): Program {
  const isExecutable = Deno.build.standalone;
  return {
    executable: Deno.execPath(),
    mainModule: isExecutable ? undefined : pathOrUrl(Deno.mainModule),
    importMap: isExecutable ? undefined : IMPORT_MAP,
    os: Deno.build.os,
    // Deno may have no permission.
    variable: (name) => attempt(() => Deno.env.get(name)),
    folder: currentFolder(),
  };
}

/** What the import map, if there is one, resolves a JSR package to. */
const YAML = import.meta.resolve("jsr:@std/yaml@^1");

/** The import map that Deno runs with, if it is this repository's. */
const IMPORT_MAP = YAML.endsWith("/npm_only/yaml.ts")
  ? pathOrUrl(new URL("import_map.json", YAML).href)
  : undefined;

/**
 * Whether Deno runs with an import map that cannot be determined. Only an import
 * map can resolve a JSR package to a file.
 */
export const hasUnknownImportMap = YAML.startsWith("file:") &&
  IMPORT_MAP === undefined;

/** Returns the path that a URL stands for, or a URL of another kind unchanged. */
function pathOrUrl(url: string): string {
  return url.startsWith("file:") ? fileURLToPath(url) : url;
}

export function isInNpxCache(executable: string): boolean {
  return /[\\/]_npx[\\/]/.test(executable);
}

/**
 * Returns the command that runs the program with other arguments, as the reader
 * of a message can type it in the same folder.
 */
export function commandFor(program: Program, ...args: string[]): string {
  const words = [...commandWords(program), ...args];
  return quoteCommand(words, shellInUse(program)) ?? words.join(" ");
}

function commandWords(program: Program): string[] {
  const { executable, mainModule, importMap, folder, variable } = program;
  if (mainModule === undefined) return [executableName(program)];
  const deno = isInNpxCache(executable) ? ["npx", "-y", "deno"] : ["deno"];
  // Deno sets this variable for the commands of a task, and runs them in the task's folder.
  const isTask = variable("INIT_CWD") && dirname(mainModule) === folder;
  if (isTask) return [...deno, "task", "start"];
  const near = (path: string) =>
    isAbsolute(path) && folder !== undefined && isAtOrBelow(path, folder)
      ? relative(folder, path)
      : path;
  return [
    ...[...deno, "run", "--allow-read", "--allow-env"],
    ...importMap === undefined ? [] : [`--import-map=${near(importMap)}`],
    near(mainModule),
  ];
}

/** Returns the name of an executable if the shell finds it by that, or else its path. */
function executableName({ executable, os, variable }: Program): string {
  const isWindows = os === "windows";
  const folders = (variable("PATH") ?? "").split(isWindows ? ";" : ":");
  return folders.includes(dirname(executable))
    ? basename(executable)
    : executable;
}
