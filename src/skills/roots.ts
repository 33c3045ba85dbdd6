/** The skill roots: the directories to search, and how deep. */

import {
  basename,
  inHome,
  join,
  realPathOf,
  resolvePath,
  toPath,
} from "../fs/paths.ts";
import { Project } from "./project.ts";
import type { SkillRoot, SkillRootOptions, SkillScope } from "./types.ts";

export const DEFAULT_REFRESH_SECONDS = 30;

/** The longest interval that a timer supports, in seconds. */
export const MAX_REFRESH_SECONDS = 2_000_000;

/** How many directories and symlinks to visit below a root, or below all limited ones. */
export const MAX_DIRS: Readonly<Record<SkillScope, number>> = {
  global: 50_000,
  // A stranger may have written the project.
  project: 1_000,
};

/** Returns the scope whose limits apply to a root. */
export function limitingScope({ isLimited = false }: SkillRoot): SkillScope {
  return isLimited ? "project" : "global";
}

/** How many levels to search below a recursive root. */
export const MAX_SEARCH_DEPTH = 6;

/** The names of tool-generated directories, which a recursive search skips. */
export const UNSEARCHED_NAMES: ReadonlySet<string> = new Set(
  `.git .hg .jj .svn
  .bundle .cache .cargo .eggs .gradle .idea .mypy_cache .next .nox .npm .nuxt
  .parcel-cache .pnpm-store .pytest_cache .ruff_cache .rustup .svelte-kit
  .terraform .tox .turbo .venv .yarn __pycache__ node_modules site-packages`
    .split(/\s+/),
);

/** Whether a recursive search skips an entry: a tool's, or another copy of the project. */
export function isUnsearched(dir: string, name: string): boolean {
  return UNSEARCHED_NAMES.has(name) ||
    (name === "worktrees" && basename(dir) === ".claude");
}

const PUT_AWAY_NAMES = ["disabled", "archive", "backup", "old"];

/** Whether a directory among skills has a name that marks it as something else. */
export function isMarkedAsNonSkill(dir: string): boolean {
  return /^[._]/.test(basename(dir));
}

export function isNamedSkills(dir: string): boolean {
  return basename(dir).toLowerCase() === "skills";
}

/** Whether a directory in a root can be a group, a directory of skills. */
export function mayBeGroup(name: string): boolean {
  return !isMarkedAsNonSkill(name) &&
    !PUT_AWAY_NAMES.includes(name.toLowerCase()) &&
    !UNSEARCHED_NAMES.has(name);
}

/** The parents of the default roots, in the project and in the home directory. */
export const DEFAULT_ROOT_PARENTS = [".agent", ".claude"];

const AGENTS_DIR = ".agents";

/** The parents of all roots, in search order. The Claude Desktop bundle searches them. */
export const ROOT_PARENTS = [...DEFAULT_ROOT_PARENTS, AGENTS_DIR];

/** Lists the roots in some parents in search order, as people write them. */
function writeRoots(parents: readonly string[]): string[] {
  return parents.flatMap((dir) => [`./${dir}/skills`, `~/${dir}/skills`]);
}

export const DEFAULT_ROOTS: readonly string[] = writeRoots(
  DEFAULT_ROOT_PARENTS,
);

/**
 * Lists the roots in search order. The default roots are `./.agent/skills`,
 * `~/.agent/skills`, `./.claude/skills`, and `~/.claude/skills`. Those whose base
 * directory is unknown are left out, so `resolveSkillRoots({})` returns none.
 *
 * ```ts
 * import { resolveSkillRoots } from "@skill-server/skill-server";
 *
 * const roots = resolveSkillRoots({ homeDirectory: Deno.env.get("HOME") });
 * console.log(roots.map(({ path }) => path));
 * ```
 *
 * @param options The base directories, and the directories to search instead of the
 *   default roots or in addition to them.
 * @returns The roots, without duplicates. Their paths are absolute if the base
 *   directories are.
 * @throws {Error} If a configured directory is relative to an unknown base directory.
 */
export function resolveSkillRoots(options: SkillRootOptions): SkillRoot[] {
  const { dirs, recursiveDirs = [], agents } = options;
  const project = new Project(options);
  const listIn = (parents: readonly string[]) =>
    writeRoots(parents).flatMap((it) => rootAt(it, options, project) ?? []);
  // The Claude Desktop bundle always passes these, whether or not they exist.
  const optional = listIn(ROOT_PARENTS).map(({ path }) => path);
  const roots = dirs
    ? dirs.flatMap((dir) => rootsIn(dir, options, optional))
    : listIn(DEFAULT_ROOT_PARENTS);
  if (agents) roots.push(...listIn([AGENTS_DIR]));
  for (const dir of recursiveDirs) {
    roots.push({ ...toRoot(dir, options), recursive: true });
  }
  return withoutDuplicates(roots);
}

/** @param optional The paths of directories that need not exist. */
function rootsIn(
  given: string | URL,
  options: SkillRootOptions,
  optional: readonly string[],
): SkillRoot[] {
  const dir = toPath(given);
  const top = toRoot(dir, options);
  const inside = [join(".claude", "skills"), "skills"].map((name) => ({
    ...toRoot(join(dir, name), options),
    includesItself: false,
    mustExist: false,
  }));
  return [{ ...top, mustExist: !optional.includes(top.path) }, ...inside];
}

/** Returns the root for a directory that the user chose, and so trusts. Scans decide its scope. */
function toRoot(dir: string | URL, options: SkillRootOptions): SkillRoot {
  return {
    path: resolvePath(dir, options),
    recursive: false,
    includesItself: true,
    mustExist: true,
  };
}

/**
 * Removes duplicates: roots with the same path and depth. A root that must exist takes
 * precedence.
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

/** Returns the root at a written path, unless its base directory is unknown. */
function rootAt(
  written: string,
  options: SkillRootOptions,
  project: Project,
): SkillRoot | undefined {
  if (written.startsWith("~/")) {
    const path = inHome(written.slice(2), options);
    return path === undefined ? undefined : { path, recursive: false };
  }
  const { workingDirectory } = options;
  if (workingDirectory === undefined) return undefined;
  return {
    path: join(workingDirectory, written),
    isLimited: project.scopeOf(realPathOf(workingDirectory)) === "project",
    recursive: false,
  };
}
