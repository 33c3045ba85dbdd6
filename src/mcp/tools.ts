/** Lists the tools as each client sees them, and calls them. */

import type {
  CallToolResult,
  Tool,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import * as z from "npm:zod@^4/mini";
import en from "npm:zod@^4/v4/locales/en.js";
import { type Handlers, invalidParams } from "./requests.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { escapeInvisible, quote } from "../text.ts";
import { createTextResult, type ToolContext } from "./loading.ts";
import type { ToolOptions } from "./options.ts";
import { type ClientProfile, profileFor } from "./clients.ts";
import { listEntries } from "./entries.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  findEmptyListReason,
  fitList,
  summarizeSkills,
} from "./lists.ts";
import type { SkillTool } from "./toolsets/tool.ts";
import { listTools } from "./toolsets/toolsets.ts";

/** The annotations of a tool, unless it says otherwise. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

// The small variant of zod has no messages.
z.config(en());

/** By itself, zod calls a missing value one of the wrong type. */
const PARSE_OPTIONS = {
  error: ({ input }: { input?: unknown }): string | undefined =>
    input === undefined ? "it is missing" : undefined,
};

export function toolHandlers(
  registry: SkillSource,
  options: ToolOptions,
): Handlers {
  const tools = listTools(options);
  return {
    "tools/list": (_params, { client }) => {
      const profile = profileFor(client, options);
      const view = { profile, catalog: registry.catalog, options };
      return { tools: tools.map((tool) => toEntry(tool, view)) };
    },
    "tools/call": ({ name, arguments: input = {} }, context) => {
      const tool = requireTool(name, tools);
      return callTool(tool, input, { ...context, registry, options });
    },
  };
}

/** Renders the tools as clients without a profile see them, to compare them with later ones. */
export function renderTools(
  catalog: SkillCatalog,
  options: ToolOptions,
): string {
  const profile = profileFor(undefined, options);
  return JSON.stringify(listToolEntries({ profile, catalog, options }));
}

/** @throws {ProtocolError} If there is no tool with this name. */
function requireTool(name: string, tools: readonly SkillTool[]): SkillTool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => quote(tool.name)).join(", ");
  throw invalidParams(`Unknown tool ${quote(name)}: the tools are ${names}`);
}

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

/** Describes what is wrong with the arguments of a tool. */
function formatIssues({ issues }: z.core.$ZodError): string {
  const text = issues.map(({ path, message }) =>
    path.length > 0 ? `${quote(path.join("."))}: ${message}` : message
  ).join("; ");
  // The messages of zod repeat keys as they are.
  return escapeInvisible(text);
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
 * Formats the texts of a tool. A tool that lists the skills does so in the wording of
 * its contract, if that fits and the client shows it, or else in brief. A brief list is
 * in the description of the tool, or in that of its parameter if the client truncates
 * the former.
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
  const skills = listEntries("model", catalog);
  const mayFit = skills.length * MIN_ENTRY_LENGTH <= limit;
  if (profile.isBrief || !mayFit) return undefined;
  const description = describe({ skills, catalog, options });
  return description.length <= limit ? description : undefined;
}

/** Formats a list in the description of the parameter, which no client truncates. */
function formatInParameter(tool: SkillTool, view: ToolView): ToolTexts {
  const list = fitList(
    listEntries("model", view.catalog),
    limitOf(view.options),
  );
  return {
    description: `${formatStart(tool, view)}\n(its parameter lists the skills)`,
    parameter: `. Skills:${list}`,
  };
}

function formatBrief(tool: SkillTool, view: ToolView): string {
  const { profile, catalog, options } = view;
  const { cutsDescriptionsAt = Infinity } = profile;
  const start = `${formatStart(tool, view)}\n\nSkills:`;
  const limit = Math.min(limitOf(options), cutsDescriptionsAt - start.length);
  return start + fitList(listEntries("model", catalog), limit);
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
