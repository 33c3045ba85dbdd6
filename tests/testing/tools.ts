// Calls of tools in the process of the tests.
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import type { SkillRegistry } from "../../mod.ts";
import { TOOL_NAMES, type ToolOptions } from "../../src/views/options.ts";
import { callTool } from "../../src/views/tools.ts";
import { TOOLSETS } from "../../src/views/toolsets/toolsets.ts";

/** Returns a function that calls a tool of a toolset. */
export function toolCaller(
  registry: SkillRegistry,
  options: ToolOptions,
): (name: string, input?: Record<string, unknown>) => Promise<CallToolResult> {
  const { signal } = new AbortController();
  const context = { registry, options, signal, client: undefined };
  return (name, input = {}) => {
    const tool = TOOLSETS[options.toolset].find((tool) => tool.name === name)!;
    return callTool(tool, input, context);
  };
}

/** Loads the skill `git` with the tool of a toolset that does so. */
export function loadGit(
  registry: SkillRegistry,
  options: ToolOptions,
): Promise<CallToolResult> {
  const parameter = options.toolset === "agentskills" ? "skill_name" : "name";
  const { load } = TOOL_NAMES[options.toolset];
  return toolCaller(registry, options)(load, { [parameter]: "git" });
}

/** Returns the texts in the result of a tool, one after the other. */
export function textOf({ content }: CallToolResult): string {
  return content.map((item) => item.type === "text" ? item.text : "")
    .join("\n");
}
