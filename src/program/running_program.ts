/** The running program, and the words of commands as people write them in a shell. */

import { fileURLToPath } from "node:url";
import { isAtOrBelow, isWindows, join, relative } from "../fs/paths.ts";

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

/**
 * Returns the words of a command that starts the program in any directory, up to its
 * own arguments.
 *
 * @param options Flags of Deno. The permissions of an executable are built in.
 */
export function commandWords(
  { executable, mainModule, importMap }: Program,
  { allowRead = "--allow-read", flags = [] }: {
    allowRead?: string;
    flags?: readonly string[];
  } = {},
): string[] {
  if (mainModule === undefined) return [executable];
  return [
    executable,
    "run",
    // Keeps Deno from obeying the deno.json, package.json, and .npmrc of the working
    // directory, which can replace the program, even if it is a module from JSR.
    "--no-config",
    allowRead,
    "--allow-env",
    ...flags,
    ...importMap === undefined ? [] : [`--import-map=${importMap}`],
    mainModule,
  ];
}

/** The import map that Deno runs with, if it is this repository's. */
const YAML = import.meta.resolve("jsr:@std/yaml@^1/parse");
const IMPORT_MAP = YAML.endsWith("/npm_only/yaml.ts")
  ? pathOrUrl(new URL("import_map.json", YAML).href)
  : undefined;

function pathOrUrl(url: string): string {
  return url.startsWith("file:") ? fileURLToPath(url) : url;
}

/** Shortens a path in the home directory, in the form that options accept. */
export function withTilde(path: string, home: string | undefined): string {
  return home !== undefined && isAtOrBelow(path, home)
    ? join("~", relative(home, path))
    : path;
}

/** A path that needs no quotes. Only on Windows, a shell keeps the character `\`. */
const PLAIN_PATH = isWindows ? /^[\w~./:\\,@=+-]+$/ : /^[\w~./:,@=+-]+$/;

/** The characters that have a meaning even in double quotes. */
const SPECIAL = isWindows ? /[$`]/ : /["$`\\!]/;

/** Quotes a path as one word of a command line, if it needs quotes. */
export function quoteWord(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  return SPECIAL.test(path)
    ? `'${path.replaceAll("'", String.raw`'\''`)}'`
    : `"${path}"`;
}
