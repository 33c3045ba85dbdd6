/**
 * Reads the `SKILL.md` of each folder that a scan finds, and remembers it for the
 * next scan.
 *
 * @module
 */

import { basename, dirname, resolve } from "jsr:@std/path@^1";
import { type CheckedFile, isOwn, readConfined } from "../files/confinement.ts";
import {
  faultOf,
  isAbsence,
  isPassing,
  LINK_OUT_OF_SKILL,
  SKILL_MD_IS_A_FOLDER,
  SkillFileError,
  WAS_REPLACED,
} from "../files/faults.ts";
import { fileVersion, isRacy, openForScan } from "../files/open_file.ts";
import { isAtOrBelow } from "../files/paths.ts";
import type { Steps } from "../time_slice.ts";
import type { Boundary } from "../files/types.ts";
import {
  findSkillFile,
  isHiddenFromModel,
  isSameHead,
  parseSkill,
  readHead,
  type SkillFolder,
  type SkillHead,
} from "./skill_md.ts";
import type { Skill, SkillProblem, SkillRoot } from "./types.ts";

/** What is known about the `SKILL.md` in a folder. */
export interface SkillOutcome {
  /** The skill, or its problem. */
  readonly outcome: Skill | SkillProblem;
  /** Whether its frontmatter hides it from the model. */
  readonly isHidden: boolean;
  /** The real path of the folder that contains the `SKILL.md`, if that is a link. */
  readonly linkedFolder?: string | undefined;
  /** The error because of which it cannot be read for the moment. */
  readonly passingError?: unknown;
}

/** The result of reading a `SKILL.md`, kept from one scan to the next. */
interface ReadSkill<Folder extends SkillFolder> extends SkillOutcome {
  readonly folder: Folder;
  readonly version: string;
  /** What was read, kept only while the file can change without a new version. */
  readonly racyHead: SkillHead | undefined;
}

/** Options of {@linkcode SkillReader.startScan}. */
interface ReaderOptions {
  readonly maxFileSize: number;
  /** Whether a file with the same status is the same, however recently it changed. */
  readonly trustsStatus: boolean;
  /** The real paths of folders that links are allowed to point into. */
  readonly trustLinks: readonly string[];
  /** Called with the target of each `SKILL.md` that is a link, and with its real path. */
  readonly onLink: (target: string, realPath?: string) => void;
}

/** The options between two scans. */
const NO_OPTIONS: ReaderOptions = {
  maxFileSize: 0,
  trustsStatus: false,
  trustLinks: [],
  onLink: () => {},
};

/** Reads each `SKILL.md` once, until it changes. */
export class SkillReader<Folder extends SkillFolder> {
  /** The files that the previous scan read, by path. */
  #known: ReadonlyMap<string, ReadSkill<Folder>> = new Map();
  #read = new Map<string, ReadSkill<Folder>>();
  #options: ReaderOptions = NO_OPTIONS;

  startScan(options: ReaderOptions): void {
    this.#options = options;
    this.#read = new Map();
  }

  /** Ends a scan that succeeded. What only earlier scans read is forgotten. */
  endScan(): void {
    this.#known = this.#read;
    // The callback would keep the whole scan in memory.
    this.#options = NO_OPTIONS;
  }

  /** Reads the skill in a folder, if any. */
  *read(folder: Folder): Steps<SkillOutcome | undefined> {
    const found = yield* findSkillFile(folder.path);
    if (found === undefined) return undefined;
    const { file } = found;
    const known = this.#known.get(file);
    const reused = known !== undefined && isReadIn(folder, known)
      ? known
      : undefined;
    try {
      if ("error" in found) throw found.error;
      if (found.info.isDirectory) {
        throw new SkillFileError(file, SKILL_MD_IS_A_FOLDER);
      }
      const checked = found.info.isSymlink
        ? yield* this.#followLink(file, folder)
        : {
          path: file,
          realPath: folder.realPath + file.slice(folder.path.length),
          boundary: boundaryOf(folder),
          info: found.info,
        };
      const isUnchanged = reused?.version === fileVersion(checked.info) &&
        (this.#options.trustsStatus || reused.racyHead === undefined);
      const read = isUnchanged
        ? reused
        : yield* this.#readText(checked, { folder, known: reused });
      return this.#keep(file, read);
    } catch (error) {
      const isGone = "info" in found && !found.info.isSymlink &&
        isAbsence(error);
      if (isGone) return undefined;
      const passing = isPassing(error) ? { passingError: error } : {};
      // Many programs replace a file to save it. The next scan reads the new file.
      const wasReplaced = error instanceof SkillFileError &&
        error.reason === WAS_REPLACED.reason;
      if (reused !== undefined && (wasReplaced || isPassing(error))) {
        return { ...this.#keep(file, reused), ...passing };
      }
      const names = [basename(folder.path)];
      const outcome = { file, ...faultOf(error), names };
      return { outcome, isHidden: false, ...passing };
    }
  }

  /**
   * Keeps what the previous scan read in a folder of a root, because the folder
   * cannot be read for the moment. Returns the skill directories with what is kept.
   */
  keepBelow(
    path: string,
    root: SkillRoot,
  ): (SkillOutcome & { readonly folder: Folder })[] {
    const kept = [...this.#known].filter(([file, { folder }]) =>
      !this.#read.has(file) && folder.root === root &&
      isAtOrBelow(folder.path, path)
    );
    return kept.map(([file, read]) => this.#keep(file, read));
  }

  #keep(file: string, read: ReadSkill<Folder>): ReadSkill<Folder> {
    this.#read.set(file, read);
    return read;
  }

  /** Follows a `SKILL.md` that is a link, into the skill or a trusted folder. */
  *#followLink(file: string, folder: SkillFolder): Steps<CheckedFile> {
    const target = resolve(dirname(file), Deno.readLinkSync(file));
    this.#options.onLink(target);
    yield;
    const realPath = Deno.realPathSync(file);
    yield;
    if (!isOwn(realPath, folder.realPath, this.#options.trustLinks)) {
      throw new SkillFileError(file, LINK_OUT_OF_SKILL);
    }
    this.#options.onLink(target, realPath);
    const boundary = boundaryOf(folder);
    return { path: file, realPath, boundary, info: Deno.statSync(file) };
  }

  *#readText(
    checked: CheckedFile,
    { folder, known }: { folder: Folder; known: ReadSkill<Folder> | undefined },
  ): Steps<ReadSkill<Folder>> {
    const { path: file, realPath } = checked;
    const { maxFileSize } = this.#options;
    const { head, info, isCertain } = yield* readConfined(
      checked,
      { maxFileSize, open: openForScan },
      (file, isCertain) => ({
        head: readHead(file),
        info: file.info,
        isCertain,
      }),
    );
    const version = fileVersion(info);
    const isKnown = known?.version === version &&
      isSameHead(head, known.racyHead);
    const { size } = info;
    const outcome = isKnown
      ? known.outcome
      : parseSkill(head, { file, size, version, folder });
    const linkedFolder = dirname(realPath);
    return {
      outcome,
      isHidden: isHiddenFromModel(outcome, head.text),
      linkedFolder: linkedFolder === folder.realPath ? undefined : linkedFolder,
      folder,
      version,
      racyHead: isRacy(info) || !isCertain ? head : undefined,
    };
  }
}

/** Whether a known file was read in the same folder of the same root. */
function isReadIn(
  folder: SkillFolder,
  { outcome }: SkillOutcome,
): boolean {
  return "reason" in outcome ||
    outcome.root === folder.root && outcome.scope === folder.scope &&
      outcome.realDirectory === folder.realPath;
}

export function boundaryOf(
  { path, realPath }: { path: string; realPath: string },
): Boundary {
  return { directory: path, realDirectory: realPath };
}
