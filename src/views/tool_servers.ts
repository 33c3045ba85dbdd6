/**
 * The servers that tools can be registered on: `McpServer` of the SDK, and those of this
 * program. Each shows the tools in its own way.
 */

import type { Tool } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import * as z from "npm:zod@^4/mini";
import {
  type RequestContext,
  RequestDispatcher,
} from "../protocol/dispatcher.ts";
import { invalidParams } from "../protocol/json_rpc.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { echo, isObject, quote } from "../text.ts";
import type { ToolOptions } from "./options.ts";
import { type ClientProfile, profileFor } from "./profiles.ts";
import { callTool, toEntry } from "./tools.ts";
import type { SkillTool } from "./toolsets/tool.ts";

/**
 * An `McpServer` of the MCP SDK: of `@modelcontextprotocol/sdk` 1, or of
 * `@modelcontextprotocol/server` 2. Only what tools need of it is declared, because the
 * SDK's own types would pull undocumented ones into the library's documentation.
 */
export interface SkillToolServer {
  /** Registers a tool, and returns what updates it. */
  registerTool(
    name: string,
    config: never,
    call: never,
  ): { update(changes: { description: string }): void };
}

/** A server of this program, with only what the public API declares. */
export interface ProgramToolServer {
  /** Notifies the clients that listen to a list that it changed. */
  notifyListChanged(list: "tools"): void;
}

interface ToolAdapter {
  register(tool: SkillTool): void;
  /** Lists the entries of the tools that clients are sent while a catalog is current. */
  listSent(catalog: SkillCatalog): Tool[];
  update(): void;
}

/** @throws {TypeError} If tools cannot be registered on the server. */
export function adapterFor(
  server: SkillToolServer | ProgramToolServer,
  registry: SkillSource,
  options: ToolOptions,
): ToolAdapter {
  if (server instanceof RequestDispatcher) {
    return createProgramAdapter(server, registry, options);
  }
  if (isObject(server) && "registerTool" in server) {
    return createSdkAdapter(server as SkillToolServer, registry, options);
  }
  throw new TypeError(
    "Cannot register the tools: the server is not an McpServer of the MCP SDK; pass one of @modelcontextprotocol/sdk or @modelcontextprotocol/server",
  );
}

/** Shows tools on a server of this program. Each client sees them in its own way. */
function createProgramAdapter(
  server: RequestDispatcher,
  registry: SkillSource,
  options: ToolOptions,
): ToolAdapter {
  const tools: SkillTool[] = [];
  /** The profiles of the clients that know the list. */
  const profiles = new Set<ClientProfile>();
  const listFor = (profile: ClientProfile, catalog: SkillCatalog) =>
    tools.map((tool) => toEntry(tool, { profile, catalog, options }));
  server.setRequestHandler("tools/list", (_params, { client }) => {
    const profile = profileFor(client, options);
    profiles.add(profile);
    return { tools: listFor(profile, registry.catalog) };
  });
  server.setRequestHandler("tools/call", (params, context) => {
    const { name, arguments: input = {} } = params;
    const tool = requireTool(name, tools);
    return callTool(tool, input, { ...context, registry, options });
  });
  return {
    register: (tool) => tools.push(tool),
    listSent: (catalog) => {
      // A client may listen before it lists the tools. Its profile is unknown then.
      const known = profiles.size > 0
        ? [...profiles]
        : [profileFor(undefined, options)];
      return known.flatMap((profile) => listFor(profile, catalog));
    },
    update: () => server.notifyListChanged("tools"),
  };
}

/** @throws {Error} The JSON-RPC error "invalid params" if there is no tool with this name. */
function requireTool(name: string, tools: readonly SkillTool[]): SkillTool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => quote(tool.name)).join(", ");
  throw invalidParams(
    `Unknown tool ${quote(echo(name))}: the tools are ${names}`,
  );
}

/**
 * Adds to a schema how it becomes JSON Schema. Version 2 of the SDK asks for that, and the
 * small variant of zod leaves it out.
 */
function toStandard(schema: z.ZodMiniObject): z.ZodMiniObject {
  const { "~standard": standard } = z.toJSONSchema(schema);
  return Object.assign(schema, { "~standard": standard });
}

/** The context of a call on a server of the SDK. In version 2, it is one level deeper. */
type SdkContext = Pick<RequestContext, "signal"> & { mcpReq?: SdkContext };

type RegisteredTool = ReturnType<SkillToolServer["registerTool"]>;

/** Shows tools on a server of the SDK, on which all clients see the same. */
function createSdkAdapter(
  server: SkillToolServer,
  registry: SkillSource,
  options: ToolOptions,
): ToolAdapter {
  const profile = profileFor(undefined, options);
  const entryOf = (tool: SkillTool, catalog: SkillCatalog) =>
    toEntry(tool, { profile, catalog, options, describesParameters: false });
  const tools = new Map<SkillTool, RegisteredTool>();
  return {
    register: (tool) => {
      const config = {
        ...entryOf(tool, registry.catalog),
        inputSchema: toStandard(tool.input),
        outputSchema: tool.output && toStandard(tool.output),
      };
      const call = (input: Record<string, unknown>, context: SdkContext) => {
        const { signal } = context.mcpReq ?? context;
        const client = undefined;
        return callTool(tool, input, { registry, options, signal, client });
      };
      const registered = server
        .registerTool(tool.name, config as never, call as never);
      tools.set(tool, registered);
    },
    listSent: (catalog) =>
      Array.from(tools.keys(), (tool) => entryOf(tool, catalog)),
    update: () => {
      for (const [tool, registered] of tools) {
        const { description } = entryOf(tool, registry.catalog);
        // The SDK tells clients of each update, so tools with a fixed description get
        // none.
        if (tool.describe) registered.update({ description: description! });
      }
    },
  };
}
