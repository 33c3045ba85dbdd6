/** Decides who sees a skill, and the files of a skill in another one. */

import { dirname, withDirsAbove } from "../fs/paths.ts";
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
 * the model, skills with an unreadable `SKILL.md`, and directories that the scan did not
 * visit.
 */
export class HiddenDirs {
  readonly #hidden = new Map<string, SkillHiding>();
  readonly #hiddenBelow = new Set<string>();

  set(realPath: string, hiding: SkillHiding): void {
    if (hiding === "nobody") return;
    const known = this.#hidden.get(realPath) ?? "nobody";
    this.#hidden.set(realPath, strictest(known, hiding));
  }

  /** Hides the subdirectories of a directory, but not the files in it, from everyone. */
  hideBelow(realPath: string): void {
    this.#hiddenBelow.add(realPath);
  }

  /**
   * Returns from whom a file or directory of a skill is hidden. The directories below
   * the skill decide, or all directories above a path outside the skill.
   *
   * @param realPath The real path of the file or directory.
   * @param skillDir The real directory of the skill, if it is in one.
   */
  of(realPath: string, skillDir?: string): SkillHiding {
    if (this.#hidden.size + this.#hiddenBelow.size === 0) return "nobody";
    const dirs = withDirsAbove(realPath);
    const isInSkill = skillDir !== undefined && dirs.includes(skillDir);
    const deciding = isInSkill ? dirs.slice(0, dirs.indexOf(skillDir)) : dirs;
    const isBelow = deciding.slice(1)
      .some((dir) => this.#hiddenBelow.has(dirname(dir)));
    return isBelow
      ? "everyone"
      : strictest(...deciding.map((dir) => this.#hidden.get(dir) ?? "nobody"));
  }
}
