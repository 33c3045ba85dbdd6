/**
 * Finds what the user most likely meant, but what no scan finds, for `--list` and
 * `--check`: files with almost the right name, and skills in folders that are not
 * searched. A running server looks nowhere but into its folders.
 *
 * @module
 */

import {
  basename,
  childPath,
  currentFolder,
  dirname,
  isAtOrBelow,
  isThere,
  join,
  mayRead,
  realPathIfThere,
  realPathOf,
  relative,
} from "../files/paths.ts";
import type { FolderSnapshot } from "../files/snapshot.ts";
import { type PlacedFolder, walk, type WalkSteps } from "../files/walker.ts";
import type { Problem } from "../problems.ts";
import { folderOf, type Settings } from "../program/settings.ts";
import { quoteWord, withTilde } from "../program/command_words.ts";
import { listAll } from "../skills/catalog.ts";
import {
  byOwner,
  DEFAULT_FOLDERS,
  MAX_SEARCH_DEPTH,
  Project,
  UNSEARCHED_NAMES,
} from "../skills/roots.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { count, isCopyable } from "../text.ts";
import { findMisnamed, isNameOfSkills } from "./misnamed_files.ts";
import { isSkillFileName } from "../skills/skill_file.ts";

/** The maximum number of folders and links that one search looks at. */
const MAX_FOLDERS = 20_000;

/** The same limit for a folder of a project, which may be a stranger's. */
const MAX_PROJECT_FOLDERS = 1_000;

/** How many lines about one folder a person reads. */
const MAX_DEEPER_LINES = 10;

/** A folder in which near misses are looked for. */
interface Target {
  readonly path: string;
  readonly realPath: string;
  /** Whether the scan searches it deep, and follows the links in it. */
  readonly isRecursive?: boolean | undefined;
  /** Whether it may be a stranger's. */
  readonly isOfProject: boolean;
  /** What to do if it is not searched. Default: add it with `--skill-dir`. */
  readonly hint?: string | undefined;
}

/** Finds the near misses in the folders where installers put skills, and in the roots. */
export async function findNearMisses(
  catalog: SkillCatalog,
  settings: Settings,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const known = listKnownFolders(catalog);
  for (const target of listUnsearchedFolders(catalog, settings)) {
    const found = await NearMisses.find(target, known);
    problems.push(...found.listUnsearched(settings));
  }
  const skills = listSkillFolders(catalog);
  for (const { realPath, root, scope } of catalog.roots.toSorted(byOwner)) {
    const { path, recursive: isRecursive } = root;
    // What is in a skill belongs to it.
    const isSkill = [path, realPath].some((it) => skills.has(it ?? path));
    if (realPath === undefined || isSkill) continue;
    const isOfProject = scope === "project";
    const target = { path, realPath, isRecursive, isOfProject };
    const found = await NearMisses.find(target, known);
    problems.push(...found.listMisnamed(), ...found.listDeeper(settings));
  }
  return problems;
}

/** Lists the folders of all skills that the scan found, and what has a problem, by each path. */
function listSkillFolders(catalog: SkillCatalog): Set<string> {
  const roots = new Set(catalog.roots.map(({ root }) => root.path));
  const faulty = catalog.problems.filter(({ file }) => !roots.has(file))
    .map(({ file }) => folderOf(file) ?? file);
  return new Set([
    ...listAll(catalog).flatMap((it) => [it.directory, it.realDirectory]),
    ...faulty.flatMap((path) => [path, realPathOf(path)]),
  ]);
}

/** Lists the folders that are searched elsewhere: those of skills, and the roots. */
function listKnownFolders(catalog: SkillCatalog): Set<string> {
  const known = listSkillFolders(catalog);
  for (const { root, realPath = root.path } of catalog.roots) {
    known.add(root.path).add(realPath);
  }
  return known;
}

const MOVE = 'move its skills to the folder "skills" beside it';

/** Lists where skills are put that are not searched, and what to do, if it is not to add `--skill-dir`. */
function listUnsearchedPlaces(home: string | undefined) {
  const here = currentFolder();
  const anywhere = (folder: string, hint: string) =>
    [home, here].map((base) => ({ base, folder, hint }));
  return [
    ...anywhere(join(".agents", "skills"), "add --agents"),
    { base: home, folder: join(".codex", "skills") },
    { base: home, folder: join(".gemini", "skills") },
    { base: home, folder: join(".claude", "plugins") },
    ...listFoldersAbove(here ?? "")
      .map((base) => ({ base, folder: join(".claude", "skills") })),
    ...DEFAULT_FOLDERS.flatMap((folder) =>
      ["skill", "Skill", "Skills"]
        .flatMap((name) => anywhere(join(folder, name), MOVE))
    ),
  ];
}

/** Lists the folders above a folder, up to the root of its repository, if it is in one. */
function listFoldersAbove(folder: string): string[] {
  const above: string[] = [];
  for (let last = folder; mayRead(last); last = above.at(-1)!) {
    if (isThere(join(last, ".git"))) return above;
    if (dirname(last) === last) return [];
    above.push(dirname(last));
  }
  return [];
}

/**
 * Lists these folders that are there, except those that the client lists itself. There
 * are none if the user named other folders that have skills, because then nobody is left
 * without any.
 */
function listUnsearchedFolders(
  catalog: SkillCatalog,
  { home, directories, values, options }: Settings,
): Target[] {
  const hasOthers = directories.length > 0 && catalog.served.size > 0;
  if (hasOthers) return [];
  const project = new Project(options);
  const known = listKnownFolders(catalog);
  const found = new Map<string, Target>();
  for (const { base, folder, ...rest } of listUnsearchedPlaces(home)) {
    if (base === undefined) continue;
    const path = join(base, folder);
    const realPath = mayRead(path) ? realPathIfThere(path) : undefined;
    if (realPath === undefined || known.has(realPath)) continue;
    if (found.has(realPath) || values["name-only"]?.includes(path)) continue;
    if (project.leadsOut(path, realPath)) continue;
    const isOfProject = base !== home ||
      project.scopeOf(realPath) === "project";
    found.set(realPath, { path, realPath, isOfProject, ...rest });
  }
  return [...found.values()];
}

/** A folder that is searched, at any level. */
interface SearchedFolder extends PlacedFolder {
  readonly name: string;
  /** How many levels it is below the folder where the search began. */
  readonly depth: number;
}

/** The near misses in a folder. Of links, those count that the user put directly into it. */
class NearMisses implements WalkSteps<SearchedFolder> {
  readonly maxEntries: number;
  readonly #misnamed: Problem[] = [];
  readonly #target: Target;
  /** Folders that are searched elsewhere, by path and by real path. */
  readonly #known: ReadonlySet<string>;
  /** The unknown folders with a `SKILL.md` below it. */
  readonly #skills = new Set<SearchedFolder>();
  #isComplete = true;

  private constructor(target: Target, known: ReadonlySet<string>) {
    this.#target = target;
    this.#known = known;
    this.maxEntries = target.isOfProject ? MAX_PROJECT_FOLDERS : MAX_FOLDERS;
  }

  static async find(
    target: Target,
    known: ReadonlySet<string>,
  ): Promise<NearMisses> {
    const { path, realPath } = target;
    const found = new NearMisses(target, known);
    const top: SearchedFolder = {
      path,
      realPath,
      isLink: true,
      parent: undefined,
      name: basename(path),
      depth: 0,
    };
    found.#isComplete = await walk(top, found) === undefined;
    return found;
  }

  isLookedAt({ name, isDirectory, isSymlink }: Deno.DirEntry): boolean {
    return (isDirectory || isSymlink) && !UNSEARCHED_NAMES.has(name);
  }

  isListed({ path, depth }: SearchedFolder): boolean {
    const maxDepth = this.#target.isRecursive ? 1 : MAX_SEARCH_DEPTH;
    return depth <= maxDepth && mayRead(path);
  }

  onFolder(
    folder: SearchedFolder,
    entries: readonly Deno.DirEntry[] = [],
  ): void {
    const isSkill = folder.depth > 0 &&
      entries.some(({ name }) => isSkillFileName(name));
    if (isSkill) this.#skills.add(folder);
    else if (folder.depth < 2) {
      this.#misnamed.push(...findMisnamed(folder, entries));
    }
  }

  onEntry(
    { name, isSymlink }: Deno.DirEntry,
    folder: SearchedFolder,
    parent: FolderSnapshot,
  ): SearchedFolder | undefined {
    if (this.#skills.has(folder)) return undefined;
    const path = childPath(folder.path, name);
    const place = childPath(folder.realPath, name);
    const realPath = isSymlink ? this.#followLink(path, folder) : place;
    const isNew = realPath !== undefined && !this.#known.has(path) &&
      !this.#known.has(realPath);
    if (!isNew) return undefined;
    const depth = folder.depth + 1;
    return { name, path, realPath, isLink: isSymlink, parent, depth };
  }

  /** Returns where a link leads that counts, unless it is to a folder that contains it. */
  #followLink(path: string, folder: SearchedFolder): string | undefined {
    const { isOfProject, isRecursive } = this.#target;
    const counts = folder.depth === 0 && !isOfProject && !isRecursive;
    const realPath = counts ? realPathIfThere(path) : undefined;
    const isAbove = realPath !== undefined &&
      isAtOrBelow(folder.realPath, realPath);
    return isAbove ? undefined : realPath;
  }

  /** What cannot be listed may hold no skills. */
  onFailure(): void {}

  /** Counts the skills directly in the folder. */
  countSkills(): number {
    return [...this.#skills].filter(({ depth }) => depth === 1).length;
  }

  /** Says how many skills are in the folder, which is not searched. */
  listUnsearched(settings: Settings): Problem[] {
    const { path: file, hint = adviseSkillDir(file, settings) } = this.#target;
    const isDeep = this.#target.hint === undefined;
    const number = isDeep ? this.#skills.size : this.countSkills();
    const deeper = isDeep ? [] : this.listDeeper(settings);
    if (number === 0) return deeper;
    const atLeast = this.#isComplete ? "" : "at least ";
    const skills = count(number, "skill");
    const reason = `it has ${atLeast}${skills} and is not searched`;
    return [{ rule: "not-searched", file, reason, hint }, ...deeper];
  }

  /** Lists what is misnamed, and which folders among skills hold none at any level. */
  listMisnamed(): Problem[] {
    const { path, isRecursive } = this.#target;
    const isOfSkills = isNameOfSkills(basename(path)) && !isRecursive;
    const skills = Array.from(this.#skills, (skill) => skill.path);
    const holders = new Set(
      [...this.#known, ...skills].map((it) => this.#holderOf(it)),
    );
    return this.#misnamed.filter(({ rule, file }) =>
      rule !== "skill-md-missing" ||
      (isOfSkills && this.#isComplete && !holders.has(file))
    );
  }

  /** Says which folders in the folder hold skills that lie too deep. */
  listDeeper(settings: Settings): Problem[] {
    return Array.from(this.#countDeeper(), ([file, number]) => {
      const skillsLie = number === 1 ? "1 skill lies" : `${number} skills lie`;
      const start = this.#isComplete ? skillsLie : `at least ${skillsLie}`;
      const reason = `${start} deeper than the server looks`;
      const hint = adviseSkillDir(file, settings);
      return { rule: "not-searched", file, reason, hint };
    });
  }

  /** Counts the skills that lie deeper, by the folder in this one, or in all if these are many. */
  #countDeeper(): Map<string, number> {
    const { path } = this.#target;
    const holders = [...this.#skills].filter(({ depth }) => depth > 1)
      .map((skill) => this.#holderOf(skill.path));
    const isShort = new Set(holders).size <= MAX_DEEPER_LINES;
    const counts = new Map<string, number>();
    for (const holder of isShort ? holders : holders.map(() => path)) {
      counts.set(holder, (counts.get(holder) ?? 0) + 1);
    }
    return counts;
  }

  /** Returns the folder directly in this one that a path lies in. */
  #holderOf(inside: string): string {
    const { path } = this.#target;
    const [name = ""] = relative(path, inside).split(/[\\/]/);
    return childPath(path, name);
  }
}

/** Says how to have the skills in a folder served. */
function adviseSkillDir(folder: string, { home }: Settings): string {
  const word = quoteWord(withTilde(folder, home));
  return isCopyable(word)
    ? `add --skill-dir ${word}`
    : "rename it, because its path has characters that cannot be copied, and add it with --skill-dir";
}
