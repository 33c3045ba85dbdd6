/**
 * The folders that are closed: to everyone, because they are off, or to the model
 * only. This is the one place that is asked, whichever root or link leads to a
 * folder, whichever skill lies around it, and whether or not its `SKILL.md` is
 * valid. If a search ended early, that includes all folders that have a `SKILL.md`
 * and were not judged.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { mayRead } from "../files/confinement.ts";
import { isAtOrBelow } from "../files/paths.ts";
import { runSteps } from "../time_slice.ts";
import type { PolicyDecider } from "./policy.ts";
import type { Scopes } from "./scopes.ts";
import { findSkillFile } from "./skill_md.ts";
import type { ClosedFolders, SkillState } from "./types.ts";

/** The closed folders of one scan, by their real paths. */
export class ClosedFolderSet implements ClosedFolders {
  /** The states of the skills, and of the other folders that are asked about. */
  readonly #states = new Map<string, SkillState>();
  /** Decides on folders that are no skills, if rules name folders. */
  readonly #decideOnFolder: ((realPath: string) => SkillState) | undefined;
  /** Whether a search did not visit all folders. */
  #endedEarly = false;

  /**
   * Creates the set, without any skills.
   *
   * @param policy The policy, if there is one.
   * @param scopes The scopes of the folders.
   */
  constructor(policy: PolicyDecider | undefined, scopes: Scopes) {
    if (!policy?.hasFolders) return;
    this.#decideOnFolder = (path) =>
      policy.decideOnFolder({ path, scope: scopes.scopeOf(path) });
  }

  /** Adds a skill, valid or not, by its real path. All searches must have ended. */
  add(realPath: string, state: SkillState): void {
    const isClosed = state === "off" || state === "manual";
    // Where nothing else closes folders, the others need no memory.
    if (isClosed || this.#judgesFolders) this.#states.set(realPath, state);
  }

  /**
   * Records that a search ended early. What it did not visit has not been judged, so
   * a folder that has a `SKILL.md` and is no known skill is closed to everyone.
   */
  endEarly(): void {
    this.#endedEarly = true;
  }

  isClosed(
    realPath: string,
    { skill, forModel }: { skill: string; forModel: boolean },
  ): boolean {
    if (this.#states.size === 0 && !this.#judgesFolders) return false;
    const end = isAtOrBelow(realPath, skill) ? skill : undefined;
    for (let folder = realPath; folder !== end; folder = dirname(folder)) {
      const state = this.#stateOf(folder);
      if (state === "off" || forModel && state === "manual") return true;
      if (folder === dirname(folder)) break;
    }
    return false;
  }

  /** Whether folders that are no known skills can be closed. */
  get #judgesFolders(): boolean {
    return this.#endedEarly || this.#decideOnFolder !== undefined;
  }

  #stateOf(folder: string): SkillState {
    let state = this.#states.get(folder);
    if (state === undefined) {
      state = this.#isUnjudged(folder)
        ? "off"
        : this.#decideOnFolder?.(folder) ?? "on";
      this.#states.set(folder, state);
    }
    return state;
  }

  /**
   * Whether a folder is a skill, valid or not, that no search judged. It does not
   * matter where the folder lies, because a link that was not visited may lead to it.
   */
  #isUnjudged(folder: string): boolean {
    return this.#endedEarly && mayRead(folder) &&
      runSteps(findSkillFile(folder)) !== undefined;
  }
}
