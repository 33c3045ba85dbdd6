/**
 * Finds what its author most likely meant as a skill, but what no scan finds,
 * for `--list` and `--check`.
 *
 * It lists the folders in which the scan looks for skills, and their subfolders,
 * but opens no file. Below a root of a project, it follows no links.
 *
 * @module
 */

import { basename, join } from "jsr:@std/path@^1";
import { realPathIfThere } from "../files/paths.ts";
import { attempt } from "../files/faults.ts";
import {
  childPath,
  isCaseBlind,
  SKILL_MD,
  sortByName,
} from "../files/paths.ts";
import { quoteArgument } from "../shell_quoting.ts";
import { joinFirst, quote } from "../text.ts";
import type { Problem, SkillRootReport, SkillScope } from "./types.ts";

/** The maximum number of folders that are listed below one root. */
const MAX_FOLDERS = 2_000;

/** A folder larger than this, in bytes, is not listed. It has about 10,000 entries. */
const MAX_FOLDER_SIZE = 256 * 1024;

/** How many levels below a recursive root are searched, as in a scan. */
const MAX_DEPTH = 6;

/** The maximum number of near misses that are reported for one root. */
const MAX_REPORTED = 50;

/** The maximum number of names that one near miss lists. */
const MAX_NAMES = 5;

/** A name that is likely meant as `SKILL.md`. */
const LIKE_SKILL_MD =
  /^skills?(?: ?\(\d+\)| copy)?(?:\.(?:md|markdown|mdown|mkd|mdx|txt|text|rtf|docx))*\s*$/i;

/** Markdown files that projects have in any folder. */
const COMMON_FILES =
  /^(?:readme|changelog|contributing|license|security|code_of_conduct|agents|claude|gemini|index|notice|authors|todo|skills?)\b/i;

/** What is known about a catalog. */
interface NearMissOptions {
  /** The folders of all skills that the scan found, whether or not they are valid. */
  readonly skillFolders: ReadonlySet<string>;
  /** Whether the policy switches off a folder with these paths. */
  readonly isOff: (paths: readonly string[], scope: SkillScope) => boolean;
}

/** Finds the near misses in the roots that were searched. */
export function findNearMisses(
  roots: readonly SkillRootReport[],
  options: NearMissOptions,
): Problem[] {
  const searched = roots.filter(({ realPath }) => realPath !== undefined);
  const paths = new Set(searched.map(({ root }) => root.path));
  return searched.flatMap((report) => {
    const search = new NearMissSearch(report, options);
    const misses = [...search.run(paths).take(MAX_REPORTED + 1)];
    if (misses.length > MAX_REPORTED) {
      misses[MAX_REPORTED] = {
        file: report.root.path,
        rule: "no-skill-md",
        reason: `it has more than ${MAX_REPORTED} entries like these`,
        hint: "fix the listed ones first",
      };
    }
    return misses;
  });
}

interface ListedFolder {
  readonly path: string;
  readonly realPath: string;
  readonly entries: readonly Deno.DirEntry[];
}

/** The search for near misses in one root. */
class NearMissSearch {
  readonly #report: SkillRootReport;
  readonly #options: NearMissOptions;
  #folders = 0;

  constructor(report: SkillRootReport, options: NearMissOptions) {
    this.#report = report;
    this.#options = options;
  }

  /** Runs the search. Only in folders of skills, everything else is suspicious too. */
  *run(roots: ReadonlySet<string>): Generator<Problem> {
    const { root: { path, recursive }, realPath = "" } = this.#report;
    const top = this.#list(path, realPath);
    const isForSkills = !recursive && isFolderOfSkills(top, roots);
    if (!hasSkillMd(top)) {
      yield* findMisnamed(top);
      if (isForSkills) yield* findLoose(top);
    }
    let level = [top];
    for (let depth = recursive ? MAX_DEPTH : 1; depth > 0; depth--) {
      level = level.flatMap((folder) => this.#listSubfolders(folder))
        .filter((folder) => !hasSkillMd(folder));
      for (const folder of level) {
        const misnamed = findMisnamed(folder);
        yield* misnamed;
        if (misnamed.length === 0 && !recursive) {
          yield* this.#checkFolder(folder, isForSkills);
        }
      }
    }
  }

  /** Reports a folder without a `SKILL.md`, if it contains skills or a README. */
  *#checkFolder(
    folder: ListedFolder,
    isForSkills: boolean,
  ): Generator<Problem> {
    const entries = folder.entries.filter(({ isDirectory }) => isDirectory);
    const nested = this.#listSubfolders({ ...folder, entries })
      .filter((subfolder) =>
        hasSkillMd(subfolder) &&
        !this.#options.skillFolders.has(subfolder.path)
      );
    if (nested.length === 0) {
      if (isForSkills) yield* findReadme(folder);
    } else if (isForSkills || this.#report.skills > 0) {
      yield describeNested(folder, nested);
    }
  }

  /** Lists the folders in a folder that may hold skills. */
  #listSubfolders({ path, realPath, entries }: ListedFolder): ListedFolder[] {
    return entries.filter((entry) => this.#isSearched(entry)).flatMap(
      ({ name, isSymlink }) => {
        const folder = childPath(path, name);
        const place = isSymlink
          ? realPathIfThere(folder)
          : childPath(realPath, name);
        const isOpen = place !== undefined &&
          !this.#options.isOff([folder, place], this.#report.scope);
        return isOpen ? [this.#list(folder, place)] : [];
      },
    );
  }

  /** Whether a folder may hold skills. Links of a project can lead anywhere. */
  #isSearched({ name, isDirectory, isSymlink }: Deno.DirEntry): boolean {
    const { scope, root: { recursive } } = this.#report;
    const isFollowed = isSymlink && scope === "global" && !recursive;
    return (isDirectory || isFollowed) && !NEVER_SKILLS.test(name);
  }

  /** Lists a folder, if it lies at its real path and there is room for one more. */
  #list(path: string, realPath: string): ListedFolder {
    const isListed = ++this.#folders <= MAX_FOLDERS;
    const listed = isListed ? listFolder(path) : [];
    const entries = realPathIfThere(path) === realPath ? listed : [];
    return { path, realPath, entries };
  }
}

/**
 * Whether everything in a root is meant as a skill. A folder on the command line
 * can also be a project, whose skills are in a subfolder.
 */
function isFolderOfSkills(
  { path, entries }: ListedFolder,
  roots: ReadonlySet<string>,
): boolean {
  if (basename(path) === "skills") return true;
  const subfolders = ["skills", join(".claude", "skills")];
  const isProject = subfolders.some((name) => roots.has(join(path, name)));
  return !isProject && entries.every(({ name }) => name !== ".git");
}

/** Finds files whose names are almost `SKILL.md`. */
function findMisnamed({ path, entries }: ListedFolder): Problem[] {
  return entries
    .filter(({ name, isDirectory }) => !isDirectory && LIKE_SKILL_MD.test(name))
    .slice(0, MAX_NAMES)
    .map(({ name }) => ({
      file: childPath(path, name),
      rule: "file-name",
      reason: `the file of a skill must be named ${quote(SKILL_MD)}`,
      hint: `rename it to ${quote(SKILL_MD)}`,
    }));
}

/** Finds Markdown files directly in the root, where skills have folders. */
function findLoose({ path, entries }: ListedFolder): Problem[] {
  return entries
    .filter(({ name, isDirectory }) =>
      !isDirectory && /^[^.].*\.(?:md|markdown)$/i.test(name) &&
      !COMMON_FILES.test(name)
    )
    .map(({ name }) => ({
      file: childPath(path, name),
      rule: "loose-file",
      reason: "it is not in a folder of its own, as a skill must be",
      hint: `move it to ${quote(join(name.replace(/\.\w+$/, ""), SKILL_MD))}`,
    }));
}

/** Finds the README of a folder, or a file with the folder's name. */
function findReadme({ path, entries }: ListedFolder): Problem[] {
  const own = `${basename(path)}.md`.toLowerCase();
  const readme = entries.find(({ name, isFile }) =>
    isFile && (/^readme\b/i.test(name) || name.toLowerCase() === own)
  );
  if (readme === undefined) return [];
  const reason = `it has a ${readme.name}, but no ${SKILL_MD}`;
  const hint =
    `add a ${SKILL_MD}, or move the folder elsewhere if it is not a skill`;
  return [{ file: path, rule: "no-skill-md", reason, hint }];
}

/** Describes skills in a folder that is not itself searched. */
function describeNested(
  { path }: ListedFolder,
  nested: readonly ListedFolder[],
): Problem {
  const names = nested.map(({ path }) => quote(basename(path)));
  const shown = joinFirst(names, MAX_NAMES);
  const [what, it] = names.length === 1
    ? [`the skill ${shown} is`, "it"]
    : [`${names.length} skills (${shown}) are`, "them"];
  const option = `--skill-dir ${quoteArgument(path)}`;
  return {
    file: path,
    rule: "nested-too-deep",
    reason: `${what} one level too deep`,
    hint: `move ${it} one folder up, or search this folder too:\n${option}`,
  };
}

/** Folders that hold no skills, because tools or version control fill them. */
const NEVER_SKILLS =
  /^\.|^(?:node_modules|__pycache__|site-packages|venv|target|dist|build)$/;

/** Lists a folder by name. Returns an empty list if it is very large or cannot be read. */
function listFolder(path: string): Deno.DirEntry[] {
  // The scan has reported what cannot be read.
  return attempt(() =>
    Deno.statSync(path).size > MAX_FOLDER_SIZE
      ? []
      : sortByName(Deno.readDirSync(path))
  ) ?? [];
}

/** Whether there is a `SKILL.md` that a scan finds. */
function hasSkillMd({ entries }: Pick<ListedFolder, "entries">): boolean {
  return entries.some(({ name }) =>
    name === SKILL_MD || name === "skill.md" ||
    isCaseBlind && name.toLowerCase() === "skill.md"
  );
}

/**
 * Lists the real paths of the skill folders directly in a folder, without opening
 * any file. Returns an empty list if the folder cannot be read.
 */
export function listSkillFolders(folder: string): string[] {
  return listFolder(folder).slice(0, MAX_FOLDERS)
    .filter((entry) => !entry.isFile)
    .map(({ name }) => childPath(folder, name))
    .filter((path) => hasSkillMd({ entries: listFolder(path) }))
    .flatMap((path) => realPathIfThere(path) ?? []);
}
