/**
 * The second step of a scan: what each `SKILL.md` says, which is remembered for the next
 * scan.
 */

import { Boundary } from "../fs/boundary.ts";
import {
  isTemporary,
  LINK_OUTSIDE,
  NOT_A_FILE,
  SkillFileError,
} from "../fs/faults.ts";
import { sha256 } from "../fs/known_files.ts";
import { childPath, dirname } from "../fs/paths.ts";
import { type Located, readLocated, requireReadable } from "../fs/reading.ts";
import { isSettled, versionOf } from "../fs/snapshot.ts";
import { type PlacedFolder, proofOf } from "../fs/walker.ts";
import { SKILL_MD } from "../skills/names.ts";
import { PROJECT_IS_SLOW, skillFaultOf } from "../skills/root_faults.ts";
import { byOwner } from "../skills/roots.ts";
import { findSkillFile, type FoundFile } from "../skills/skill_file.ts";
import { HEAD_SIZE, readSkillMd } from "../skills/skill_md.ts";
import type { SkillRoot } from "../skills/types.ts";
import {
  createFailure,
  type Failure,
  type Reading,
  type ReadSkill,
  type RootVisit,
  type ScanStart,
  type VisitedFolder,
} from "./record.ts";

export type ReadOptions = Pick<
  ScanStart,
  "project" | "maxFileSize" | "known" | "slice"
>;

/** Reads the visited folders, the user's own first. Each real folder is read once. */
export async function readSkills(
  { visits, ...options }: ReadOptions & { visits: readonly RootVisit[] },
): Promise<Reading> {
  const { known, slice } = options;
  const skills = new Map<string, ReadSkill>();
  const unread: string[] = [];
  const failures: Failure[] = [];
  const slowRoots = new Set<SkillRoot>();
  const budget = new ProjectBudget();
  for (const folder of inReadingOrder(visits)) {
    const { path, realPath, root } = folder;
    if (skills.has(realPath)) continue;
    if (slice.isOver) await slice.pause();
    if (budget.isSpent(root) && !known.has(realPath)) {
      unread.push(realPath);
      slowRoots.add(root);
      continue;
    }
    try {
      const skill = budget.spend(root, () => readSkill(folder, options));
      if (skill !== undefined) skills.set(realPath, skill);
    } catch (error) {
      failures.push(createFailure(error, path, options.project));
      unread.push(realPath);
    }
  }
  for (const { path } of slowRoots) {
    const error = new SkillFileError(path, PROJECT_IS_SLOW);
    failures.push(createFailure(error, path, options.project));
  }
  return { skills, unread, failures };
}

function inReadingOrder(visits: readonly RootVisit[]): VisitedFolder[] {
  return visits.toSorted((a, b) => byOwner(a.report.root, b.report.root))
    .flatMap(({ folders }) => folders);
}

/**
 * How long a scan reads unknown skills in the roots of a project, in milliseconds. A
 * stranger's frontmatter can take a fifth of a second to parse.
 */
const MAX_PROJECT_MS = 2_000;

/** The time that a scan has for the roots of the project. The user's have no limit. */
class ProjectBudget {
  #spent = 0;

  isSpent({ scope }: SkillRoot): boolean {
    return scope === "project" && this.#spent > MAX_PROJECT_MS;
  }

  spend<T>({ scope }: SkillRoot, read: () => T): T {
    if (scope === "global") return read();
    const start = Date.now();
    try {
      return read();
    } finally {
      this.#spent += Date.now() - start;
    }
  }
}

/** @throws {Error} If something is temporarily unreadable. */
function readSkill(
  folder: VisitedFolder,
  options: ReadOptions,
): ReadSkill | undefined {
  let found = folder.file;
  try {
    found ??= findSkillFile(folder.path);
    return found && readSkillFile(found, folder, options);
  } catch (error) {
    if (isTemporary(error)) throw error;
    const scope = options.project.scopeOf(folder.realPath);
    return {
      isRead: false,
      digest: "",
      fileVersion: "",
      modified: 0,
      isSettled: false,
      fileName: found?.name ?? SKILL_MD,
      mainFolder: folder.realPath,
      parsed: {
        ...readSkillMd(new Uint8Array()),
        diagnostic: skillFaultOf(error, scope),
      },
    };
  }
}

function readSkillFile(
  found: FoundFile,
  folder: VisitedFolder,
  { maxFileSize, project, known }: ReadOptions,
): ReadSkill {
  const { name: fileName } = found;
  const file = locateSkillFile(found, folder, project.trusted);
  const { realPath, isLink, status } = file;
  const mainFolder = isLink ? dirname(realPath) : folder.realPath;
  const fileVersion = versionOf(status);
  const last = known.get(folder.realPath);
  const isSameFile = last?.fileVersion === fileVersion &&
    last.mainFolder === mainFolder && last.fileName === fileName;
  if (isSameFile && last.isSettled) return last;
  requireReadable(file, { status, maxFileSize });
  const scope = project.scopeOf(folder.realPath);
  const { bytes, isProven } = readLocated(file, {
    expected: status,
    buffer: headBuffer,
    isShared: scope === "project",
    walked: isLink ? undefined : proofOf(folder),
  });
  const isCertain = isProven && isSettled(status);
  // A file that is settled is not read again while its version is the same.
  const digest = isSameFile || !isCertain ? sha256(bytes) : "";
  if (isSameFile && last.digest === digest) {
    return { ...last, isSettled: isCertain };
  }
  return {
    fileName,
    mainFolder,
    fileVersion,
    digest,
    parsed: readSkillMd(bytes),
    modified: status.mtime?.getTime() ?? 0,
    isRead: true,
    isSettled: isCertain,
  };
}

/** @throws {SkillFileError} If it is a folder, or a link to what is not the skill's. */
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
    throw new SkillFileError(path, LINK_OUTSIDE, realPath);
  }
  return { path, realPath, status: Deno.statSync(path), isLink: true };
}

/** A shared buffer for the beginnings of files, because a scan reads many files. */
const headBuffer = new Uint8Array(HEAD_SIZE);
