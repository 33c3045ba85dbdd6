/**
 * Finds what the user most likely meant, but what no scan finds, for `--list`,
 * `--check`, and the log of a server's first scan: folders that do not exist, files
 * with almost the right name, and skills in folders that are not searched. Of links, it
 * follows only those that the user put directly into a folder of skills.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import {
  basename,
  childPath,
  currentFolder,
  dirname,
  isAtOrBelow,
  join,
  mayRead,
  realPathIfThere,
  realPathOf,
} from "../files/paths.ts";
import type { Problem } from "../problems.ts";
import { listAll } from "../skills/catalog.ts";
import {
  isSkillFileName,
  isSkillFolder,
  MAX_SEARCH_DEPTH,
  UNSEARCHED_NAMES,
} from "../skills/skill_reader.ts";
import { byOwner, Project } from "../skills/roots.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { byCodeUnits, count, isCopyable, oneLine } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import { type Candidate, candidateIn, findMisnamed } from "./misnamed_files.ts";
import { folderOf, type Settings } from "./settings.ts";
import { quoteWord, withTilde } from "./shell_words.ts";

/** The maximum number of entries of folders that one search looks at. */
const MAX_ENTRIES = 20_000;

/** The same limit for a folder of a project, which may be a stranger's. */
const MAX_PROJECT_ENTRIES = 1_000;

/** How many lines about one folder a person reads. */
const MAX_DEEPER_LINES = 10;

/** A folder in which near misses are looked for. */
interface SearchedFolder {
  readonly path: string;
  readonly realPath: string;
  /** How many levels below it are searched. */
  readonly maxDepth: number;
  /** Whether it may be a stranger's. */
  readonly isOfProject: boolean;
}

/**
 * Finds the near misses in the settings, in the folders where installers put skills, and
 * in the roots of a catalog.
 */
export async function findNearMisses(
  catalog: SkillCatalog,
  settings: Settings,
): Promise<Problem[]> {
  const problems = findMissingFolders(catalog, settings);
  const known = listKnownFolders(catalog);
  for (const folder of listUnsearchedFolders(catalog, settings)) {
    const found = await searchFolder(folder, known);
    problems.push(
      ...describeUnsearched(folder, found),
      ...describeDeeper(found, settings),
    );
  }
  const skills = listSkillFolders(catalog);
  const project = new Project(settings.options);
  for (const { realPath, root, scope } of catalog.roots.toSorted(byOwner)) {
    const { path, recursive } = root;
    if (realPath === undefined || skills.has(path)) continue;
    // A root that is a skill, or that a link of the project leads to, is another's.
    if (skills.has(realPath) || project.departs(path, realPath)) continue;
    const found = await searchFolder({
      path,
      realPath,
      // A recursive root has been searched deep.
      maxDepth: recursive ? 1 : MAX_SEARCH_DEPTH,
      isOfProject: scope === "project",
    }, known);
    problems.push(...found.misses, ...describeDeeper(found, settings));
  }
  return problems;
}

/** Counts the skills in `~/.agents/skills`, unless they are served or the client lists them. */
export async function countInstalledSkills(
  catalog: SkillCatalog,
  settings: Settings,
): Promise<number> {
  const { home } = settings;
  const folder = listUnsearchedFolders(catalog, settings)
    .find(({ path }) =>
      home !== undefined && path === join(home, AGENTS_SKILLS)
    );
  if (folder === undefined) return 0;
  const { skills } = await searchFolder(folder, listKnownFolders(catalog));
  return skills.length;
}

/** Lists the folders of all skills that the scan found, and what has a problem, by each path. */
function listSkillFolders(catalog: SkillCatalog): Set<string> {
  const faulty = catalog.problems.map(({ file }) => folderOf(file) ?? file);
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

/** The folder of `--agents`, in the working directory and in the home folder. */
const AGENTS_SKILLS = join(".agents", "skills");

/**
 * Lists the folders of `--agents` that are there and are not searched, except those that
 * the client lists itself. There are none if the user named other folders that have
 * skills, because then nobody is left without any.
 */
function listUnsearchedFolders(
  catalog: SkillCatalog,
  { home, directories, values, options }: Settings,
): SearchedFolder[] {
  const hasOthers = directories.length > 0 && catalog.served.size > 0;
  if (values.agents || hasOthers) return [];
  const project = new Project(options);
  const known = listKnownFolders(catalog);
  const found = new Map<string, SearchedFolder>();
  for (const base of [home, currentFolder()]) {
    if (base === undefined) continue;
    const path = join(base, AGENTS_SKILLS);
    const realPath = mayRead(path) ? realPathIfThere(path) : undefined;
    if (realPath === undefined || known.has(realPath)) continue;
    if (found.has(realPath) || values["name-only"]?.includes(path)) continue;
    if (project.departs(path, realPath)) continue;
    const isOfProject = project.scopeOf(realPath) === "project";
    const maxDepth = MAX_SEARCH_DEPTH;
    found.set(realPath, { path, realPath, maxDepth, isOfProject });
  }
  return [...found.values()];
}

/** Says how many skills are directly in a folder that is not searched. */
function describeUnsearched(
  { path }: SearchedFolder,
  { skills, isComplete }: SearchResult,
): Problem[] {
  const atLeast = isComplete ? "" : "at least ";
  return skills.length === 0 ? [] : [{
    rule: "not-searched",
    file: path,
    reason: `it has ${atLeast}${
      count(skills.length, "skill")
    } and is not searched`,
    hint: "add --agents",
  }];
}

/** Finds the folders that the user named and that do not exist. */
function findMissingFolders(
  { roots }: SkillCatalog,
  settings: Settings,
): Problem[] {
  const named = [
    ...settings.directories,
    ...settings.values["skill-dir"] ?? [],
  ];
  return roots
    .filter(({ root, status }) =>
      status === "missing" && named.includes(root.path)
    )
    .map(({ root: { path } }) => ({
      rule: "folder-missing",
      file: path,
      reason: isName(path, settings)
        ? "there is no such folder, and no skill of this name in the searched folders"
        : "there is no such folder",
      hint: isName(path, settings) && isInstalled(basename(path), settings)
        ? "to check the skill in ~/.agents/skills, add --agents"
        : "check its spelling, or create it",
    }));
}

/** Whether a missing path may have been meant as the name of a skill to check. */
function isName(
  path: string,
  { values: { check }, directories }: Settings,
): boolean {
  return check === true && directories.includes(path) &&
    dirname(path) === currentFolder();
}

/** Whether a name is that of a skill in `~/.agents/skills`, which is not searched. */
function isInstalled(name: string, { home, values }: Settings): boolean {
  return !values.agents && home !== undefined &&
    isSkillFolder(join(home, AGENTS_SKILLS, name));
}

/** What a search of a folder finds. */
interface SearchResult {
  readonly misses: Problem[];
  /** The folders of unknown skills that lie directly in it. */
  readonly skills: string[];
  /** The folders of skills that lie deeper. */
  readonly deeper: string[];
  /** Whether the search looked at everything. */
  readonly isComplete: boolean;
}

/**
 * Finds the near misses in a folder, and the skills where the links lead that the user put
 * directly into it.
 */
async function searchFolder(
  searched: SearchedFolder,
  known: ReadonlySet<string>,
): Promise<SearchResult> {
  const found = await searchTree(searched, known);
  const linked = await searchLinks(searched, known);
  return {
    misses: found.misses,
    skills: [...found.skills, ...linked.skills],
    deeper: [...found.deeper, ...linked.deeper],
    isComplete: found.isComplete && linked.isComplete,
  };
}

/** Finds the near misses in a folder, breadth first. Follows no link. */
async function searchTree(
  { path, realPath, maxDepth, isOfProject }: SearchedFolder,
  known: ReadonlySet<string>,
): Promise<SearchResult> {
  const misses: Problem[] = [];
  const skills: string[] = [];
  const deeper: string[] = [];
  const slice = new TimeSlice();
  let room = isOfProject ? MAX_PROJECT_ENTRIES : MAX_ENTRIES;
  const name = basename(path);
  const top = { name, path, realPath, isLinked: false, depth: 0 };
  // The search appends what it is to look at.
  const queue: Candidate[] = [top];
  for (const folder of queue) {
    if (slice.isOver) await slice.pause();
    const entries = listInPlace(folder);
    room -= entries.length;
    if (room < 0) break;
    if (folder.depth > 0 && entries.some((it) => isSkillFileName(it.name))) {
      const found = folder.depth === 1 ? skills : deeper;
      found.push(folder.path);
      continue;
    }
    if (folder.depth < 2) misses.push(...findMisnamed(folder, entries));
    if (folder.depth === maxDepth) continue;
    const folders = entries
      .filter((it) => it.isDirectory && !UNSEARCHED_NAMES.has(it.name))
      .map((it) => candidateIn(folder, it.name))
      .filter((it) => !known.has(it.path) && !known.has(it.realPath));
    queue.push(...folders);
  }
  return { misses, skills, deeper, isComplete: room >= 0 };
}

/** How many links to folders of skills are followed. Each leads to a search of its own. */
const MAX_LINKS = 20;

/** Finds the skills where the links in a folder lead, if they are the user's. */
async function searchLinks(
  { path, realPath, maxDepth, isOfProject }: SearchedFolder,
  known: ReadonlySet<string>,
): Promise<Omit<SearchResult, "misses">> {
  // The scan follows the links in a recursive root.
  const links = isOfProject || maxDepth < MAX_SEARCH_DEPTH
    ? []
    : listLinks(path, realPath).filter((it) => !known.has(it.realPath));
  const { skills = [], folders = [] } = Object.groupBy(
    links,
    (link) => isSkillFolder(link.path) ? "skills" : "folders",
  );
  const deeper: string[] = [];
  let isComplete = folders.length <= MAX_LINKS;
  for (const link of folders.slice(0, MAX_LINKS)) {
    const target = { ...link, maxDepth: maxDepth - 1, isOfProject };
    const found = await searchTree(target, known);
    deeper.push(...found.skills, ...found.deeper);
    isComplete &&= found.isComplete;
  }
  return { skills: skills.map((link) => link.path), deeper, isComplete };
}

/** Lists the links in a folder, but not those to a folder that contains it. */
function listLinks(
  folder: string,
  realFolder: string,
): { path: string; realPath: string }[] {
  return listIfReadable(folder).filter(({ isSymlink }) => isSymlink)
    .flatMap(({ name }) => {
      const path = childPath(folder, name);
      const realPath = realPathIfThere(path);
      return realPath === undefined || isAtOrBelow(realFolder, realPath)
        ? []
        : [{ path, realPath }];
    });
}

/** Lists what is in a folder, or nothing if its path leads elsewhere meanwhile. */
function listInPlace({ path, realPath }: Candidate): Deno.DirEntry[] {
  const isInPlace = () => mayRead(path) && realPathIfThere(path) === realPath;
  const entries = isInPlace() ? listIfReadable(path) : [];
  return isInPlace() ? entries : [];
}

/** Lists what is in a folder by name, or nothing if it cannot be read. */
function listIfReadable(path: string): Deno.DirEntry[] {
  if (!mayRead(path)) return [];
  const entries = attempt(() => [...Deno.readDirSync(path)]) ?? [];
  return entries.sort((a, b) => byCodeUnits(a.name, b.name));
}

/** Says which folders hold skills that lie too deep. */
function describeDeeper(
  { deeper, isComplete }: SearchResult,
  { home }: Settings,
): Problem[] {
  return Array.from(countByFolder(deeper), ([file, number]) => {
    const skillsLie = number === 1 ? "1 skill lies" : `${number} skills lie`;
    const start = isComplete ? skillsLie : `at least ${skillsLie}`;
    const word = quoteWord(withTilde(file, home));
    return {
      rule: "not-searched",
      file,
      reason: `${start} deeper than the server looks`,
      // The log writes a sentence with single spaces.
      hint: isCopyable(word) && oneLine(word) === word
        ? `add --skill-dir ${word}`
        : "rename it, because its path has characters that cannot be copied, and add it with --skill-dir",
    };
  });
}

/**
 * Counts skills by the folder that holds them. Because `--skill-dir` searches deep, a
 * folder in another one is merged into that, and then the deepest ones into their parents,
 * until few are left.
 */
function countByFolder(skills: readonly string[]): Map<string, number> {
  const parents = new Set(skills.map((path) => dirname(path)));
  let folders = skills.map((path) => outermostIn(dirname(path), parents));
  while (new Set(folders).size > MAX_DEEPER_LINES) {
    const deepest = Math.max(...folders.map(depthOf));
    folders = folders.map((path) =>
      depthOf(path) === deepest ? dirname(path) : path
    );
  }
  const counts = new Map<string, number>();
  for (const path of folders) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

/** Returns the outermost of some folders that contains one of them. */
function outermostIn(path: string, folders: ReadonlySet<string>): string {
  let outermost = path;
  for (let it = path; it !== dirname(it); it = dirname(it)) {
    if (folders.has(it)) outermost = it;
  }
  return outermost;
}

function depthOf(path: string): number {
  return path.split(/[\\/]/).length;
}
