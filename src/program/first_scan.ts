/**
 * The first scan of a server: what its log says once, beside the problems of the skills.
 *
 * @module
 */

import { missingFolders, type Settings } from "./settings.ts";
import { describeProblem } from "../problems.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { log, quote } from "../text.ts";

/** Scans the roots for the first time, and logs what is wrong with the settings. */
export async function scanFirst(
  registry: SkillSource,
  settings: Settings,
): Promise<SkillCatalog> {
  for (const warning of settings.warnings) log(warning);
  const catalog = await registry.refresh();
  warnOfMissingFolders(catalog, settings);
  return catalog;
}

/** The maximum number of near misses that a log names. */
const MAX_LOGGED = 20;

/**
 * Logs what is almost a skill, once. The list of `--list` has no limit. Nobody waits
 * for it, so it does not throw.
 */
export async function logNearMisses(
  catalog: SkillCatalog,
  settings: Settings,
): Promise<void> {
  try {
    // Loaded on demand, because the first replies do not need it.
    const { findNearMisses } = await import("./near_misses.ts");
    const problems = await findNearMisses(catalog, settings);
    for (const problem of problems.slice(0, MAX_LOGGED)) {
      log(...describeProblem(problem));
    }
    const more = problems.length - MAX_LOGGED;
    if (more > 0) {
      log(`Found ${more} more of what is almost a skill: use --list`);
    }
  } catch (error) {
    log(`Cannot look for near misses: ${(error as Error).message}`);
  }
}

/**
 * Logs a warning for each folder in the settings that does not exist. One that is
 * a default folder is not misspelled: the bundle for Claude Desktop names these.
 */
function warnOfMissingFolders(catalog: SkillCatalog, settings: Settings): void {
  const usual = resolveSkillRoots({ ...settings.options, agents: true })
    .map(({ path }) => path);
  for (const { file, hint } of missingFolders(catalog, settings)) {
    if (usual.includes(file)) continue;
    const folder = quote(file);
    log(
      `Cannot find the folder ${folder}: ${hint}; it will be searched as soon as it exists`,
    );
  }
}
