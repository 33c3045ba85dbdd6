/**
 * The toolsets, each of which is in a file of its own in `toolsets/`.
 *
 * @module
 */

import { quote } from "../../text.ts";
import type { ToolOptions, Toolset } from "../options.ts";
import { AGENTSKILLS_TOOLS, shellTool } from "./agentskills.ts";
import { REFERENCE_TOOLS } from "./reference.ts";
import { findShell } from "./shell.ts";
import { SKILL_TOOLS } from "./skill.ts";
import { SKILLJACK_TOOLS } from "./skilljack.ts";
import type { SkillTool } from "./tool.ts";

/** The tools of each toolset. */
export const TOOLSETS: Readonly<Record<Toolset, readonly SkillTool[]>> = {
  skill: SKILL_TOOLS,
  skilljack: SKILLJACK_TOOLS,
  reference: REFERENCE_TOOLS,
  agentskills: AGENTSKILLS_TOOLS,
};

/** The names of the toolsets. */
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
 * @throws {TypeError} If there is no such toolset.
 */
export function listTools(options: ToolOptions): SkillTool[] {
  const { toolset } = options;
  if (!Object.hasOwn(TOOLSETS, toolset)) {
    const name = quote(`${toolset}`);
    throw new TypeError(
      `Cannot list the tools: there is no toolset ${name}; use ${
        TOOLSET_NAMES.join(", ")
      }`,
    );
  }
  const mayRun = wantsShell(options) && findShell() !== undefined;
  return TOOLSETS[toolset]
    .filter((tool) => mayRun || tool !== shellTool);
}
