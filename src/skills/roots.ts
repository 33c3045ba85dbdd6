/**
 * The skill roots: which folders are searched, and how often.
 *
 * @module
 */

import { join } from "jsr:@std/path@^1";
import { resolveFolder } from "../files/paths.ts";
import { Project } from "./project.ts";
import type { SkillRoot, SkillRootOptions } from "./types.ts";

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
  const configured = (directory: string, recursive: boolean): SkillRoot => {
    const path = resolveFolder(directory, options);
    return { path, scope: "global", recursive };
  };
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
  const bases = [
    [
      workingDirectory === home ? undefined : workingDirectory,
      new Project(options).exists ? "project" : "global",
    ],
    [home, "global"],
  ] as const;
  return bases.flatMap(([base, scope]) =>
    base === undefined
      ? []
      : [{ path: join(base, folder, "skills"), scope, recursive: false }]
  );
}
