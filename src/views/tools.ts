/**
 * The tools as clients see and call them. Descriptions list the skills where the client
 * shows them.
 */

import type {
  CallToolResult,
  Tool,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import * as z from "npm:zod@^4/mini";
import { formatIssues, PARSE_OPTIONS } from "../protocol/requests.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { quote } from "../text.ts";
import { createTextResult, type ToolContext } from "./loading.ts";
import type { ToolOptions } from "./options.ts";
import { type ClientProfile, DEFAULT_PROFILE } from "./profiles.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  findEmptyListReason,
  fitList,
  type ListedSkill,
  listForClient,
  summarizeSkills,
  withUse,
} from "./skill_list.ts";
import type { SkillTool } from "./toolsets/tool.ts";
import { listTools } from "./toolsets/toolsets.ts";

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
    throw new Error(`Cannot call ${quote(name)}: ${formatIssues(error)}`);
  } catch (error) {
    return { ...createTextResult((error as Error).message), isError: true };
  }
}

export interface ToolView {
  readonly profile: ClientProfile;
  readonly catalog: SkillCatalog;
  readonly options: ToolOptions;
  /** Whether the description of a parameter can list skills. Default: `true`. */
  readonly describesParameters?: boolean;
}

export function listToolEntries(view: ToolView): Tool[] {
  return listTools(view.options).map((tool) => toEntry(tool, view));
}

export function toEntry(tool: SkillTool, view: ToolView): Tool {
  const { name, title, annotations, input, output } = tool;
  const { description, parameter = "" } = formatTexts(tool, view);
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

interface ToolTexts {
  readonly description: string;
  /** The text to append to the description of the parameter `name`. */
  readonly parameter?: string;
}

/**
 * Formats the texts of a tool. A tool that lists the skills does so in the wording of its
 * contract, if that fits and the client shows it, or else in brief. A brief list is in
 * the description of the tool, or in that of its parameter if the client truncates the
 * former.
 */
function formatTexts(tool: SkillTool, view: ToolView): ToolTexts {
  const { describe, usage, input } = tool;
  if (describe === undefined) return { description: usage };
  const contract = formatContract(describe, view);
  if (contract !== undefined) return { description: contract };
  const absence = findEmptyListReason(view.catalog);
  if (absence !== undefined) return { description: `${absence}\n${usage}` };
  const { profile, describesParameters = true } = view;
  const isCut = profile.cutsDescriptionsAt !== undefined;
  return isCut && describesParameters && "name" in input.shape
    ? formatInParameter(tool, view)
    : { description: formatBrief(tool, view) };
}

/** No entry of a list in the wording of a contract is shorter, in characters. */
const MIN_ENTRY_LENGTH = 10;

/** Formats a list in the wording of a contract, unless the client needs it in brief, if it fits. */
function formatContract(
  describe: NonNullable<SkillTool["describe"]>,
  view: ToolView,
): string | undefined {
  const { profile, catalog, options } = view;
  const limit = limitOf(options);
  const skills = listFor(view);
  const mayFit = skills.length * MIN_ENTRY_LENGTH <= limit;
  if (profile.isBrief || !mayFit) return undefined;
  const description = describe({ skills, catalog, options });
  return description.length <= limit ? description : undefined;
}

/** Formats a list in the description of the parameter, which no client truncates. */
function formatInParameter(tool: SkillTool, view: ToolView): ToolTexts {
  const list = fitList(listFor(view), limitOf(view.options));
  return {
    description: `${formatStart(tool, view)}\n(its parameter lists the skills)`,
    parameter: `. Skills:${list}`,
  };
}

function formatBrief(tool: SkillTool, view: ToolView): string {
  const { profile: { cutsDescriptionsAt = Infinity }, options } = view;
  const start = `${formatStart(tool, view)}\n\nSkills:`;
  const limit = Math.min(limitOf(options), cutsDescriptionsAt - start.length);
  return start + fitList(listFor(view), limit);
}

/** Lists skills for a client. Those that were not measured get what the contracts say. */
function listFor({ profile, catalog }: ToolView): readonly ListedSkill[] {
  const skills = listForClient(catalog, profile);
  return profile === DEFAULT_PROFILE ? skills : skills.map(withUse);
}

function formatStart({ usage }: SkillTool, { catalog }: ToolView): string {
  const summary = summarizeSkills(catalog, "Load instructions for a task");
  return `${summary}\n${usage}`;
}

function limitOf(
  { descriptionLimit = DEFAULT_DESCRIPTION_LIMIT }: ToolOptions,
): number {
  return descriptionLimit || Infinity;
}

function toJsonSchema(type: z.ZodMiniObject): Tool["inputSchema"] {
  return z.toJSONSchema(type, { io: "input" }) as Tool["inputSchema"];
}
