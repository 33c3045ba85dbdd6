/**
 * Finds what the user most likely meant, but what no scan finds, for `--list`,
 * `--check`, and the log of a server's first scan: folders that do not exist, files
 * with almost the right name, and skills in folders that are not searched. It follows
 * no link.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import {
  basename,
  childPath,
  currentFolder,
  dirname,
  extname,
  isAtOrBelow,
  join,
  mayRead,
  realPathOf,
} from "../files/paths.ts";
import { type Located, readLocated } from "../files/reading.ts";
import type { Fault, Problem } from "../problems.ts";
import { listAll } from "../skills/catalog.ts";
import { MAX_FRONTMATTER_SIZE } from "../skills/frontmatter.ts";
import {
  isSkillFileName,
  isSkillFolder,
  MAX_SEARCH_DEPTH,
  UNSEARCHED_NAMES,
} from "../skills/skill_reader.ts";
import type { SkillCatalog, SkillRootReport } from "../skills/types.ts";
import { byCodeUnits, count, quote } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import { folderOf, type Settings } from "./settings.ts";
import { quoteWord, withTilde } from "./shell_words.ts";

/** The maximum number of entries of folders below a root that are looked at. */
const MAX_ENTRIES = 20_000;

/** The maximum in a project, which may be a stranger's. */
const MAX_PROJECT_ENTRIES = 1_000;

/** How many lines about one root a person reads. */
const MAX_DEEPER_LINES = 10;

/** A name that is likely meant as `SKILL.md`. */
const LIKE_SKILL_MD =
  /^skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*$/i;

/** The beginning of a text with the fields of a skill. */
const SKILL_FRONTMATTER = /^\ufeff?---\s[^]*?\n(?:name|description)\s*:/;

const LOOSE_FILE: Fault = {
  rule: "loose-file",
  reason: "it is directly in a folder of skills",
  hint: "move it, and the files that it needs, into a folder of its own",
};

const WRONG_NAME: Fault = {
  rule: "file-name",
  reason: 'the file of a skill must be named "SKILL.md"',
  hint: 'rename it to "SKILL.md"',
};

const ARCHIVE: Fault = {
  rule: "archive",
  reason: "it is an archive, where a folder was expected",
  hint: "unpack it into a folder of its own, and remove it",
};

/** A file or folder that is searched. No link leads to it from the root. */
interface Candidate extends Located {
  readonly name: string;
  /** How many levels it is below the root. */
  readonly depth: number;
}

/**
 * Finds the near misses in the settings, in the folders where installers put skills, and
 * in the roots of a catalog.
 */
export async function findNearMisses(
  catalog: SkillCatalog,
  settings: Settings,
): Promise<Problem[]> {
  const problems = [
    ...findMissingFolders(catalog, settings),
    ...findInstalledSkills(catalog, settings),
  ];
  const skills = listSkillFolders(catalog);
  const roots = new Set(catalog.roots.map(({ root }) => root.path));
  const known = skills.union(roots);
  for (const report of catalog.roots) {
    const { realPath, root: { path } } = report;
    if (realPath === undefined || skills.has(path)) continue;
    const { misses, deeper } = await searchRoot(report, realPath, known);
    problems.push(...misses, ...describeDeeper(deeper, settings));
  }
  return problems;
}

/** Lists the folders of all skills that the scan found, valid or not, by each path. */
function listSkillFolders(catalog: SkillCatalog): Set<string> {
  return new Set([
    ...listAll(catalog).flatMap((it) => [it.directory, it.realDirectory]),
    ...catalog.problems.map(({ file }) => folderOf(file) ?? file),
  ]);
}

/** Finds the folders that the user named and that do not exist. */
function findMissingFolders(
  { roots }: SkillCatalog,
  { directories, values }: Settings,
): Problem[] {
  const named = [...directories, ...values["skill-dir"] ?? []];
  return roots
    .filter(({ root, status }) =>
      status === "missing" && named.includes(root.path)
    )
    .map(({ root }) => ({
      rule: "folder-missing",
      file: root.path,
      reason: "there is no such folder",
      hint: "check its spelling, or create it",
    }));
}

/** What a search of a root finds. */
interface SearchResult {
  readonly misses: Problem[];
  /** The folders of skills that lie too deep. */
  readonly deeper: string[];
}

/** Finds the near misses in a root, breadth first. */
async function searchRoot(
  { root: { path, recursive }, scope }: SkillRootReport,
  realPath: string,
  known: ReadonlySet<string>,
): Promise<SearchResult> {
  // A recursive root has been searched deep.
  const maxDepth = recursive ? 1 : MAX_SEARCH_DEPTH;
  const misses: Problem[] = [];
  const deeper: string[] = [];
  const slice = new TimeSlice();
  let room = scope === "project" ? MAX_PROJECT_ENTRIES : MAX_ENTRIES;
  const name = basename(path);
  const queue: Candidate[] = [{
    name,
    path,
    realPath,
    isLinked: false,
    depth: 0,
  }];
  for (const folder of queue) {
    if (slice.isOver) await slice.pause();
    const entries = listIfReadable(folder.path);
    room -= entries.length;
    if (room < 0) break;
    const isSkill = entries.some(({ name }) => isSkillFileName(name));
    if (folder.depth > 0 && isSkill) {
      // Directly in the root, a skill that is not known does not parse, and is off.
      if (folder.depth > 1) deeper.push(folder.path);
      continue;
    }
    if (folder.depth < 2) misses.push(...findMisnamed(folder, entries));
    if (folder.depth === maxDepth) continue;
    const folders = entries
      .filter((it) => it.isDirectory && !UNSEARCHED_NAMES.has(it.name))
      .map(({ name }) => entryIn(folder, name))
      .filter((it) => !known.has(it.path) && !known.has(it.realPath));
    queue.push(...folders);
  }
  return { misses, deeper };
}

/** Lists what is in a folder by name, or nothing if it cannot be read. */
function listIfReadable(path: string): Deno.DirEntry[] {
  if (!mayRead(path)) return [];
  const entries = attempt(() => [...Deno.readDirSync(path)]) ?? [];
  return entries.sort((a, b) => byCodeUnits(a.name, b.name));
}

/** Returns an entry of a folder by its name. */
function entryIn(folder: Candidate, name: string): Candidate {
  return {
    name,
    path: childPath(folder.path, name),
    realPath: childPath(folder.realPath, name),
    isLinked: false,
    depth: folder.depth + 1,
  };
}

/** Finds the files in a folder whose name, or whose folder, is wrong. */
function findMisnamed(folder: Candidate, entries: Deno.DirEntry[]): Problem[] {
  return entries.filter(({ isFile }) => isFile).flatMap(({ name }) => {
    const file = entryIn(folder, name);
    const fault = faultOfFile(file, folder);
    return fault === undefined ? [] : [{ file: file.path, ...fault }];
  });
}

/** Says what is wrong with a file whose name is almost that of a skill, or with its folder. */
function faultOfFile(file: Candidate, folder: Candidate): Fault | undefined {
  const { name } = file;
  const isInRoot = folder.depth === 0;
  if (isInRoot && isSkillFileName(name)) return LOOSE_FILE;
  if (LIKE_SKILL_MD.test(name)) return WRONG_NAME;
  if (/^skills\.md$/i.test(name)) {
    return hasFrontmatter(file) ? WRONG_NAME : undefined;
  }
  // Any folder with another name can be that of a project, with files of its own.
  if (!isInRoot || folder.name !== "skills") return undefined;
  if (/\.(?:zip|skill|tgz)$/i.test(name)) return ARCHIVE;
  if (!/\.(?:md|markdown)$/i.test(name) || !hasFrontmatter(file)) {
    return undefined;
  }
  const directory = childPath(folder.path, basename(name, extname(name)));
  return {
    rule: "file-name",
    reason: "it is a file, where the folder of a skill was expected",
    hint: `move it to ${quote(childPath(directory, "SKILL.md"))}`,
  };
}

/** Whether a file begins like a `SKILL.md`, and unlike a document about the folder. */
function hasFrontmatter(file: Candidate): boolean {
  const text = attempt(() => {
    const before = Deno.lstatSync(file.path);
    if (!before.isFile) return "";
    const buffer = new Uint8Array(MAX_FRONTMATTER_SIZE);
    return new TextDecoder().decode(readLocated(file, { before, buffer }));
  });
  return text !== undefined && SKILL_FRONTMATTER.test(text);
}

/** Says which folders hold skills that lie too deep. */
function describeDeeper(
  skills: readonly string[],
  { home }: Settings,
): Problem[] {
  const counts = countByFolder(skills);
  return Array.from(counts, ([file, number]) => {
    const skillsLie = number === 1 ? "1 skill lies" : `${number} skills lie`;
    return {
      rule: "not-searched",
      file,
      reason: `${skillsLie} deeper than the server looks`,
      hint: `add --skill-dir ${quoteWord(withTilde(file, home))}`,
    };
  });
}

/**
 * Counts skills by the folder that holds them. Because `--skill-dir` searches deep, a
 * folder in another one joins that one, and the deepest join until there are few.
 */
function countByFolder(skills: readonly string[]): Map<string, number> {
  const parents = skills.map((path) => dirname(path));
  const outermost = parents.toSorted((a, b) => a.length - b.length);
  let folders = parents.map((path) =>
    outermost.find((folder) => isAtOrBelow(path, folder))!
  );
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

function depthOf(path: string): number {
  return path.split(/[\\/]/).length;
}

/** Finds the folders of `--agents` that hold skills, but are not searched. */
function findInstalledSkills(
  catalog: SkillCatalog,
  settings: Settings,
): Problem[] {
  const bases = new Set([currentFolder(), settings.home]);
  return [...bases].flatMap((base) => {
    const installed = countInstalledSkills(base, catalog, settings);
    return base === undefined || installed === 0 ? [] : [{
      rule: "not-searched",
      file: join(base, AGENTS_SKILLS),
      reason: `it has ${count(installed, "skill")} and is not searched`,
      hint: "add --agents",
    }];
  });
}

/** The folder of `--agents`, in the working directory and in the home folder. */
const AGENTS_SKILLS = join(".agents", "skills");

/**
 * Counts the skills in `.agents/skills` below a folder, unless it is searched. Those that
 * a searched folder links to do not count.
 */
export function countInstalledSkills(
  base: string | undefined,
  catalog: SkillCatalog,
  { directories, values }: Settings,
): number {
  if (base === undefined || directories.length > 0 || values.agents) return 0;
  const skills = listSkillFolders(catalog);
  const folder = join(base, AGENTS_SKILLS);
  return listIfReadable(folder)
    .filter(({ isDirectory, isSymlink }) => isDirectory || isSymlink)
    .map(({ name }) => childPath(folder, name))
    .filter((path) => isSkillFolder(path) && !skills.has(realPathOf(path)))
    .length;
}
