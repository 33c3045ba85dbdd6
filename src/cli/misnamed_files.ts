/**
 * Finds files that were probably meant as the `SKILL.md` of a skill: with almost the right
 * name, or directly in a folder of skills.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { basename, childPath, dirname, extname } from "../files/paths.ts";
import { type Located, readLocated } from "../files/reading.ts";
import type { Fault, Problem } from "../problems.ts";
import { MAX_FRONTMATTER_SIZE } from "../skills/yaml.ts";
import { quote } from "../text.ts";
import { isArchiveName, isSkillFileName } from "../skills/skill_file.ts";

/** A name that was probably meant as `SKILL.md`, such as `Skill.md.txt` or `SKILL copy.md`. */
const LIKE_SKILL_MD =
  /^skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*$/i;

/** The beginning of a text whose frontmatter has a field of a skill. */
const SKILL_FRONTMATTER =
  /^---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*?(?:name|description)\s*:/;

const LOOSE_FILE: Fault = {
  rule: "loose-file",
  reason: "it is directly in a folder of skills",
  hint: "move it, and the files that it needs, into a folder of its own",
};

const LOOSE_AND_MISNAMED: Fault = {
  ...LOOSE_FILE,
  hint: `${LOOSE_FILE.hint}, and rename it to "SKILL.md"`,
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

/** A folder in which files are looked at, at a number of levels below the searched one. */
type Folder = Pick<Located, "path" | "realPath"> & {
  readonly name: string;
  readonly depth: number;
};

/** Whether a folder is named as one of skills, such as `Documents/Skills`. */
export function isNameOfSkills(name: string): boolean {
  return name.toLowerCase() === "skills";
}

/** Finds the files in a folder whose name, or whose folder, is wrong, or what it lacks. */
export function findMisnamed(
  folder: Folder,
  entries: readonly Deno.DirEntry[],
): Problem[] {
  const files = entries.filter(({ isFile }) => isFile);
  const problems = files.flatMap(({ name }) => {
    const fault = faultOfFile(name, folder);
    const file = childPath(folder.path, name);
    return fault === undefined ? [] : [{ file, ...fault }];
  });
  const mayLackOne = folder.depth === 1 && problems.length === 0;
  return mayLackOne ? findMissing(folder, entries) : problems;
}

/** Says that a folder has no `SKILL.md`, if it lies among skills. */
export function findMissingIn(path: string): Problem | undefined {
  if (!isNameOfSkills(basename(dirname(path)))) return undefined;
  const entries = attempt(() => [...Deno.readDirSync(path)]) ?? [];
  return findMissing({ path, name: basename(path) }, entries)[0];
}

/** Says that a folder has no `SKILL.md`, unless it is empty, or named as what is no skill. */
function findMissing(
  { path, name }: Pick<Folder, "path" | "name">,
  entries: readonly Deno.DirEntry[],
): Problem[] {
  const own = entries.filter((it) => !it.isSymlink && !it.name.startsWith("."));
  if (own.length === 0 || /^[._]/.test(name)) return [];
  const [text, other] = own.filter((it) => it.isFile && /\.md$/i.test(it.name));
  const hint = text !== undefined && other === undefined
    ? `rename ${quote(text.name)} in it to "SKILL.md"`
    : 'add one, or, if it is not a skill, begin its name with "_"';
  const reason = 'it is among the skills, and has no file "SKILL.md"';
  return [{ rule: "skill-md-missing", file: path, reason, hint }];
}

/** Says what is wrong with the name of a file that may be meant as a skill, or with its place. */
function faultOfFile(name: string, folder: Folder): Fault | undefined {
  const isInRoot = folder.depth === 0;
  // A folder with any other name may be a skill, or a project with its own documents.
  const isAmongSkills = isInRoot && isNameOfSkills(folder.name);
  if (isInRoot && isSkillFileName(name)) return LOOSE_FILE;
  if (LIKE_SKILL_MD.test(name)) {
    return isAmongSkills ? LOOSE_AND_MISNAMED : WRONG_NAME;
  }
  if (/^skills\.md$/i.test(name)) {
    return hasFrontmatter(name, folder) ? WRONG_NAME : undefined;
  }
  if (!isAmongSkills) return undefined;
  if (isArchiveName(name)) return ARCHIVE;
  const isMarkdown = /\.(?:md|markdown)$/i.test(name);
  if (!isMarkdown || !hasFrontmatter(name, folder)) return undefined;
  const directory = childPath(folder.path, basename(name, extname(name)));
  return {
    rule: "file-name",
    reason: "it is a file, where the folder of a skill was expected",
    hint: `move it to ${quote(childPath(directory, "SKILL.md"))}`,
  };
}

/** Whether a file begins with frontmatter as a `SKILL.md` does. */
function hasFrontmatter(name: string, folder: Folder): boolean {
  const file = {
    path: childPath(folder.path, name),
    realPath: childPath(folder.realPath, name),
    isLink: false,
  };
  return attempt(() => {
    const expected = Deno.lstatSync(file.path);
    if (!expected.isFile) return false;
    const buffer = new Uint8Array(MAX_FRONTMATTER_SIZE);
    const bytes = readLocated(file, { expected, buffer });
    return SKILL_FRONTMATTER.test(new TextDecoder().decode(bytes));
  }) === true;
}
