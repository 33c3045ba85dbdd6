/**
 * What is wrong with what may be meant as a skill, and how to make it one, as far as that
 * is likely enough to tell a person.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { basename, childPath, dirname, extname } from "../files/paths.ts";
import { readLocated } from "../files/reading.ts";
import type { Fault, Problem } from "../problems.ts";
import { isSkillFileName } from "../skills/skill_file.ts";
import type { NearMiss, SkillRoot } from "../skills/types.ts";
import { MAX_FRONTMATTER_SIZE } from "../skills/yaml.ts";
import { quote } from "../text.ts";

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

/** Says what is wrong with a near miss in a root, if it is likely to be one. */
export function explainNearMiss(
  miss: NearMiss,
  root: SkillRoot,
): Problem | undefined {
  const fault = findFault(miss, root);
  return fault && { file: miss.path, ...fault };
}

function findFault(
  { kind, path, document }: NearMiss,
  root: SkillRoot,
): Fault | undefined {
  const folder = dirname(path);
  const isInRoot = folder === root.path;
  // A folder with any other name may be a skill, or a project with its own documents.
  const isAmongSkills = basename(folder).toLowerCase() === "skills";
  switch (kind) {
    case "folder":
      return isAmongSkills ? explainFolder(document) : undefined;
    case "archive":
      return isInRoot && isAmongSkills ? ARCHIVE : undefined;
    case "document":
      return isAmongSkills ? explainDocument(path) : undefined;
    case "misnamed":
      // Deeper, it may be anything.
      if (!isInRoot && dirname(folder) !== root.path) return undefined;
      return explainMisnamed(path, { isLoose: isInRoot && isAmongSkills });
  }
}

/** Says that a folder has no `SKILL.md`. */
function explainFolder(document: string | undefined): Fault {
  const hint = document === undefined
    ? 'add one, or, if it is not a skill, begin its name with "_"'
    : `rename ${quote(document)} in it to "SKILL.md"`;
  const reason = 'it is among the skills, and has no file "SKILL.md"';
  return { rule: "skill-md-missing", reason, hint };
}

/** Says where a Markdown file belongs, if it begins as a `SKILL.md` does. */
function explainDocument(path: string): Fault | undefined {
  if (!hasFrontmatter(path)) return undefined;
  const directory = path.slice(0, -extname(path).length);
  return {
    rule: "file-name",
    reason: "it is a file, where the folder of a skill was expected",
    hint: `move it to ${quote(childPath(directory, "SKILL.md"))}`,
  };
}

/** Says what is wrong with a file that is named almost as the `SKILL.md` of a skill. */
function explainMisnamed(
  path: string,
  { isLoose }: { isLoose: boolean },
): Fault | undefined {
  const name = basename(path);
  if (isSkillFileName(name)) return LOOSE_FILE;
  const isUnlikely = /^skills/i.test(name) && !hasFrontmatter(path);
  if (isUnlikely) return undefined;
  return isLoose ? LOOSE_AND_MISNAMED : WRONG_NAME;
}

/** Whether a file begins with frontmatter as a `SKILL.md` does. */
function hasFrontmatter(path: string): boolean {
  return attempt(() => {
    const expected = Deno.lstatSync(path);
    if (!expected.isFile) return false;
    const file = { path, realPath: Deno.realPathSync(path), isLink: false };
    const buffer = new Uint8Array(MAX_FRONTMATTER_SIZE);
    const bytes = readLocated(file, { expected, buffer });
    return SKILL_FRONTMATTER.test(new TextDecoder().decode(bytes));
  }) === true;
}
