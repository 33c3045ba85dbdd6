/**
 * What a server logs once: what was ignored in its settings, and after the first scan,
 * what it did not find.
 *
 * @module
 */

import type { Settings } from "./settings.ts";
import { describeProblem } from "../problems.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { log } from "../text.ts";

/** The maximum number of near misses that a log names. */
const MAX_LOGGED = 20;

/** Logs what was ignored in the settings. */
export function logWarnings({ warnings }: Settings): void {
  for (const warning of warnings) log(warning);
}

/**
 * Logs what the user most likely meant, and the first scan did not find. The list of
 * `--list` has no limit. Nobody waits for it, so it does not throw.
 */
export async function logNearMisses(
  catalog: SkillCatalog,
  settings: Settings,
): Promise<void> {
  try {
    // Loaded on demand, because the first replies do not need it.
    const { findNearMisses } = await import("./near_misses.ts");
    const found = await findNearMisses(catalog, settings);
    // The bundle for Claude Desktop names the default folders, whether they exist or not.
    const usual = resolveSkillRoots({ ...settings.options, agents: true })
      .map(({ path }) => path);
    const problems = found.filter(({ rule, file }) =>
      rule !== "folder-missing" || !usual.includes(file)
    );
    for (const problem of problems.slice(0, MAX_LOGGED)) {
      log(...describeProblem(problem));
    }
    const more = problems.length - MAX_LOGGED;
    if (more > 0) {
      log(`Found ${more} more near misses: use --list to see them`);
    }
  } catch (error) {
    log(`Cannot look for near misses: ${(error as Error).message}`);
  }
}
