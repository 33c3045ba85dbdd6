/**
 * Reads the `SKILL.md` of each folder that a scan finds, and remembers what it said
 * for the next scan.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import {
  attempt,
  type Fault,
  faultOf,
  isAbsence,
  isTemporary,
  LINK_OUT_OF_SKILL,
  NOT_A_FILE,
  SkillFileError,
  WAS_REPLACED,
} from "../files/faults.ts";
import { childPath, isCaseBlind, mayRead, SKILL_MD } from "../files/paths.ts";
import {
  confirmLocation,
  type FileStatus,
  fill,
  isRecent,
  isSameFile,
  type Located,
  type OpenFile,
  openForScan,
  requireReadable,
  versionOf,
} from "../files/reading.ts";
import { isOwn } from "../files/served_folder.ts";
import {
  MAX_FRONTMATTER_SIZE,
  readSkillText,
  type SkillText,
} from "./frontmatter.ts";
import type { ListedFolder } from "./subfolders.ts";
import type { Skill } from "./types.ts";

/** The allowed names of a skill's main file, starting with the standard one. */
const SKILL_FILE_NAMES = [SKILL_MD, "skill.md"];

/** How much of the instructions is kept for searching, in bytes. */
const EXCERPT_SIZE = 800;

/** A folder to read. */
export interface ReadableFolder {
  readonly path: string;
  readonly realPath: string;
  /** Where it was listed, unless as a link. */
  readonly listedIn: ListedFolder | undefined;
}

/** What the `SKILL.md` in a folder says, or why it cannot be read. */
export interface ReadSkill {
  /** The name of the file. */
  readonly fileName: string;
  /** The real path of the folder that contains the file, which can be a link. */
  readonly mainFolder: string;
  readonly said: SkillText;
  /** The beginning of the instructions. */
  readonly excerpt: string;
  /** The size of the file in bytes, and when it was modified, in milliseconds. */
  readonly size: number;
  readonly modified: number;
  readonly version: string;
  /** What was read, while the file can change and keep its version. */
  readonly recentText?: string | undefined;
  /** The last skill that was created from it, so that an unchanged one stays the same object. */
  skill?: Skill;
}

/** The version of a folder without a `SKILL.md`. */
type Absence = string;

/** Options of {@linkcode SkillReader.startScan}. */
interface ReaderOptions {
  readonly maxFileSize: number | undefined;
  /** The real paths of folders that links are allowed to point into. */
  readonly trusted: readonly string[];
}

/** Reads each `SKILL.md` once, until it changes. */
export class SkillReader {
  #options!: ReaderOptions;
  /** What was read, by the real path of the folder: in the last scan, and in this one. */
  #last = new Map<string, ReadSkill | Absence>();
  #current = new Map<string, ReadSkill | Absence>();

  /** Starts a scan. What only earlier scans read is forgotten. */
  startScan(options: ReaderOptions): void {
    this.#options = options;
    this.#last = this.#current;
    this.#current = new Map();
  }

  /** Returns what the last scan read in a folder, and keeps it for the next one. */
  recall({ realPath }: ReadableFolder): ReadSkill | undefined {
    const known = this.#last.get(realPath);
    if (known !== undefined) this.#current.set(realPath, known);
    return typeof known === "object" ? known : undefined;
  }

  /**
   * Reads the skill in a folder, if there is one.
   *
   * @throws {Error} If something is temporarily unreadable.
   */
  read(folder: ReadableFolder): ReadSkill | undefined {
    const known = this.#last.get(folder.realPath);
    if (typeof known === "string") {
      if (known === settledVersion(folder.path)) return this.recall(folder);
      return this.#readCurrent(folder, undefined);
    }
    const read = this.#readCurrent(folder, known);
    // Many programs replace a file to save it, perhaps just now.
    return wasReplaced(read) ? this.#readCurrent(folder, known) : read;
  }

  /** Reads a skill, or finds out that there is none. */
  #readCurrent(
    folder: ReadableFolder,
    last: ReadSkill | undefined,
  ): ReadSkill | undefined {
    let found: FoundFile | undefined;
    try {
      found = findSkillFile(folder.path);
      if (found === undefined) {
        const version = settledVersion(folder.path);
        if (version !== undefined) this.#current.set(folder.realPath, version);
        return undefined;
      }
      const read = this.#readFile(found, { folder, last });
      this.#current.set(folder.realPath, read);
      return read;
    } catch (error) {
      if (isTemporary(error)) throw error;
      return describeUnreadable(folder, { found, fault: faultOf(error) });
    }
  }

  /** Reads a `SKILL.md`, unless it is the same as before. */
  #readFile(
    { name: fileName, path, status }: FoundFile,
    { folder, last }: { folder: ReadableFolder; last: ReadSkill | undefined },
  ): ReadSkill {
    if (status.isDirectory) throw new SkillFileError(path, NOT_A_FILE);
    const isLinked = status.isSymlink;
    const realPath = isLinked
      ? this.#followLink(path, folder)
      : childPath(folder.realPath, fileName);
    const target = isLinked ? Deno.statSync(path) : status;
    const mainFolder = isLinked ? dirname(realPath) : folder.realPath;
    const isSame = last !== undefined && last.version === versionOf(target) &&
      last.mainFolder === mainFolder && last.fileName === fileName;
    if (isSame && last.recentText === undefined) return last;
    const { maxFileSize } = this.#options;
    requireReadable(path, { status: target, maxFileSize });
    const located = { path, realPath, isLinked };
    const head = readHead(located, { status: target, folder });
    const recentText = isRecent(head.status) ? head.text : undefined;
    if (isSame && last.recentText === head.text) {
      return recentText === undefined ? { ...last, recentText } : last;
    }
    return {
      fileName,
      mainFolder,
      said: readSkillText(head.text),
      excerpt: head.excerpt,
      size: head.status.size,
      modified: head.status.mtime?.getTime() ?? 0,
      version: versionOf(head.status),
      recentText,
    };
  }

  /** Resolves a `SKILL.md` that is a link, into the skill or a trusted folder. */
  #followLink(
    path: string,
    { realPath: realDirectory }: ReadableFolder,
  ): string {
    const { trusted } = this.#options;
    const realPath = Deno.realPathSync(path);
    if (isOwn(realPath, { realDirectory, trusted })) return realPath;
    throw new SkillFileError(path, LINK_OUT_OF_SKILL);
  }
}

/** Opens a file. One that has just gone was replaced, too. */
function openChecked(
  { path, isLinked }: Located,
  before: FileStatus,
): OpenFile {
  try {
    return openForScan(path, before);
  } catch (error) {
    const isGone = !isLinked && isAbsence(error);
    throw isGone ? new SkillFileError(path, WAS_REPLACED) : error;
  }
}

/** A `SKILL.md` in a folder, or a link with this name. */
interface FoundFile {
  readonly name: string;
  readonly path: string;
  readonly status: Deno.FileInfo;
}

/** Finds the `SKILL.md` in a folder, even if it is a dangling link. */
function findSkillFile(folder: string): FoundFile | undefined {
  for (const asked of SKILL_FILE_NAMES) {
    try {
      const status = Deno.lstatSync(childPath(folder, asked));
      const name = isCaseBlind ? nameOnDisk(asked, folder) : asked;
      return { name, path: childPath(folder, name), status };
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
  }
}

/** Whether a folder has a `SKILL.md`, valid or not. */
export function isSkillFolder(folder: string): boolean {
  return mayRead(folder) && attempt(() => findSkillFile(folder)) !== undefined;
}

/** Returns a name with its capitalization on disk, which real paths have too. */
function nameOnDisk(name: string, folder: string): string {
  const key = name.toLowerCase();
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((other) => other.toLowerCase() === key);
  return names.includes(name) ? name : names[0] ?? name;
}

/** Returns the version of a folder, unless it changed so recently that it may change again. */
function settledVersion(folder: string): string | undefined {
  const status = Deno.statSync(folder);
  return isRecent(status) ? undefined : versionOf(status);
}

function wasReplaced(read: ReadSkill | undefined): boolean {
  return read?.said.problems[0]?.reason === WAS_REPLACED.reason;
}

/** Describes a `SKILL.md` that cannot be read. It is not remembered. */
function describeUnreadable(
  { realPath }: ReadableFolder,
  { found, fault }: { found: FoundFile | undefined; fault: Fault },
): ReadSkill {
  return {
    fileName: found?.name ?? SKILL_MD,
    mainFolder: realPath,
    said: {
      isRepaired: false,
      problems: [fault],
      isHiddenFromModel: false,
      isHiddenFromUser: false,
    },
    excerpt: "",
    size: 0,
    modified: 0,
    version: "",
  };
}

/** A shared buffer for the beginnings of files, because a scan reads many files. */
const headBuffer = new Uint8Array(MAX_FRONTMATTER_SIZE + EXCERPT_SIZE);

const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The beginning of a `SKILL.md`. */
interface SkillHead {
  readonly status: FileStatus;
  /**
   * The frontmatter. It is a text of its own, because the strings that are parsed
   * from a text keep the whole text in memory.
   */
  readonly text: string;
  /** What follows it. */
  readonly excerpt: string;
}

/**
 * Reads the beginning of a `SKILL.md`.
 *
 * @param located The file.
 * @param before Its status before it is opened, and the folder of the skill.
 */
function readHead(
  located: Located,
  { status: before, folder }: { status: FileStatus; folder: ReadableFolder },
): SkillHead {
  const { path, isLinked } = located;
  using file = openChecked(located, before);
  const { status } = file;
  if (!status.isFile || !isSameFile(status, before)) {
    throw new SkillFileError(path, WAS_REPLACED);
  }
  const size = Math.min(status.size, headBuffer.length);
  const bytes = headBuffer.subarray(
    0,
    fill(file, headBuffer.subarray(0, size)),
  );
  const isListed = !isLinked && folder.listedIn?.isSettled() &&
    isSameFile(Deno.lstatSync(path), status);
  if (!isListed) confirmLocation(located, status);
  const end = findFrontmatterEnd(bytes) ?? bytes.length;
  return {
    status,
    text: textDecoder.decode(bytes.subarray(0, end)),
    excerpt: textDecoder.decode(bytes.subarray(end, end + EXCERPT_SIZE)),
  };
}

/** The characters of a fence, and of what surrounds it, as bytes. */
const [DASH, LINE_FEED, ...BLANKS] = new TextEncoder().encode("-\n\r\t ");

/** Returns where the body of a `SKILL.md` begins, if its frontmatter ends. */
function findFrontmatterEnd(bytes: Uint8Array): number | undefined {
  let line = bytes[0] === 0xef ? 3 : 0;
  for (let fences = 0; line < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED!, line);
    if (end === -1) return undefined;
    if (bytes[line] === DASH && isFence(bytes.subarray(line, end))) fences++;
    if (fences === 0) return undefined;
    line = end + 1;
    if (fences === 2) return line;
  }
}

/** Whether a line consists of three dashes, and perhaps blanks. */
function isFence(line: Uint8Array): boolean {
  return line[1] === DASH && line[2] === DASH &&
    line.subarray(3).every((byte) => BLANKS.includes(byte));
}
