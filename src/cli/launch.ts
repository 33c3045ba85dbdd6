/**
 * The command that starts the server the way it is running now, with only the
 * permissions it needs.
 *
 * @module
 */

import { dirname, isAbsolute } from "jsr:@std/path@^1";
import { fileURLToPath } from "node:url";
import { OPTIONS } from "./command_line.ts";
import { parseMegabytes, readEnvironment, type Settings } from "./settings.ts";
import { isAtOrBelow } from "../files/paths.ts";
import { resolveSkillRoots } from "../skills/roots.ts";

/** A command that starts the server. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** Returns arguments that have the same effect in any folder and environment. */
export function serverArguments(
  { values, directories, recursiveDirectories, policyFile, options }: Settings,
): string[] {
  const size = values["max-file-size"] ?? readEnvironment("MAX_FILE_SIZE_MB");
  const resolved: Readonly<Record<string, unknown>> = {
    ...values,
    "skill-dir": recursiveDirectories,
    "policy": policyFile,
    "trust-links": options.trustLinks,
    "max-file-size": parseMegabytes(size) ? size : undefined,
  };
  const flags = SERVING_OPTIONS.flatMap((name) =>
    [resolved[name] ?? []].flat().flatMap((value) =>
      value === true ? `--${name}` : `--${name}=${value}`
    )
  );
  return [...flags, ...directories];
}

/** The options that affect a running server. */
const SERVING_OPTIONS = Object.keys(OPTIONS).filter((name) =>
  !["list", "check", "json", "as", "print-config", "url", "help", "version"]
    .includes(name)
);

/**
 * Lists the folders to read. Project folders are relative, because each launch
 * can have a different project.
 */
export function listFolders(
  { values, home, directories, recursiveDirectories, policyFile, options }:
    Settings,
): string[] {
  const usual = resolveSkillRoots({
    workingDirectory: ".",
    homeDirectory: home,
    directories: directories.length > 0 ? [] : undefined,
    agents: values.agents,
  });
  return [
    ...usual.map(({ path }) => path),
    ...directories,
    ...recursiveDirectories,
    ...options.trustLinks ?? [],
    ...policyFile ? [dirname(policyFile)] : [],
  ];
}

/** Finds the import map that Deno runs with. Returns a note if it cannot be determined. */
export function findImportMap(): { path?: string; note?: string[] } {
  const yaml = import.meta.resolve("jsr:@std/yaml@^1");
  if (yaml.endsWith("/npm_only/yaml.ts")) {
    const map = new URL("import_map.json", yaml);
    return { path: map.protocol === "file:" ? fileURLToPath(map) : map.href };
  }
  // Only an import map can resolve a JSR package to a file.
  if (!yaml.startsWith("file:")) return {};
  return {
    note: [
      "Cannot determine the import map that Deno runs with: add --import-map=… to the arguments",
    ],
  };
}

/** How the running server was started, and what the next launch needs. */
export interface LaunchOptions {
  /** The running program: Deno, or the server as an executable. */
  readonly executable: string;
  /** The main module, or `undefined` if it is part of the executable. */
  readonly mainModule: string | undefined;
  /** The import map, if any is known. */
  readonly importMap: string | undefined;
  /** The folders to read. */
  readonly folders: readonly string[];
  /** The Deno flag that allows running programs, if the server needs it. */
  readonly allowRun: string | undefined;
  /** The server's arguments. */
  readonly args: readonly string[];
}

/**
 * Creates the command that starts the server the way it is running now, with
 * only the permissions it needs.
 */
export function createLaunch(options: LaunchOptions): Launch {
  const { executable, mainModule, importMap, args } = options;
  // The permissions of an executable are built in.
  if (mainModule === undefined) return { command: executable, args };
  const flags = [
    allowRead(options.folders),
    "--allow-env",
    ...(options.allowRun ? [options.allowRun] : []),
    ...(importMap ? [`--import-map=${importMap}`] : []),
  ];
  const main = mainModule.startsWith("file:")
    ? fileURLToPath(mainModule)
    : mainModule;
  return { command: executable, args: ["run", ...flags, main, ...args] };
}

/** Whether a program is in the cache of `npx`. */
export function isInNpxCache(executable: string): boolean {
  return /[\\/]_npx[\\/]/.test(executable);
}

/**
 * Returns the Deno flag that allows reading folders. If a name contains a
 * comma, which cannot be escaped, the flag allows all folders.
 */
function allowRead(folders: readonly string[]): string {
  const list = withoutNested(folders);
  return list.length === 0 || list.some((folder) => folder.includes(","))
    ? "--allow-read"
    : `--allow-read=${list.join(",")}`;
}

/**
 * Removes duplicates and folders inside other folders. Keeps relative folders,
 * because their location is unknown.
 */
function withoutNested(folders: readonly string[]): string[] {
  const unique = [...new Set(folders)];
  const absolute = unique.filter(isAbsolute);
  return unique.filter((folder) =>
    !isAbsolute(folder) ||
    !absolute.some((other) => other !== folder && isAtOrBelow(folder, other))
  );
}
