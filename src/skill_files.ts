// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Access to the files of a skill, and the one rule that confines it.
 *
 * 1. A path belongs to the skill if its real path, with all links resolved,
 *    lies in the skill's real directory or in a trusted folder.
 * 2. Deno offers no calls relative to an open folder. Everything is done by path,
 *    and a path may lead elsewhere at the next call. So whatever was opened or
 *    listed is confirmed afterwards.
 * 3. What is kept in memory was confirmed before, and is found by the device,
 *    the inode and the times of what its path leads to now.
 *
 * @module
 */

import { basename, dirname, relative } from "jsr:@std/path@^1";
import { isFence, MAX_FRONTMATTER_SIZE } from "./frontmatter.ts";
import { childPath, isInside, isWindows, isWithin } from "./paths.ts";
import {
  type FileState,
  fileVersion,
  isRacy,
  type OpenFile,
  openFile,
} from "./open_file.ts";
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

/** A path in a skill, and where it leads. */
export interface Located {
  readonly path: string;
  /** The path with all links resolved. */
  readonly realPath: string;
  /** The skill that it belongs to. */
  readonly skill: Pick<Skill, "directory" | "realDirectory">;
}

/** A file that was looked at before it is opened. */
export interface CheckedFile extends Located {
  readonly info: Deno.FileInfo;
}

/**
 * Reads a regular file, once it is confirmed that what was opened lies at its
 * real path. What was read may be kept in memory only if that is certain.
 */
export function readConfined<T>(
  checked: CheckedFile,
  { maxFileSize, open }: {
    maxFileSize: number;
    open: (path: string, info: Deno.FileInfo) => OpenFile;
  },
  read: (file: OpenFile, isCertain: boolean) => T,
): T {
  const { path, info } = checked;
  if (info.isDirectory) throw new SkillFileError(path, IS_A_FOLDER);
  if (!info.isFile) throw new SkillFileError(path, NOT_A_FILE);
  if (info.size > maxFileSize) {
    throw new SkillFileError(path, tooLarge(info.size, maxFileSize));
  }
  const since = Date.now();
  using file = open(path, info);
  if (!file.info.isFile) throw new SkillFileError(path, CHANGED_MEANWHILE);
  const isSame = () => isSameFile(look(checked), file.info);
  const folder = dirname(checked.realPath);
  return read(file, confirm(checked, { since, folder, isSame }));
}

/** Stats what a path leads to. A link that has taken its place is not followed. */
function look(located: Located): Deno.FileInfo {
  const { path } = located;
  return isDirect(located) ? Deno.lstatSync(path) : Deno.statSync(path);
}

/** Whether no name of a path below the skill directory is a link. */
function isDirect({ path, realPath, skill }: Located): boolean {
  return realPath === skill.realDirectory + path.slice(skill.directory.length);
}

function isSameFile(a: FileState, b: FileState): boolean {
  return a.isFile === b.isFile && a.dev === b.dev && a.ino === b.ino;
}

/** How often a path is checked again while folders on the way to it change. */
const LOOKS = 10;

/** How often, where one look takes long or can reveal no more than a size. */
const FEW_LOOKS = 4;

/** A folder with more entries than this takes long to look into. */
const MANY_ENTRIES = 500;

/**
 * Confirms that what was found under a path after the time `since` lies at its
 * real path. A folder on the way may have been swapped for a link, and back.
 *
 * 1. A swap changes the times of the folder that it happens in. If the folders
 *    on the way, from `folder` up, have not changed for a while, nothing was
 *    swapped.
 * 2. Otherwise two checks are repeated, and chance decides which comes next:
 *    that the same is still found, and that the path still leads to the real
 *    path. Something outside passes the first only while it is swapped in, and
 *    the second only while it is not. So each check reveals it with even odds,
 *    whatever the timing, and less than one in a thousand passes.
 *
 * @returns Whether that is certain, as in the first case.
 * @throws {SkillFileError} If the path led elsewhere.
 */
function confirm(
  located: Located,
  { since, folder, isSame, looks = LOOKS }: {
    since: number;
    folder: string;
    isSame: () => boolean;
    looks?: number;
  },
): boolean {
  let isConfirmed = isInPlace(located);
  if (isConfirmed && isDirect(located) && isSettled(located, folder, since)) {
    return true;
  }
  isConfirmed &&= isSame();
  for (; isConfirmed && looks > 0; looks--) {
    isConfirmed = Math.random() < 0.5 ? isSame() : isInPlace(located);
  }
  if (!isConfirmed) throw new SkillFileError(located.path, CHANGED_MEANWHILE);
  return false;
}

/** Whether what was found in a folder just now lies at the folder's real path. */
export function isConfirmed(folder: Located, isSame: () => boolean): boolean {
  const since = Date.now();
  try {
    confirm(folder, { since, folder: folder.realPath, isSame });
    return true;
  } catch {
    return false;
  }
}

function isInPlace({ path, realPath }: Located): boolean {
  return Deno.realPathSync(path) === realPath;
}

/**
 * Whether the folders on the way have not changed for a while: from the one that
 * the skill lies in down to `folder`, a real path.
 */
function isSettled(
  { skill: { directory, realDirectory } }: Located,
  folder: string,
  since: number,
): boolean {
  const top = dirname(realDirectory);
  try {
    // Upwards: that a folder has not changed vouches for the look at the one in it.
    for (let path = folder;; path = dirname(path)) {
      const info = Deno.lstatSync(path);
      if (info.isSymlink || isRacy(info, since)) return false;
      if (path.length <= top.length) break;
    }
    const parent = dirname(directory);
    return parent === top || !isRacy(Deno.statSync(parent), since);
  } catch {
    return false;
  }
}

/** An entry of a folder. */
interface Entry extends Deno.DirEntry {
  /** What the system knows of it, unless it is a folder or a link. */
  readonly info?: Deno.FileInfo;
  /** Why it cannot be looked at. */
  readonly error?: unknown;
}

/** Lists a folder, and confirms that it lies at its real path. An entry counts if each look shows it. */
function confirmEntries(folder: Located, read: () => Entry[]): Entry[] {
  const since = Date.now();
  let entries = read();
  const isSame = () => {
    const identities = new Set(read().map(identityOf));
    entries = entries.filter((entry) => identities.has(identityOf(entry)));
    return true;
  };
  const looks = entries.length > MANY_ENTRIES ? FEW_LOOKS : LOOKS;
  confirm(folder, { since, folder: folder.realPath, isSame, looks });
  return entries;
}

/** Returns a text that differs for another entry, and stays as a file grows. */
function identityOf({ name, isSymlink, info }: Entry): string {
  return `${name}:${isSymlink}:${info?.dev}:${info?.ino}`;
}

/** Reads a file to its end, or to `limit` bytes if it has more. */
function readUpTo(
  file: OpenFile,
  limit: number,
): Uint8Array<ArrayBuffer> {
  let buffer = new Uint8Array(Math.min(file.info.size + 1, limit));
  let length = 0;
  for (;;) {
    const read = file.read(buffer.subarray(length));
    length += read;
    if (read === 0 || length === limit) return buffer.subarray(0, length);
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
export function readHead(file: OpenFile): string {
  let length = 0;
  for (let limit = SHORT_HEAD_SIZE;; limit = headBuffer.length) {
    const read = file.read(headBuffer.subarray(length, limit));
    length += read;
    const isWhole = read === 0 || length === headBuffer.length;
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
  const located = tellingOf(
    path,
    () => new SkillWalk(skill, options).find(path),
  );
  return { path: located.path, realPath: located.realPath };
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
  return tellingOf(path, () => {
    const located = new SkillWalk(skill, options).find(path);
    return { ...located, info: look(located) };
  });
}

export function readChecked(
  checked: CheckedFile,
  path: string,
  { maxFileSize = DEFAULT_MAX_FILE_SIZE }: FileAccessOptions,
): SkillFileContent {
  return tellingOf(
    path,
    () =>
      readConfined(
        checked,
        { maxFileSize, open: openFile },
        (file, isCertain) => {
          const bytes = readUpTo(file, maxFileSize + 1);
          if (bytes.length > maxFileSize) {
            throw new SkillFileError(path, tooLarge(bytes.length, maxFileSize));
          }
          return {
            path: namesOf(path)!.join("/"),
            size: bytes.length,
            version: fileVersion(file.info),
            isRacy: isRacy(file.info) || !isCertain,
            bytes,
            text: decodeUtf8(bytes),
          };
        },
      ),
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
  const walk = new SkillWalk(skill, options);
  const listing = walk.list();
  return walk.confirm()
    ? listing
    : new SkillWalk(skill, { ...options, isThorough: true }).list();
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
interface Place extends Located {
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
  readonly #since = Date.now();
  /** Whether each folder is confirmed as it is listed, and links are followed. */
  readonly #isThorough: boolean;
  /** The folders that are not confirmed yet, by their paths. */
  readonly #seen = new Map<string, KnownFolder>();
  #hasLinks = false;
  /** How many entries of folders were looked at. */
  #entries = 0;

  constructor(
    skill: Skill,
    options: FileAccessOptions & { isThorough?: boolean },
  ) {
    this.#skill = skill;
    this.#isThorough = options.isThorough ?? false;
    this.#trustLinks = boundaries(options.trustLinks ?? []);
    this.#excludedFolders = options.excludedFolders ?? new Set();
    this.#maxFileSize = options.maxFileSize ?? DEFAULT_MAX_FILE_SIZE;
    this.#top = {
      path: skill.directory,
      realPath: skill.realDirectory,
      skill,
      parent: undefined,
      depth: 0,
    };
  }

  /** Finds what a path in the skill leads to. */
  find(path: string): Located {
    const names = namesOf(path);
    const main = basename(this.#skill.file);
    const isOtherName = names?.length === 1 && names[0] === main;
    const isForeign = names === undefined || !names.every(isVisible) ||
      main !== "SKILL.md" && isOtherName;
    if (isForeign) throw new Deno.errors.NotFound(path);
    if (names.join("/") === "SKILL.md") names[0] = main;
    const direct = this.#findDirect(names);
    if (direct !== undefined) return direct;
    if (!isInPlace(this.#top)) throw new Deno.errors.NotFound(path);
    let place = this.#top;
    for (const name of names) place = this.#follow(place, name);
    return place;
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

  /**
   * Confirms all that was listed at once: there are no links, and no folder
   * changed during the walk nor for a while before. Then the next walk need not
   * read those folders again.
   */
  confirm(): boolean {
    const top = this.#top;
    const isUnchanged = ([path, { version }]: [string, KnownFolder]) => {
      const info = Deno.statSync(path);
      return fileVersion(info) === version && !isRacy(info, this.#since);
    };
    try {
      const isConfirmed = !this.#hasLinks && isInPlace(top) &&
        [...this.#seen].every(isUnchanged) &&
        isSettled(top, dirname(top.realPath), this.#since);
      if (isConfirmed) knownFolders.set(this.#skill, this.#seen);
      return isConfirmed;
    } catch {
      return false;
    }
  }

  /** Returns the place that names lead to if none of them is a link: then one look is enough. */
  #findDirect(names: readonly string[]): Located | undefined {
    const skill = this.#skill;
    const path = names.reduce(childPath, skill.directory);
    const located = { path, realPath: Deno.realPathSync(path), skill };
    if (!isDirect(located)) return undefined;
    if (this.#isExcluded(located.realPath)) {
      throw new Deno.errors.NotFound(path);
    }
    return located;
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
    return { ...parent, path, realPath, parent, depth: parent.depth + 1 };
  }

  #listFolder(folder: Place, prefix: string): void {
    this.#folders.push(folder.realPath);
    let entries: readonly Entry[] = [];
    try {
      entries = this.#entriesOf(folder);
    } catch (error) {
      if (!isAbsence(error)) this.#leftOut.set(prefix, faultOf(error));
    }
    for (const entry of entries) {
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

  /** Lists the visible entries of a folder in the order of their names, and stats them. */
  #entriesOf(folder: Place): Entry[] {
    const { path } = folder;
    const limit = MAX_WALKED_ENTRIES - this.#entries + 1;
    if (this.#isThorough) {
      const read = () => statEntries(path, readVisible(path).slice(0, limit));
      return confirmEntries(folder, read);
    }
    // To stat a folder takes a quarter of what it takes to list it.
    const version = fileVersion(Deno.statSync(path));
    const known = knownFolders.get(this.#skill)?.get(path);
    const entries = known?.version === version && known.entries ||
      readVisible(path);
    const isKept = entries.length <= MAX_KNOWN_ENTRIES;
    this.#seen.set(path, { version, entries: isKept ? entries : undefined });
    return statEntries(path, entries.slice(0, limit));
  }

  #listEntry(
    entry: Entry,
    { folder, path }: { folder: Place; path: string },
  ): void {
    if (entry.isSymlink && !this.#isThorough) {
      this.#hasLinks = true;
      return;
    }
    const place = entry.isSymlink ? this.#follow(folder, entry.name) : {
      ...folder,
      path: childPath(folder.path, entry.name),
      realPath: childPath(folder.realPath, entry.name),
      parent: folder,
      depth: folder.depth + 1,
    };
    if (this.#excludedFolders.has(place.realPath)) return;
    if (entry.error !== undefined) throw entry.error;
    const info = entry.isSymlink ? lookThrough(place) : entry.info;
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
const knownFolders = new WeakMap<Skill, ReadonlyMap<string, KnownFolder>>();

interface KnownFolder {
  readonly version: string;
  /** The visible ones, in the order of their names, unless they are too many to keep. */
  readonly entries: readonly Deno.DirEntry[] | undefined;
}

function readVisible(folder: string): Deno.DirEntry[] {
  return readFolder(folder).filter(({ name }) => isVisible(name));
}

function statEntries(
  folder: string,
  entries: readonly Deno.DirEntry[],
): Entry[] {
  return entries.map((entry) => {
    if (entry.isSymlink || entry.isDirectory) return entry;
    try {
      const info = Deno.lstatSync(childPath(folder, entry.name));
      return { ...entry, info };
    } catch (error) {
      return { ...entry, error };
    }
  });
}

/** Stats what a link in a skill leads to. A folder is confirmed when it is listed. */
function lookThrough(link: Located): Deno.FileInfo {
  const since = Date.now();
  const info = look(link);
  if (info.isDirectory) return info;
  const isSame = () => isSameFile(look(link), info);
  const folder = dirname(link.realPath);
  confirm(link, { since, folder, isSame, looks: FEW_LOOKS });
  return info;
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
