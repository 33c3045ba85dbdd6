/**
 * Finds what its author most likely meant as a skill, but what no scan finds, for
 * `--list` and `--check`. It lists folders, but follows no link and opens no file.
 *
 * @module
 */

import { basename } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import { childPath, isCaseBlind } from "../files/paths.ts";
import { byCodeUnits, quote } from "../text.ts";
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
  const entries = attempt(() => [...Deno.readDirSync(folder)]) ?? [];
  entries.sort((a, b) => byCodeUnits(a.name, b.name));
  const isSkill = entries.some(({ name }) => SKILL_MD.test(name));
  if (depth > 0 && isSkill) {
    // Directly in the root, a skill that is not known does not parse, and is off.
    return depth === 1 ? [] : [{
      rule: "nested-too-deep",
      file: folder,
      reason: "it is one level too deep to be found",
      hint: `move it to ${quote(root)}, or add --skill-dir ${quote(root)}`,
    }];
  }
  return entries.flatMap(({ name, isFile, isDirectory }) => {
    const file = childPath(folder, name);
    const fault = isFile && depth < 2 && faultOf(name, search);
    if (fault) return [{ file, ...fault }];
    const isSearched = isDirectory && depth < (recursive ? 1 : 2) &&
      !known.has(file) && !name.startsWith(".") && !UNSEARCHED_NAMES.has(name);
    return isSearched
      ? findNearMisses(file, { ...search, depth: depth + 1 })
      : [];
  });
}

/** Says what is wrong with a file whose name is almost that of a skill, or with its place. */
function faultOf(
  name: string,
  { root: { path }, depth }: Search,
): Omit<Problem, "file"> | undefined {
  if (depth === 0 && SKILL_MD.test(name)) {
    return {
      rule: "loose-file",
      reason: "it is directly in a folder of skills",
      hint: "move it, and the files that it needs, into a folder of its own",
    };
  }
  if (LIKE_SKILL_MD.test(name)) {
    return {
      rule: "file-name",
      reason: 'the file of a skill must be named "SKILL.md"',
      hint: 'rename it to "SKILL.md"',
    };
  }
  // Any folder with another name can be that of a project.
  const isForSkills = depth === 0 && basename(path) === "skills";
  if (isForSkills && /\.(?:zip|skill|tgz)$/i.test(name)) {
    return {
      rule: "archive",
      reason: "it is an archive, where a folder was expected",
      hint: "unpack it into a folder of its own, and remove it",
    };
  }
}
