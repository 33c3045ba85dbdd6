/**
 * Which folders belong to the project. A scope is a property of a place, that is,
 * of a real path, whichever root, link, or spelling leads there.
 *
 * @module
 */

import { dirname, join, relative } from "jsr:@std/path@^1";
import { isLink, realPathIfThere } from "../files/confinement.ts";
import { attempt } from "../files/faults.ts";
import { isAtOrBelow, isCaseBlind } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import type { SkillScope } from "./types.ts";

/** The folders of agents whose subfolder `skills` is a skill root. */
const AGENT_FOLDERS = [".agent", ".claude", ".agents"];

/** Knows the scope of each place. */
export class Scopes {
  /** The paths of the project, as given and real, if there is a project. */
  readonly #project: { path: string; realPath: string } | undefined;
  /** The folders that a project's links are always allowed to point into. */
  readonly ownFolders: readonly string[];

  /**
   * Determines the project: the working directory, unless that is the home folder
   * or contains it. Desktop applications start servers in `/`.
   */
  constructor({ workingDirectory: path, homeDirectory }: BaseFolders) {
    this.ownFolders = [
      ...homeDirectory === undefined
        ? []
        : AGENT_FOLDERS.map((folder) => join(homeDirectory, folder, "skills")),
      ...path === undefined ? [] : [path],
    ];
    if (path === undefined) return;
    const realPath = realPathOf(path);
    const isAboveHome = dirname(realPath) === realPath ||
      homeDirectory !== undefined &&
        isAtOrBelow(realPathOf(homeDirectory), realPath);
    if (!isAboveHome) this.#project = { path, realPath };
  }

  get hasProject(): boolean {
    return this.#project !== undefined;
  }

  scopeOf(realPath: string): SkillScope {
    const project = this.#project?.realPath;
    return project !== undefined && isAtOrBelow(realPath, project)
      ? "project"
      : "global";
  }

  /** Whether a path lies in the project, or leads to a folder in it. */
  isInProject(path: string): boolean {
    const { path: given } = this.#project ?? {};
    return given !== undefined &&
      (isAtOrBelow(path, given) ||
        this.scopeOf(realPathOf(dirname(path))) === "project");
  }

  passesProjectLink(path: string): boolean {
    if (this.#project === undefined) return false;
    const { path: given, realPath } = this.#project;
    const folder = [given, realPath].find((folder) =>
      isAtOrBelow(path, folder)
    );
    if (folder !== undefined) {
      // Needs no permission to read the folders above the path.
      const direct = join(realPath, relative(folder, path));
      return !isSamePath(realPathOf(path), direct);
    }
    if (realPathOf(path) === path) return false;
    for (let link = path; link !== dirname(link); link = dirname(link)) {
      const parent = realPathOf(dirname(link));
      const isProject = this.scopeOf(parent) === "project";
      if (isProject && attempt(() => isLink(link))) return true;
    }
    return false;
  }
}

/** Returns the real path of a folder, or of the nearest folder above it that has one. */
export function realPathOf(path: string): string {
  for (let folder = path;; folder = dirname(folder)) {
    const realPath = realPathIfThere(folder);
    if (realPath !== undefined) return join(realPath, relative(folder, path));
    if (folder === dirname(folder)) return path;
  }
}

function isSamePath(a: string, b: string): boolean {
  return a === b || isCaseBlind && a.toLowerCase() === b.toLowerCase();
}
