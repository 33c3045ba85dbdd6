/**
 * The project: what is in it, and where its symlinks are allowed to lead. A scope is a
 * property of a real path, whichever root, symlink, or spelling leads there.
 */

import { attempt } from "../attempt.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { isAbsence, SkillFileError } from "../fs/errors.ts";
import {
  type BaseDirs,
  dirname,
  isAtOrBelow,
  isAtOrBelowAny,
  locationOf,
  realPathOf,
  relative,
  withDirsAbove,
} from "../fs/paths.ts";
import { isInsideSkill } from "./files.ts";
import {
  LINK_OUT_OF_PROJECT,
  LINK_OUT_OF_ROOTS,
  skillDiagnosticOf,
} from "./scan_diagnostics.ts";
import { isSkillDir } from "./skill_file.ts";
import type { ScanOptions, SkillRoot, SkillScope } from "./types.ts";

/** Compares by scope: global before project. */
export function byScope(
  a: { readonly scope: SkillScope },
  b: { readonly scope: SkillScope },
): number {
  return Number(a.scope === "project") - Number(b.scope === "project");
}

/**
 * The project: the working directory, unless that is the home directory or above it. It
 * may be a stranger's, so nothing in it leads out of it, except to trusted directories.
 */
export class Project {
  /** The real path of the working directory, if it is a project. */
  readonly #realPath: string | undefined;
  /**
   * The real paths of the directories that all symlinks are allowed to lead into. Empty
   * while these directories themselves are resolved.
   */
  readonly trusted: readonly string[] = [];

  /** The root of a disk is never a project: desktop applications start servers in `/`. */
  constructor(
    { workingDirectory, homeDirectory, trustLinks = [] }:
      & BaseDirs
      & Pick<ScanOptions, "trustLinks">,
  ) {
    if (workingDirectory !== undefined) {
      const realPath = realPathOf(workingDirectory);
      const isAboveHome = dirname(realPath) === realPath ||
        (homeDirectory !== undefined &&
          isAtOrBelow(realPathOf(homeDirectory), realPath));
      if (!isAboveHome) this.#realPath = realPath;
    }
    this.trusted = this.resolveAll(trustLinks);
  }

  scopeOf(realPath: string): SkillScope {
    const project = this.#realPath;
    return project !== undefined && isAtOrBelow(realPath, project)
      ? "project"
      : "global";
  }

  /** Whether what is in the project may lead to a real path. */
  contains(realPath: string): boolean {
    return this.scopeOf(realPath) === "project" ||
      isAtOrBelowAny(realPath, this.trusted);
  }

  /**
   * Whether what a root, an option, or a rule names is in the project by its path, but
   * not by its real path. It is ignored then, because the user did not choose where a
   * symlink of the project leads.
   */
  leadsOut(path: string, realPath: string): boolean {
    return this.#realPath !== undefined && !this.contains(realPath) &&
      withDirsAbove(dirname(path))
        .some((dir) => this.scopeOf(realPathOf(dir)) === "project");
  }

  /**
   * Returns the real path of what a root, an option, or a rule names.
   *
   * @throws {SkillFileError} If it leads out of the project.
   * @throws {Error} If it is missing, or cannot be resolved.
   */
  enter(path: string): string {
    const realPath = Deno.realPathSync(path);
    if (!this.leadsOut(path, realPath)) return realPath;
    throw new SkillFileError(path, LINK_OUT_OF_PROJECT);
  }

  /**
   * Resolves a directory that an option or a rule names. One that leads out of the
   * project, or is missing, keeps its path, which equals no real path.
   *
   * @throws {Error} If the directory exists and cannot be resolved.
   */
  resolve(path: string): string {
    try {
      return this.enter(path);
    } catch (error) {
      if (isAbsence(error) || error instanceof SkillFileError) return path;
      throw error;
    }
  }

  /** Resolves directories. Those that lead out, or cannot be resolved, keep their paths. */
  resolveAll(dirs: readonly string[]): string[] {
    return dirs.map((dir) => attempt(() => this.enter(dir)) ?? dir);
  }

  /** Lists which of the directories that options and rules name cannot be used, and why. */
  listDiagnostics(dirs: readonly string[]): Diagnostic[] {
    return [...new Set(dirs)].flatMap((file) => {
      try {
        this.enter(file);
        return [];
      } catch (error) {
        return isAbsence(error) ? [] : [{ ...skillDiagnosticOf(error), file }];
      }
    });
  }

  /** Returns the path of a file relative to the project, with slashes, if it is in it. */
  pathIn(realPath: string): string | undefined {
    return this.scopeOf(realPath) === "project"
      ? relative(this.#realPath!, realPath).replaceAll("\\", "/")
      : undefined;
  }
}

/** Lists the directories that the symlinks in a root must not leave, if it confines them. */
export function confinementOf(
  root: SkillRoot,
  roots: readonly SkillRoot[],
  project: Project,
): string[] | undefined {
  if (!root.confinesLinks) return undefined;
  const paths = roots.filter(({ confinesLinks }) => confinesLinks)
    .map(({ path }) => path);
  return [...project.resolveAll(paths), ...project.trusted];
}

interface SymlinkRules {
  readonly project: Project;
  /** The real path of the skill around the symlink, if there is one. */
  readonly outer: string | undefined;
  /** The directories that the symlink must not leave, if there are any. */
  readonly confinement: readonly string[] | undefined;
}

/**
 * Returns the real path of the directory that a symlink in a root leads to, if it is
 * followed.
 *
 * @throws {SkillFileError} If it leads to a skill where it may not.
 */
export function followSymlink(
  path: string,
  rules: SymlinkRules,
): string | undefined {
  const realPath = Deno.realPathSync(path);
  const { outer, project } = rules;
  const isForeign = outer !== undefined &&
    !isInsideSkill(realPath, outer, project.trusted);
  if (isForeign || !Deno.statSync(path).isDirectory) return undefined;
  const diagnostic = findSymlinkDiagnostic(path, realPath, rules);
  if (diagnostic === undefined) return realPath;
  if (!isSkillDir(path)) return undefined;
  throw new SkillFileError(path, diagnostic);
}

function findSymlinkDiagnostic(
  path: string,
  target: string,
  { project, confinement }: SymlinkRules,
): DiagnosticDetails | undefined {
  const isInProject = project.scopeOf(locationOf(path)) === "project";
  if (isInProject && !project.contains(target)) return LINK_OUT_OF_PROJECT;
  return confinement !== undefined && !isAtOrBelowAny(target, confinement)
    ? LINK_OUT_OF_ROOTS
    : undefined;
}
