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

/** To whom a folder is closed. */
type Closure = "nobody" | "model" | "everyone";

/** The closed folders of one scan, by their real paths. */
export class ClosedFolderSet implements ClosedFolders {
  /** The folders that are asked about, with the answers. */
  readonly #closures = new Map<string, Closure>();
  /** Decides on folders that are no skills, if rules name folders. */
  readonly #decideOnFolder: ((realPath: string) => SkillState) | undefined;
  /** Whether a search did not visit all folders. */
  #endedEarly = false;
  #hasClosed = false;

  /**
   * Creates the set, without any skills.
   *
   * @param policy The policy, if there is one.
   * @param scopes The scopes of the folders.
   */
  constructor(policy?: PolicyDecider, scopes?: Scopes) {
    if (!policy?.hasFolders || scopes === undefined) return;
    this.#decideOnFolder = (path) =>
      policy.decideOnFolder({ path, scope: scopes.scopeOf(path) });
  }

  /** Adds a skill, valid or not, by its real path. */
  add(
    realPath: string,
    { state, isHidden }: { state: SkillState; isHidden: boolean },
  ): void {
    const closure = closureOf(isHidden && state !== "off" ? "manual" : state);
    this.#closures.set(realPath, closure);
    this.#hasClosed ||= closure !== "nobody";
  }

  /**
   * Records that a search ended early. What it did not visit has not been judged, so
   * a folder that has a `SKILL.md` and is no known skill is closed to everyone.
   */
  endEarly(): void {
    this.#endedEarly = true;
    this.#hasClosed = true;
  }

  isClosed(
    realPath: string,
    { skill, forModel }: { skill: string; forModel: boolean },
  ): boolean {
    if (!this.#hasClosed && this.#decideOnFolder === undefined) return false;
    const end = isAtOrBelow(realPath, skill) ? skill : undefined;
    for (let folder = realPath; folder !== end; folder = dirname(folder)) {
      const closure = this.#closureOf(folder);
      if (closure === "everyone" || forModel && closure === "model") {
        return true;
      }
      if (folder === dirname(folder)) break;
    }
    return false;
  }

  #closureOf(folder: string): Closure {
    const known = this.#closures.get(folder);
    if (known !== undefined) return known;
    const closure = this.#isUnjudged(folder)
      ? "everyone"
      : closureOf(this.#decideOnFolder?.(folder) ?? "on");
    this.#closures.set(folder, closure);
    return closure;
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

function closureOf(state: SkillState): Closure {
  return state === "off" ? "everyone" : state === "manual" ? "model" : "nobody";
}
