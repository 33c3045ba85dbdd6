// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Access to the files of a skill, and the one rule that confines it.
 *
 * @module
 */

import { basename, dirname, relative } from "jsr:@std/path@^1";
import { isFence, MAX_FRONTMATTER_SIZE } from "./frontmatter.ts";
import { childPath, isInside, isWindows, isWithin } from "./paths.ts";
import { byCodeUnits, oneLine, quote } from "./text.ts";
import type {
  FileAccessOptions,
  Skill,
  SkillFile,
  SkillFileContent,
} from "./types.ts";

/** Largest file that is read or served unless the caller says otherwise, in bytes. */
export const DEFAULT_MAX_FILE_SIZE: number = 1024 * 1024;

/** How many entries a folder may have to be remembered. */
const MAX_KNOWN_ENTRIES = 1_000;

/** How much of a `SKILL.md` is read first, in bytes: most frontmatter is shorter. */
const SHORT_HEAD_SIZE = 2 * 1024;

/** How many names the path of a file may have below its skill directory. */
export const MAX_FILE_DEPTH = 10;

/** How many entries of one skill's folders are looked at to list its files. */
const MAX_WALKED_ENTRIES = 20_000;

/**
 * A file that changed less than this before it was read can change again
 * without its times telling, in milliseconds. FAT keeps times to two seconds.
 */
const RACY_MS = 2_000;

/** A file of a skill cannot be had. */
export class SkillFileError extends Error {
  /** What is the matter. */
  readonly reason: string;
  /** How to mend it. */
  readonly hint: string;
  /** Makes an error that tells the file, the reason, and how to mend it. */
  constructor(path: string, fault: { reason: string; hint: string }) {
    super(`Cannot read ${quote(path)}: ${fault.reason}; ${fault.hint}`);
    this.name = "SkillFileError";
    this.reason = fault.reason;
    this.hint = fault.hint;
  }
}

/** What is the matter with a file or folder, and how to mend it. */
export interface Fault {
  readonly reason: string;
  readonly hint: string;
}

/** A file that is not there, or that does not belong to the skill: the answer is the same. */
const NOT_THERE: Fault = {
  reason: "there is no such file in the skill",
  hint: "name a file of the skill by its path from the skill's folder",
};

export const LINK_OUT_OF_SKILL: Fault = {
  reason:
    "it is a link that leads outside its skill, or to what is hidden in it",
  hint:
    "put the file itself there, or, if you trust the folder DIR that it leads into, start with --trust-links DIR",
};

const LINK_BACK: Fault = {
  reason: "it is a link that leads back to a folder that it lies in",
  hint: "remove it",
};

export const LINK_TO_NOTHING: Fault = {
  reason: "it is a link that leads nowhere",
  hint: "make the link anew or remove it",
};

export const IS_A_FOLDER: Fault = {
  reason: "it is a folder",
  hint: "a file is wanted here",
};

const NOT_A_FILE: Fault = {
  reason: "it is not a regular file",
  hint: "put a regular file in its place",
};

const CHANGED_MEANWHILE: Fault = {
  reason: "it was replaced while it was being read",
  hint: "try again",
};

const TOO_DEEP: Fault = {
  reason: `it lies more than ${MAX_FILE_DEPTH} names deep`,
  hint: "move it nearer to the SKILL.md",
};

const TOO_MANY_ENTRIES: Fault = {
  reason:
    `it and what comes after it are past the ${MAX_WALKED_ENTRIES} entries that are looked at`,
  hint: "move what the skill does not need out of it",
};

export const NAME_IS_NOT_UTF_8: Fault = {
  reason: "its name is not UTF-8, so that it cannot be opened",
  hint: "give it another name",
};

const ONLY_WITH_ALL: Fault = {
  reason: "Deno reads network folders and devices only if it may do everything",
  hint: "copy it to a local folder",
};

/** Says what an error of the file system means and what to do about it. */
export function faultOf(error: unknown): Fault {
  if (error instanceof SkillFileError) {
    const { reason, hint } = error;
    return { reason, hint };
  }
  const { NotFound, NotADirectory } = Deno.errors;
  if (error instanceof NotFound || error instanceof NotADirectory) {
    return LINK_TO_NOTHING;
  }
  if (error instanceof Deno.errors.NotCapable) {
    if (error.message.includes("--allow-all")) return ONLY_WITH_ALL;
    return {
      reason: "Deno was not allowed to read it",
      hint: "add it to the folders of --allow-read",
    };
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return {
      reason: "the system does not let it be read",
      hint: "give yourself the right to read it, or remove it",
    };
  }
  if (error instanceof Deno.errors.FilesystemLoop) {
    return {
      reason: "it is a link that leads back to itself",
      hint: LINK_TO_NOTHING.hint,
    };
  }
  return {
    reason: `the system refuses it (${oneLine((error as Error).message)})`,
    hint: "put a readable file or folder in its place",
  };
}

function tooLarge(size: number, maxFileSize: number): Fault {
  return {
    reason: `it has ${size} bytes, more than the ${maxFileSize} allowed`,
    hint: "make it smaller, or raise --max-file-size",
  };
}

/** Whether there is anything under a path, be it a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatIfThere(path) !== undefined;
}

export function isLink(path: string): boolean {
  return lstatIfThere(path)?.isSymlink ?? false;
}

export function lstatIfThere(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Lists a folder in the order of the names' code units. */
function readFolder(path: string): Deno.DirEntry[] {
  return [...Deno.readDirSync(path)].sort((a, b) =>
    byCodeUnits(a.name, b.name)
  );
}

/** What was found out of a file before it is opened. */
export interface CheckedFile {
  readonly path: string;
  /** Where its path led. */
  readonly realPath: string;
  readonly info: Deno.FileInfo;
}

/**
 * Opens a file and reads of it. What is no regular file is not opened, for to
 * open a FIFO or a device could hang. Links are followed anew by each call of
 * the system, so a file may be swapped between the check and its use: hence one
 * handle is opened, which must be of the file that was checked, and its path
 * must lead to the same place afterwards.
 */
export function readConfined<T>(
  { path, realPath, info }: CheckedFile,
  maxFileSize: number,
  read: (file: Deno.FsFile, info: Deno.FileInfo) => T,
): T {
  if (info.isDirectory) throw new SkillFileError(path, IS_A_FOLDER);
  if (!info.isFile) throw new SkillFileError(path, NOT_A_FILE);
  if (info.size > maxFileSize) {
    throw new SkillFileError(path, tooLarge(info.size, maxFileSize));
  }
  using file = Deno.openSync(path);
  const opened = statOpen(file, path);
  if (
    opened.ino !== info.ino || opened.dev !== info.dev || !opened.isFile ||
    Deno.realPathSync(path) !== realPath
  ) {
    throw new SkillFileError(path, CHANGED_MEANWHILE);
  }
  return read(file, opened);
}

/**
 * Stats an open file. That takes the permission to read its real path, which is
 * missing where an allowed folder is a link: then its path must do.
 */
function statOpen(file: Deno.FsFile, path: string): Deno.FileInfo {
  try {
    return file.statSync();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return Deno.statSync(path);
    throw error;
  }
}

/** Reads a file to its end, or to `limit` bytes if it has more. */
function readUpTo(
  file: Deno.FsFile,
  { expected, limit }: { expected: number; limit: number },
): Uint8Array<ArrayBuffer> {
  let buffer = new Uint8Array(Math.min(expected + 1, limit));
  let length = 0;
  for (;;) {
    const read = file.readSync(buffer.subarray(length));
    length += read ?? 0;
    if (read === null || length === limit) return buffer.subarray(0, length);
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.min(buffer.length * 2, limit));
      larger.set(buffer);
      buffer = larger;
    }
  }
}

/** What the beginnings of files are read into: a scan reads many. */
const headBuffer = new Uint8Array(MAX_FRONTMATTER_SIZE + 1);

const headDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads the beginning of a `SKILL.md`, to the end of its frontmatter and no
 * further: what is made of a text keeps all of it in memory.
 */
export function readHead(file: Deno.FsFile): string {
  let length = 0;
  for (let limit = SHORT_HEAD_SIZE;; limit = headBuffer.length) {
    const read = file.readSync(headBuffer.subarray(length, limit));
    length += read ?? 0;
    const isWhole = read === null || length === headBuffer.length;
    const bytes = headBuffer.subarray(0, length);
    const end = closingFenceEnd(bytes);
    if (end !== undefined) return headDecoder.decode(bytes.subarray(0, end));
    if (isWhole) return headDecoder.decode(bytes);
  }
}

/** Returns where the line ends that closes a frontmatter, if it does. */
function closingFenceEnd(bytes: Uint8Array): number | undefined {
  for (
    let start = bytes.indexOf(LINE_FEED) + 1;
    start > 0;
    start = bytes.indexOf(LINE_FEED, start) + 1
  ) {
    if (bytes[start] !== HYPHEN) continue;
    const end = bytes.indexOf(LINE_FEED, start) + 1;
    if (
      end > 0 && isFence(headDecoder.decode(bytes.subarray(start, end - 1)))
    ) {
      return end;
    }
  }
}

const LINE_FEED = 0x0a;

const HYPHEN = 0x2d;

/** Returns a text that differs whenever the file does. */
export function fileVersion(
  { dev, ino, size, mtime, ctime }: Deno.FileInfo,
): string {
  return `${dev}:${ino}:${size}:${mtime?.getTime()}:${ctime?.getTime()}`;
}

/** Whether a file changed so lately that it may change again unnoticed. */
export function isRacy({ mtime, ctime }: Deno.FileInfo): boolean {
  const changed = Math.max(mtime?.getTime() ?? 0, ctime?.getTime() ?? 0);
  return Date.now() - changed < RACY_MS;
}

/** Whether a file or folder of this name is part of a skill. */
function isVisible(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" &&
    name !== "__pycache__";
}

/** Whether a real path belongs to a skill: lies in its directory and is not hidden there, or is trusted. */
export function isOwn(
  realPath: string,
  realDirectory: string,
  trustLinks: readonly string[],
): boolean {
  return isWithin(realPath, realDirectory)
    ? relative(realDirectory, realPath).split(/[\\/]/).every(isVisible)
    : isInside(realPath, trustLinks);
}

/** Returns the names a path consists of, or `undefined` if it leads out of the skill. */
export function namesOf(path: string): string[] | undefined {
  const names: string[] = [];
  // There a colon would name a drive or another stream of a file.
  if (isWindows && /[<>:"|?*]/.test(path)) return undefined;
  const parts = path.split(isWindows ? /[\\/]/ : "/");
  if (parts.length > 1 && parts[0] === "") return undefined;
  for (const part of parts) {
    if (part === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (part !== "." && part !== "") {
      names.push(part);
    }
  }
  return names.length > MAX_FILE_DEPTH ? undefined : names;
}

/**
 * Returns where a file or folder of a skill lies in the file system, if it
 * belongs to the skill: names that begin with a dot, `node_modules` and
 * `__pycache__` do not, nor does anything whose real path leaves the skill's
 * real directory.
 *
 * ```ts
 * import { resolveSkillFile, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * const { realPath } = resolveSkillFile(skills.get("pdf")!, "SKILL.md");
 * console.log(realPath);
 * ```
 *
 * @param skill The skill.
 * @param path The path from the skill directory, with `/` between names; empty for the directory itself.
 * @param options What counts as inside.
 * @returns The path as configured, and with all links resolved.
 * @throws {SkillFileError} If there is nothing there that belongs to the skill.
 */
export function resolveSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions = {},
): { path: string; realPath: string } {
  return tellingOf(path, () => new SkillWalk(skill, options).find(path));
}

/** Whether an error says that there is nothing under a path. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.FilesystemLoop ||
    error instanceof TypeError; // a NUL in the path
}

/**
 * Reads a file of a skill, as it is now.
 *
 * ```ts
 * import { readSkillFile, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * const { text, size } = readSkillFile(skills.get("git")!, "SKILL.md");
 * console.log(size, text);
 * ```
 *
 * @param skill The skill.
 * @param path The file's path from the skill directory, as {@linkcode resolveSkillFile} takes it.
 * @param options What counts as inside, and how large a file may be.
 * @returns The file's content.
 * @throws {SkillFileError} If the file does not belong to the skill, is not a regular file, is too large or cannot be read.
 */
export function readSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions = {},
): SkillFileContent {
  return readChecked(checkSkillFile(skill, path, options), path, options);
}

/** Finds a file of a skill and stats it. */
export function checkSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions,
): CheckedFile {
  const place = resolveSkillFile(skill, path, options);
  return tellingOf(path, () => ({ ...place, info: Deno.statSync(place.path) }));
}

export function readChecked(
  checked: CheckedFile,
  path: string,
  { maxFileSize = DEFAULT_MAX_FILE_SIZE }: FileAccessOptions,
): SkillFileContent {
  return tellingOf(
    path,
    () =>
      readConfined(checked, maxFileSize, (file, info) => {
        const expected = info.size;
        const bytes = readUpTo(file, { expected, limit: maxFileSize + 1 });
        if (bytes.length > maxFileSize) {
          throw new SkillFileError(path, tooLarge(bytes.length, maxFileSize));
        }
        return {
          path: namesOf(path)!.join("/"),
          size: bytes.length,
          version: fileVersion(info),
          isRacy: isRacy(info),
          bytes,
          text: decodeUtf8(bytes),
        };
      }),
  );
}

/**
 * Runs work on a file, and reports what fails under the file's path in the skill.
 * For callers, what does not belong to the skill does not exist.
 */
function tellingOf<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const isNotThere = isAbsence(error) || error instanceof ForeignLinkError;
    throw new SkillFileError(path, isNotThere ? NOT_THERE : faultOf(error));
  }
}

/** Decodes UTF-8 to the letter, byte order mark included; `undefined` if it is none. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Lists the files of a skill that can be read: those that
 * {@linkcode resolveSkillFile} finds and that are not too large, nested skills'
 * files too. Its `SKILL.md` goes by that name whatever the letters' case.
 *
 * ```ts
 * import { listSkillFiles, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * for (const { path, size } of listSkillFiles(skills.get("pdf")!)) {
 *   console.log(path, size);
 * }
 * ```
 *
 * @param skill The skill.
 * @param options What counts as inside, and how large a file may be.
 * @returns The files in the order of their paths. After 20,000 entries the search ends.
 */
export function listSkillFiles(
  skill: Skill,
  options: FileAccessOptions = {},
): SkillFile[] {
  return walkSkill(skill, options).files;
}

/** Lists the files of a skill, the real paths of the folders that they lie in, and what is left out. */
export function walkSkill(
  skill: Skill,
  options: FileAccessOptions,
): SkillListing {
  return new SkillWalk(skill, options).list();
}

/** What lies in a skill. */
export interface SkillListing {
  /** The files that can be read, in the order of their paths. */
  readonly files: SkillFile[];
  /** Real paths of the folders that they lie in. */
  readonly folders: string[];
  /** What lies in the skill and is not served, by its path. */
  readonly leftOut: Map<string, Fault>;
}

/** A place in a skill directory, and through it the folders on the way there. */
interface Place {
  readonly path: string;
  readonly realPath: string;
  readonly parent: Place | undefined;
  /** How many names lead to it from the skill directory. */
  readonly depth: number;
}

/** A link in a skill leads to something that does not belong to the skill. */
class ForeignLinkError extends SkillFileError {}

/** A walk through a skill: the one rule for what belongs to it. */
class SkillWalk {
  readonly #skill: Skill;
  readonly #trustLinks: readonly string[];
  readonly #excludedFolders: ReadonlySet<string>;
  readonly #maxFileSize: number;
  readonly #top: Place;
  readonly #files: SkillFile[] = [];
  readonly #folders: string[] = [];
  readonly #leftOut = new Map<string, Fault>();
  /** How many entries of folders were looked at. */
  #entries = 0;

  constructor(skill: Skill, options: FileAccessOptions) {
    this.#skill = skill;
    this.#trustLinks = boundaries(options.trustLinks ?? []);
    this.#excludedFolders = options.excludedFolders ?? new Set();
    this.#maxFileSize = options.maxFileSize ?? DEFAULT_MAX_FILE_SIZE;
    this.#top = {
      path: skill.directory,
      realPath: skill.realDirectory,
      parent: undefined,
      depth: 0,
    };
  }

  /** Finds what a path in the skill leads to. */
  find(path: string): { path: string; realPath: string } {
    const names = namesOf(path);
    const main = basename(this.#skill.file);
    const isOtherName = names?.length === 1 && names[0] === main;
    const isForeign = names === undefined || !names.every(isVisible) ||
      main !== "SKILL.md" && isOtherName;
    if (isForeign) throw new Deno.errors.NotFound(path);
    if (names.join("/") === "SKILL.md") names[0] = main;
    const direct = this.#findDirect(names);
    if (direct !== undefined) return direct;
    let place = this.#top;
    for (const name of names) place = this.#follow(place, name);
    return { path: place.path, realPath: place.realPath };
  }

  /** Lists all that lies in the skill. */
  list(): SkillListing {
    this.#listFolder(this.#top, "");
    return {
      files: this.#files.sort((a, b) => byCodeUnits(a.path, b.path)),
      folders: this.#folders,
      leftOut: this.#leftOut,
    };
  }

  /** Returns the place that names lead to if none of them is a link: then one look is enough. */
  #findDirect(
    names: readonly string[],
  ): { path: string; realPath: string } | undefined {
    const { directory, realDirectory } = this.#skill;
    const path = names.reduce(childPath, directory);
    const realPath = Deno.realPathSync(path);
    const isDirect = realPath === names.reduce(childPath, realDirectory);
    if (isDirect && this.#isExcluded(realPath)) {
      throw new Deno.errors.NotFound(path);
    }
    return isDirect ? { path, realPath } : undefined;
  }

  /** Whether a real path is one of the excluded folders or lies in one, other than the skill itself does. */
  #isExcluded(realPath: string): boolean {
    if (this.#excludedFolders.size === 0) return false;
    let folder = realPath;
    while (
      folder !== this.#skill.realDirectory && folder !== dirname(folder)
    ) {
      if (this.#excludedFolders.has(folder)) return true;
      folder = dirname(folder);
    }
    return false;
  }

  /**
   * Goes from a folder to what a name in it leads to, which may be a link.
   *
   * @throws {ForeignLinkError} If the link leads outside the skill, to
   * something hidden in it, or back to a folder on the way.
   */
  #follow(parent: Place, name: string): Place {
    const path = childPath(parent.path, name);
    const realPath = Deno.realPathSync(path);
    if (isOnWay(realPath, parent)) throw new ForeignLinkError(path, LINK_BACK);
    const isOwnPath =
      isOwn(realPath, this.#skill.realDirectory, this.#trustLinks) &&
      !this.#isExcluded(realPath);
    if (!isOwnPath) throw new ForeignLinkError(path, LINK_OUT_OF_SKILL);
    return { path, realPath, parent, depth: parent.depth + 1 };
  }

  #listFolder(folder: Place, prefix: string): void {
    this.#folders.push(folder.realPath);
    let entries: readonly Deno.DirEntry[] = [];
    try {
      entries = folderEntries(folder.path, this.#skill);
    } catch (error) {
      if (!isAbsence(error)) this.#leftOut.set(prefix, faultOf(error));
    }
    for (const entry of entries) {
      if (!isVisible(entry.name)) continue;
      const path = prefix + entry.name;
      if (++this.#entries > MAX_WALKED_ENTRIES) {
        this.#leftOut.set(path, TOO_MANY_ENTRIES);
        return;
      }
      try {
        this.#listEntry(entry, { folder, path });
      } catch (error) {
        const fault = entryFault(entry, error);
        if (fault !== undefined) this.#leftOut.set(path, fault);
      }
    }
  }

  #listEntry(
    { name, isSymlink, isDirectory }: Deno.DirEntry,
    { folder, path }: { folder: Place; path: string },
  ): void {
    const place = isSymlink ? this.#follow(folder, name) : {
      path: childPath(folder.path, name),
      realPath: childPath(folder.realPath, name),
      parent: folder,
      depth: folder.depth + 1,
    };
    if (this.#excludedFolders.has(place.realPath)) return;
    const info = isDirectory ? undefined : Deno.statSync(place.path);
    if (info === undefined || info.isDirectory) {
      if (place.depth === MAX_FILE_DEPTH) this.#leftOut.set(path, TOO_DEEP);
      else this.#listFolder(place, `${path}/`);
    } else if (!info.isFile) {
      this.#leftOut.set(path, NOT_A_FILE);
    } else if (info.size > this.#maxFileSize) {
      this.#leftOut.set(path, tooLarge(info.size, this.#maxFileSize));
    } else {
      this.#files.push({
        path: place.path === this.#skill.file ? "SKILL.md" : path,
        size: info.size,
        version: fileVersion(info),
        isRacy: isRacy(info),
      });
    }
  }
}

/** Whether a real path is that of a place or of one on the way to it. */
function isOnWay(realPath: string, place: Place | undefined): boolean {
  while (place !== undefined && place.realPath !== realPath) {
    place = place.parent;
  }
  return place !== undefined;
}

/** Says why an entry of a folder cannot be reached, if it has not just gone. */
function entryFault(
  { name, isSymlink }: Deno.DirEntry,
  error: unknown,
): Fault | undefined {
  if (isSymlink || !isAbsence(error)) return faultOf(error);
  return name.includes("\ufffd") ? NAME_IS_NOT_UTF_8 : undefined;
}

/** What is in the folders of a skill, for as long as their versions stay the same. */
const knownFolders = new WeakMap<Skill, Map<string, KnownFolder>>();

interface KnownFolder {
  readonly version: string;
  readonly entries: readonly Deno.DirEntry[];
}

/** Lists a folder of a skill in the order of its names. */
function folderEntries(path: string, skill: Skill): readonly Deno.DirEntry[] {
  // To stat a folder takes a quarter of what it takes to list it.
  const info = Deno.statSync(path);
  const version = fileVersion(info);
  const known = knownFolders.get(skill)?.get(path);
  if (known?.version === version) return known.entries;
  const entries = readFolder(path);
  if (!isRacy(info) && entries.length <= MAX_KNOWN_ENTRIES) {
    const folders = knownFolders.get(skill) ?? new Map();
    knownFolders.set(skill, folders.set(path, { version, entries }));
  }
  return entries;
}

export const LINK_OUT_OF_PROJECT: Fault = {
  reason: "it is a link that leads outside the project",
  hint:
    "put the folder itself there, or, if you trust the folder DIR that it leads into, start with --trust-links DIR",
};

/**
 * Returns the folders that real paths are compared with. Where Deno may not look
 * into one its path must do: if a link is in it no real path begins with it.
 */
export function boundaries(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    try {
      return [Deno.realPathSync(path)];
    } catch (error) {
      return error instanceof Deno.errors.NotCapable ? [path] : [];
    }
  });
}

/** Returns the real paths of those folders that are there and may be read. */
export function realPaths(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    try {
      return [Deno.realPathSync(path)];
    } catch {
      return [];
    }
  });
}

/**
 * Returns the SHA-256 digest of some bytes as the Skills extension writes it.
 */
export async function sha256(bytes: Uint8Array): Promise<string> {
  // Loaded when it is needed, since it takes a while; and not Web Crypto, which
  // takes five times as long for small files.
  const { createHash } = await (cryptoModule ??= import("node:crypto"));
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

let cryptoModule: Promise<typeof import("node:crypto")> | undefined;
