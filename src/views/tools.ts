/**
 * Serves the tools of a toolset: lists and calls them.
 *
 * @module
 */

import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
} from "../protocol/requests.ts";
import { notifyWhenChanged, refuseCursor } from "./list_views.ts";
import {
  describeIssues,
  IN_ENGLISH,
  invalidParams,
} from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import { ToolLists } from "./tool_lists.ts";
import { createTextResult } from "./tool_reading.ts";
import {
  listTools,
  type SkillTool,
  type SkillToolOptions,
  type ToolContext,
} from "./toolsets.ts";
import { SearchResults } from "./unknown_skill.ts";
import { quote } from "../text.ts";
import { SkillSearch } from "../skills/search.ts";
import { isForModel } from "./skill_lists.ts";
import type { SkillSource } from "../skills/types.ts";

/**
 * Sets the request handlers of the tools. Their descriptions reflect the current
 * catalog, and clients are notified when they change.
 */
export function registerTools(
  server: RequestHandlers,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  const search = new SkillSearch(isForModel);
  const tools = listTools(options);
  const lists = new ToolLists(tools, options);
  server.setRequestHandler(ListToolsRequestSchema, ({ params }, { client }) => {
    refuseCursor(params?.cursor);
    return { tools: lists.listFor(client, registry.catalog) };
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
  notifyWhenChanged(
    registry,
    (catalog) => lists.listAll(catalog),
    () => server.notifyListChanged("tools"),
  );
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
