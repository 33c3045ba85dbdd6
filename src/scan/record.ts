/**
 * The record of a scan, which grows from step to step: what it starts from, what it
 * visits, what it reads, and whether it counts, although something is temporarily
 * unreadable.
 */

import { isTemporary, SkillFileError } from "../fs/faults.ts";
import { isThere, locationOf } from "../fs/paths.ts";
import type { PlacedFolder } from "../fs/walker.ts";
import type { Policy } from "../policy/policy.ts";
import type { Diagnostic } from "../diagnostics.ts";
import type { SkillMd } from "../skills/skill_md.ts";
import { rootIsMissing, skillFaultOf } from "../skills/root_faults.ts";
import type { Project } from "../skills/roots.ts";
import type { FoundFile } from "../skills/skill_file.ts";
import type {
  SkillCatalog,
  SkillRoot,
  SkillRootReport,
  SkillScope,
} from "../skills/types.ts";
import type { TimeSlice } from "../tasks.ts";
import { quote } from "../text.ts";

/** A folder that a root lists, and that may be a skill. */
export interface VisitedFolder extends PlacedFolder {
  readonly root: SkillRoot;
  /** How many levels it is below the root. */
  readonly depth: number;
  /** Its `SKILL.md`, if the visit looked for that. */
  readonly file?: FoundFile | undefined;
}

export function isInGroup(
  { root, depth }: Pick<VisitedFolder, "root" | "depth">,
): boolean {
  return !root.recursive && depth > 1;
}

export interface RootVisit {
  readonly report: SkillRootReport;
  /** The folders that may be skills, in their order. There are none in a refused root. */
  readonly folders: readonly VisitedFolder[];
  /** The real paths of folders that could not be looked at, such as all of a refused root. */
  readonly unread: readonly string[];
  /** The real paths of folders beyond the limit. Nobody knows which skills are in them. */
  readonly unsearched: readonly string[];
  readonly failures: readonly Failure[];
}

export interface ScanStart {
  readonly roots: readonly SkillRoot[];
  readonly project: Project;
  readonly policy: Policy;
  /** What is wrong with the policy, and with the folders that options name. */
  readonly diagnostics: readonly Diagnostic[];
  readonly maxFileSize: number | undefined;
  /** The catalog of the last scan that counts. */
  readonly previous: SkillCatalog;
  /** The skills that it read, by the real paths of their folders. */
  readonly known: ReadonlyMap<string, ReadSkill>;
  readonly slice: TimeSlice;
}

export interface Failure {
  readonly diagnostic: Diagnostic;
  /** Where it really lies, even if it is a link. */
  readonly location: string;
  readonly scope: SkillScope;
  /** Whether it may pass by itself. */
  readonly isTemporary: boolean;
}

export function createFailure(
  error: unknown,
  file: string,
  project: Project,
): Failure {
  const location = locationOf(file);
  return {
    diagnostic: { ...skillFaultOf(error), file },
    location,
    scope: project.scopeOf(location),
    isTemporary: isTemporary(error),
  };
}

/** Describes a root that cannot be searched. The folders that were found in it count as unread. */
export function toRefusedVisit(
  error: unknown,
  { root, project, folders, failures }: {
    root: SkillRoot;
    project: Project;
    folders: readonly VisitedFolder[];
    failures: readonly Failure[];
  },
): RootVisit {
  const { path, mustExist = false } = root;
  const unread = folders.map(({ realPath }) => realPath);
  // Below a file, there is nothing either.
  const isMissing = error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory;
  const status = isMissing ? "missing" : "refused";
  const reason = isMissing && !isThere(path)
    ? new SkillFileError(path, rootIsMissing(path))
    : error;
  const failure = createFailure(reason, path, project);
  const { scope } = failure;
  const report = { root, scope, status, skills: 0 } as const;
  const visit = { report, folders: [], unread, unsearched: [] };
  if (isMissing && !mustExist) return { ...visit, failures };
  return { ...visit, failures: [...failures, failure] };
}

/** What the `SKILL.md` in a folder says, or why it cannot be read. */
export interface ReadSkill {
  readonly fileName: string;
  /** The real path of the folder that contains the file, which can be a link. */
  readonly mainFolder: string;
  readonly parsed: SkillMd;
  readonly isRead: boolean;
  /** The digest of the beginning of the file. */
  readonly digest: string;
  /** When the file was modified, in milliseconds. */
  readonly modified: number;
  readonly fileVersion: string;
  /** Whether the version identifies the content. */
  readonly isSettled: boolean;
}

export interface Reading {
  /** The folders with a `SKILL.md`, valid or not, by their real paths. */
  readonly skills: ReadonlyMap<string, ReadSkill>;
  /** The real paths of folders that could not be read just now, or for which there was no time. */
  readonly unread: readonly string[];
  readonly failures: readonly Failure[];
}

export function listFailures(
  visits: readonly RootVisit[],
  reading: Reading,
): Failure[] {
  return [...visits.flatMap(({ failures }) => failures), ...reading.failures];
}

/** Says what is temporarily unreadable of the user's own, if anything is. */
export function findTrouble(
  visits: readonly RootVisit[],
  reading: Reading,
): string | undefined {
  const trouble = listFailures(visits, reading)
    .find((failure) => failure.isTemporary && failure.scope === "global");
  return trouble &&
    `${quote(trouble.diagnostic.file)}: ${trouble.diagnostic.reason}`;
}

/** The maximum number of scans in a row that do not count. */
const MAX_VOID_SCANS = 4;

/**
 * Tells which scans count, so that skills do not disappear because they are unreadable for
 * a moment. What stays unreadable is accepted with the fifth such scan in a row.
 */
export class TroubledScans {
  readonly #log: (line: string) => void;
  #voidScans = 0;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Decides whether a scan with this trouble, if any, counts, and remembers it. */
  accept(trouble: string | undefined): boolean {
    if (trouble === undefined) {
      this.#voidScans = 0;
      return true;
    }
    if (this.#voidScans === MAX_VOID_SCANS) return true;
    if (this.#voidScans === 0) {
      this.#log(
        `Cannot read ${trouble}; the skills stay as they were, and the next attempt follows in a second`,
      );
    }
    this.#voidScans++;
    return false;
  }
}
