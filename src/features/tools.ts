/** Lists the tools as each client sees them, and calls them. */

import type {
  CallToolResult,
  Tool,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import * as z from "npm:zod@^4/mini";
import { remember } from "../remember.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { quote, quoteSent, truncate } from "../text.ts";
import type { ClientProfile } from "../views/clients.ts";
import { listEntries } from "../views/entries.ts";
import { findEmptyListReason, summarizeSkills } from "../views/instructions.ts";
import { fitList, MAX_LIST_LENGTH } from "../views/lists.ts";
import type {
  ListView,
  RequestContext,
  ToolOptions,
} from "../views/options.ts";
import { createTextResult } from "../views/results.ts";
import { type Handlers, pageOf, unknownName } from "./requests.ts";
import { listTools, type SkillTool } from "./toolsets/toolsets.ts";

/** The annotations of a tool, unless it says otherwise. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

export const TOOL_HANDLERS: Handlers = {
  "tools/list": (params, { registry: { catalog }, options, profile }) => {
    const tools = listMcpTools({ catalog, options, profile });
    return pageOf("tools", tools, params?.cursor);
  },
  "tools/call": ({ name, arguments: input = {} }, context) =>
    callTool(requireTool(name, context.options), input, context),
};

function requireTool(name: string, options: ToolOptions): SkillTool {
  const tools = listTools(options);
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => quote(tool.name));
  const call = names.length > 1 ? "call one of the tools" : "call the tool";
  throw unknownName("tool", name, `${call} ${names.join(", ")}`);
}

/** Calls a tool. Turns errors into results, so that the model learns what failed. */
export async function callTool(
  tool: SkillTool,
  input: Record<string, unknown>,
  context: RequestContext,
): Promise<CallToolResult> {
  try {
    return await tool.call(parseInput(tool, input), context);
  } catch (error) {
    return { ...createTextResult((error as Error).message), isError: true };
  }
}

/** How much an error says about wrong arguments, in characters. */
const MAX_PROBLEMS_LENGTH = 1_000;

/** @throws {Error} If the arguments of a tool are wrong. The message is for the model. */
function parseInput(
  { name, input: schema, example }: SkillTool,
  input: Record<string, unknown>,
): Record<string, unknown> {
  const { data, error } = schema.safeParse(input, { error: describeIssue });
  if (error === undefined) return data;
  const problems = error.issues.map(({ message }) => message).join("; ");
  const shown = truncate(problems, MAX_PROBLEMS_LENGTH);
  throw new Error(
    `Cannot call ${quote(name)}: ${shown}; pass arguments such as ${
      JSON.stringify(example)
    }`,
  );
}

/** Describes an invalid argument, unless the schema has its own message for it. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.code === "unrecognized_keys") {
    return `there is no argument ${issue.keys.map(quoteSent).join(" or ")}`;
  }
  const argument = `the argument ${quote(issue.path!.join("."))}`;
  return issue.input === undefined
    ? `${argument} is missing`
    : `${argument} must be a string`;
}

interface ToolView extends ListView {
  /** Whether the description of a parameter can list skills. Default: `true`. */
  readonly describesParameters?: boolean;
}

/** Lists the tools. Over HTTP, each request asks for them, but few scans change them. */
export function listMcpTools(
  { options, catalog, profile }: ListView,
): readonly Tool[] {
  return mcpToolsFor(options)(catalog)(profile);
}

const mcpToolsFor = remember((options: ToolOptions) =>
  remember((catalog: SkillCatalog) =>
    remember((profile: ClientProfile) =>
      listTools(options).map((tool) =>
        toMcpTool(tool, { profile, catalog, options })
      )
    )
  )
);

export function toMcpTool(tool: SkillTool, view: ToolView): Tool {
  const { name, title, annotations, input, output } = tool;
  const { description, parameter } = describeTool(tool, view);
  const inputSchema = toJsonSchema(input);
  if (parameter !== undefined) {
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

/**
 * Describes a tool. A tool that lists the skills does so in the wording of its contract,
 * if the client shows that whole, or else in brief lines, and also if the policy hides
 * descriptions, which is meant to save tokens. The lines are in the description of the
 * tool, or in its parameter's if the client truncates the tool's.
 *
 * @returns Its description, and what to append to that of the parameter `name`.
 */
function describeTool(
  { describe, usage, input }: SkillTool,
  { profile, catalog, options, describesParameters = true }: ToolView,
): { description: string; parameter?: string } {
  if (describe === undefined) return { description: usage };
  const skills = listEntries("model", catalog);
  const { cutsDescriptionsAt = Infinity } = profile;
  if (skills.every(({ description }) => description !== "")) {
    const contract = describe({ catalog, options, profile });
    const limit = Math.min(MAX_LIST_LENGTH, cutsDescriptionsAt);
    if (contract.length <= limit) return { description: contract };
  }

  const absence = findEmptyListReason(catalog, options);
  if (absence !== undefined) return { description: `${absence}\n${usage}` };

  const summary = summarizeSkills(catalog, "Load instructions for a task");
  const isCut = cutsDescriptionsAt < Infinity;
  if (isCut && describesParameters && "name" in input.shape) {
    return {
      description: `${summary}\n${usage}\n(its parameter lists the skills)`,
      parameter: `. Skills:${fitList(skills)}`,
    };
  }
  const start = `${summary}\n${usage}\n\nSkills:`;
  const room = cutsDescriptionsAt - start.length;
  return {
    description: start + fitList(skills, Math.min(MAX_LIST_LENGTH, room)),
  };
}

function toJsonSchema(type: z.ZodMiniObject): Tool["inputSchema"] {
  return z.toJSONSchema(type, { io: "input" }) as Tool["inputSchema"];
}
