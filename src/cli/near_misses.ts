/**
 * Finds what its author most likely meant as a skill, but what no scan finds, for
 * `--list` and `--check`. It lists folders, but follows no link and opens no file.
 *
 * @module
 */

import { basename } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import { childPath, isCaseBlind, sortByName } from "../files/paths.ts";
import { quote } from "../text.ts";
import { UNSEARCHED_NAMES } from "../skills/skill_reader.ts";
import type { Problem, SkillRoot } from "../skills/types.ts";

/** The names of the files that a scan finds. */
const SKILL_MD = isCaseBlind ? /^skill\.md$/i : /^(?:SKILL|skill)\.md$/;

/** A name that is likely meant as `SKILL.md`. */
const LIKE_SKILL_MD =
  /^skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*$/i;

/** Where to search. */
interface Search {
  readonly root: SkillRoot;
  /** The folders of all skills that the scan found, valid or not, and the other roots. */
  readonly known: ReadonlySet<string>;
  /** How many levels a folder is below the root. */
  readonly depth: number;
}

/** Finds the near misses in a folder of a root, and in its folders. */
export function findNearMisses(folder: string, search: Search): Problem[] {
  const { root: { path: root, recursive }, known, depth } = search;
  const entries = attempt(() => sortByName(Deno.readDirSync(folder))) ?? [];
  const isSkill = entries.some(({ name }) => SKILL_MD.test(name));
  if (depth > 0 && isSkill) {
    const reason = "it is one level too deep to be found";
    const hint = `move it to ${quote(root)}, or add --skill-dir ${quote(root)}`;
    const problem = { rule: "nested-too-deep", file: folder, reason, hint };
    // Directly in the root, a skill that is not known does not parse, and is off.
    return depth > 1 ? [problem] : [];
  }
  return entries.flatMap(({ name, isFile, isDirectory }) => {
    const path = childPath(folder, name);
    if (isFile && depth < 2) return checkFile(path, search);
    const isSearched = isDirectory && depth < (recursive ? 1 : 2) &&
      !known.has(path) && !name.startsWith(".") && !UNSEARCHED_NAMES.has(name);
    return isSearched
      ? findNearMisses(path, { ...search, depth: depth + 1 })
      : [];
  });
}

/** Reports a file whose name is almost that of a skill, or whose place is wrong. */
function checkFile(file: string, { root: { path }, depth }: Search): Problem[] {
  const name = basename(file);
  // Any folder with another name can be that of a project.
  const isForSkills = depth === 0 && basename(path) === "skills";
  if (depth === 0 && SKILL_MD.test(name)) {
    const reason = "it is directly in a folder of skills";
    const hint =
      "move it, and the files that it needs, into a folder of its own";
    return [{ rule: "loose-file", file, reason, hint }];
  }
  if (LIKE_SKILL_MD.test(name)) {
    const reason = 'the file of a skill must be named "SKILL.md"';
    const hint = 'rename it to "SKILL.md"';
    return [{ rule: "file-name", file, reason, hint }];
  }
  if (isForSkills && /\.(?:zip|skill|tgz)$/i.test(name)) {
    const reason = "it is an archive, where a folder was expected";
    const hint = "unpack it into a folder of its own, and remove it";
    return [{ rule: "archive", file, reason, hint }];
  }
  return [];
}
