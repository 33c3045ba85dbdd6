/**
 * Finds what its author most likely meant as a skill, but what no scan finds, for
 * `--list` and `--check`. It lists folders, but follows no link and opens no file.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import {
  childPath,
  isCaseBlind,
  SKILL_MD,
  sortByName,
} from "../files/paths.ts";
import { quote } from "../text.ts";
import { UNSEARCHED_NAMES } from "./skill_reader.ts";
import type { Problem, SkillRoot, SkillRootReport } from "./types.ts";

/** A name that is likely meant as `SKILL.md`. */
const LIKE_SKILL_MD =
  /^skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdown|mkd|mdx|txt|text|rtf|docx))*\s*$/i;

/**
 * Finds the near misses in the roots that were searched, and in their folders.
 *
 * @param roots The roots.
 * @param known The folders of all skills that the scan found, valid or not.
 */
export function findNearMisses(
  roots: readonly SkillRootReport[],
  known: ReadonlySet<string>,
): Problem[] {
  const searched = roots.filter(({ status }) => status === "found")
    .map(({ root }) => root);
  const listed = new Set([...known, ...searched.map(({ path }) => path)]);
  return searched.filter(({ path }) => !known.has(path)).flatMap((root) =>
    listFolder(root.path).flatMap(({ name, isFile, isDirectory }) => {
      const path = childPath(root.path, name);
      if (isFile) return checkFile(path, root);
      const isSearched = isDirectory && !listed.has(path) &&
        !name.startsWith(".") && !UNSEARCHED_NAMES.has(name);
      return isSearched ? checkFolder(path, root) : [];
    })
  );
}

/** Reports the files in a folder of a root, and the skills in its folders. */
function checkFolder(folder: string, root: SkillRoot): Problem[] {
  const entries = listFolder(folder);
  // A skill that is not known does not parse, and is off.
  if (entries.some(isSkillMd)) return [];
  return entries.flatMap(({ name, isFile, isDirectory }) => {
    const file = childPath(folder, name);
    if (isFile) return checkFile(file, root);
    const isDeep = isDirectory && !root.recursive &&
      listFolder(file).some(isSkillMd);
    const reason = "it is one level too deep to be found";
    const hint = `move it to ${quote(root.path)}, or add --skill-dir ${
      quote(root.path)
    }`;
    return isDeep ? [{ rule: "nested-too-deep", file, reason, hint }] : [];
  });
}

/** Reports a file whose name is almost that of a skill, or whose place is wrong. */
function checkFile(file: string, { path }: SkillRoot): Problem[] {
  const name = basename(file);
  const folder = dirname(file);
  const isTop = folder === path;
  // Any other folder can be that of a project.
  const isForSkills = basename(path) === "skills";
  const isOwn = !isTop && name.toLowerCase() === `${basename(folder)}.md`;
  if (isTop && isSkillMd({ name })) {
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
  if (isForSkills && isTop && /\.(?:zip|skill|tgz)$/i.test(name)) {
    const reason = "it is an archive, where a folder was expected";
    const hint = "unpack it into a folder of its own, and remove it";
    return [{ rule: "archive", file, reason, hint }];
  }
  return [];
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
