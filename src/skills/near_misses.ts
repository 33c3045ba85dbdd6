/**
 * Finds what its author most likely meant as a skill, but what no scan finds, for
 * `--list` and `--check`. It lists folders, but follows no link and opens no file.
 *
 * @module
 */

import { basename, dirname, relative } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import {
  childPath,
  isCaseBlind,
  isWindows,
  SKILL_MD,
  sortByName,
} from "../files/paths.ts";
import { quoteCommand } from "../shell_quoting.ts";
import { count, joinFirst, quote } from "../text.ts";
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
  const listed = new Set([...known, ...searched.map(({ root }) => root.path)]);
  return searched.filter(({ root }) => !known.has(root.path))
    .flatMap((report) => findIn(report, listed));
}

/** Finds the near misses in one root, breadth first, but not in what is listed elsewhere. */
function findIn(
  { root: { path: top, recursive }, skills }: SkillRootReport,
  listed: ReadonlySet<string>,
): Problem[] {
  // Any other folder can be that of a project.
  const isForSkills = !recursive && (basename(top) === "skills" || skills > 0);
  const files: string[] = [];
  const deep: string[] = [];
  const folders = [{ path: top, depth: 0 }];
  for (const { path, depth } of folders) {
    const entries = listFolder(path);
    const hasSkill = entries.some(isSkillMd);
    if (hasSkill && depth > 0) {
      // Directly in the root, it is a skill that does not parse and that is off.
      if (depth > 1) deep.push(path);
      continue;
    }
    for (const { name, isFile, isDirectory } of entries) {
      const child = childPath(path, name);
      if (isFile && (depth < 2 || recursive)) files.push(child);
      const isSearched = isDirectory && depth < MAX_DEPTH &&
        folders.length < MAX_FOLDERS && !NEVER_SKILLS.test(name) &&
        !listed.has(child);
      if (isSearched) folders.push({ path: child, depth: depth + 1 });
    }
  }
  return [
    ...files.flatMap((file) => checkFile(file, { top, isForSkills })),
    ...deep.length === 0 || recursive ? [] : [describeDeep(top, deep)],
  ];
}

/** Reports a file whose name is almost that of a skill, or whose place is wrong. */
function checkFile(
  file: string,
  { top, isForSkills }: { top: string; isForSkills: boolean },
): Problem[] {
  const name = basename(file);
  const folder = dirname(file);
  const isOwn = dirname(folder) === top &&
    name.toLowerCase() === `${basename(folder)}.md`.toLowerCase();
  if (isSkillMd({ name })) {
    const reason = "it is directly in a folder of skills";
    const hint =
      "move it, and the files that it needs, into a folder of its own";
    return [{ rule: "loose-file", file, reason, hint }];
  }
  if (LIKE_SKILL_MD.test(name) || isForSkills && isOwn) {
    const reason = `the file of a skill must be named ${quote(SKILL_MD)}`;
    const hint = `rename it to ${quote(SKILL_MD)}`;
    return [{ rule: "file-name", file, reason, hint }];
  }
  if (isForSkills && folder === top && /\.(?:zip|skill|tgz)$/i.test(name)) {
    const reason = "it is an archive, where a folder was expected";
    const hint = "unpack it into a folder of its own, and remove it";
    return [{ rule: "archive", file, reason, hint }];
  }
  return [];
}

/** Describes skills in folders that are too deep to be searched. */
function describeDeep(top: string, folders: readonly string[]): Problem {
  const names = folders.map((path) => quote(relative(top, path)));
  const quoted = isWindows ? undefined : quoteCommand([top]);
  return {
    rule: "nested-too-deep",
    file: top,
    reason: `it contains ${
      count(names.length, "skill")
    } too deep to be found: ${joinFirst(names, MAX_NAMES)}`,
    hint:
      `move each folder directly into this one, or search all subfolders:\n--skill-dir ${
        quoted ?? quote(top)
      }`,
  };
}

/** Lists a folder by name. What cannot be read, the scan has reported. */
function listFolder(path: string): Deno.DirEntry[] {
  return attempt(() => sortByName(Deno.readDirSync(path))) ?? [];
}

/** Whether an entry is a `SKILL.md` that a scan finds. */
function isSkillMd({ name }: { readonly name: string }): boolean {
  return name === SKILL_MD || name === "skill.md" ||
    isCaseBlind && name.toLowerCase() === "skill.md";
}
