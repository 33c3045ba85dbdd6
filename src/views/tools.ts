/**
 * Serves the tools of a toolset: lists and calls them. Their descriptions list the
 * skills where the client shows them.
 *
 * @module
 */

import type {
  CallToolResult,
  Tool,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import * as z from "npm:zod@^4/mini";
import type { ClientInfo } from "../protocol/eras.ts";
import {
  describeIssues,
  IN_ENGLISH,
  invalidParams,
} from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
} from "../protocol/requests.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { quote } from "../text.ts";
import { type ClientProfile, profileFor } from "./clients.ts";
import type { SkillToolOptions } from "./options.ts";
import { deriveOnce, notifyWhenChanged, refuseCursor } from "./paging.ts";
import {
  createTextResult,
  SearchResults,
  type ToolContext,
} from "./reading.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  fitList,
  formatName,
  formatSkill,
  isForModel,
  lengthOf,
  listForModel,
  NAMES_LIMIT,
  RankedSearch,
  summarizeSkills,
} from "./skill_list.ts";
import { listTools, type SkillTool } from "./toolsets.ts";

/** The line that summarizes the skills is omitted below this description limit, in characters. */
const MIN_SUMMARY_LIMIT = 2_000;

/** The annotations of a tool, unless it says otherwise. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * Sets the request handlers of the tools. Their descriptions reflect the current
 * catalog, and clients are notified when they change.
 */
export function registerTools(
  server: RequestHandlers,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  const search = new RankedSearch(isForModel);
  const tools = listTools(options);
  const { listFor, listAll } = createLists(options);
  server.setRequestHandler(ListToolsRequestSchema, ({ params }, { client }) => {
    refuseCursor(params?.cursor);
    return { tools: listFor(client)(registry.catalog) };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      const names = tools.map(({ name }) => quote(name)).join(", ");
      const unknown = `Unknown tool ${quote(params.name)}`;
      throw invalidParams(`${unknown}: the tools are ${names}`);
    }
    const context = { registry, search, options, signal };
    return callTool(tool, params.arguments ?? {}, context);
  });
  notifyWhenChanged(registry, listAll, () => server.notifyListChanged("tools"));
}

/** Creates the lists of tools that clients request, each once for a catalog. */
function createLists(options: SkillToolOptions) {
  /** The lists by what determines them. */
  const lists = new Map<string, (catalog: SkillCatalog) => Tool[]>();
  const listFor = (client?: ClientInfo) => {
    const profile = profileFor(client);
    const isListed = options.listsSkills?.(client) ?? false;
    const key = `${profile.clientName} ${isListed}`;
    const list = lists.get(key) ??
      deriveOnce((catalog: SkillCatalog) =>
        createEntries(isListed ? undefined : profile, catalog, options)
      );
    lists.set(key, list);
    return list;
  };
  const listAll = (catalog: SkillCatalog) => {
    if (lists.size === 0) listFor();
    return [...lists.values()].map((list) => list(catalog));
  };
  return { listFor, listAll };
}

/** Calls a tool. Turns errors into results that report to the model what failed. */
export async function callTool(
  { name, input: schema, call }: SkillTool,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<CallToolResult> {
  try {
    const { success, data, error } = schema.safeParse(input, IN_ENGLISH);
    if (success) return await call(data, context);
    throw new Error(`Cannot call ${quote(name)}: ${describeIssues(error)}`);
  } catch (error) {
    const result = createTextResult((error as Error).message);
    return error instanceof SearchResults
      ? result
      : { ...result, isError: true };
  }
}

/**
 * Creates the entries of the tools in `tools/list`.
 *
 * @param profile What the client shows the model, or `undefined` if it lists the skills
 *   itself.
 */
export function createEntries(
  profile: ClientProfile | undefined,
  catalog: SkillCatalog,
  options: SkillToolOptions,
): Tool[] {
  return listTools(options).map((tool) => {
    const { name, title, annotations, input, output, listParameter } = tool;
    const { description, parameter = "" } = profile && tool.describe
      ? describeTool(tool, catalog, { profile, options })
      : { description: tool.usage };
    const inputSchema = toJsonSchema(input);
    if (parameter !== "") {
      const field = inputSchema.properties![listParameter!];
      (field as { description: string }).description += parameter;
    }
    return {
      ...{ name, title, description, inputSchema },
      ...(output && { outputSchema: toJsonSchema(output) }),
      annotations: { title, ...READ_ONLY, ...annotations },
      ...(profile?.toolMeta && { _meta: { ...profile.toolMeta } }),
    };
  });
}

/**
 * Describes a tool that lists the skills: in the wording of its contract if the client
 * was not measured and it fits, or else in brief. The list stands in the description
 * of the tool, or of its parameter if the client truncates that of the tool.
 */
function describeTool(
  { describe, usage, listParameter }: SkillTool,
  catalog: SkillCatalog,
  { profile, options }: { profile: ClientProfile; options: SkillToolOptions },
): { description: string; parameter?: string } {
  const skills = listForModel(catalog);
  const needsMore = lengthOf(skills, formatName) > DEFAULT_DESCRIPTION_LIMIT;
  const limit = options.descriptionLimit === undefined
    ? needsMore ? NAMES_LIMIT : DEFAULT_DESCRIPTION_LIMIT
    : options.descriptionLimit || Infinity;
  const isCut = profile.cutsDescriptionsAt !== undefined;
  if (!profile.isBrief && lengthOf(skills, formatSkill) <= limit) {
    const description = describe!(catalog, options);
    if (description.length <= limit) return { description };
  }
  const summary = limit < MIN_SUMMARY_LIMIT && skills.length > 0
    ? ""
    : `${summarizeSkills(catalog, "Load instructions for a task")}\n`;
  const brief = summary + usage;
  if (skills.length === 0) return { description: brief };
  if (isCut && listParameter !== undefined) {
    const description = `${brief}\n(its parameter lists the skills)`;
    const start = ". Skills:";
    const parameter = start + fitList(skills, limit - start.length);
    return { description, parameter };
  }
  const start = `${brief}\n\nSkills:`;
  const shown = Math.min(limit, profile.cutsDescriptionsAt ?? Infinity);
  return { description: start + fitList(skills, shown - start.length) };
}

function toJsonSchema(type: z.ZodMiniObject): Tool["inputSchema"] {
  return z.toJSONSchema(type, { io: "input" }) as Tool["inputSchema"];
}
