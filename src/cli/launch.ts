/**
 * The command that starts the server the way it is running now, with only the
 * permissions it needs.
 *
 * @module
 */

import { isAbsolute, relative } from "jsr:@std/path@^1";
import { parseMegabytes, SERVING_OPTIONS } from "./command_line.ts";
import { isInNpxCache, type Program, SPECIFIER } from "./program.ts";
import type { Settings } from "./settings.ts";
import { isAtOrBelow } from "../files/paths.ts";
import { ALLOW_SHELL, mayRunShell } from "../shell.ts";
import { listPolicyPermissions } from "../skills/policy_file.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import { realPathOf } from "../files/paths.ts";

/** A command that starts the server. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** Creates the command that starts the server on this machine. */
export function createLaunch(program: Program, settings: Settings): Launch {
  const args = serverArguments(settings, program);
  const { mainModule, importMap } = program;
  // The permissions of an executable are built in.
  if (mainModule === undefined) return { command: program.executable, args };
  return runDeno(program, [
    ...[allowRead(listFolders(settings)), "--allow-env"],
    ...shellPermission(settings),
    ...importMap === undefined ? [] : [`--import-map=${importMap}`],
    ...[mainModule, ...args],
  ]);
}

/** Returns the command that runs Deno. A Deno that `npx` downloaded may be gone the next day. */
function runDeno({ executable, os }: Program, args: readonly string[]): Launch {
  if (!isInNpxCache(executable)) {
    return { command: executable, args: ["run", ...args] };
  }
  const words = ["-y", "deno", "run", ...args];
  // On Windows, npx is a batch file, which most programs cannot start.
  return os === "windows"
    ? { command: "cmd", args: ["/c", "npx", ...words] }
    : { command: "npx", args: words };
}

/**
 * Creates the command that starts the server on any machine that has Node.
 *
 * @param homeFolder What stands for the home folder in arguments, if the client
 *   replaces anything. Without it, Deno cannot be limited to folders there.
 */
export function createPortableLaunch(
  program: Program,
  { homeFolder, ...settings }: Settings & { homeFolder: string | undefined },
): Launch {
  const { home } = settings;
  const folders = listFolders(settings)
    .map((path) => inHome(path, { home, name: homeFolder }));
  const isLimited = homeFolder !== undefined ||
    !folders.some((path) => path.startsWith("~"));
  const args = serverArguments(settings, program).map((arg) => {
    const [, option = "", path = arg] = /^(--[\w-]+=)(.*)$/s.exec(arg) ?? [];
    // The server itself replaces the tilde.
    return option + inHome(path, { home });
  });
  return {
    command: "npx",
    args: [
      ...["-y", "deno", "run"],
      ...[isLimited ? allowRead(folders) : "--allow-read", "--allow-env"],
      ...[...shellPermission(settings), publicModule(program), ...args],
    ],
  };
}

/** Returns a path with its home folder replaced, and with `/` as the separator there. */
function inHome(
  path: string,
  { home, name = "~" }: Pick<Settings, "home"> & { name?: string | undefined },
): string {
  if (!isAbsolute(path)) return path.replaceAll("\\", "/");
  if (home === undefined || !isAtOrBelow(path, home)) return path;
  return [name, ...relative(home, path).split(/[\\/]/)].filter(Boolean)
    .join("/");
}

/** Returns the main module if others can load it, or else the one in the registry. */
function publicModule({ mainModule = "" }: Program): string {
  const { protocol, hostname } = URL.parse(mainModule) ?? {};
  const isPublic = protocol === "jsr:" ||
    (protocol === "https:" && hostname !== "jsr.io");
  return isPublic ? mainModule : SPECIFIER;
}

function shellPermission({ tools }: Settings): string[] {
  return tools.toolset === "agentskills" && mayRunShell() ? [ALLOW_SHELL] : [];
}

/** Returns arguments that have the same effect in any folder and environment. */
function serverArguments(
  { values, directories, recursiveDirectories, policyFile, options }: Settings,
  { variable }: Program,
): string[] {
  const size = values["max-file-size"] ?? variable("MAX_FILE_SIZE_MB");
  const resolved: Readonly<Record<string, unknown>> = {
    ...values,
    "skill-dir": recursiveDirectories,
    "policy": policyFile,
    "name-only": [...new Set(options.nameOnlyFolders)],
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

/**
 * Lists the roots that every project has. Those in the project are relative,
 * because each launch can have a different project.
 */
export function listUsualRoots(
  { values, home, directories }: Settings,
): string[] {
  return resolveSkillRoots({
    workingDirectory: ".",
    homeDirectory: home,
    directories: directories.length > 0 ? [] : undefined,
    agents: values.agents,
  }).map(({ path }) => path);
}

function listFolders(settings: Settings): string[] {
  const { home, policyFile, options } = settings;
  const folders = [
    ...listUsualRoots(settings),
    ...settings.directories,
    ...settings.recursiveDirectories,
    ...options.trustLinks ?? [],
  ];
  // A link may only be watched where it leads.
  const places = folders.filter(isAbsolute).map(realPathOf);
  const policy = { file: policyFile ?? "", homeDirectory: home };
  const granted = policyFile ? listPolicyPermissions(policy) : [];
  return [...folders, ...places, ...granted];
}

/**
 * Returns the Deno flag that allows reading folders. If a name contains a
 * comma, which cannot be escaped, the flag allows all folders.
 */
export function allowRead(folders: readonly string[]): string {
  const list = withoutNested(folders);
  return list.length === 0 || list.some((folder) => folder.includes(","))
    ? "--allow-read"
    : `--allow-read=${list.join(",")}`;
}

/**
 * Removes duplicates and folders inside other folders. Keeps relative folders,
 * because their location is unknown, and each spelling of a folder.
 */
function withoutNested(folders: readonly string[]): string[] {
  const unique = [...new Set(folders)];
  return unique.filter((folder) =>
    !isAbsolute(folder) ||
    !unique.some((other) =>
      isAbsolute(other) && isAtOrBelow(folder, other) &&
      !isAtOrBelow(other, folder)
    )
  );
}
