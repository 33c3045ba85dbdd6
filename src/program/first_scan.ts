/**
 * The first scan of a server: what its log says once, beside the problems of the skills.
 *
 * @module
 */

import { missingFolders, type Settings } from "./settings.ts";
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
