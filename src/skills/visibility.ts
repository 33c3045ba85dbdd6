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
 * Remembers hidden directories by their real paths: skills that are off or hidden from
 * the model, skills with an unreadable `SKILL.md`, and directories that the scan could
 * not visit.
 */
export class HiddenDirs {
  readonly #hidden = new Map<string, SkillHiding>();

  set(realPath: string, hiding: SkillHiding): void {
    if (hiding === "nobody") return;
    const known = this.#hidden.get(realPath) ?? "nobody";
    this.#hidden.set(realPath, strictest(known, hiding));
  }

  /**
   * Returns from whom a file or directory of a skill is hidden. The directories below
   * the skill decide, or all directories above a path outside the skill.
   *
   * @param realPath The real path of the file or directory.
   * @param skillDir The real directory of the skill.
   */
  of(realPath: string, skillDir: string): SkillHiding {
    if (this.#hidden.size === 0) return "nobody";
    const dirs = withDirsAbove(realPath);
    const isInSkill = dirs.includes(skillDir);
    const deciding = isInSkill ? dirs.slice(0, dirs.indexOf(skillDir)) : dirs;
    return strictest(
      ...deciding.map((dir) => this.#hidden.get(dir) ?? "nobody"),
    );
  }
}
