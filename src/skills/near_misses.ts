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
import { realPathIfThere } from "../files/confinement.ts";
import {
  childPath,
  isCaseBlind,
  SKILL_MD,
  sortByName,
} from "../files/paths.ts";
import { quoteArgument } from "../shell_quoting.ts";
import { quote } from "../text.ts";
import type { SkillProblem, SkillRootReport, SkillScope } from "./types.ts";

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
  /** Whether the policy switches off a folder. */
  readonly isOff: (
    folder: {
      name: string;
      scope: SkillScope;
      directory: string;
      realDirectory: string;
    },
  ) => boolean;
}

/** Finds the near misses in the roots that were searched. */
export function findNearMisses(
  roots: readonly SkillRootReport[],
  options: NearMissOptions,
): SkillProblem[] {
  const found = new Set(
    roots.filter(({ status }) => status === "found")
      .map(({ root }) => root.path),
  );
  return roots.flatMap((report) => {
    if (report.realPath === undefined) return [];
    const search = new NearMissSearch(report, options);
    const isForSkills = isFolderOfSkills(report, found);
    const misses = search.run(isForSkills).slice(0, MAX_REPORTED + 1);
    if (misses.length <= MAX_REPORTED) return misses;
    return [...misses.slice(0, MAX_REPORTED), describeMore(report.root.path)];
  });
}

function describeMore(file: string): SkillProblem {
  return {
    file,
    kind: "no-skill-md",
    reason: `it has more than ${MAX_REPORTED} entries like these`,
    hint: "fix the listed ones first",
  };
}

/**
 * Whether everything in a root is meant as a skill. A folder on the command line
 * can also be a project, whose skills are in a subfolder.
 */
function isFolderOfSkills(
  { root: { path } }: SkillRootReport,
  found: ReadonlySet<string>,
): boolean {
  if (basename(path) === "skills") return true;
  const subfolders = ["skills", join(".claude", "skills")];
  const isProject = subfolders.some((name) => found.has(join(path, name)));
  return !isProject && listFolder(path).every(({ name }) => name !== ".git");
}

/** The search for near misses in one root. */
class NearMissSearch {
  readonly #report: SkillRootReport;
  readonly #options: NearMissOptions;
  readonly #misses: SkillProblem[] = [];
  #folders = 0;

  constructor(report: SkillRootReport, options: NearMissOptions) {
    this.#report = report;
    this.#options = options;
  }

  /** Runs the search. Only in folders of skills, everything else is suspicious too. */
  run(isForSkills: boolean): SkillProblem[] {
    const { root, realPath = "" } = this.#report;
    const entries = this.#list(root.path, realPath);
    if (!this.#isSkill(root.path, entries)) {
      this.#checkFiles(root.path, entries);
      if (isForSkills && !root.recursive) this.#checkLoose(entries);
    }
    let level = [{ path: root.path, realPath, entries }];
    const depth = root.recursive ? MAX_DEPTH : 1;
    for (let i = 0; i < depth; i++) {
      level = level.flatMap(({ entries, ...folder }) =>
        this.#checkFolders(folder, { entries, isForSkills })
      );
    }
    return this.#misses;
  }

  /** Checks the subfolders of a folder. Returns those that are no skills. */
  #checkFolders(
    { path, realPath }: { path: string; realPath: string },
    { entries, isForSkills }: {
      entries: readonly Deno.DirEntry[];
      isForSkills: boolean;
    },
  ): { path: string; realPath: string; entries: Deno.DirEntry[] }[] {
    const { root } = this.#report;
    return entries.filter((entry) => this.#isSearched(entry)).flatMap(
      ({ name, isSymlink }) => {
        const folder = childPath(path, name);
        const place = isSymlink
          ? realPathIfThere(folder)
          : childPath(realPath, name);
        if (place === undefined || this.#isOff(folder, place)) return [];
        const entries = this.#list(folder, place);
        if (this.#isSkill(folder, entries)) return [];
        const isNamed = this.#checkFiles(folder, entries);
        if (!isNamed && !root.recursive) {
          this.#checkFolder(folder, { realPath: place, entries, isForSkills });
        }
        return [{ path: folder, realPath: place, entries }];
      },
    );
  }

  /** Reports a folder without a `SKILL.md`, if it contains skills or a README. */
  #checkFolder(
    path: string,
    { realPath, entries, isForSkills }: {
      realPath: string;
      entries: readonly Deno.DirEntry[];
      isForSkills: boolean;
    },
  ): void {
    const nested = entries.filter((entry) => {
      const folder = childPath(path, entry.name);
      return entry.isDirectory && this.#isSearched(entry) &&
        !this.#options.skillFolders.has(folder) &&
        hasSkillMd(this.#list(folder, childPath(realPath, entry.name)));
    }).map(({ name }) => name);
    if (nested.length > 0 && (isForSkills || this.#report.skills > 0)) {
      this.#misses.push(this.#describeNested(path, nested));
    } else if (nested.length === 0 && isForSkills) {
      this.#checkReadme(path, entries);
    }
  }

  #describeNested(path: string, names: readonly string[]): SkillProblem {
    const option = `--skill-dir ${quoteArgument(path)}`;
    const what = names.length === 1 ? "it" : "them";
    return {
      file: path,
      kind: "nested-too-deep",
      reason: `${describeNames(names)} one level too deep`,
      hint: `move ${what} one folder up, or search this folder too:\n${option}`,
    };
  }

  /** Reports a folder that has a README or a file with its own name. */
  #checkReadme(path: string, entries: readonly Deno.DirEntry[]): void {
    const own = `${basename(path)}.md`.toLowerCase();
    const readme = entries.find(({ name, isFile }) =>
      isFile && (/^readme\b/i.test(name) || name.toLowerCase() === own)
    );
    if (readme === undefined) return;
    this.#misses.push({
      file: path,
      kind: "no-skill-md",
      reason: `it has a ${readme.name}, but no ${SKILL_MD}`,
      hint:
        `add a ${SKILL_MD}, or move the folder elsewhere if it is not a skill`,
    });
  }

  /** Reports files whose names are almost `SKILL.md`. Returns whether there are any. */
  #checkFiles(folder: string, entries: readonly Deno.DirEntry[]): boolean {
    const named = entries.filter(({ name, isDirectory }) =>
      !isDirectory && LIKE_SKILL_MD.test(name)
    );
    for (const { name } of named.slice(0, MAX_NAMES)) {
      this.#misses.push({
        file: childPath(folder, name),
        kind: "file-name",
        reason: `the file of a skill must be named ${quote(SKILL_MD)}`,
        hint: `rename it to ${quote(SKILL_MD)}`,
      });
    }
    return named.length > 0;
  }

  /** Reports Markdown files directly in the root, where skills have folders. */
  #checkLoose(entries: readonly Deno.DirEntry[]): void {
    const { path } = this.#report.root;
    for (const { name, isDirectory } of entries) {
      const isLoose = !isDirectory && /^[^.].*\.(?:md|markdown)$/i.test(name) &&
        !COMMON_FILES.test(name);
      if (!isLoose) continue;
      const folder = name.replace(/\.\w+$/, "");
      this.#misses.push({
        file: childPath(path, name),
        kind: "loose-file",
        reason: "it is not in a folder of its own, as a skill must be",
        hint: `move it to ${quote(join(folder, SKILL_MD))}`,
      });
    }
  }

  #isOff(directory: string, realDirectory: string): boolean {
    const { scope } = this.#report;
    const name = basename(directory);
    return this.#options.isOff({ name, scope, directory, realDirectory });
  }

  /** Whether a folder may hold skills. Links of a project can lead anywhere. */
  #isSearched({ name, isDirectory, isSymlink }: Deno.DirEntry): boolean {
    const { scope, root: { recursive } } = this.#report;
    const isFollowed = isSymlink && scope === "global" && !recursive;
    return (isDirectory || isFollowed) && !NEVER_SKILLS.test(name);
  }

  #isSkill(folder: string, entries: readonly Deno.DirEntry[]): boolean {
    return this.#options.skillFolders.has(folder) || hasSkillMd(entries);
  }

  /** Lists a folder, if it lies at its real path and there is room for one more. */
  #list(path: string, realPath: string): Deno.DirEntry[] {
    if (++this.#folders > MAX_FOLDERS) return [];
    const entries = listFolder(path);
    return realPathIfThere(path) === realPath ? entries : [];
  }
}

/** Folders that hold no skills, because tools or version control fill them. */
const NEVER_SKILLS =
  /^\.|^(?:node_modules|__pycache__|site-packages|venv|target|dist|build)$/;

/** Lists a folder by name. Returns an empty list if it is very large or cannot be read. */
function listFolder(path: string): Deno.DirEntry[] {
  try {
    if (Deno.statSync(path).size > MAX_FOLDER_SIZE) return [];
    return sortByName(Deno.readDirSync(path));
  } catch {
    // The scan has reported it.
    return [];
  }
}

/** Whether there is a `SKILL.md` that a scan finds. */
function hasSkillMd(entries: readonly Deno.DirEntry[]): boolean {
  return entries.some(({ name }) =>
    name === SKILL_MD || name === "skill.md" ||
    isCaseBlind && name.toLowerCase() === "skill.md"
  );
}

function describeNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => quote(name)).join(", ");
  const more = names.length > MAX_NAMES ? ", …" : "";
  return names.length === 1
    ? `the skill ${shown} is`
    : `${names.length} skills (${shown}${more}) are`;
}

/**
 * Lists the real paths of the skill folders directly in a folder, without opening
 * any file. Returns an empty list if the folder cannot be read.
 */
export function listSkillFolders(folder: string): string[] {
  return listFolder(folder).slice(0, MAX_FOLDERS)
    .filter((entry) => !entry.isFile)
    .map(({ name }) => childPath(folder, name))
    .filter((path) => hasSkillMd(listFolder(path)))
    .flatMap((path) => realPathIfThere(path) ?? []);
}
