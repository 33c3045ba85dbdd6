/**
 * The project: its boundary, and the allowed targets of its symlinks. A scope is a
 * property of a real path, whatever root, symlink, or spelling leads there.
 */

import { attempt } from "../attempt.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { diagnosticOf, isAbsence, SkillFileError } from "../fs/errors.ts";
import {
  type BaseDirs,
  dirname,
  isAtOrBelow,
  isAtOrBelowAny,
  locationOf,
  namesIn,
  realPathOf,
  relative,
  toPath,
  withDirsAbove,
} from "../fs/paths.ts";
import { isInsideSkill } from "./files.ts";
import {
  LINK_OUT_OF_PROJECT,
  LINK_OUT_OF_ROOTS,
  missingDir,
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
 * The working directory, unless it is the home directory or above it. A stranger may
 * have written it, so symlinks in it lead out of it only into trusted directories.
 */
export class Project {
  /** The real path of the working directory, if it is a project. */
  readonly #realPath: string | undefined;
  /**
   * The real paths of directories that all symlinks may lead into. Empty while the
   * constructor resolves these directories.
   */
  readonly trusted: readonly string[] = [];
  readonly #trustedDirs: readonly string[];

  /** The root of a disk is never a project: desktop applications start servers in `/`. */
  constructor(
    { workingDirectory, homeDirectory, trustedDirs = [] }:
      & BaseDirs
      & Pick<ScanOptions, "trustedDirs">,
  ) {
    if (workingDirectory !== undefined) {
      const realPath = realPathOf(workingDirectory);
      const isAboveHome = dirname(realPath) === realPath ||
        (homeDirectory !== undefined &&
          isAtOrBelow(realPathOf(homeDirectory), realPath));
      if (!isAboveHome) this.#realPath = realPath;
    }
    this.#trustedDirs = trustedDirs.map(toPath);
    this.trusted = this.resolveOrKeep(this.#trustedDirs);
  }

  scopeOf(realPath: string): SkillScope {
    const project = this.#realPath;
    return project !== undefined && isAtOrBelow(realPath, project)
      ? "project"
      : "global";
  }

  /** Whether symlinks in the project may lead to a real path. */
  allowsTarget(realPath: string): boolean {
    return this.scopeOf(realPath) === "project" ||
      isAtOrBelowAny(realPath, this.trusted);
  }

  /**
   * Whether the path of a root, an option, or a rule is in the project, but its real
   * path is not. Such a path is ignored, because the user did not choose the target of
   * a project's symlink.
   */
  leadsOut(path: string, realPath: string): boolean {
    return this.#realPath !== undefined && !this.allowsTarget(realPath) &&
      withDirsAbove(dirname(path))
        .some((dir) => this.scopeOf(realPathOf(dir)) === "project");
  }

  /**
   * Returns the real path of a root, or of a path in an option or a rule.
   *
   * @throws {SkillFileError} If it leads out of the project.
   * @throws {Error} If it is missing or unreadable.
   */
  enter(path: string): string {
    const realPath = Deno.realPathSync(path);
    if (!this.leadsOut(path, realPath)) return realPath;
    throw new SkillFileError(path, LINK_OUT_OF_PROJECT);
  }

  /**
   * Resolves a directory in an option or a rule. If it is missing or leads out of the
   * project, returns its path, which equals no real path.
   *
   * @throws {Error} If the directory exists but is unreadable.
   */
  resolveReadable(path: string): string {
    try {
      return this.enter(path);
    } catch (error) {
      if (isAbsence(error) || error instanceof SkillFileError) return path;
      throw error;
    }
  }

  /** Resolves directories, and keeps the path of each one that it cannot enter or read. */
  resolveOrKeep(dirs: readonly string[]): string[] {
    return dirs.map((dir) => attempt(() => this.enter(dir)) ?? dir);
  }

  /**
   * Lists diagnostics of unusable trusted directories, and of those in rules, which can be
   * missing.
   */
  listDiagnostics(ruleDirs: readonly string[]): Diagnostic[] {
    return [...new Set([...this.#trustedDirs, ...ruleDirs])].flatMap((file) => {
      try {
        this.enter(file);
        return [];
      } catch (error) {
        if (!isAbsence(error)) return [{ ...diagnosticOf(error), file }];
        const isTrusted = this.#trustedDirs.includes(file);
        return isTrusted ? [{ ...missingDir(file), file }] : [];
      }
    });
  }

  /** Returns the path of a project's file relative to the project, with slashes. */
  pathIn(realPath: string): string | undefined {
    return this.scopeOf(realPath) === "project"
      ? namesIn(relative(this.#realPath!, realPath)).join("/")
      : undefined;
  }
}

/** Lists the directories that symlinks in a root must stay in, if the root confines them. */
export function confinementOf(
  root: SkillRoot,
  roots: readonly SkillRoot[],
  project: Project,
): string[] | undefined {
  if (!root.confinesSymlinks) return undefined;
  const paths = roots.filter(({ confinesSymlinks }) => confinesSymlinks)
    .map(({ path }) => path);
  return [...project.resolveOrKeep(paths), ...project.trusted];
}

interface SymlinkRules {
  readonly project: Project;
  /** The real path of the skill around the symlink, if any. */
  readonly outerDir: string | undefined;
  /** The directories that the symlink must stay in, if any. */
  readonly confinement: readonly string[] | undefined;
}

/**
 * Returns the real path of a symlink in a root, or `undefined` if the scan ignores it.
 * One to a file, or out of the skill around it, is only a file of that skill.
 *
 * @throws {SkillFileError} If it leads to a skill in a forbidden place.
 * @throws {Error} If it leads to nothing, or cannot be resolved.
 */
export function followSymlink(
  path: string,
  rules: SymlinkRules,
): string | undefined {
  const realPath = Deno.realPathSync(path);
  const { outerDir, project } = rules;
  const isForeign = outerDir !== undefined &&
    !isInsideSkill(realPath, outerDir, project.trusted);
  if (isForeign || !Deno.statSync(path).isDirectory) return undefined;
  const diagnostic = findSymlinkDiagnostic(path, realPath, rules);
  if (diagnostic === undefined) return realPath;
  if (isSkillDir(path)) throw new SkillFileError(path, diagnostic);
  return undefined;
}

function findSymlinkDiagnostic(
  path: string,
  target: string,
  { project, confinement }: SymlinkRules,
): DiagnosticDetails | undefined {
  const isInProject = project.scopeOf(locationOf(path)) === "project";
  if (isInProject && !project.allowsTarget(target)) return LINK_OUT_OF_PROJECT;
  return confinement !== undefined && !isAtOrBelowAny(target, confinement)
    ? LINK_OUT_OF_ROOTS
    : undefined;
}
