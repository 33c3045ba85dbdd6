/**
 * The first two steps of a scan: what it visits, and what each `SKILL.md` says, which is
 * remembered for the next scan.
 *
 * @module
 */

import {
  attempt,
  isAbsence,
  isTemporary,
  LINK_OUTSIDE,
  NOT_A_FILE,
  SkillFileError,
} from "../files/faults.ts";
import { Boundary } from "../files/boundary.ts";
import { isSettled, versionOf } from "../files/file_status.ts";
import { childPath, dirname, isCaseBlind, mayRead } from "../files/paths.ts";
import {
  CONFIRM_ROUNDS,
  type Located,
  readLocated,
  requireReadable,
} from "../files/reading.ts";
import { type PlacedFolder, proofOf } from "../files/walker.ts";
import type { Problem } from "../problems.ts";
import type { TimeSlice } from "../time_slice.ts";
import { PROJECT_IS_SLOW, skillFaultOf } from "./faults.ts";
import { readSkillText, type SkillText } from "./frontmatter.ts";
import { SKILL_MD } from "./names.ts";
import type { Policy } from "./policy.ts";
import { byOwner, type Project } from "./roots.ts";
import type { SkillCatalog, SkillRoot, SkillRootReport } from "./types.ts";
import { MAX_FRONTMATTER_SIZE } from "./yaml.ts";

/** The allowed names of a skill's main file, starting with the standard one. */
const SKILL_FILE_NAMES = [SKILL_MD, "skill.md"];

/** How much of the instructions is kept for searching, in bytes. */
const EXCERPT_SIZE = 800;

/** How many levels below a recursive root are searched. */
export const MAX_SEARCH_DEPTH = 6;

/** The names of folders that a recursive search skips, because tools fill them. */
export const UNSEARCHED_NAMES: ReadonlySet<string> = new Set(
  `.git .hg .jj .svn
  .bundle .cache .cargo .eggs .gradle .idea .mypy_cache .next .nox .npm .nuxt
  .parcel-cache .pnpm-store .pytest_cache .ruff_cache .rustup .svelte-kit
  .terraform .tox .turbo .venv .yarn __pycache__ node_modules site-packages`
    .split(/\s+/),
);

/** A folder that a root lists, and that may be a skill. */
export interface VisitedFolder extends PlacedFolder {
  readonly root: SkillRoot;
}

/** What visiting a root found. */
export interface RootVisit {
  readonly report: SkillRootReport;
  /** The folders that may be skills, in their order. There are none in a refused root. */
  readonly folders: readonly VisitedFolder[];
  /** The real paths of those that a root had when it was refused, which nobody reads. */
  readonly abandoned: readonly string[];
  readonly failures: readonly Failure[];
}

/** What a scan starts from. */
export interface ScanStart {
  readonly roots: readonly SkillRoot[];
  readonly project: Project;
  readonly policy: Policy;
  /** What is wrong with the policy, and with the folders that options name. */
  readonly problems: readonly Problem[];
  readonly maxFileSize?: number | undefined;
  /** What the last scan that counts found. */
  readonly previous: SkillCatalog;
  /** What it read, by the real path of the folder. */
  readonly known: ReadonlyMap<string, ReadSkill>;
  /** Lets other tasks run in the meantime. */
  readonly slice: TimeSlice;
}

/** Something in a root that could not be visited or read. */
export interface Failure {
  readonly problem: Problem;
  readonly root: SkillRoot;
  /** Whether it may pass by itself. */
  readonly isTemporary: boolean;
}

/** Describes an error with a file or folder in a root. */
export function createFailure(
  error: unknown,
  file: string,
  root: SkillRoot,
): Failure {
  const problem = { ...skillFaultOf(error), file };
  return { problem, root, isTemporary: isTemporary(error) };
}

/** What the `SKILL.md` in a folder says, or why it cannot be read. */
export interface ReadSkill {
  /** The name of the file. */
  readonly fileName: string;
  /** The real path of the folder that contains the file, which can be a link. */
  readonly mainFolder: string;
  readonly said: SkillText;
  /** Whether the file could be read. */
  readonly isRead: boolean;
  /** The frontmatter. */
  readonly text: string;
  /** The beginning of the instructions. */
  readonly excerpt: string;
  /** When the file was modified, in milliseconds. */
  readonly modified: number;
  readonly version: string;
  /** Whether the version identifies the content. */
  readonly isSettled: boolean;
}

/** Whether a file with this name is the main file of a skill. */
export function isSkillFileName(name: string): boolean {
  return SKILL_FILE_NAMES.includes(name) ||
    isCaseBlind && name.toLowerCase() === SKILL_MD.toLowerCase();
}

/** What a scan read. */
export interface Reading {
  /** What each `SKILL.md` says, valid or not, by the real path of its folder. */
  readonly skills: ReadonlyMap<string, ReadSkill>;
  /** The real paths of folders for which there was no time. */
  readonly unread: readonly string[];
  readonly failures: readonly Failure[];
}

/**
 * How long a scan reads unknown skills in the roots of a project, in milliseconds. A
 * stranger's frontmatter can take a fifth of a second to parse.
 */
const MAX_PROJECT_MS = 2_000;

/** How to read skills. */
export type ReadOptions = Pick<
  ScanStart,
  "project" | "maxFileSize" | "known" | "slice"
>;

/** Reads the visited folders, the user's own first. Each real folder is read once. */
export async function readSkills(
  { visits, ...options }: ReadOptions & { visits: readonly RootVisit[] },
): Promise<Reading> {
  const { slice } = options;
  const skills = new Map<string, ReadSkill>();
  const unread: VisitedFolder[] = [];
  const failures: Failure[] = [];
  let projectTime = 0;
  const folders = visits
    .toSorted((a, b) => byOwner(a.report.root, b.report.root))
    .flatMap((visit) => visit.folders);
  for (const folder of folders) {
    const { path, realPath, root } = folder;
    if (skills.has(realPath)) continue;
    if (slice.isOver) await slice.pause();
    const isOfProject = root.scope === "project";
    if (
      isOfProject && projectTime > MAX_PROJECT_MS &&
      !options.known.has(realPath)
    ) {
      unread.push(folder);
      continue;
    }
    const start = isOfProject ? Date.now() : 0;
    try {
      const skill = readSkill(folder, options);
      if (skill !== undefined) skills.set(realPath, skill);
    } catch (error) {
      failures.push(createFailure(error, path, root));
    }
    if (isOfProject) projectTime += Date.now() - start;
  }
  for (const root of new Set(unread.map((folder) => folder.root))) {
    const error = new SkillFileError(root.path, PROJECT_IS_SLOW);
    failures.push(createFailure(error, root.path, root));
  }
  return { skills, unread: unread.map(({ realPath }) => realPath), failures };
}

/**
 * Reads the skill in a folder, if there is one and it changed.
 *
 * @throws {Error} If something is temporarily unreadable.
 */
function readSkill(
  folder: PlacedFolder,
  options: ReadOptions,
): ReadSkill | undefined {
  let found: FoundFile | undefined;
  try {
    found = findSkillFile(folder.path);
    return found && readSkillFile(found, folder, options);
  } catch (error) {
    if (isTemporary(error)) throw error;
    return {
      ...NOTHING_READ,
      fileName: found?.name ?? SKILL_MD,
      mainFolder: folder.realPath,
      said: { ...readSkillText(""), problems: [skillFaultOf(error)] },
    };
  }
}

/** Reads a `SKILL.md`, unless it is the same as before. */
function readSkillFile(
  found: FoundFile,
  folder: PlacedFolder,
  { maxFileSize, project: { trusted }, known: remembered }: ReadOptions,
): ReadSkill {
  const { name: fileName } = found;
  const file = locateSkillFile(found, folder, trusted);
  const { path, realPath, isLink, status } = file;
  const mainFolder = isLink ? dirname(realPath) : folder.realPath;
  const version = versionOf(status);
  const known = remembered.get(folder.realPath);
  const isSameFile = known?.version === version &&
    known.mainFolder === mainFolder && known.fileName === fileName;
  if (isSameFile && known.isSettled) return known;
  requireReadable(path, { status, maxFileSize });
  const bytes = readLocated(file, {
    expected: status,
    buffer: headBuffer,
    rounds: CONFIRM_ROUNDS,
    proof: isLink ? undefined : proofOf(folder),
  });
  const { text, excerpt } = splitHead(bytes);
  if (isSameFile && known.text === text) {
    return { ...known, isSettled: isSettled(status) };
  }
  const said = readSkillText(text);
  const modified = status.mtime?.getTime() ?? 0;
  const read = { fileName, mainFolder, version, text, excerpt, said, modified };
  return { ...read, isRead: true, isSettled: isSettled(status) };
}

/**
 * Finds out where a `SKILL.md` really lies.
 *
 * @throws {SkillFileError} If it is a folder, or a link to what is not the skill's.
 */
function locateSkillFile(
  { name, path, status }: FoundFile,
  { realPath: realDirectory }: PlacedFolder,
  trusted: readonly string[],
): Located & { status: Deno.FileInfo } {
  if (status.isDirectory) throw new SkillFileError(path, NOT_A_FILE);
  if (!status.isSymlink) {
    const realPath = childPath(realDirectory, name);
    return { path, realPath, status, isLink: false };
  }
  const realPath = Deno.realPathSync(path);
  if (!new Boundary({ realDirectory, trusted }).includes(realPath)) {
    throw new SkillFileError(path, LINK_OUTSIDE);
  }
  return { path, realPath, status: Deno.statSync(path), isLink: true };
}

/** What is known of a `SKILL.md` that cannot be read. */
const NOTHING_READ = {
  isRead: false,
  text: "",
  excerpt: "",
  version: "",
  modified: 0,
  isSettled: false,
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
  const names = Array.from(Deno.readDirSync(folder), (entry) => entry.name)
    .filter((other) => other.toLowerCase() === key);
  return names.includes(name) ? name : names[0] ?? name;
}

/** A shared buffer for the beginnings of files, because a scan reads many files. */
const headBuffer = new Uint8Array(MAX_FRONTMATTER_SIZE + EXCERPT_SIZE);

/** The size of a byte order mark in UTF-8, in bytes. */
const BYTE_ORDER_MARK_SIZE = 3;

/** The characters of a line that ends the frontmatter, as bytes. */
const [LINE_FEED, DASH] = new TextEncoder().encode("\n-");

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Splits the beginning of a `SKILL.md` into the frontmatter and what follows it. The
 * frontmatter is a text of its own, because the strings that are parsed from a text
 * keep the whole text in memory.
 */
function splitHead(bytes: Uint8Array): { text: string; excerpt: string } {
  // Without frontmatter, a line further down may say what is wrong.
  if (!startsFence(bytes)) return { text: decoder.decode(bytes), excerpt: "" };
  let start = 0;
  do {
    start = nextLine(bytes, start);
  } while (start < bytes.length && !isFence(bytes, start));
  const end = nextLine(bytes, start);
  return {
    text: decoder.decode(bytes.subarray(0, end)),
    excerpt: decoder.decode(bytes.subarray(end, end + EXCERPT_SIZE)),
  };
}

/** Returns where the line after a position starts, or the end. */
function nextLine(bytes: Uint8Array, start: number): number {
  const end = bytes.indexOf(LINE_FEED!, start);
  return end === -1 ? bytes.length : end + 1;
}

/** Whether a file begins with a line of dashes, perhaps after a byte order mark. */
function startsFence(bytes: Uint8Array): boolean {
  return isFence(bytes, 0) || isFence(bytes, BYTE_ORDER_MARK_SIZE);
}

function isFence(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === DASH && bytes[start + 1] === DASH &&
    bytes[start + 2] === DASH;
}
