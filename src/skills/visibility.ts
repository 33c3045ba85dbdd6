/** Decides who sees a skill, and the files of a skill in another one. */

import { withDirsAbove } from "../fs/paths.ts";
import type { Skill, SkillHiding, Viewer } from "./types.ts";

/** From whom each value hides a skill, the strictest value last. */
const HIDDEN: Readonly<Record<SkillHiding, readonly Viewer[]>> = {
  nobody: [],
  model: ["model"],
  everyone: ["model", "host", "user"],
};

const HIDINGS = Object.keys(HIDDEN) as readonly SkillHiding[];

export function strictest(...hidings: SkillHiding[]): SkillHiding {
  return HIDINGS.findLast((it) => hidings.includes(it)) ?? "nobody";
}

/** A skill, a skipped one, or a file. */
interface Hideable extends Pick<Skill, "hiddenFrom"> {
  readonly isHiddenFromUser?: boolean;
}

export function sees(
  viewer: Viewer,
  { hiddenFrom, isHiddenFromUser = false }: Hideable,
): boolean {
  const isUninvocable = viewer === "user" && isHiddenFromUser;
  return !isUninvocable && !HIDDEN[hiddenFrom].includes(viewer);
}

export function isOff({ hiddenFrom }: Pick<Skill, "hiddenFrom">): boolean {
  return hiddenFrom === "everyone";
}

/**
 * Says from whom the files in a directory are hidden, because a skill there or above is
 * off, is hidden from the model, or has a `SKILL.md` that cannot be read.
 *
 * @param dir The real path of the directory.
 * @param skillDir The real directory of the skill whose files are read, if any. That
 *   skill and what is above it do not count for its own files.
 */
export type HidingIn = (dir: string, skillDir?: string) => SkillHiding;

/**
 * Creates a {@linkcode HidingIn} that asks about each directory that counts, once for
 * each skill, and returns the strictest answer.
 */
export function hidingByDirs(
  decideOn: (dir: string, skillDir: string | undefined) => SkillHiding,
): HidingIn {
  const bySkill = new Map<string | undefined, Map<string, SkillHiding>>();
  return (dir, skillDir) => {
    if (dir === skillDir) return "nobody";
    const dirs = withDirsAbove(dir);
    const isInSkill = skillDir !== undefined && dirs.includes(skillDir);
    const deciding = isInSkill ? dirs.slice(0, dirs.indexOf(skillDir)) : dirs;
    const decided = bySkill.getOrInsertComputed(skillDir, () => new Map());
    return strictest(
      ...deciding.map((it) =>
        decided.getOrInsertComputed(it, () => decideOn(it, skillDir))
      ),
    );
  };
}
