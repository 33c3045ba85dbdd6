/**
 * Which near misses are likely enough to be mistakes to tell a person of them.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { basename, dirname } from "../files/paths.ts";
import { readLocated } from "../files/reading.ts";
import { isAmongSkills } from "../scan/near_misses.ts";
import type { NearMiss, SkillRoot } from "../skills/types.ts";
import { MAX_FRONTMATTER_SIZE } from "../skills/yaml.ts";

/** The beginning of a text whose frontmatter has a field of a skill. */
const SKILL_FRONTMATTER =
  /^---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*?(?:name|description)\s*:/;

/**
 * Whether a near miss is likely a mistake. A folder that is not named as one of skills may
 * be a skill, or a project with its own documents.
 */
export function isLikely({ kind, path }: NearMiss, root: SkillRoot): boolean {
  const folder = dirname(path);
  const isInRoot = folder === root.path;
  switch (kind) {
    case "folder":
      return isAmongSkills(path);
    case "archive":
      return isInRoot && isAmongSkills(path);
    case "document":
      return isAmongSkills(path) && hasFrontmatter(path);
    case "misnamed":
      // Deeper, it may be anything, and "skills.md" may be at any level.
      return (isInRoot || dirname(folder) === root.path) &&
        (!/^skills/i.test(basename(path)) || hasFrontmatter(path));
  }
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
