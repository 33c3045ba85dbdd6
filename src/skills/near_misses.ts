/**
 * Finds what its author most likely meant as a skill, but what no scan finds, for
 * `--list` and `--check`.
 *
 * It lists the folders in which the scan looks for skills, and those below them, but
 * opens no file. It follows links only directly in the user's own roots.
 *
 * @module
 */

import { basename, dirname, join, relative } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import {
  childPath,
  isCaseBlind,
  SKILL_MD,
  sortByName,
} from "../files/paths.ts";
import { quoteCommand } from "../shell_quoting.ts";
import { joinFirst, quote } from "../text.ts";
import type { Problem, SkillRootReport } from "./types.ts";

/** The maximum number of folders that are listed below one root. */
const MAX_FOLDERS = 2_000;

/** How many levels below a root are searched, as in a recursive scan. */
const MAX_DEPTH = 6;

/** The maximum number of names that a problem lists. */
const MAX_NAMES = 5;

/** A name that is likely meant as `SKILL.md`. */
const LIKE_SKILL_MD =
  /^skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdown|mkd|mdx|txt|text|rtf|docx))*\s*$/i;

/** Folders that hold no skills, because tools or version control fill them. */
const NEVER_SKILLS =
  /^\.(?!claude$|agents?$)|^(?:node_modules|__pycache__|site-packages|venv|target|dist|build)$/;

/**
 * Finds the near misses in the roots that were searched.
 *
 * @param roots The roots.
 * @param known The folders of all skills that the scan found, valid or not.
 */
export function findNearMisses(
  roots: readonly SkillRootReport[],
  known: ReadonlySet<string>,
): Problem[] {
  const searched = roots.filter(({ status }) => status === "found");
  const paths = new Set(searched.map(({ root }) => root.path));
  return searched.flatMap((report) => findIn(report, { known, paths }));
}

interface Folder {
  readonly path: string;
  /** How many levels it is below the root. */
  readonly depth: number;
  readonly entries: readonly Deno.DirEntry[];
}

/** Finds the near misses in one root. */
function findIn(
  report: SkillRootReport,
  { known, paths }: { known: ReadonlySet<string>; paths: ReadonlySet<string> },
): Problem[] {
  const { root: { path: top, recursive }, skills } = report;
  const folders = listBelow(report, (path) => paths.has(path));
  if (hasSkillMd(folders[0]!.entries) && known.has(top)) return [];
  const unknown = folders.filter(({ path, entries }) =>
    hasSkillMd(entries) && !known.has(path)
  ).map(({ path }) => path);
  const deep = recursive ? [] : unknown.filter((path) => path !== top);
  // Any other folder can be that of a project.
  const isForSkills = !recursive && (basename(top) === "skills" || skills > 0);
  return [
    ...unknown.includes(top) ? [describeLoose(top)] : [],
    ...isForSkills ? findArchives(folders[0]!) : [],
    ...folders.filter(({ depth }) => depth < 2 || recursive)
      .flatMap((folder) => findMisnamed(folder, isForSkills)),
    ...deep.length > 0 ? [describeDeep(top, deep)] : [],
  ];
}

/** Lists the folders below a root, breadth first, but not those in a skill. */
function listBelow(
  { root: { path: top, recursive }, scope }: SkillRootReport,
  isExcluded: (path: string) => boolean,
): Folder[] {
  const folders = [{ path: top, depth: 0, entries: listFolder(top) }];
  for (const { path, depth, entries } of folders) {
    const isSkill = hasSkillMd(entries) && path !== top;
    if (isSkill || depth === MAX_DEPTH) continue;
    const isFollowed = depth === 0 && scope === "global" && !recursive;
    for (const { name, isDirectory, isSymlink } of entries) {
      const child = childPath(path, name);
      const isSearched = (isDirectory || isSymlink && isFollowed) &&
        !NEVER_SKILLS.test(name) && !isExcluded(child);
      if (!isSearched || folders.length >= MAX_FOLDERS) continue;
      const entries = listFolder(child);
      folders.push({ path: child, depth: depth + 1, entries });
    }
  }
  return folders;
}

/** Finds files whose names are almost `SKILL.md`. */
function findMisnamed(
  { path, depth, entries }: Folder,
  isForSkills: boolean,
): Problem[] {
  if (hasSkillMd(entries)) return [];
  const own = `${basename(path)}.md`.toLowerCase();
  const reason = `the file of a skill must be named ${quote(SKILL_MD)}`;
  const hint = `rename it to ${quote(SKILL_MD)}`;
  return entries.filter(({ name, isDirectory }) =>
    !isDirectory && (LIKE_SKILL_MD.test(name) ||
      isForSkills && depth === 1 && name.toLowerCase() === own)
  ).map(({ name }) => {
    return { rule: "file-name", file: childPath(path, name), reason, hint };
  });
}

function findArchives({ path, entries }: Folder): Problem[] {
  const reason = "it is an archive, where a folder was expected";
  const hint = "unpack it into a folder of its own, and remove it";
  return entries.filter(({ name }) => /\.(?:zip|skill|tgz)$/i.test(name))
    .map(({ name }) => {
      return { rule: "archive", file: childPath(path, name), reason, hint };
    });
}

function describeLoose(folder: string): Problem {
  const file = join(folder, SKILL_MD);
  const reason = "it is directly in a folder of skills";
  const hint = "move it, and the files that it needs, into a folder of its own";
  return { rule: "loose-file", file, reason, hint };
}

/** Describes skills in folders that are too deep to be searched. */
function describeDeep(top: string, folders: readonly string[]): Problem {
  const names = folders.map((path) => quote(relative(top, path)));
  const shown = joinFirst(names, MAX_NAMES);
  const what = names.length === 1
    ? `the skill ${shown} is`
    : `${names.length} skills (${shown}) are`;
  const parents = new Set(folders.map((path) => dirname(path)));
  const options = [...parents.size > 1 ? [top] : parents].map((path) =>
    `--skill-dir ${quoteCommand([path]) ?? quote(path)}`
  );
  return {
    rule: "nested-too-deep",
    file: top,
    reason: `${what} too deep to be found`,
    hint:
      `move each folder directly into this one, or search all subfolders:\n${options}`,
  };
}

/** Lists a folder by name. What cannot be read, the scan has reported. */
function listFolder(path: string): Deno.DirEntry[] {
  return attempt(() => sortByName(Deno.readDirSync(path))) ?? [];
}

/** Whether there is a `SKILL.md` that a scan finds. */
function hasSkillMd(entries: readonly Deno.DirEntry[]): boolean {
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
    .map(({ name }) => childPath(folder, name))
    .filter((path) => hasSkillMd(listFolder(path)))
    .flatMap((path) => attempt(() => Deno.realPathSync(path)) ?? []);
}
