/** Joining, resolving, and comparing paths. */

import * as posix from "jsr:@std/path@^1/posix";
import * as windows from "jsr:@std/path@^1/windows";
import { attempt } from "../attempt.ts";
import { normalizeText, quote } from "../text.ts";

export const isWindows = Deno.build.os === "windows";

/**
 * The functions of `@std/path` for this operating system. Its main module loads
 * `process` to detect the system, which takes a tenth of the startup time.
 */
export const {
  basename,
  dirname,
  extname,
  isAbsolute,
  join,
  normalize,
  relative,
  resolve,
} = isWindows ? windows : posix;

/** Whether file names are case-insensitive on this operating system. */
export const isCaseBlind = isWindows || Deno.build.os === "darwin";

/**
 * Matches names that Windows misreads: as a drive or stream (`C:a`, `a:b`), as a device
 * (`CON`, `nul.txt`), or without the dots and spaces at their end. Only other systems
 * create such files.
 *
 * @see {@link https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file}
 */
const MISREAD_ON_WINDOWS =
  // deno-lint-ignore no-control-regex -- names must not contain control characters
  /[\x00-\x1f<>:"/\\|?*]|[. ]$|^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i;

export function isMisread(name: string): boolean {
  return isWindows && MISREAD_ON_WINDOWS.test(name);
}

const SEPARATOR = isWindows ? "\\" : "/";

/** The base directories of relative paths and of paths that begin with `~`. */
export interface BaseDirs {
  /** The working directory, if there is one. */
  readonly workingDirectory?: string | undefined;
  /** The home directory, if it is known. */
  readonly homeDirectory?: string | undefined;
  /** The directory that replaces `~/.claude`, if there is one. */
  readonly claudeDirectory?: string | undefined;
}

/** Returns a path in the home directory, or in the directory that replaces `~/.claude`. */
export function inHome(
  path: string,
  { homeDirectory, claudeDirectory }: BaseDirs,
): string | undefined {
  const [first, ...rest] = namesIn(normalize(path));
  if (claudeDirectory !== undefined && first === ".claude") {
    return join(claudeDirectory, ...rest);
  }
  return homeDirectory === undefined ? undefined : join(homeDirectory, path);
}

/** Shortens a path in the home directory with `~`, which options accept. */
export function withTilde(path: string, home: string | undefined): string {
  return home !== undefined && isAtOrBelow(path, home)
    ? join("~", relative(home, path))
    : path;
}

/**
 * Returns the path of a file URL of this machine (on Windows, also of another), and
 * anything else as it is.
 *
 * @throws {TypeError} If it is neither text nor a URL.
 */
export function toPath(path: string | URL): string {
  if (typeof path !== "string" && !(path instanceof URL)) {
    throw new TypeError(`Invalid path ${path}: expected text or a file URL`);
  }
  const text = String(path);
  if (!/^file:\/\//i.test(text)) return text;
  const url = URL.parse(text);
  // On this machine, the URL of another one leads nowhere, and not to the same path.
  if (url === null || (url.hostname !== "" && !isWindows)) return text;
  const { hostname, pathname } = url;
  const decoded = attempt(() => decodeURIComponent(pathname)) ?? pathname;
  return isWindows
    ? normalize(hostname ? `//${hostname}${decoded}` : decoded.slice(1))
    : decoded;
}

/**
 * Resolves a path that a user wrote, as a shell would: relative to the working
 * directory, or to the home directory if it starts with `~`. It can be a file URL.
 *
 * @throws {Error} If the directory that it is relative to is unknown.
 */
export function resolvePath(
  given: string | URL,
  { workingDirectory, homeDirectory }: BaseDirs,
): string {
  const path = toPath(given);
  const isAtHome = /^~(?=$|[\\/])/.test(path);
  const base = isAtHome ? homeDirectory : workingDirectory;
  if (base === undefined && !isAbsolute(path)) {
    const unknown = isAtHome ? "home folder" : "working directory";
    const reason = `the ${unknown} is unknown; pass an absolute path`;
    throw new Error(`Cannot find ${quote(path)}: ${reason}`);
  }
  const rest = isAtHome ? join(".", path.slice(1)) : path;
  return base === undefined ? normalize(path) : resolve(base, rest);
}

/** Returns the working directory, unless it was removed or Deno may not read it. */
export function findWorkingDirectory(): string | undefined {
  return attempt(() => Deno.cwd());
}

export function realPathIfThere(path: string): string | undefined {
  return attempt(() => Deno.realPathSync(path));
}

/** Whether a path exists, even as a dangling symlink. Loading `node:fs` would delay the start. */
export function isThere(path: string): boolean {
  return attempt(() => Deno.lstatSync(path)) !== undefined;
}

/** Lists a path and the directories above it, the innermost first. */
export function withDirsAbove(path: string): string[] {
  const paths = [path];
  let dir = dirname(path);
  while (dir !== paths.at(-1)) {
    paths.push(dir);
    dir = dirname(dir);
  }
  return paths;
}

/** Resolves the symlinks in the part of a path that exists. */
export function realPathOf(path: string): string {
  for (const dir of withDirsAbove(path)) {
    const realPath = realPathIfThere(dir);
    if (realPath !== undefined) return join(realPath, relative(dir, path));
  }
  return path;
}

/** Resolves the directory of an entry, but not the entry itself, which can be a symlink. */
export function locationOf(path: string): string {
  return childPath(realPathOf(dirname(path)), basename(path));
}

/** Whether Deno may read a path. Otherwise, some operations would prompt the user. */
export function mayRead(path: string): boolean {
  const permission = { name: "read", path } as const;
  return Deno.permissions.querySync(permission).state === "granted";
}

/** Whether a path is a directory or inside it. Compares normalized paths as text. */
export function isAtOrBelow(path: string, dir: string): boolean {
  return toPrefix(path).startsWith(toPrefix(dir));
}

/** Turns the path of a directory into a prefix of every path inside it. */
function toPrefix(path: string): string {
  return childPath(isWindows ? path.toLowerCase() : path, "");
}

/**
 * Returns the form in which rules compare paths: with slashes but none at the end, so that
 * the root is empty. Not for other uses: a disk can distinguish names that are equal in it.
 */
export function comparablePath(path: string): string {
  const slashed = isWindows ? path.replaceAll("\\", "/") : path;
  const text = normalizeText(slashed.replace(/(?<!\/)\/+$/, ""));
  return isCaseBlind ? text.toLowerCase() : text;
}

export function isAtOrBelowAny(
  realPath: string,
  dirs: readonly string[],
): boolean {
  return dirs.some((dir) => isAtOrBelow(realPath, dir));
}

export function namesIn(path: string): string[] {
  return path.split(isWindows ? /[\\/]/ : "/");
}

/** Returns the entry of a directory on the way to a path below it. */
export function childOn(path: string, dir: string): string {
  const [name = ""] = namesIn(relative(dir, path));
  return childPath(dir, name);
}

/** Appends a name to the path of a directory. Faster than `join`, which normalizes it. */
export function childPath(dir: string, name: string): string {
  return dir.endsWith(SEPARATOR) ? dir + name : dir + SEPARATOR + name;
}
