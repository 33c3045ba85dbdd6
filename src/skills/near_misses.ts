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
import { quoteArgument } from "../shell_quoting.ts";
import { joinFirst, quote } from "../text.ts";
import type { Problem, SkillRootReport } from "./types.ts";

/** The maximum number of folders that are listed below one root. */
const MAX_FOLDERS = 2_000;

/** How many levels below a root are searched, as in a recursive scan. */
const MAX_DEPTH = 6;

/** The maximum number of names that a problem lists. */
const MAX_NAMES = 5;

/** The maximum number of problems that are reported for one root. */
const MAX_REPORTED = 50;

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
  return searched.flatMap((report) => {
    const misses = findIn(report, { known, paths });
    const more = misses.length - MAX_REPORTED;
    if (more <= 0) return misses;
    const reason = `it has ${more} more problems like these`;
    const rest = { ...misses[0]!, file: report.root.path, reason };
    return [...misses.slice(0, MAX_REPORTED), rest];
  });
}

/** Finds the near misses in one root, level by level. */
function findIn(
  { root: { path: top, recursive }, scope, skills }: SkillRootReport,
  { known, paths }: { known: ReadonlySet<string>; paths: ReadonlySet<string> },
): Problem[] {
  // Any other folder can be that of a project.
  const isForSkills = !recursive && (basename(top) === "skills" || skills > 0);
  const misses: Problem[] = [];
  const deep: string[] = [];
  let room = MAX_FOLDERS;
  let level = [top];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const folders = level.splice(0, Math.max(room, 0))
      .map((path) => ({ path, entries: listFolder(path) }));
    room -= folders.length;
    level = folders.flatMap(({ path, entries }) => {
      const isMain = hasSkillMd(entries);
      if (isMain && known.has(path)) return [];
      if (isMain && path !== top) {
        deep.push(path);
        return [];
      }
      if (isMain) misses.push(describeLoose(path));
      if (depth < 2 || recursive) {
        misses.push(...findMisnamed(path, { entries, isForSkills, depth }));
      }
      const isFollowed = depth === 0 && scope === "global" && !recursive;
      return entries.filter(({ name, isDirectory, isSymlink }) =>
        (isDirectory || isSymlink && isFollowed) && !NEVER_SKILLS.test(name)
      ).map(({ name }) => childPath(path, name))
        .filter((path) => !paths.has(path));
    });
  }
  const isDeep = deep.length > 0 && !recursive;
  return isDeep ? [...misses, describeDeep(top, deep)] : misses;
}

/** Finds files whose names are almost `SKILL.md`, and archives of skills. */
function findMisnamed(
  folder: string,
  { entries, isForSkills, depth }: {
    entries: readonly Deno.DirEntry[];
    isForSkills: boolean;
    depth: number;
  },
): Problem[] {
  const own = `${basename(folder)}.md`.toLowerCase();
  return entries.filter(({ isDirectory }) => !isDirectory).flatMap(
    ({ name }) => {
      const file = childPath(folder, name);
      if (isForSkills && depth === 0 && /\.(?:zip|skill|tgz)$/i.test(name)) {
        const reason = "it is an archive, where a folder was expected";
        const hint = "unpack it into a folder of its own, and remove it";
        return [{ rule: "archive", file, reason, hint }];
      }
      const isOwn = isForSkills && depth === 1 && name.toLowerCase() === own;
      const isLike = LIKE_SKILL_MD.test(name) && !hasSkillMd(entries);
      if (!isOwn && !isLike || hasSkillMd(entries)) return [];
      const reason = `the file of a skill must be named ${quote(SKILL_MD)}`;
      const hint = `rename it to ${quote(SKILL_MD)}`;
      return [{ rule: "file-name", file, reason, hint }];
    },
  );
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
    `--skill-dir ${quoteArgument(path)}`
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
