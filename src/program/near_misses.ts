/**
 * Finds what its author most likely meant as a skill, but what no scan finds, for
 * `--list`, `--check`, and the log of a server's first scan: files with almost the
 * right name, and skills in folders that are not searched. It follows no link.
 *
 * @module
 */

import { basename, dirname, extname, join, relative } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import {
  childPath,
  currentFolder,
  isAtOrBelow,
  isCaseBlind,
  mayRead,
  realPathOf,
} from "../files/paths.ts";
import { readLocated } from "../files/reading.ts";
import type { Fault, Problem } from "../problems.ts";
import { MAX_FRONTMATTER_SIZE } from "../skills/frontmatter.ts";
import { isSkillFolder, UNSEARCHED_NAMES } from "../skills/skill_reader.ts";
import type { SkillCatalog, SkillRootReport } from "../skills/types.ts";
import { byCodeUnits, count, quote } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import { folderOf, type Settings } from "./settings.ts";

/** How many levels below a root are searched, as many as `--skill-dir` searches. */
const MAX_DEPTH = 6;

/** The maximum number of entries of folders below a root that are looked at. */
const MAX_ENTRIES = 20_000;

/** The maximum in a project, which may be a stranger's. */
const MAX_PROJECT_ENTRIES = 1_000;

/** How many lines about one root a person reads. */
const MAX_LINES = 10;

/** The names of the files that a scan finds. */
const SKILL_MD = isCaseBlind ? /^skill\.md$/i : /^(?:SKILL|skill)\.md$/;

/** A name that is likely meant as `SKILL.md`. */
const LIKE_SKILL_MD =
  /^skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*$/i;

/** The beginning of a text with the fields of a skill. */
const SKILL_FRONTMATTER = /^\ufeff?---\s[^]*?\n(?:name|description)\s*:/;

/** A folder that is searched. */
interface Folder {
  readonly path: string;
  readonly realPath: string;
  /** How many levels it is below the root. */
  readonly depth: number;
}

/** Finds the near misses in the roots of a catalog, and in folders where installers put skills. */
export async function findNearMisses(
  catalog: SkillCatalog,
  settings: Settings,
): Promise<Problem[]> {
  const known = listKnown(catalog);
  const problems = findInstalledSkills(catalog, settings);
  for (const report of catalog.roots) {
    const { realPath, root: { path } } = report;
    if (realPath === undefined || known.skills.has(path)) continue;
    const found = await searchRoot({ ...report, realPath }, known.folders);
    problems.push(...found.misses, ...describeDeeper(found.deeper, settings));
  }
  return problems;
}

/** Lists the folders of all skills that the scan found, valid or not, and with them the roots. */
function listKnown({ skills, shadowed, off, problems, roots }: SkillCatalog) {
  const found = [
    ...skills.values(),
    ...shadowed.map(({ skill }) => skill),
    ...off,
  ];
  const folders = new Set([
    ...found.flatMap((skill) => [skill.directory, skill.realDirectory]),
    ...problems.map(({ file }) => folderOf(file) ?? file),
  ]);
  const rootPaths = new Set(roots.map(({ root }) => root.path));
  return { skills: folders, folders: folders.union(rootPaths) };
}

/** What a search of a root finds. */
interface SearchResult {
  readonly misses: Problem[];
  /** The folders of skills that lie too deep. */
  readonly deeper: string[];
}

/** Finds the near misses in a root, breadth first. */
async function searchRoot(
  { root, scope, realPath }: SkillRootReport & { realPath: string },
  known: ReadonlySet<string>,
): Promise<SearchResult> {
  const limit = scope === "project" ? MAX_PROJECT_ENTRIES : MAX_ENTRIES;
  // A recursive root has been searched deep.
  const maxDepth = root.recursive ? 1 : MAX_DEPTH;
  const misses: Problem[] = [];
  const deeper: string[] = [];
  const slice = new TimeSlice();
  let entryCount = 0;
  const queue: Folder[] = [{ path: root.path, realPath, depth: 0 }];
  for (const folder of queue) {
    if (slice.isOver) await slice.pause();
    const entries = listEntries(folder.path);
    entryCount += entries.length;
    if (entryCount > limit) break;
    const isSkill = entries.some(({ name }) => SKILL_MD.test(name));
    if (folder.depth > 0 && isSkill) {
      // Directly in the root, a skill that is not known does not parse, and is off.
      if (folder.depth > 1) deeper.push(folder.path);
      continue;
    }
    if (folder.depth < 2) misses.push(...findMisnamed(folder, entries));
    if (folder.depth === maxDepth) continue;
    const folders = listSearched(folder, entries);
    const unknown = folders.filter(({ path, realPath }) =>
      !known.has(path) && !known.has(realPath)
    );
    queue.push(...unknown);
  }
  return { misses, deeper };
}

/** Lists what is in a folder by name, or nothing if it cannot be read. */
function listEntries(path: string): Deno.DirEntry[] {
  if (!mayRead(path)) return [];
  const entries = attempt(() => [...Deno.readDirSync(path)]) ?? [];
  return entries.sort((a, b) => byCodeUnits(a.name, b.name));
}

/** Lists the folders in a folder, without those that tools fill. */
function listSearched(folder: Folder, entries: Deno.DirEntry[]): Folder[] {
  return entries
    .filter(({ name, isDirectory }) =>
      isDirectory && !UNSEARCHED_NAMES.has(name)
    )
    .map(({ name }) => ({
      path: childPath(folder.path, name),
      realPath: childPath(folder.realPath, name),
      depth: folder.depth + 1,
    }));
}

/** Finds the files in a folder whose name, or whose folder, is wrong. */
function findMisnamed(folder: Folder, entries: Deno.DirEntry[]): Problem[] {
  return entries.filter(({ isFile }) => isFile).flatMap(({ name }) => {
    const fault = faultOfFile(name, folder);
    const file = childPath(folder.path, name);
    return fault === undefined ? [] : [{ file, ...fault }];
  });
}

/** Says what is wrong with a file whose name is almost that of a skill, or with its folder. */
function faultOfFile(name: string, folder: Folder): Fault | undefined {
  const isInRoot = folder.depth === 0;
  if (isInRoot && SKILL_MD.test(name)) {
    return {
      rule: "loose-file",
      reason: "it is directly in a folder of skills",
      hint: "move it, and the files that it needs, into a folder of its own",
    };
  }
  const isPlural = /^skills\.md$/i.test(name);
  if (LIKE_SKILL_MD.test(name) || isPlural && hasFrontmatter(name, folder)) {
    return {
      rule: "file-name",
      reason: 'the file of a skill must be named "SKILL.md"',
      hint: 'rename it to "SKILL.md"',
    };
  }
  // Any folder with another name can be that of a project, with files of its own.
  if (!isInRoot || basename(folder.path) !== "skills") return undefined;
  if (/\.(?:zip|skill|tgz)$/i.test(name)) {
    return {
      rule: "archive",
      reason: "it is an archive, where a folder was expected",
      hint: "unpack it into a folder of its own, and remove it",
    };
  }
  if (!/\.(?:md|markdown)$/i.test(name) || !hasFrontmatter(name, folder)) {
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
function hasFrontmatter(name: string, folder: Folder): boolean {
  const path = childPath(folder.path, name);
  const realPath = childPath(folder.realPath, name);
  const text = attempt(() => {
    const before = Deno.lstatSync(path);
    if (!before.isFile) return "";
    const buffer = new Uint8Array(MAX_FRONTMATTER_SIZE);
    const file = { path, realPath, isLinked: false };
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
  let folders = parents.map((path) => outermost(path, parents));
  while (new Set(folders).size > MAX_LINES) {
    const deepest = Math.max(...folders.map(depthOf));
    folders = folders.map((path) =>
      depthOf(path) === deepest ? dirname(path) : path
    );
  }
  const counts = new Map<string, number>();
  for (const path of folders) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

/** Returns the outermost of some folders that a folder is, or lies in. */
function outermost(path: string, folders: readonly string[]): string {
  return folders.filter((folder) => isAtOrBelow(path, folder))
    .reduce((outer, folder) => folder.length < outer.length ? folder : outer);
}

function depthOf(path: string): number {
  return path.split(/[\\/]/).length;
}

/** Shortens a path in the home folder, in the form that options accept. */
function withTilde(path: string, home: string | undefined): string {
  return home !== undefined && isAtOrBelow(path, home)
    ? join("~", relative(home, path))
    : path;
}

/** Quotes a path as one word of a command line, if it needs quotes. */
function quoteWord(path: string): string {
  if (/^[\w~./:\\@=+-]+$/.test(path)) return path;
  return path.includes('"') || /[$`\\!]/.test(path)
    ? `'${path.replaceAll("'", String.raw`'\''`)}'`
    : `"${path}"`;
}

/**
 * Finds the folders of `--agents` that hold skills, but are not searched. Those that
 * also lie in another folder, as a link does, count for nothing.
 */
export function findInstalledSkills(
  catalog: SkillCatalog,
  { home, directories, values }: Settings,
): Problem[] {
  if (directories.length > 0 || values.agents) return [];
  const { skills } = listKnown(catalog);
  const bases = new Set([currentFolder(), home]);
  return [...bases].filter((base) => base !== undefined).flatMap((base) => {
    const file = join(base, ".agents", "skills");
    const unserved = listEntries(file)
      .filter(({ isDirectory, isSymlink }) => isDirectory || isSymlink)
      .map(({ name }) => childPath(file, name))
      .filter((path) => isSkillFolder(path) && !skills.has(realPathOf(path)));
    return unserved.length === 0 ? [] : [{
      rule: "not-searched",
      file,
      reason: `it has ${count(unserved.length, "skill")} and is not searched`,
      hint: "add --agents",
    }];
  });
}
