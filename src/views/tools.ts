/**
 * What clients see of a tool, and calling one. Descriptions list the skills where the
 * client shows them.
 *
 * @module
 */

import type {
  CallToolResult,
  Tool,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import * as z from "npm:zod@^4/mini";
import { describeIssues, PARSE_OPTIONS } from "../protocol/requests.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { quote } from "../text.ts";
import { type ClientProfile, DEFAULT_PROFILE } from "./profiles.ts";
import { createTextResult, type ToolContext } from "./loading.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  explainEmptyList,
  fitList,
  listForModel,
  summarizeSkills,
} from "./skill_list.ts";
import type { SkillToolOptions } from "./options.ts";
import { listTools } from "./toolsets/toolsets.ts";
import type { SkillTool } from "./toolsets/tool.ts";

/** The annotations of a tool, unless it says otherwise. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Calls a tool. Turns errors into results that report to the model what failed. */
export async function callTool(
  { name, input: schema, call }: SkillTool,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<CallToolResult> {
  try {
    const { success, data, error } = schema.safeParse(input, PARSE_OPTIONS);
    if (success) return await call(data, context);
    throw new Error(`Cannot call ${quote(name)}: ${describeIssues(error)}`);
  } catch (error) {
    return { ...createTextResult((error as Error).message), isError: true };
  }
}

/** Who sees a tool, which skills there are, and how the tool is configured. */
export interface ToolView {
  readonly profile: ClientProfile;
  readonly catalog: SkillCatalog;
  readonly options: SkillToolOptions;
}

/** Lists the entries of the tools in `tools/list` for a client. */
export function listToolEntries(view: ToolView): Tool[] {
  return listTools(view.options).map((tool) => toEntry(tool, view));
}

/** Returns the entry of a tool in `tools/list`. */
export function toEntry(tool: SkillTool, view: ToolView): Tool {
  const { name, title, annotations, input, output } = tool;
  const { description, parameter = "" } = describeTool(tool, view);
  const inputSchema = toJsonSchema(input);
  if (parameter !== "") {
    const field = inputSchema.properties!.name as { description: string };
    field.description += parameter;
  }
  const entry: Tool = {
    name,
    title,
    description,
    inputSchema,
    annotations: { title, ...READ_ONLY, ...annotations },
  };
  if (output !== undefined) entry.outputSchema = toJsonSchema(output);
  const { toolMeta } = view.profile;
  if (toolMeta !== undefined) entry._meta = { ...toolMeta };
  return entry;
}

/** No entry of a list in the wording of a contract is shorter, in characters. */
const MIN_ENTRY_LENGTH = 10;

/**
 * Describes a tool. If it lists the skills: in the wording of its contract if the client
 * was not measured and it fits, or else in brief. The list stands in the description
 * of the tool, or of its parameter if the client truncates that of the tool.
 */
function describeTool(
  { describe, usage, input }: SkillTool,
  { profile, catalog, options }: ToolView,
): { description: string; parameter?: string } {
  if (describe === undefined) return { description: usage };
  const { cutsDescriptionsAt = Infinity } = profile;
  const { descriptionLimit = DEFAULT_DESCRIPTION_LIMIT } = options;
  const limit = descriptionLimit || Infinity;
  const skills = listForModel(catalog);
  const mayFit = skills.length * MIN_ENTRY_LENGTH <= limit;
  if (profile === DEFAULT_PROFILE && mayFit) {
    const description = describe(catalog, options);
    if (description.length <= limit) return { description };
  }
  const summary = summarizeSkills(catalog, "Load instructions for a task");
  const brief = `${summary}\n${usage}`;
  const absence = explainEmptyList(catalog);
  if (absence !== undefined) return { description: `${absence}\n${usage}` };
  if (cutsDescriptionsAt < Infinity && "name" in input.shape) {
    const description = `${brief}\n(its parameter lists the skills)`;
    return { description, parameter: `. Skills:${fitList(skills, limit)}` };
  }
  const start = `${brief}\n\nSkills:`;
  const room = Math.min(limit, cutsDescriptionsAt - start.length);
  return { description: start + fitList(skills, room) };
}

function toJsonSchema(type: z.ZodMiniObject): Tool["inputSchema"] {
  return z.toJSONSchema(type, { io: "input" }) as Tool["inputSchema"];
}
