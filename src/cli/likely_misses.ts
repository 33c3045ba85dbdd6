/**
 * What is wrong with near misses, and how to make them skills, as far as they are likely
 * enough to be mistakes to tell a person of them.
 *
 * @module
 */

import { attempt } from "../attempt.ts";
import { basename, dirname } from "../files/paths.ts";
import { readLocated } from "../files/reading.ts";
import type { Fault } from "../problems.ts";
import { isSkillFileName } from "../skills/skill_file.ts";
import type { NearMiss, SkillRoot } from "../skills/types.ts";
import { MAX_FRONTMATTER_SIZE } from "../skills/yaml.ts";
import { quote } from "../text.ts";

/** The beginning of a text whose frontmatter has a field of a skill. */
const SKILL_FRONTMATTER =
  /^---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*?(?:name|description)\s*:/;

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

const LOOSE_FILE: Fault = {
  rule: "loose-file",
  reason: "it is directly in a folder of skills",
  hint:
    'move it, and the files that it needs, into a folder of its own, as "SKILL.md"',
};

const WRONG_NAME: Fault = {
  rule: "file-name",
  reason: 'the file of a skill must be named "SKILL.md"',
  hint: 'rename it to "SKILL.md", which must be plain text',
};

const ARCHIVE: Fault = {
  rule: "archive",
  reason: "it is an archive, where a folder was expected",
  hint: "unpack it into a folder of its own, and remove it",
};

/**
 * Says what is wrong with a near miss in a root, and how to make it a skill, if it is
 * likely a mistake. A folder that is not named as one of skills may be a skill, or a
 * project with its own documents.
 */
export function findNearMissFault(
  { kind, path, document }: NearMiss,
  root: SkillRoot,
): Fault | undefined {
  const folder = dirname(path);
  const isInRoot = folder === root.path;
  const isAmongSkills = basename(folder).toLowerCase() === "skills";
  switch (kind) {
    case "folder":
      return isAmongSkills ? toFolderFault(document) : undefined;
    case "archive":
      return isInRoot && isAmongSkills ? ARCHIVE : undefined;
    case "document":
      return isAmongSkills && hasFrontmatter(path) ? LOOSE_FILE : undefined;
    case "misnamed": {
      // Deeper, it may be anything, and "skills.md" may be at any level.
      const isNearTop = isInRoot || dirname(folder) === root.path;
      const isMeant = !/^skills/i.test(basename(path)) || hasFrontmatter(path);
      if (!isNearTop || !isMeant) return undefined;
      const isLoose = isInRoot && isAmongSkills;
      return isLoose || isSkillFileName(basename(path))
        ? LOOSE_FILE
        : WRONG_NAME;
    }
  }
}

function toFolderFault(document: string | undefined): Fault {
  const hint = document === undefined
    ? 'add one, or, if it is not a skill, begin its name with "_"'
    : `rename ${quote(document)} in it to "SKILL.md"`;
  const reason = 'it is among the skills, and has no file "SKILL.md"';
  return { rule: "skill-md-missing", reason, hint };
}
