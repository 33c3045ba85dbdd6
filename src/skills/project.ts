/**
 * What belongs to the project, and where its links are allowed to lead. A scope is
 * a property of a real path, whichever root, link, or spelling leads there.
 *
 * @module
 */

import { dirname, join, relative } from "jsr:@std/path@^1";
import { attempt } from "../files/faults.ts";
import { isAtOrBelow, isCaseBlind, realPathOf } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import type { SkillRoot, SkillScope } from "./types.ts";

/** The project: the working directory, unless that is the home folder or contains it. */
export class Project {
  /** The path of the working directory, as given and real, if it is a project. */
  readonly #folder: { path: string; realPath: string } | undefined;

  /** Determines the project. Desktop applications start servers in `/`. */
  constructor({ workingDirectory: path, homeDirectory }: BaseFolders) {
    if (path === undefined) return;
    const realPath = realPathOf(path);
    const isAboveHome = dirname(realPath) === realPath ||
      homeDirectory !== undefined &&
        isAtOrBelow(realPathOf(homeDirectory), realPath);
    if (!isAboveHome) this.#folder = { path, realPath };
  }

  /** Whether the working directory is a project. */
  get exists(): boolean {
    return this.#folder !== undefined;
  }

  /** Returns the scope of a real path. */
  scopeOf(realPath: string): SkillScope {
    const project = this.#folder?.realPath;
    return project !== undefined && isAtOrBelow(realPath, project)
      ? "project"
      : "global";
  }

  /**
   * Whether a link that lies in the project is on a path.
   *
   * @param realPath The real path as it was resolved once, so that the answer is about
   *   the same moment as what follows from it.
   */
  hasLinkOn(path: string, realPath: string): boolean {
    if (this.#folder === undefined) return false;
    const { path: given, realPath: project } = this.#folder;
    const folder = [given, project].find((folder) => isAtOrBelow(path, folder));
    if (folder !== undefined) {
      // Needs no permission to read the folders above the path.
      return !isSamePath(realPath, join(project, relative(folder, path)));
    }
    if (realPath === path) return false;
    for (let link = path; link !== dirname(link); link = dirname(link)) {
      const isProject = this.scopeOf(realPathOf(dirname(link))) === "project";
      const isLink = () => Deno.lstatSync(link).isSymlink;
      if (isProject && attempt(isLink)) return true;
    }
    return false;
  }

  /**
   * Lists the real paths of the folders that links of the project are allowed to
   * lead into: the project, and the user's own roots.
   */
  listTargets(roots: readonly SkillRoot[]): string[] {
    const { realPath } = this.#folder ?? {};
    const own = roots
      .filter(({ scope }) => scope === "global")
      .map(({ path }) => ({ path, realPath: realPathOf(path) }))
      .filter(({ path, realPath }) => !this.hasLinkOn(path, realPath))
      .map(({ realPath }) => realPath);
    return realPath === undefined ? own : [realPath, ...own];
  }
}

/**
 * Returns the real paths of trusted folders, without missing ones. If Deno is not
 * allowed to resolve a folder, returns its path as it is. If that path contains a
 * link, no real path lies in it, which is safe.
 */
export function resolveTrusted(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    try {
      return [Deno.realPathSync(folder)];
    } catch (error) {
      return error instanceof Deno.errors.NotCapable ? [folder] : [];
    }
  });
}

function isSamePath(a: string, b: string): boolean {
  return a === b || isCaseBlind && a.toLowerCase() === b.toLowerCase();
}
