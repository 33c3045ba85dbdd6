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
  type FaultySkill,
  findSkillFile,
  isSameHead,
  parseSkill,
  readHead,
  type SkillFolder,
  type SkillHead,
} from "./skill_md.ts";
import type { Problem, Skill, SkillRoot } from "./types.ts";

/** What is known about the `SKILL.md` in a folder. */
export interface SkillOutcome {
  /** The first folder through which it was found. */
  readonly folder: SkillFolder;
  /** The skill, or what is known about one that is not served. */
  readonly outcome: Skill | FaultySkill;
  readonly problems: readonly Problem[];
  /** Whether its frontmatter hides it from the model. */
  readonly isHidden: boolean;
  /** The real path of the folder that contains the `SKILL.md`, if that is a link. */
  readonly linkedFolder?: string | undefined;
  /** The error because of which it cannot be read for the moment. */
  readonly passingError?: unknown;
}

/** The result of reading a `SKILL.md`, kept from one scan to the next. */
interface ReadSkill extends SkillOutcome {
  readonly version: string;
  /** What was read, kept only while the file can change without a new version. */
  readonly racyHead: SkillHead | undefined;
  /** Its position among all that was read. */
  position: number;
}

/** Options of {@linkcode SkillReader.startScan}. */
interface ReaderOptions {
  readonly maxFileSize: number;
  /** Whether a file with the same status is the same, however recently it changed. */
  readonly trustsStatus: boolean;
  /** The real paths of folders that links are allowed to point into. */
  readonly trustLinks: readonly string[];
  /** Receives the target of each `SKILL.md` that is a link. */
  readonly linkTargets: Set<string>;
}

/**
 * Reads each `SKILL.md` once, until it changes. What is the same as before stays the
 * same object, because the garbage of many scans would take more memory than the skills.
 */
export class SkillReader {
  /** What was read, by the path of the folder. */
  readonly #known = new Map<string, ReadSkill>();
  #options!: ReaderOptions;
  /** How many times something was read or found unchanged. */
  #count = 0;
  /** That number at the start of the scan. */
  #start = 0;

  startScan(options: ReaderOptions): void {
    this.#options = options;
    this.#start = this.#count;
  }

  /** Ends a scan that succeeded. What only earlier scans read is forgotten. */
  endScan(): void {
    for (const [path, read] of this.#known) {
      if (!this.#isCurrent(read)) this.#known.delete(path);
    }
  }

  /** Returns the folder that the previous scan read, if it is the same. */
  reuse(folder: SkillFolder): SkillFolder {
    const known = this.#known.get(folder.path)?.folder;
    const isSame = known !== undefined &&
      (Object.keys(folder) as (keyof SkillFolder)[])
        .every((key) => known[key] === folder[key]);
    // A copy, because V8 allocates objects as old ones if most of the earlier ones
    // from the same place in the code survived, and old garbage stays longer.
    return isSame ? known : { ...folder };
  }

  /** Reads the skill in a folder, if any. */
  *read(folder: SkillFolder): Steps<SkillOutcome | undefined> {
    const found = yield* findSkillFile(folder.path);
    if (found === undefined) return undefined;
    const { file } = found;
    const known = this.#findKnown(file, folder);
    let linkedFolder: string | undefined;
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
      const lying = dirname(checked.realPath);
      if (lying !== folder.realPath) linkedFolder = lying;
      const options = { folder, linkedFolder, known };
      return this.#keep(yield* this.#readChanged(checked, options));
    } catch (error) {
      const isGone = "info" in found && !found.info.isSymlink &&
        isAbsence(error);
      if (isGone) return undefined;
      const passing = isPassing(error) ? { passingError: error } : {};
      // Many programs replace a file to save it. The next scan reads the new file.
      const wasReplaced = error instanceof SkillFileError &&
        error.reason === WAS_REPLACED.reason;
      if (known !== undefined && (wasReplaced || isPassing(error))) {
        return { ...this.#keep(known), ...passing };
      }
      const names = [basename(folder.path)];
      const problems = [{ file, ...faultOf(error) }];
      const outcome = { file, names };
      const isHidden = false;
      return { folder, outcome, problems, isHidden, linkedFolder, ...passing };
    }
  }

  /**
   * Keeps what the previous scan read in a folder of a root, because the folder
   * cannot be read for the moment. Returns what is kept, in order.
   */
  keepBelow(path: string, root: SkillRoot): SkillOutcome[] {
    return [...this.#known.values()]
      .filter((read) =>
        !this.#isCurrent(read) && read.folder.root === root &&
        isAtOrBelow(read.folder.path, path)
      )
      .sort((a, b) => a.position - b.position)
      .map((read) => this.#keep(read));
  }

  #keep(read: ReadSkill): ReadSkill {
    read.position = ++this.#count;
    this.#known.set(read.folder.path, read);
    return read;
  }

  /** Whether the current scan has already read it. */
  #isCurrent({ position }: ReadSkill): boolean {
    return position > this.#start;
  }

  /** Finds what was read from a file in the same folder of the same root. */
  #findKnown(file: string, folder: SkillFolder): ReadSkill | undefined {
    const known = this.#known.get(folder.path);
    if (known === undefined) return undefined;
    const { root, scope, realPath } = known.folder;
    const isSame = known.outcome.file === file && root === folder.root &&
      scope === folder.scope && realPath === folder.realPath;
    if (!isSame) return undefined;
    return known.folder === folder ? known : { ...known, folder };
  }

  /** Follows a `SKILL.md` that is a link, into the skill or a trusted folder. */
  *#followLink(file: string, folder: SkillFolder): Steps<CheckedFile> {
    const { linkTargets, trustLinks } = this.#options;
    linkTargets.add(resolve(dirname(file), Deno.readLinkSync(file)));
    yield;
    const realPath = Deno.realPathSync(file);
    yield;
    if (!isOwn(realPath, folder.realPath, trustLinks)) {
      throw new SkillFileError(file, LINK_OUT_OF_SKILL);
    }
    const boundary = boundaryOf(folder);
    return { path: file, realPath, boundary, info: Deno.statSync(file) };
  }

  /** Reads a `SKILL.md`, unless it is the same as before. */
  *#readChanged(
    checked: CheckedFile,
    { folder, linkedFolder, known }:
      & Pick<SkillOutcome, "folder" | "linkedFolder">
      & { known: ReadSkill | undefined },
  ): Steps<ReadSkill> {
    const { maxFileSize, trustsStatus } = this.#options;
    const isUnchanged = known?.version === fileVersion(checked.info) &&
      known.linkedFolder === linkedFolder &&
      (trustsStatus || known.racyHead === undefined);
    if (isUnchanged) return known;
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
    const { path: file } = checked;
    const { size } = info;
    const { outcome, problems, isHidden } = isKnown
      ? known
      : parseSkill(head, { file, size, version, folder });
    const racyHead = isRacy(info) || !isCertain ? head : undefined;
    const position = 0;
    return {
      ...{
        folder,
        outcome,
        problems,
        isHidden,
        linkedFolder,
        version,
        racyHead,
      },
      position,
    };
  }
}

export function boundaryOf(
  { path, realPath }: { path: string; realPath: string },
): Boundary {
  return { directory: path, realDirectory: realPath };
}
