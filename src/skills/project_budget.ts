/**
 * Limits what a scan reads in the default roots of a project, which may be a
 * stranger's: a clone must not hold up a start.
 *
 * @module
 */

import { type Fault, projectTooLarge } from "../files/faults.ts";
import type { ReadSkill } from "./skill_reader.ts";

/** The limits of one scan. */
const MAX_SKILLS = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_MS = 2_000;

/** What a scan may still read in the default roots of a project. */
export class ProjectBudget {
  #skills = 0;
  #bytes = 0;
  #milliseconds = 0;
  /** The number of folders that were left out of the current root. */
  #left = 0;

  /**
   * Reads a folder, or leaves it out if a limit was reached.
   *
   * @param read Reads what is in the folder.
   * @param recall Returns what the last scan read there. It is never dropped.
   */
  read(
    read: () => ReadSkill | undefined,
    recall: () => ReadSkill | undefined,
  ): ReadSkill | undefined {
    if (this.#isSpent) {
      const known = recall();
      if (known === undefined) this.#left++;
      return known;
    }
    const start = performance.now();
    const skill = read();
    this.#milliseconds += performance.now() - start;
    if (skill !== undefined) {
      this.#skills++;
      this.#bytes += skill.size;
    }
    return skill;
  }

  /** Returns what was left out since the last call, as a problem of the root. */
  takeFault(): Fault | undefined {
    const left = this.#left;
    this.#left = 0;
    return left === 0 ? undefined : projectTooLarge(left);
  }

  get #isSpent(): boolean {
    return this.#skills >= MAX_SKILLS || this.#bytes >= MAX_BYTES ||
      this.#milliseconds >= MAX_MS;
  }
}
