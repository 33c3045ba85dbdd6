/**
 * Access to the files of a skill, confined to the skill's directory.
 *
 * 1. A path belongs to the skill if its real path, with all links resolved,
 *    lies in the skill's real directory or in a trusted folder.
 * 2. Deno has no functions that work relative to an open folder. Every function
 *    takes a path, and two calls can reach different files by the same path. So
 *    the code confirms the location of everything after it is opened or listed.
 * 3. Only confirmed data is cached. Its key contains the device, the inode, and
 *    the times of the file that is currently at the path.
 *
 * @module
 */

import { basename, dirname, relative } from "jsr:@std/path@^1";
import { isFence, MAX_FRONTMATTER_SIZE } from "../skills/frontmatter.ts";
import { childPath, isInside, isWindows, isWithin, SKILL_MD } from "./paths.ts";
import {
  type FileState,
  fileVersion,
  isRacy,
  type OpenFile,
  openFile,
} from "./open_file.ts";
import { byCodeUnits, oneLine, quote } from "../text.ts";
import type {
  FileAccessOptions,
  Skill,
  SkillFile,
  SkillFileContent,
} from "../skills/types.ts";

/** The default size limit of files, in bytes. */
export const DEFAULT_MAX_FILE_SIZE: number = 1024 * 1024;

/** The maximum number of entries of a folder whose listing is cached. */
const MAX_KNOWN_ENTRIES = 1_000;

/** How much of a `SKILL.md` is read first, in bytes. Most frontmatter is shorter. */
const SHORT_HEAD_SIZE = 2 * 1024;

/** The maximum number of names in the path of a file. */
export const MAX_FILE_DEPTH = 10;

/** The maximum number of entries that are visited to list the files of a skill. */
const MAX_WALKED_ENTRIES = 20_000;

/** Thrown when a file of a skill cannot be read. */
export class SkillFileError extends Error {
  /** What is wrong. */
  readonly reason: string;
  /** How to fix it. */
  readonly hint: string;
  /** Creates an error from the path, the reason, and the fix. */
  constructor(path: string, fault: { reason: string; hint: string }) {
    super(`Cannot read ${quote(path)}: ${fault.reason}; ${fault.hint}`);
    this.name = "SkillFileError";
    this.reason = fault.reason;
    this.hint = fault.hint;
  }
}

/** What is wrong, and how to fix it. */
export interface Fault {
  readonly reason: string;
  readonly hint: string;
}

/** For a file that does not exist, and also for one that does not belong to the skill. */
const NOT_THERE: Fault = {
  reason: "there is no such file in the skill",
  hint: "pass the path of a file relative to the skill's folder",
};

export const LINK_OUT_OF_SKILL: Fault = {
  reason:
    "it is a link that points outside its skill, or to a hidden file or folder",
  hint:
    "replace it with the file itself, or, if you trust the folder DIR that it points into, use --trust-links DIR",
};

const LINK_BACK: Fault = {
  reason: "it is a link to a folder that contains it",
  hint: "remove it",
};

export const LINK_TO_NOTHING: Fault = {
  reason: "it is a link to a missing file or folder",
  hint: "fix or remove the link",
};

export const IS_A_FOLDER: Fault = {
  reason: "it is a folder",
  hint: "pass the path of a file",
};

const NOT_A_FILE: Fault = {
  reason: "it is not a regular file",
  hint: "replace it with a regular file",
};

export const WAS_REPLACED: Fault = {
  reason: "it was replaced while it was being read",
  hint: "try again",
};

const TOO_DEEP: Fault = {
  reason: `its entries are more than ${MAX_FILE_DEPTH} levels deep`,
  hint: "move them closer to the SKILL.md",
};

const TOO_MANY_ENTRIES: Fault = {
  reason:
    `the limit of ${MAX_WALKED_ENTRIES} entries was reached here, and the rest was skipped`,
  hint: "move files that the skill does not need out of it",
};

export const NAME_IS_NOT_UTF_8: Fault = {
  reason: "its name is not valid UTF-8, so it cannot be opened",
  hint: "rename it",
};

const ONLY_WITH_ALL: Fault = {
  reason: "Deno reads network folders and devices only with --allow-all",
  hint: "copy it to a local folder",
};

/** Describes an error of the file system and how to fix it. */
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
      reason: "Deno is not allowed to read it",
      hint: "add it to the folders of --allow-read",
    };
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return {
      reason: "you have no permission to read it",
      hint: "grant yourself read permission, or remove it",
    };
  }
  if (error instanceof Deno.errors.FilesystemLoop) {
    return {
      reason: "it is a link to itself",
      hint: LINK_TO_NOTHING.hint,
    };
  }
  return {
    reason: `the operating system refuses to read it (${
      oneLine((error as Error).message)
    })`,
    hint: "replace it with a readable file or folder",
  };
}

function tooLarge(size: number, maxFileSize: number): Fault {
  return {
    reason: `it has ${size} bytes, and the limit is ${maxFileSize}`,
    hint: "make it smaller, or raise --max-file-size",
  };
}

/** Whether a path exists, including dangling links. */
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

/** A path in a skill and its real path. */
export interface Located {
  readonly path: string;
  /** The path with all links resolved. */
  readonly realPath: string;
  /** The skill that it belongs to. */
  readonly skill: Pick<Skill, "directory" | "realDirectory">;
}

/** A file and its status before it is opened. */
export interface CheckedFile extends Located {
  readonly info: Deno.FileInfo;
}

/**
 * Reads a regular file after confirming that the opened file lies at its real
 * path. The content can be cached only if that is certain.
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
  if (!file.info.isFile) throw new SkillFileError(path, WAS_REPLACED);
  const isSame = () => isSameFile(statLocated(checked), file.info);
  const folder = dirname(checked.realPath);
  return read(file, confirmLocation(checked, { since, folder, isSame }));
}

/** Stats the file at a path, without following a link that has replaced it. */
function statLocated(located: Located): Deno.FileInfo {
  const { path } = located;
  return isDirect(located) ? Deno.lstatSync(path) : Deno.statSync(path);
}

/** Whether no part of a path below the skill directory is a link. */
function isDirect({ path, realPath, skill }: Located): boolean {
  return realPath === skill.realDirectory + path.slice(skill.directory.length);
}

function isSameFile(a: FileState, b: FileState): boolean {
  return a.isFile === b.isFile && a.dev === b.dev && a.ino === b.ino;
}

/** How many times a path is checked again if folders on it changed recently. */
const CHECKS = 10;

/**
 * How many times a large folder or the target of a link is checked again. Each
 * check of a large folder is slow.
 */
const FEW_CHECKS = 4;

/** A folder with more entries than this counts as large. */
const MANY_ENTRIES = 500;

/**
 * Confirms that the file or folder that was found at a path after the time
 * `since` lies at its real path. A folder on the path may have been swapped for a
 * link and back.
 *
 * 1. A swap changes the times of the folder that contains the swapped entry. If
 *    the folders on the path, from `folder` up, have not changed for a while,
 *    nothing was swapped.
 * 2. Otherwise, two checks are repeated in random order: that the path still leads
 *    to the same file, and that it still has the same real path. A file outside
 *    passes the first check only while it is swapped in, and the second one only
 *    while it is not. So each check detects the swap with a probability of one
 *    half, whatever the timing, and less than one swap in a thousand passes ten
 *    checks.
 *
 * @returns Whether it is certain that nothing was swapped, as in case 1.
 * @throws {SkillFileError} If a swap was detected.
 */
function confirmLocation(
  located: Located,
  { since, folder, isSame, checks = CHECKS }: {
    since: number;
    folder: string;
    isSame: () => boolean;
    checks?: number;
  },
): boolean {
  let isConfirmed = isInPlace(located);
  if (isConfirmed && isDirect(located) && isSettled(located, folder, since)) {
    return true;
  }
  isConfirmed &&= isSame();
  for (; isConfirmed && checks > 0; checks--) {
    isConfirmed = Math.random() < 0.5 ? isSame() : isInPlace(located);
  }
  if (!isConfirmed) throw new SkillFileError(located.path, WAS_REPLACED);
  return false;
}

/** Whether a folder in which an entry was just found lies at its real path. */
export function isConfirmed(folder: Located, isSame: () => boolean): boolean {
  const since = Date.now();
  try {
    confirmLocation(folder, { since, folder: folder.realPath, isSame });
    return true;
  } catch {
    return false;
  }
}

function isInPlace({ path, realPath }: Located): boolean {
  return Deno.realPathSync(path) === realPath;
}

/**
 * Whether the folders from the parent of the skill directory down to `folder`, a
 * real path, have not changed since a while before the time `since`.
 */
function isSettled(
  { skill: { directory, realDirectory } }: Located,
  folder: string,
  since: number,
): boolean {
  const top = dirname(realDirectory);
  try {
    // The order is upward, because an unchanged folder proves that the check of
    // its subfolder was valid.
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
  /** The status, unless the entry is a folder or a link. */
  readonly info?: Deno.FileInfo;
  /** The error of the attempt to get the status. */
  readonly error?: unknown;
}

/**
 * Lists a folder and confirms that it lies at its real path. Returns the
 * entries that every check finds.
 */
function listConfirmed(folder: Located, read: () => Entry[]): Entry[] {
  const since = Date.now();
  let entries = read();
  const isSame = () => {
    const identities = new Set(read().map(entryIdentity));
    entries = entries.filter((entry) => identities.has(entryIdentity(entry)));
    return true;
  };
  const checks = entries.length > MANY_ENTRIES ? FEW_CHECKS : CHECKS;
  confirmLocation(folder, { since, folder: folder.realPath, isSame, checks });
  return entries;
}

/** Returns a text that identifies an entry and does not change when a file grows. */
function entryIdentity({ name, isSymlink, info }: Entry): string {
  return `${name}:${isSymlink}:${info?.dev}:${info?.ino}`;
}

/** Reads a file to its end, but at most `limit` bytes. */
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

/** A shared buffer for the beginnings of files, because a scan reads many files. */
const headBuffer = new Uint8Array(MAX_FRONTMATTER_SIZE + 1);

const headDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads a `SKILL.md` only to the end of its frontmatter, because the strings
 * that are parsed from a text keep the whole text in memory.
 */
export function readHead(file: OpenFile): string {
  let length = 0;
  for (let limit = SHORT_HEAD_SIZE;; limit = headBuffer.length) {
    const read = file.read(headBuffer.subarray(length, limit));
    length += read;
    const isWhole = read === 0 || length === headBuffer.length;
    const bytes = headBuffer.subarray(0, length);
    const end = findFrontmatterEnd(bytes);
    if (end !== undefined) return headDecoder.decode(bytes.subarray(0, end));
    if (isWhole) return headDecoder.decode(bytes);
  }
}

/** Returns the end of the line that closes the frontmatter, if there is one. */
function findFrontmatterEnd(bytes: Uint8Array): number | undefined {
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

/** Whether a file or folder with this name is part of a skill. */
function isVisible(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" &&
    name !== "__pycache__";
}

/**
 * Whether a real path belongs to a skill: it lies in the skill's real directory
 * and is not hidden, or it lies in a trusted folder.
 */
export function isOwn(
  realPath: string,
  realDirectory: string,
  trustLinks: readonly string[],
): boolean {
  return isWithin(realPath, realDirectory)
    ? relative(realDirectory, realPath).split(/[\\/]/).every(isVisible)
    : isInside(realPath, trustLinks);
}

/** Splits a path into names. Returns `undefined` if it cannot be the path of a skill's file. */
export function splitPath(path: string): string[] | undefined {
  const names: string[] = [];
  // On Windows, a colon would refer to a drive or to a stream of a file.
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
 * Resolves the path of a file or folder of a skill. Names that begin with a
 * dot, `node_modules`, and `__pycache__` do not belong to the skill, and
 * neither does anything whose real path is outside the skill's real directory
 * and the trusted folders. A path has at most 10 names.
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
 * @param path The path relative to the skill directory, with `/` as the
 *   separator, or an empty string for the directory itself.
 * @param options The trusted folders.
 * @returns The path as configured, and the path with all links resolved.
 * @throws {SkillFileError} If the path does not exist or does not belong to the skill.
 */
export function resolveSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions = {},
): { path: string; realPath: string } {
  const located = withFileErrors(
    path,
    () => new SkillWalk(skill, options).find(path),
  );
  return { path: located.path, realPath: located.realPath };
}

/** Whether an error means that a path does not exist. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.FilesystemLoop ||
    error instanceof TypeError; // a NUL in the path
}

/**
 * Reads the current content of a file of a skill.
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
 * @param path The path relative to the skill directory, as in {@linkcode resolveSkillFile}.
 * @param options The trusted folders and the size limit.
 * @returns The file's content.
 * @throws {SkillFileError} If the file does not exist, does not belong to the
 *   skill, is not a regular file, is too large, or cannot be read.
 */
export function readSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions = {},
): SkillFileContent {
  return withText(readSkillBytes(skill, path, options));
}

/** Finds a file of a skill and stats it. */
export function checkSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions,
): CheckedFile {
  return withFileErrors(path, () => {
    const located = new SkillWalk(skill, options).find(path);
    return { ...located, info: statLocated(located) };
  });
}

/** Reads the current content of a file of a skill as bytes. See {@linkcode readSkillFile}. */
export function readSkillBytes(
  skill: Skill,
  path: string,
  options: FileAccessOptions,
): Omit<SkillFileContent, "text"> {
  return readChecked(checkSkillFile(skill, path, options), path, options);
}

/** Reads a checked file as bytes. */
export function readChecked(
  checked: CheckedFile,
  path: string,
  { maxFileSize = DEFAULT_MAX_FILE_SIZE }: FileAccessOptions,
): Omit<SkillFileContent, "text"> {
  return withFileErrors(
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
            path: splitPath(path)!.join("/"),
            size: bytes.length,
            version: fileVersion(file.info),
            isRacy: isRacy(file.info) || !isCertain,
            bytes,
          };
        },
      ),
  );
}

/**
 * Calls a function and converts its errors to errors about a path in the skill.
 * Callers cannot distinguish a file outside the skill from a missing one.
 */
function withFileErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const isNotThere = isAbsence(error) || error instanceof ForeignLinkError;
    throw new SkillFileError(path, isNotThere ? NOT_THERE : faultOf(error));
  }
}

/** Adds the text of a file to its bytes. */
export function withText(
  content: Omit<SkillFileContent, "text">,
): SkillFileContent {
  return { ...content, text: decodeUtf8(content.bytes) };
}

/** Decodes UTF-8 exactly, including a byte order mark. Returns `undefined` if it is invalid. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Lists the files of a skill that can be read: the files that
 * {@linkcode resolveSkillFile} finds and that are not too large, including those
 * of nested skills. A `skill.md` is listed as `SKILL.md`.
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
 * @param options The trusted folders and the size limit.
 * @returns The files, sorted by path. The search ends after 20,000 entries.
 */
export function listSkillFiles(
  skill: Skill,
  options: FileAccessOptions = {},
): SkillFile[] {
  return walkSkill(skill, options).files;
}

/** Lists the files of a skill, the real paths of its folders, and the entries that are left out. */
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

/** The contents of a skill's directory. */
export interface SkillListing {
  /** The files that can be read, sorted by path. */
  readonly files: SkillFile[];
  /** The real paths of the folders. */
  readonly folders: string[];
  /** The entries that are not served, by path, with the reasons. */
  readonly leftOut: Map<string, Fault>;
}

/** A file or folder in a skill directory, and the folder that contains it. */
interface TreeNode extends Located {
  readonly parent: TreeNode | undefined;
  /** The number of levels below the skill directory. */
  readonly depth: number;
}

/** Thrown when a link in a skill points to something that does not belong to the skill. */
class ForeignLinkError extends SkillFileError {}

/** A walk through a skill. It defines which files belong to the skill. */
class SkillWalk {
  readonly #skill: Skill;
  readonly #trustLinks: readonly string[];
  readonly #excludedFolders: ReadonlySet<string>;
  readonly #maxFileSize: number;
  readonly #top: TreeNode;
  readonly #files: SkillFile[] = [];
  readonly #folders: string[] = [];
  readonly #leftOut = new Map<string, Fault>();
  readonly #since = Date.now();
  /** Whether to follow links and confirm each folder when it is listed. */
  readonly #isThorough: boolean;
  /** The folders that are not confirmed yet, by path. */
  readonly #seen = new Map<string, KnownFolder>();
  #hasLinks = false;
  /** The number of visited entries. */
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

  /** Resolves a path in the skill. */
  find(path: string): Located {
    const names = splitPath(path);
    const main = basename(this.#skill.file);
    const isOtherName = names?.length === 1 && names[0] === main;
    const isForeign = names === undefined || !names.every(isVisible) ||
      main !== SKILL_MD && isOtherName;
    if (isForeign) throw new Deno.errors.NotFound(path);
    if (names.join("/") === SKILL_MD) names[0] = main;
    const direct = this.#findDirect(names);
    if (direct !== undefined) return direct;
    if (!isInPlace(this.#top)) throw new Deno.errors.NotFound(path);
    let node = this.#top;
    for (const name of names) node = this.#follow(node, name);
    return node;
  }

  /** Lists everything in the skill. */
  list(): SkillListing {
    this.#listFolder(this.#top, "");
    return {
      files: this.#files.sort((a, b) => byCodeUnits(a.path, b.path)),
      folders: this.#folders,
      leftOut: this.#leftOut,
    };
  }

  /**
   * Whether the whole list is confirmed: there are no links, and no folder
   * changed during the walk or shortly before it. If so, the next walk does not
   * need to read these folders again.
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

  /** Resolves names with a single call, if none of them is a link. */
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

  /** Whether a real path is an excluded folder below the skill, or lies in one. */
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
   * Resolves a name in a folder, which may be a link.
   *
   * @throws {ForeignLinkError} If the link points outside the skill, to a hidden
   *   file or folder, or back to a folder that contains it.
   */
  #follow(parent: TreeNode, name: string): TreeNode {
    const path = childPath(parent.path, name);
    const realPath = Deno.realPathSync(path);
    if (isAtOrAbove(realPath, parent)) {
      throw new ForeignLinkError(path, LINK_BACK);
    }
    const isOwnPath =
      isOwn(realPath, this.#skill.realDirectory, this.#trustLinks) &&
      !this.#isExcluded(realPath);
    if (!isOwnPath) throw new ForeignLinkError(path, LINK_OUT_OF_SKILL);
    return { ...parent, path, realPath, parent, depth: parent.depth + 1 };
  }

  #listFolder(folder: TreeNode, prefix: string): void {
    this.#folders.push(folder.realPath);
    let entries: readonly Entry[] = [];
    try {
      entries = this.#listEntries(folder);
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
        const fault = findEntryFault(entry, error);
        if (fault !== undefined) this.#leftOut.set(path, fault);
      }
    }
  }

  /** Lists the visible entries of a folder, sorted by name, with their status. */
  #listEntries(folder: TreeNode): Entry[] {
    const { path } = folder;
    const limit = MAX_WALKED_ENTRIES - this.#entries + 1;
    if (this.#isThorough) {
      const read = () => statEntries(path, readVisible(path).slice(0, limit));
      return listConfirmed(folder, read);
    }
    // Getting the status of a folder takes a quarter of the time of listing it.
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
    { folder, path }: { folder: TreeNode; path: string },
  ): void {
    if (entry.isSymlink && !this.#isThorough) {
      this.#hasLinks = true;
      return;
    }
    const node = entry.isSymlink ? this.#follow(folder, entry.name) : {
      ...folder,
      path: childPath(folder.path, entry.name),
      realPath: childPath(folder.realPath, entry.name),
      parent: folder,
      depth: folder.depth + 1,
    };
    if (this.#excludedFolders.has(node.realPath)) return;
    if (entry.error !== undefined) throw entry.error;
    const info = entry.isSymlink ? statTarget(node) : entry.info;
    if (info === undefined || info.isDirectory) {
      if (node.depth === MAX_FILE_DEPTH) this.#leftOut.set(path, TOO_DEEP);
      else this.#listFolder(node, `${path}/`);
    } else if (!info.isFile) {
      this.#leftOut.set(path, NOT_A_FILE);
    } else if (info.size > this.#maxFileSize) {
      this.#leftOut.set(path, tooLarge(info.size, this.#maxFileSize));
    } else {
      this.#files.push({
        path: node.path === this.#skill.file ? SKILL_MD : path,
        size: info.size,
        version: fileVersion(info),
        isRacy: isRacy(info),
      });
    }
  }
}

/** Whether a real path is that of a node or of a folder that contains it. */
function isAtOrAbove(realPath: string, node: TreeNode | undefined): boolean {
  while (node !== undefined && node.realPath !== realPath) {
    node = node.parent;
  }
  return node !== undefined;
}

/** Returns why an entry of a folder is inaccessible, or `undefined` if it was just removed. */
function findEntryFault(
  { name, isSymlink }: Deno.DirEntry,
  error: unknown,
): Fault | undefined {
  if (isSymlink || !isAbsence(error)) return faultOf(error);
  return name.includes("\ufffd") ? NAME_IS_NOT_UTF_8 : undefined;
}

/** The cached listings of the folders of skills. */
const knownFolders = new WeakMap<Skill, ReadonlyMap<string, KnownFolder>>();

interface KnownFolder {
  readonly version: string;
  /** The visible entries, sorted by name, unless there are too many to cache. */
  readonly entries: readonly Deno.DirEntry[] | undefined;
}

/** Lists the visible entries of a folder, sorted by the code units of their names. */
function readVisible(folder: string): Deno.DirEntry[] {
  const visible = [...Deno.readDirSync(folder)]
    .filter(({ name }) => isVisible(name));
  // Several entries have the same name if Deno cannot decode their names. For
  // long lists, this is three times as fast as sorting the entries themselves.
  const entries = Map.groupBy(visible, ({ name }) => name);
  return [...entries.keys()].sort().flatMap((name) => entries.get(name)!);
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

/**
 * Stats the target of a link in a skill, and confirms it unless it is a folder.
 * Folders are confirmed when they are listed.
 */
function statTarget(link: Located): Deno.FileInfo {
  const since = Date.now();
  const info = statLocated(link);
  if (info.isDirectory) return info;
  const isSame = () => isSameFile(statLocated(link), info);
  const folder = dirname(link.realPath);
  confirmLocation(link, { since, folder, isSame, checks: FEW_CHECKS });
  return info;
}

export const LINK_OUT_OF_PROJECT: Fault = {
  reason: "it is a link that points outside the project",
  hint:
    "replace it with the folder itself, or, if you trust the folder DIR that it points into, use --trust-links DIR",
};

/**
 * Returns the real paths of folders, without missing ones. If Deno is not
 * allowed to resolve a folder, returns its path as it is. If that path contains
 * a link, no real path lies in it, which is safe.
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

/** Returns the real paths of the folders that exist and can be resolved. */
export function realPaths(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    try {
      return [Deno.realPathSync(path)];
    } catch {
      return [];
    }
  });
}

/** Returns the SHA-256 digest of some bytes in the format of the Skills extension. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  // Loaded on demand, because loading takes a while. For small files, Web Crypto
  // takes five times as long.
  const { createHash } = await (cryptoModule ??= import("node:crypto"));
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

let cryptoModule: Promise<typeof import("node:crypto")> | undefined;
