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
import type {
  RequestContext,
  RequestDispatcher,
} from "../protocol/dispatcher.ts";
import { invalidParams } from "../protocol/json_rpc.ts";
import { describeIssues } from "../protocol/requests.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { quote } from "../text.ts";
import { type ClientProfile, DEFAULT_PROFILE, profileFor } from "./clients.ts";
import { notifyWhenChanged } from "./paging.ts";
import {
  createTextResult,
  SearchResults,
  type SkillToolOptions,
  type ToolContext,
} from "./reading.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  fitList,
  formatSkills,
  listForModel,
  summarizeSkills,
} from "./skill_list.ts";
import { listTools, type SkillTool } from "./toolsets.ts";

/** The annotations of a tool, unless it says otherwise. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * Sets the request handlers of the tools. Their descriptions reflect the current
 * catalog, and clients are notified when the skills in them change.
 */
export function registerTools(
  server: RequestDispatcher,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  const tools = listTools(options);
  server.setRequestHandler("tools/list", (_params, { client }) => ({
    tools: createEntries({
      profile: profileFor(client),
      catalog: registry.catalog,
      options,
    }),
  }));
  server.setRequestHandler("tools/call", (params, { signal, permit }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      const names = tools.map(({ name }) => quote(name)).join(", ");
      throw invalidParams(
        `Unknown tool ${quote(params.name)}: the tools are ${names}`,
      );
    }
    const context = { registry, options, signal, permit };
    return callTool(tool, params.arguments ?? {}, context);
  });
  if (!tools.some(({ describe }) => describe)) return;
  notifyWhenChanged(
    registry,
    (catalog) => formatSkills(listForModel(catalog)),
    () => server.notifyListChanged("tools"),
  );
}

/**
 * The part of the `McpServer` of `@modelcontextprotocol/sdk` that tools need. It is
 * declared here because the SDK's own type would pull undocumented types into the
 * library's documentation.
 */
export interface SkillToolServer {
  /** Registers a tool, and returns what updates it. */
  registerTool(
    name: string,
    config: never,
    call: never,
  ): { update(changes: { description: string }): void };
}

/**
 * Registers the tools on a server of the SDK, as clients that were not measured see
 * them.
 *
 * @throws {Error} If the server has a tool of the same name already, or is none of the SDK's.
 */
export function joinTools(
  server: SkillToolServer,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  if (typeof server.registerTool !== "function") {
    throw new TypeError(
      "Cannot register the tools: the server is not an McpServer of @modelcontextprotocol/sdk 1; pass one of these",
    );
  }
  const context = { registry, options };
  for (const tool of listTools(options)) {
    const entryIn = (catalog: SkillCatalog) =>
      createEntry(tool, { profile: DEFAULT_PROFILE, catalog, options });
    const call = (input: Record<string, unknown>, { signal }: RequestContext) =>
      callTool(tool, input, { ...context, signal });
    const registered = server.registerTool(
      tool.name,
      {
        ...entryIn(registry.catalog),
        inputSchema: tool.input,
        outputSchema: tool.output,
      } as never,
      call as never,
    );
    notifyWhenChanged(
      registry,
      (catalog) => [entryIn(catalog).description],
      () =>
        registered.update({
          description: entryIn(registry.catalog).description!,
        }),
    );
  }
}

/** Calls a tool. Turns errors into results that report to the model what failed. */
export async function callTool(
  { name, input: schema, call }: SkillTool,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<CallToolResult> {
  try {
    const { success, data, error } = schema.safeParse(input);
    if (success) return await call(data, context);
    throw new Error(`Cannot call ${quote(name)}: ${describeIssues(error)}`);
  } catch (error) {
    const result = createTextResult((error as Error).message);
    return error instanceof SearchResults
      ? result
      : { ...result, isError: true };
  }
}

/** Who sees a tool, which skills there are, and how the tool is configured. */
export interface ToolView {
  readonly profile: ClientProfile;
  readonly catalog: SkillCatalog;
  readonly options: SkillToolOptions;
}

/** Creates the entries of the tools in `tools/list` for a client. */
export function createEntries(view: ToolView): Tool[] {
  return listTools(view.options).map((tool) => createEntry(tool, view));
}

function createEntry(tool: SkillTool, view: ToolView): Tool {
  const { name, title, annotations, input, output } = tool;
  const { description, parameter = "" } = describeTool(tool, view);
  const inputSchema = toJsonSchema(input);
  if (parameter !== "") {
    const field = inputSchema.properties!.name as { description: string };
    field.description += parameter;
  }
  const { toolMeta } = view.profile;
  return {
    ...{ name, title, description, inputSchema },
    ...(output && { outputSchema: toJsonSchema(output) }),
    annotations: { title, ...READ_ONLY, ...annotations },
    ...(toolMeta && { _meta: toolMeta }),
  };
}

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
  // In the contract's wording, no list of so many skills fits.
  if (profile === DEFAULT_PROFILE && skills.length <= limit / 10) {
    const description = describe(catalog, options);
    if (description.length <= limit) return { description };
  }
  const summary = summarizeSkills(catalog, "Load instructions for a task");
  const brief = `${summary}\n${usage}`;
  if (skills.length === 0) return { description: brief };
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
