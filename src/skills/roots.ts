/**
 * The skill roots: which folders are searched, what belongs to the project, and where
 * the project's links are allowed to lead. A scope is a property of a real path,
 * whichever root, link, or spelling leads there.
 *
 * @module
 */

import { attempt, isAbsence } from "../files/faults.ts";
import {
  basename,
  dirname,
  isAtOrBelow,
  isSamePath,
  join,
  realPathOf,
  relative,
  resolveFolder,
} from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import type { SkillRoot, SkillRootOptions, SkillScope } from "./types.ts";

/** The default time between two rescans, in seconds. */
export const DEFAULT_REFRESH_SECONDS = 30;

/**
 * Lists the roots in the order in which they are searched. The default roots
 * are `./.agent/skills`, `~/.agent/skills`, `./.claude/skills`, and
 * `~/.claude/skills`, without those whose base folder is unknown.
 *
 * ```ts
 * import { resolveSkillRoots } from "@skill-server/skill-server";
 *
 * const roots = resolveSkillRoots({ homeDirectory: Deno.env.get("HOME") });
 * console.log(roots.map(({ path }) => path));
 * ```
 *
 * @param options The base folders, and the folders to search instead of the
 *   default roots or in addition to them.
 * @returns The roots, without duplicates. Their paths are absolute.
 * @throws {Error} If a configured folder is relative to an unknown base folder.
 */
export function resolveSkillRoots(options: SkillRootOptions): SkillRoot[] {
  const { directories, recursiveDirectories = [], agents } = options;
  // The user trusts these folders. Each scan finds out whether they lie in the project.
  const configured = (directory: string, recursive: boolean): SkillRoot => ({
    path: resolveFolder(directory, options),
    scope: "global",
    recursive,
  });
  const shared = (folder: string) => wellKnownRoots(folder, options);
  const roots = directories
    ? directories.flatMap((directory) =>
      ["", join(".claude", "skills"), "skills"]
        .map((folder) => ({
          ...configured(join(directory, folder), false),
          includesItself: folder === "",
        }))
    )
    : [".agent", ".claude"].flatMap(shared);
  if (agents) roots.push(...shared(".agents"));
  roots.push(...recursiveDirectories.map((path) => configured(path, true)));
  return roots.filter((root, index) => {
    const isSame = (other: SkillRoot) =>
      other.path === root.path && other.recursive === root.recursive;
    return roots.findIndex(isSame) === index;
  });
}

/** Returns the roots that agents share: `<folder>/skills` in the project and in the home folder. */
function wellKnownRoots(
  folder: string,
  options: SkillRootOptions,
): SkillRoot[] {
  const { workingDirectory, homeDirectory: home } = options;
  const project = new Project(options);
  const bases = new Set([workingDirectory, home]);
  return [...bases].filter((base) => base !== undefined).map((base) => ({
    path: join(base, folder, "skills"),
    scope: base === home ? "global" : project.scopeOf(realPathOf(base)),
    recursive: false,
  }));
}

/** Compares by whom something comes from: the user's own comes before the project's. */
export function byOwner(
  a: { readonly scope: SkillScope },
  b: { readonly scope: SkillScope },
): number {
  const rankOf = (scope: SkillScope) => scope === "global" ? 0 : 1;
  return rankOf(a.scope) - rankOf(b.scope);
}

/** The project: the working directory, unless that is the home folder or contains it. */
export class Project {
  /** The real path of the working directory, if it is a project. */
  readonly #realPath: string | undefined;
  readonly #workingDirectory: string | undefined;

  /** Determines the project. Desktop applications start servers in `/`. */
  constructor({ workingDirectory, homeDirectory }: BaseFolders) {
    this.#workingDirectory = workingDirectory;
    if (workingDirectory === undefined) return;
    const realPath = realPathOf(workingDirectory);
    const isAboveHome = dirname(realPath) === realPath ||
      homeDirectory !== undefined &&
        isAtOrBelow(realPathOf(homeDirectory), realPath);
    if (!isAboveHome) this.#realPath = realPath;
  }

  /** Returns the scope of a real path. */
  scopeOf(realPath: string): SkillScope {
    const project = this.#realPath;
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
    const parent = dirname(path);
    if (parent === path || path === realPath) return false;
    const realParent = realPathOf(parent);
    const isLink = !isSamePath(realPath, join(realParent, basename(path)));
    return isLink && this.scopeOf(realParent) === "project" ||
      this.hasLinkOn(parent, realParent);
  }

  /** Whether a link of the project leads out of the project on a path. */
  departs(path: string, realPath: string): boolean {
    return this.scopeOf(realPath) !== "project" &&
      this.hasLinkOn(path, realPath);
  }

  /**
   * Resolves a folder that an option or a rule names. A path that departs stays as it is,
   * because the user did not choose where the link leads, and no real path equals a path
   * with a link. A missing folder keeps its path, too.
   *
   * @throws {Error} If the folder exists and cannot be resolved.
   */
  resolve(path: string): string {
    try {
      const realPath = Deno.realPathSync(path);
      return this.departs(path, realPath) ? path : realPath;
    } catch (error) {
      if (isAbsence(error)) return path;
      throw error;
    }
  }

  /** Resolves folders. Those that cannot be resolved keep their paths. */
  resolveAll(folders: readonly string[]): string[] {
    return folders.map((folder) =>
      attempt(() => this.resolve(folder)) ?? folder
    );
  }

  /**
   * Lists the real paths of the folders that links of the project are allowed to
   * lead into: the project, and the user's own roots.
   */
  listTargets(roots: readonly SkillRoot[]): string[] {
    const own = roots.filter(({ scope }) => scope === "global")
      .map(({ path }) => ({ path, realPath: realPathOf(path) }))
      .filter(({ path, realPath }) => !this.hasLinkOn(path, realPath))
      .map(({ realPath }) => realPath);
    return this.#realPath === undefined ? own : [this.#realPath, ...own];
  }

  /**
   * Returns the path of a file relative to the project, with slashes, if it lies there.
   *
   * @param path The path as configured, and otherwise the real one.
   */
  pathIn(path: string, realPath: string): string | undefined {
    const project = this.#realPath;
    const folders = [this.#workingDirectory, project];
    for (const folder of project === undefined ? [] : folders) {
      const inside = [path, realPath].find((it) => isAtOrBelow(it, folder!));
      if (inside !== undefined) {
        return relative(folder!, inside).replaceAll("\\", "/");
      }
    }
    return undefined;
  }
}
