/**
 * Which folders a scan asks to watch.
 *
 * @module
 */

import { dirname, realPathIfThere } from "../files/paths.ts";
import { MAX_WATCHED_FOLDERS } from "../files/watcher.ts";
import type { SkillRootReport } from "../skills/types.ts";
import type { DecidedSkill } from "./decide.ts";
import { isInGroup } from "./record.ts";

/**
 * Lists the folders to watch, by their real paths, the most important ones first:
 * what is being edited is noticed at once, and the rest by the next scan of the timer.
 *
 * @param skills The folders with a `SKILL.md`.
 * @param others The roots, the policy file, and the folders that clients subscribed to.
 */
export function listWatchedFolders(
  skills: readonly DecidedSkill[],
  { roots, policyFile, subscribed }: {
    roots: readonly SkillRootReport[];
    policyFile: string | undefined;
    subscribed: readonly string[];
  },
): Set<string> {
  const lastModified = skills
    .toSorted((a, b) => b.read.modified - a.read.modified)
    .slice(0, MAX_WATCHED_FOLDERS);
  const folders = new Set(roots.flatMap(({ realPath }) => realPath ?? []));
  if (policyFile !== undefined) {
    folders.add(realPathIfThere(policyFile) ?? policyFile);
  }
  for (const folder of subscribed) folders.add(folder);
  for (const { realPath, listings } of lastModified) {
    if (isInGroup(listings[0]!)) folders.add(dirname(realPath));
  }
  for (const { realPath, read } of lastModified) {
    folders.add(realPath).add(read.mainFolder);
  }
  return folders;
}
