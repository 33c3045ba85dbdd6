/**
 * Finds files that are almost those of skills: with almost the right name, or directly in
 * a folder of skills.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { basename, childPath, extname } from "../files/paths.ts";
import { type Located, readLocated } from "../files/reading.ts";
import type { Fault, Problem } from "../problems.ts";
import { isSkillFileName } from "../skills/skill_reader.ts";
import { MAX_FRONTMATTER_SIZE } from "../skills/yaml.ts";
import { quote } from "../text.ts";

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

/** A file or folder that is looked at. */
export interface Candidate extends Located {
  readonly name: string;
  /** How many levels it is below the searched folder. */
  readonly depth: number;
}

/** Returns an entry of a folder by its name. */
export function candidateIn(folder: Candidate, name: string): Candidate {
  return {
    name,
    path: childPath(folder.path, name),
    realPath: childPath(folder.realPath, name),
    isLinked: folder.isLinked,
    depth: folder.depth + 1,
  };
}

/** Finds the files in a folder whose name, or whose folder, is wrong. */
export function findMisnamed(
  folder: Candidate,
  entries: Deno.DirEntry[],
): Problem[] {
  return entries.filter(({ isFile }) => isFile).flatMap(({ name }) => {
    const file = candidateIn(folder, name);
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
    const status = Deno.lstatSync(file.path);
    if (!status.isFile) return "";
    const buffer = new Uint8Array(MAX_FRONTMATTER_SIZE);
    return new TextDecoder().decode(
      readLocated(file, { expected: status, buffer }),
    );
  });
  return text !== undefined && SKILL_FRONTMATTER.test(text);
}
