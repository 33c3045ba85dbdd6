/** The table of the toolsets, each of which has its own file. */

import { requireChoice } from "../../text.ts";
import { OTHER_CLIENTS, PROFILE_NAMES } from "../../views/clients.ts";
import type { ToolOptions, Toolset } from "../../views/options.ts";
import { AGENTSKILLS_TOOLS, shellTool } from "./agentskills.ts";
import { REFERENCE_TOOLS } from "./reference.ts";
import { findShell } from "./shell.ts";
import { SKILL_TOOLS } from "./skill.ts";
import { SKILLJACK_TOOLS } from "./skilljack.ts";
import type { SkillTool } from "./tool.ts";

export const TOOLSETS: Readonly<Record<Toolset, readonly SkillTool[]>> = {
  skill: SKILL_TOOLS,
  skilljack: SKILLJACK_TOOLS,
  reference: REFERENCE_TOOLS,
  agentskills: AGENTSKILLS_TOOLS,
};

export const TOOLSET_NAMES = Object.keys(TOOLSETS) as Toolset[];

/** Whether the options ask for the tool that runs shell commands. */
export function wantsShell(
  { toolset, allowShell = true }: ToolOptions,
): boolean {
  return allowShell && TOOLSETS[toolset].includes(shellTool);
}

/**
 * Returns the tools that the options and Deno's permissions allow.
 *
 * @throws {TypeError} If there is no such toolset or profile.
 */
export function listTools(options: ToolOptions): SkillTool[] {
  const { toolset, profile = OTHER_CLIENTS } = options;
  requireChoice("toolset", toolset, TOOLSET_NAMES);
  requireChoice("profile", profile, PROFILE_NAMES);
  const mayRun = wantsShell(options) && findShell() !== undefined;
  return TOOLSETS[toolset]
    .filter((tool) => mayRun || tool !== shellTool);
}
