/**
 * What the program is called, and how its reader runs it.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };

/** The specifier of the program in the registry. */
export const SPECIFIER = `jsr:${config.name}`;

export const VERSION: string = config.version;

export const DOCUMENTATION_URL = `https://jsr.io/${config.name}`;

/** A command that starts a program. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Program {
  /** The file that runs: Deno, or the server as an executable. */
  readonly executable: string;
  /** The path or URL of the main module, or `undefined` if it is part of the executable. */
  readonly mainModule: string | undefined;
  /** The import map that Deno runs with, if any is known. */
  readonly importMap: string | undefined;
  readonly os: typeof Deno.build.os;
}

export function runningProgram(): Program {
  const isExecutable = Deno.build.standalone;
  return {
    executable: Deno.execPath(),
    mainModule: isExecutable ? undefined : pathOrUrl(Deno.mainModule),
    importMap: isExecutable ? undefined : IMPORT_MAP,
    os: Deno.build.os,
  };
}

/** The import map that Deno runs with, if it is this repository's. */
const YAML = import.meta.resolve("jsr:@std/yaml@^1");
const IMPORT_MAP = YAML.endsWith("/npm_only/yaml.ts")
  ? pathOrUrl(new URL("import_map.json", YAML).href)
  : undefined;

/** Returns the path that a URL stands for, or a URL of another kind unchanged. */
function pathOrUrl(url: string): string {
  return url.startsWith("file:") ? fileURLToPath(url) : url;
}

/** Whether `npx` downloaded a program, which may be gone the next day. */
export function isInNpxCache(executable: string): boolean {
  return /[\\/]_npx[\\/]/.test(executable);
}

/**
 * Keeps Deno from obeying the `deno.json`, `package.json`, and `.npmrc` of the
 * working directory and those above it, which can replace the program, even if it
 * is a module from JSR.
 */
export const NO_CONFIG = "--no-config";

/** Returns the command that runs the program with other arguments, for its user to type. */
export function commandFor(program: Program, ...args: string[]): string {
  const { executable, mainModule, importMap } = program;
  // The prefix keeps npx from obeying an .npmrc and running what is in node_modules
  // of the working directory, which may be a stranger's project.
  const deno = isInNpxCache(executable)
    ? ["npx", "--prefix", "~/", "-y", "deno"]
    : ["deno"];
  const words = mainModule === undefined ? [executable] : [
    ...[...deno, "run", NO_CONFIG, "--allow-read", "--allow-env"],
    ...importMap === undefined ? [] : [`--import-map=${importMap}`],
    mainModule,
  ];
  return [...words, ...args]
    .map((word) => /^[\w\\/:.@~=+-]+$/.test(word) ? word : `"${word}"`)
    .join(" ");
}
