/**
 * Remembers hidden directories by their real paths: skills that are off or hidden from
 * the model, skills with an unreadable `SKILL.md`, and directories that the scan could
 * not visit.
 */

import { withDirsAbove } from "../fs/paths.ts";
import type { SkillHiding } from "../skills/types.ts";
import { strictest } from "./states.ts";

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
