/** The server's instructions for the model. */

import type { SkillCatalog } from "../skills/types.ts";
import { summarizeSkills } from "./lists.ts";
import { TOOL_NAMES, type Toolset } from "./options.ts";

/**
 * Creates the server's instructions: what the skills are about, how to use
 * them, and how to find the tools in a client that defers them behind a search.
 * Some clients show only the first line, so it must make sense on its own.
 */
export function createInstructions(
  toolset: Toolset,
  catalog: SkillCatalog,
): string {
  const { list, load } = TOOL_NAMES[toolset];
  const purpose = "Instructions for tasks (skills)";
  // Before the first scan, it is unknown whether there are any.
  const firstLine = catalog.revision === 0
    ? `${purpose}: the tool ${list} lists them.`
    : summarizeSkills(catalog, purpose);
  return `${firstLine}
Before you start a task, check whether one of the skills that the tool ${list} lists matches it. If so, load that skill with the tool ${load} and follow its instructions.
If the tool ${load} is not in your list of tools, use your tool search to find it: search for "${load}" or "skills". A skill that is added later can be loaded by name at any time.`;
}
