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
import { describeIssues, PARSE_OPTIONS } from "../protocol/requests.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { quote } from "../text.ts";
import {
  type ClientProfile,
  DEFAULT_PROFILE,
  profileOfClient,
} from "./profiles.ts";
import { notifyWhenChanged } from "./paging.ts";
import { createTextResult, type ToolContext } from "./loading.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  explainEmptyList,
  fitList,
  listForModel,
  summarizeSkills,
} from "./skill_list.ts";
import type { SkillToolOptions } from "./options.ts";
import { listTools, type SkillTool } from "./toolsets.ts";

/** The annotations of a tool, unless it says otherwise. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * A server that tools can be registered on: the `McpServer` of `@modelcontextprotocol/sdk`,
 * or a server of this program. Only what tools need of them is declared, because the
 * SDK's own types would pull undocumented ones into the library's documentation.
 */
export type SkillToolServer = SdkToolServer | ProgramToolServer;

/** An `McpServer` of `@modelcontextprotocol/sdk`. */
export interface SdkToolServer {
  /** Registers a tool, and returns what updates it. */
  registerTool(
    name: string,
    config: never,
    call: never,
  ): { update(changes: { description: string }): void };
}

/** A server of this program. */
export interface ProgramToolServer {
  /** Sets the handler for the requests with a method. */
  setRequestHandler(method: "tools/list" | "tools/call", handler: never): void;
  /** Notifies the clients that listen to a list that it changed. */
  notifyListChanged(list: "tools"): void;
}

/**
 * Registers the tools of a toolset. Their descriptions reflect the current catalog, and
 * clients are notified when the skills in them change.
 *
 * @throws {TypeError} If the server is none that tools can be registered on.
 * @throws {Error} If the server has a tool of the same name already.
 */
export function registerTools(
  server: SkillToolServer,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  if ("registerTool" in server) return joinTools(server, registry, options);
  if ("notifyListChanged" in server) {
    return serveTools(server as RequestDispatcher, registry, options);
  }
  throw new TypeError(
    "Cannot register the tools: the server is not an McpServer of @modelcontextprotocol/sdk 1; pass one of these",
  );
}

/** Sets the request handlers of the tools. Each client sees them in its own way. */
function serveTools(
  server: RequestDispatcher,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  const tools = listTools(options);
  /** The profiles of the clients that know the list. */
  const profiles = new Set<ClientProfile>();
  server.setRequestHandler("tools/list", (_params, { client }) => {
    const profile = profileOfClient(client);
    profiles.add(profile);
    const { catalog } = registry;
    return { tools: listToolEntries({ profile, catalog, options }) };
  });
  server.setRequestHandler("tools/call", (params, context) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      const names = tools.map(({ name }) => quote(name)).join(", ");
      throw invalidParams(
        `Unknown tool ${quote(params.name)}: the tools are ${names}`,
      );
    }
    const input = params.arguments ?? {};
    return callTool(tool, input, { ...context, registry, options });
  });
  if (!tools.some(({ describe }) => describe)) return;
  const listAll = (catalog: SkillCatalog) => {
    // Whoever listens and has not listed yet may be any client.
    const known = profiles.size > 0 ? [...profiles] : [DEFAULT_PROFILE];
    return known.flatMap((profile) =>
      listToolEntries({ profile, catalog, options })
    );
  };
  notifyWhenChanged(
    registry,
    listAll,
    () => server.notifyListChanged("tools"),
  );
}

/** Registers the tools on a server of the SDK, as clients that were not measured see them. */
function joinTools(
  server: SdkToolServer,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  for (const tool of listTools(options)) {
    const describe = (catalog: SkillCatalog) =>
      describeEntry(tool, { profile: DEFAULT_PROFILE, catalog, options });
    const call = (input: Record<string, unknown>, { signal }: RequestContext) =>
      callTool(tool, input, { registry, options, signal, client: undefined });
    const registered = server.registerTool(
      tool.name,
      {
        ...describe(registry.catalog),
        inputSchema: tool.input,
        outputSchema: tool.output,
      } as never,
      call as never,
    );
    notifyWhenChanged(
      registry,
      (catalog) => [describe(catalog).description],
      () => {
        const { description } = describe(registry.catalog);
        registered.update({ description: description! });
      },
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
  return listTools(view.options).map((tool) => describeEntry(tool, view));
}

/** Describes a tool as an entry of `tools/list`. */
function describeEntry(tool: SkillTool, view: ToolView): Tool {
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
