// Calls of tools in the process of the tests.
import type { CallToolResult } from "npm:@modelcontextprotocol/server@^2.4.0";
import type { SkillRegistry } from "../../mod.ts";
import { callTool } from "../../src/features/tools.ts";
import { listTools } from "../../src/features/toolsets/toolsets.ts";
import { profileFor } from "../../src/views/clients.ts";
import {
  type RequestContext,
  TOOL_NAMES,
  type ToolOptions,
  type Toolset,
} from "../../src/views/options.ts";

/** Creates the context of a request. */
export function contextOf(
  registry: SkillRegistry,
  options: ToolOptions,
  client?: string,
): RequestContext {
  const { signal } = new AbortController();
  const profile = profileFor(options, client);
  return { registry, options, signal, clientName: client, profile };
}

/** Returns a function that calls a tool of a toolset. */
export function toolCaller(
  registry: SkillRegistry,
  options: ToolOptions,
  client?: string,
): (name: string, input?: Record<string, unknown>) => Promise<CallToolResult> {
  const context = contextOf(registry, options, client);
  return (name, input = {}) => {
    const tool = listTools(options).find((tool) => tool.name === name)!;
    return callTool(tool, input, context);
  };
}

/** A call of a tool, as the params of a request. */
export type ToolCall = {
  readonly name: string;
  readonly arguments: Record<string, string>;
};

const PARAMETERS = { load: "name", skill: "skill", path: "path" };

/** The parameters of the tool that loads a skill, and of the one that reads a file of it. */
const PARAMETERS_OF: Record<Toolset, typeof PARAMETERS> = {
  skill: PARAMETERS,
  skilljack: PARAMETERS,
  reference: PARAMETERS,
  agentskills: { load: "skill_name", skill: "skill_name", path: "file_name" },
};

/** Returns the call with which a toolset loads a skill or, if there is a path, reads a file. */
export function callFor(
  toolset: Toolset,
  skill: string,
  path?: string,
): ToolCall {
  const parameters = PARAMETERS_OF[toolset];
  const { load, read } = TOOL_NAMES[toolset];
  return path === undefined
    ? { name: load, arguments: { [parameters.load]: skill } }
    : {
      name: read!,
      arguments: { [parameters.skill]: skill, [parameters.path]: path },
    };
}

/** Returns the texts in the result of a tool, one after the other. */
export function textOf({ content }: CallToolResult): string {
  return content.map((item) => item.type === "text" ? item.text : "")
    .join("\n");
}
