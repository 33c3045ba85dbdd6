/**
 * The folders of skills that are hidden: to everyone, because they are off, or to
 * the model only. This is the one place that is asked, whichever root or link leads
 * to a file, and whichever skill lies around it.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { isAtOrBelow } from "../files/paths.ts";

/** The skill that leads to a file, and who asks. */
export interface Viewer {
  /** The real path of the skill. */
  readonly skill: string;
  /** Whether the model asks. */
  readonly forModel: boolean;
}

/** The hidden folders of one scan, by their real paths. */
export class HiddenFolders {
  readonly #states = new Map<string, "off" | "manual">();
  /** Whether a folder is a skill that no search judged. */
  #isUnjudged: ((folder: string) => boolean) | undefined;

  /** Hides a folder. */
  add(realPath: string, state: "off" | "manual"): void {
    this.#states.set(realPath, state);
  }

  /**
   * Records that a search ended early. It does not matter where an unjudged folder
   * lies, because a link that was not visited may lead to it.
   *
   * @param isUnjudged Whether a folder has a `SKILL.md` and was not judged.
   */
  endEarly(isUnjudged: (folder: string) => boolean): void {
    this.#isUnjudged = isUnjudged;
  }

  /**
   * Whether a file or folder is in a hidden folder between it and the skill. If it
   * lies outside the skill, any hidden folder counts.
   */
  isHidden(realPath: string, { skill, forModel }: Viewer): boolean {
    if (this.#states.size === 0 && this.#isUnjudged === undefined) return false;
    const end = isAtOrBelow(realPath, skill) ? skill : undefined;
    for (let folder = realPath; folder !== end; folder = dirname(folder)) {
      const state = this.#states.get(folder);
      if (state === "off" || forModel && state === "manual") return true;
      if (state === undefined && this.#isUnjudged?.(folder)) return true;
      if (folder === dirname(folder)) break;
    }
    return false;
  }
}
