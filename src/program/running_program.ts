/** The running program, and the commands that start it in a shell. */

import { fileURLToPath } from "node:url";
import { isWindows } from "../fs/paths.ts";

export interface Program {
  /** The running executable: Deno, or the compiled server. */
  readonly executable: string;
  /** The path or URL of the main module, or `undefined` in a compiled server. */
  readonly mainModule: string | undefined;
  /** The path of this repository's import map, if Deno uses it. */
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
 * Returns the words of a command that starts the program in any directory, without the
 * program's own arguments.
 *
 * @param options Flags of Deno. A compiled server has built-in permissions.
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
    // A deno.json, package.json, or .npmrc in the working directory could replace the
    // program, even a module from JSR.
    "--no-config",
    allowRead,
    "--allow-env",
    ...flags,
    ...importMap === undefined ? [] : [`--import-map=${importMap}`],
    mainModule,
  ];
}

const YAML = import.meta.resolve("jsr:@std/yaml@^1/parse");
const IMPORT_MAP = YAML.endsWith("/npm_only/yaml.ts")
  ? pathOrUrl(new URL("import_map.json", YAML).href)
  : undefined;

function pathOrUrl(url: string): string {
  return url.startsWith("file:") ? fileURLToPath(url) : url;
}

/** A word that needs no quotes. Only shells on Windows keep the character `\`. */
const PLAIN_WORD = isWindows ? /^[\w~./:\\,@=+-]+$/ : /^[\w~./:,@=+-]+$/;

/** Characters with a special meaning in double quotes. */
const SPECIAL = isWindows ? /[$`]/ : /["$`\\!]/;

/** Quotes a path as one word of a command line, if it needs quotes. */
export function quoteWord(path: string): string {
  if (PLAIN_WORD.test(path)) return path;
  return SPECIAL.test(path)
    ? `'${path.replaceAll("'", String.raw`'\''`)}'`
    : `"${path}"`;
}
