/**
 * The skill roots: which folders are searched, what belongs to the project, and where
 * its links are allowed to lead. A scope is a property of a real path,
 * whichever root, link, or spelling leads there.
 */

import { attempt } from "../attempt.ts";
import { Boundary } from "../fs/boundary.ts";
import { isAbsence, SkillFileError } from "../fs/faults.ts";
import {
  type BaseFolders,
  basename,
  dirname,
  inHome,
  isAtOrBelow,
  isAtOrBelowAny,
  join,
  realPathOf,
  relative,
  resolvePath,
  withFoldersAbove,
} from "../fs/paths.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import {
  LINK_OUT_OF_PROJECT,
  LINK_OUT_OF_ROOTS,
  skillFaultOf,
} from "./root_faults.ts";
import { isSkillFolder } from "./skill_file.ts";
import type {
  ScanOptions,
  SkillRoot,
  SkillRootOptions,
  SkillScope,
} from "./types.ts";

export const DEFAULT_REFRESH_SECONDS = 30;

/** The maximum number of folders and links that are visited below a root. */
export const MAX_FOLDERS: Readonly<Record<SkillScope, number>> = {
  global: 50_000,
  // These roots may be a stranger's.
  project: 1_000,
};

/** How many levels below a recursive root are searched. */
export const MAX_SEARCH_DEPTH = 6;

/** The names of folders that a recursive search skips, because tools fill them. */
export const UNSEARCHED_NAMES: ReadonlySet<string> = new Set(
  `.git .hg .jj .svn
  .bundle .cache .cargo .eggs .gradle .idea .mypy_cache .next .nox .npm .nuxt
  .parcel-cache .pnpm-store .pytest_cache .ruff_cache .rustup .svelte-kit
  .terraform .tox .turbo .venv .yarn __pycache__ node_modules site-packages`
    .split(/\s+/),
);

const UNUSED_NAMES = ["disabled", "archive", "backup", "old"];

export function isNamedSkills(folder: string): boolean {
  return basename(folder).toLowerCase() === "skills";
}

/** Whether the name of a folder among skills says that it is not a skill. */
export function isMarkedAsNoSkill(folder: string): boolean {
  return /^[._]/.test(basename(folder));
}

/** Whether a folder directly in a root can be a group: a folder that only holds skills. */
export function mayBeGroup(name: string): boolean {
  return !isMarkedAsNoSkill(name) &&
    !UNUSED_NAMES.includes(name.toLowerCase()) &&
    !UNSEARCHED_NAMES.has(name);
}

/** The folders that hold the default roots, in the project and in the home folder. */
export const DEFAULT_FOLDERS = [".agent", ".claude"];

const AGENTS_FOLDER = ".agents";

/** All of these folders, in search order. The bundle for Claude Desktop searches them. */
export const SHARED_FOLDERS = [...DEFAULT_FOLDERS, AGENTS_FOLDER];

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
 * @returns The roots, without duplicates. Their paths are absolute if the base folders are.
 * @throws {Error} If a configured folder is relative to an unknown base folder.
 */
export function resolveSkillRoots(options: SkillRootOptions): SkillRoot[] {
  const { folders, recursiveFolders = [], agents } = options;
  const project = new Project(options);
  const shared = (folder: string) => sharedRoots(folder, options, project);
  // The bundle for Claude Desktop names these, whether they exist or not.
  const optional = SHARED_FOLDERS.flatMap(shared).map(({ path }) => path);
  const roots = folders
    ? folders.flatMap((folder) => rootsIn(folder, options, optional))
    : DEFAULT_FOLDERS.flatMap(shared);
  if (agents) roots.push(...shared(AGENTS_FOLDER));
  for (const folder of recursiveFolders) {
    roots.push({ ...toRoot(folder, options), recursive: true });
  }
  return withoutDuplicates(roots);
}

/** @param optional The paths of the folders that need not exist. */
function rootsIn(
  folder: string,
  options: SkillRootOptions,
  optional: readonly string[],
): SkillRoot[] {
  const top = toRoot(folder, options);
  const inside = [join(".claude", "skills"), "skills"].map((name) => ({
    ...toRoot(join(folder, name), options),
    includesItself: false,
    mustExist: false,
  }));
  return [{ ...top, mustExist: !optional.includes(top.path) }, ...inside];
}

/**
 * Returns the root for a folder that the user names, and so trusts. Each scan finds out
 * whether it lies in the project.
 */
function toRoot(folder: string, options: SkillRootOptions): SkillRoot {
  return {
    path: resolvePath(folder, options),
    scope: "global",
    recursive: false,
    includesItself: true,
    mustExist: true,
  };
}

/**
 * Returns roots without duplicates: the same path, searched in the same way. One that must
 * exist replaces one that need not.
 */
export function withoutDuplicates(roots: readonly SkillRoot[]): SkillRoot[] {
  return roots.flatMap((root) => {
    const same = roots.filter(({ path, recursive }) =>
      path === root.path && recursive === root.recursive
    );
    if (same[0] !== root) return [];
    return [same.find(({ mustExist }) => mustExist) ?? root];
  });
}

function sharedRoots(
  folder: string,
  options: SkillRootOptions,
  project: Project,
): SkillRoot[] {
  const { workingDirectory } = options;
  const own = inHome(join(folder, "skills"), options);
  const roots: SkillRoot[] = [];
  if (workingDirectory !== undefined) {
    const path = join(workingDirectory, folder, "skills");
    const scope = project.scopeOf(realPathOf(workingDirectory));
    roots.push({ path, scope, recursive: false });
  }
  if (own !== undefined) {
    roots.push({ path: own, scope: "global", recursive: false });
  }
  return roots;
}

/** Compares by owner: the user's own comes before the project's. */
export function byOwner(
  a: { readonly scope: SkillScope },
  b: { readonly scope: SkillScope },
): number {
  return Number(a.scope === "project") - Number(b.scope === "project");
}

/**
 * The project: the working directory, unless that is the home folder or contains it. It
 * may be a stranger's, so nothing in it leads out of it, except to trusted folders.
 */
export class Project {
  /** The real path of the working directory, if it is a project. */
  readonly #realPath: string | undefined;
  /**
   * The real paths of the folders that all links are allowed to point into. Empty while
   * these folders themselves are resolved.
   */
  readonly trusted: readonly string[] = [];

  /** The root of a disk is no project: desktop applications start servers in `/`. */
  constructor(
    { workingDirectory, homeDirectory, trustLinks = [] }:
      & BaseFolders
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

  /** Whether a link that really lies at a location may lead to a real path. */
  allowsLink(location: string, target: string): boolean {
    return this.scopeOf(location) === "global" || this.#contains(target);
  }

  #contains(realPath: string): boolean {
    return this.scopeOf(realPath) === "project" ||
      isAtOrBelowAny(realPath, this.trusted);
  }

  /**
   * Whether a folder that a root, an option, or a rule names lies in the project by its
   * path, but not by its real path. It is ignored then, because the user did not choose
   * where a link of the project leads.
   */
  leadsOut(path: string, realPath: string): boolean {
    if (this.#realPath === undefined || this.#contains(realPath)) return false;
    return withFoldersAbove(dirname(path))
      .some((folder) => this.scopeOf(realPathOf(folder)) === "project");
  }

  /**
   * Returns the real path of a folder that a root, an option, or a rule names.
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
   * Resolves a folder that an option or a rule names. One that leads out of the project,
   * or is missing, keeps its path, which equals no real path.
   *
   * @throws {Error} If the folder exists and cannot be resolved.
   */
  resolve(path: string): string {
    try {
      return this.enter(path);
    } catch (error) {
      if (isAbsence(error) || error instanceof SkillFileError) return path;
      throw error;
    }
  }

  /** Resolves folders. Those that lead out, or cannot be resolved, keep their paths. */
  resolveAll(folders: readonly string[]): string[] {
    return folders.map((folder) => attempt(() => this.enter(folder)) ?? folder);
  }

  listDiagnostics(folders: readonly string[]): Diagnostic[] {
    return [...new Set(folders)].flatMap((file) => {
      const fault = this.#findFault(file);
      return fault === undefined ? [] : [{ ...fault, file }];
    });
  }

  #findFault(path: string): DiagnosticDetails | undefined {
    try {
      this.enter(path);
      return undefined;
    } catch (error) {
      return isAbsence(error) ? undefined : skillFaultOf(error);
    }
  }

  /** Returns the path of a file relative to the project, with slashes, if it lies there. */
  pathIn(realPath: string): string | undefined {
    return this.scopeOf(realPath) === "project"
      ? relative(this.#realPath!, realPath).replaceAll("\\", "/")
      : undefined;
  }
}

interface RootLink {
  readonly path: string;
  readonly location: string;
  /** The real path of the skill around it, if there is one. */
  readonly outer: string | undefined;
}

/** The rules for the links in a root. Each link is looked at alone. */
export class LinkRules {
  readonly #project: Project;
  /** Where links may lead if the root confines them: into roots that do, and trusted folders. */
  readonly #confinement: readonly string[] | undefined;

  constructor(
    root: SkillRoot,
    { project, roots }: { project: Project; roots: readonly SkillRoot[] },
  ) {
    this.#project = project;
    if (!root.confinesLinks) return;
    const paths = roots.filter(({ confinesLinks }) => confinesLinks)
      .map(({ path }) => path);
    this.#confinement = [...project.resolveAll(paths), ...project.trusted];
  }

  /**
   * Returns the real path of the folder that a link leads to, if it counts.
   *
   * @throws {SkillFileError} If it leads to a skill where it may not.
   */
  follow({ path, location, outer }: RootLink): string | undefined {
    const realPath = Deno.realPathSync(path);
    const { trusted } = this.#project;
    const isForeign = outer !== undefined &&
      !new Boundary({ realDirectory: outer, trusted }).includes(realPath);
    if (isForeign || !Deno.statSync(path).isDirectory) return undefined;
    const fault = this.#findFault(location, realPath);
    if (fault === undefined) return realPath;
    if (!isSkillFolder(path)) return undefined;
    throw new SkillFileError(path, fault);
  }

  #findFault(location: string, target: string): DiagnosticDetails | undefined {
    if (!this.#project.allowsLink(location, target)) return LINK_OUT_OF_PROJECT;
    const isConfined = this.#confinement !== undefined &&
      !isAtOrBelowAny(target, this.#confinement);
    return isConfined ? LINK_OUT_OF_ROOTS : undefined;
  }
}
