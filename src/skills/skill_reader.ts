/**
 * Reads the folders that a scan searches: what each contains, and what its
 * `SKILL.md` says, which is remembered for the next scan.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import {
  attempt,
  faultOf,
  isAbsence,
  isTemporary,
  LINK_OUT_OF_SKILL,
  NOT_A_FILE,
  SkillFileError,
} from "../files/faults.ts";
import { childPath, isCaseBlind, mayRead, SKILL_MD } from "../files/paths.ts";
import {
  confirmPlace,
  isRecent,
  isUnchanged,
  readLocated,
  requireReadable,
  versionOf,
} from "../files/reading.ts";
import { isOwn } from "../files/served_folder.ts";
import {
  MAX_FRONTMATTER_SIZE,
  readSkillText,
  type SkillText,
} from "./frontmatter.ts";
import type { Skill } from "./types.ts";

/** The allowed names of a skill's main file, starting with the standard one. */
const SKILL_FILE_NAMES = [SKILL_MD, "skill.md"];

/** How much of the instructions is kept for searching, in bytes. */
const EXCERPT_SIZE = 800;

/** The names of folders that a recursive search skips, because tools fill them. */
export const UNSEARCHED_NAMES: ReadonlySet<string> = new Set(
  `.git .hg .jj .svn
  .bundle .cache .cargo .eggs .gradle .idea .mypy_cache .next .nox .npm .nuxt
  .parcel-cache .pnpm-store .pytest_cache .ruff_cache .rustup .svelte-kit
  .terraform .tox .turbo .venv .yarn __pycache__ node_modules site-packages`
    .split(/\s+/),
);

/** What a folder contains. */
export interface FolderListing {
  /** The names of its folders and links, in their order. */
  readonly names: readonly string[];
  /** Those of the links. */
  readonly links: ReadonlySet<string>;
  /** Whether there may be a `SKILL.md`. */
  readonly mayBeSkill: boolean;
  /**
   * Whether certainly nothing in it was added, removed, or swapped since it was
   * listed. Then a folder in it that was no link is none yet.
   */
  readonly isSettled: () => boolean;
}

/** A folder to read. */
export interface ReadableFolder {
  readonly path: string;
  readonly realPath: string;
  /** What the folder around it contains, unless this one is reached by a link. */
  readonly around: FolderListing | undefined;
}

/** What the `SKILL.md` in a folder says, or why it cannot be read. */
export interface ReadSkill {
  /** The name of the file. */
  readonly fileName: string;
  /** The real path of the folder that contains the file, which can be a link. */
  readonly mainFolder: string;
  readonly said: SkillText;
  /** The frontmatter. */
  readonly text: string;
  /** The beginning of the instructions. */
  readonly excerpt: string;
  /** When the file was modified, in milliseconds. */
  readonly modified: number;
  readonly version: string;
  /** Whether the file can change and keep its version. */
  isRecent: boolean;
  /** The last skill that was created from it, so that an unchanged one stays the same object. */
  skill?: Skill;
}

/**
 * Lists the folders and links in a folder.
 *
 * @throws {Error} If it cannot be listed, or was swapped for a link.
 */
export function listFolder(folder: ReadableFolder): FolderListing {
  const { path } = folder;
  const status = Deno.statSync(path);
  // Then it is what it was when the folder around it was listed.
  const isConfirmed = folder.around?.isSettled();
  const names: string[] = [];
  const links = new Set<string>();
  let mayBeSkill = false;
  for (const { name, isDirectory, isSymlink } of Deno.readDirSync(path)) {
    if (isDirectory || isSymlink) names.push(name);
    if (isSymlink) links.add(name);
    mayBeSkill ||= name.toLowerCase() === "skill.md";
  }
  // What is settled later relies on this status, so it is confirmed more often.
  if (!isConfirmed) {
    confirmPlace({ ...folder, isLinked: true }, { status, rounds: 4 });
  }
  const isOld = !isRecent(status);
  const isSettled = () => isOld && isUnchanged(Deno.statSync(path), status);
  return { names: names.sort(), links, mayBeSkill, isSettled };
}

/** How to read a skill. */
export interface ReadOptions {
  readonly maxFileSize?: number | undefined;
  /** The real paths of folders that links are allowed to point into. */
  readonly trusted: readonly string[];
  /** What was read in the last scan, by the real path of the folder. */
  readonly last: ReadonlyMap<string, { readonly read: ReadSkill }> | undefined;
}

/**
 * Reads the skill in a folder, if there is one and it changed.
 *
 * @throws {Error} If something is temporarily unreadable.
 */
export function readSkill(
  folder: ReadableFolder,
  options: ReadOptions,
): ReadSkill | undefined {
  let found: FoundFile | undefined;
  try {
    found = findSkillFile(folder.path);
    return found && readFile(found, { folder, options });
  } catch (error) {
    if (isTemporary(error)) throw error;
    return {
      ...NOTHING_READ,
      fileName: found?.name ?? SKILL_MD,
      mainFolder: folder.realPath,
      said: { ...readSkillText(""), problems: [faultOf(error)] },
    };
  }
}

/** Reads a `SKILL.md`, unless it is the same as before. */
function readFile(
  { name: fileName, path, status }: FoundFile,
  { folder, options }: { folder: ReadableFolder; options: ReadOptions },
): ReadSkill {
  const { maxFileSize, trusted } = options;
  const last = options.last?.get(folder.realPath)?.read;
  if (status.isDirectory) throw new SkillFileError(path, NOT_A_FILE);
  const isLinked = status.isSymlink;
  const realPath = isLinked
    ? Deno.realPathSync(path)
    : childPath(folder.realPath, fileName);
  const place = { realDirectory: folder.realPath, trusted };
  if (isLinked && !isOwn(realPath, place)) {
    throw new SkillFileError(path, LINK_OUT_OF_SKILL);
  }
  const before = isLinked ? Deno.statSync(path) : status;
  const mainFolder = isLinked ? dirname(realPath) : folder.realPath;
  const version = versionOf(before);
  const isSame = last?.version === version &&
    last.mainFolder === mainFolder && last.fileName === fileName;
  if (isSame && !last.isRecent) return last;
  requireReadable(path, { status: before, maxFileSize });
  const bytes = readLocated({ path, realPath, isLinked }, {
    before,
    buffer: headBuffer,
    isSettled: isLinked ? undefined : folder.around?.isSettled,
  });
  const { text, excerpt } = splitHead(bytes);
  if (isSame && last.text === text) {
    last.isRecent = isRecent(before);
    return last;
  }
  return {
    ...{ fileName, mainFolder, version, text, excerpt },
    said: readSkillText(text),
    modified: before.mtime?.getTime() ?? 0,
    isRecent: isRecent(before),
  };
}

/** What is known of a `SKILL.md` that cannot be read. */
const NOTHING_READ = {
  ...{ text: "", excerpt: "", version: "" },
  modified: 0,
  isRecent: true,
};

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

/** A shared buffer for the beginnings of files, because a scan reads many files. */
const headBuffer = new Uint8Array(MAX_FRONTMATTER_SIZE + EXCERPT_SIZE);

/** The characters of a line that ends the frontmatter, as bytes. */
const [LINE_FEED, DASH] = new TextEncoder().encode("\n-");

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Splits the beginning of a `SKILL.md` into the frontmatter and what follows it. The
 * frontmatter is a text of its own, because the strings that are parsed from a text
 * keep the whole text in memory.
 */
function splitHead(bytes: Uint8Array): { text: string; excerpt: string } {
  let line = 0;
  do {
    line = bytes.indexOf(LINE_FEED!, line) + 1;
  } while (line > 0 && !isFence(bytes, line));
  const end = line > 0 && bytes.indexOf(LINE_FEED!, line) + 1 || bytes.length;
  return {
    text: decoder.decode(bytes.subarray(0, end)),
    excerpt: decoder.decode(bytes.subarray(end, end + EXCERPT_SIZE)),
  };
}

function isFence(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === DASH && bytes[start + 1] === DASH &&
    bytes[start + 2] === DASH;
}
