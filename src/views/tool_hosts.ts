/**
 * The servers that tools can be registered on: `McpServer` of the SDK, and those of this
 * program. Each shows the tools in its own way.
 *
 * @module
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

/** A server of this program, by what public types may say of it. */
export interface ProgramToolServer {
  /** Notifies the clients that listen to a list that it changed. */
  notifyListChanged(list: "tools"): void;
}

/** What shows tools to clients. */
interface ToolHost {
  /** Registers a tool. Clients can call it from then on. */
  register(tool: SkillTool): void;
  /** Lists the entries of the tools that clients are sent while a catalog is current. */
  listSent(catalog: SkillCatalog): Tool[];
  /** Tells clients that the entries changed. */
  update(): void;
}

/**
 * Returns what shows tools to the clients of a server.
 *
 * @throws {TypeError} If the server is none that tools can be registered on.
 */
export function hostFor(
  server: SkillToolServer | ProgramToolServer,
  registry: SkillSource,
  options: ToolOptions,
): ToolHost {
  if (server instanceof RequestDispatcher) {
    return new ProgramHost(server, registry, options);
  }
  if (isObject(server) && "registerTool" in server) {
    return new SdkHost(server as SkillToolServer, registry, options);
  }
  throw new TypeError(
    "Cannot register the tools: the server is not an McpServer of the MCP SDK; pass one of @modelcontextprotocol/sdk or @modelcontextprotocol/server",
  );
}

/** Shows tools on a server of this program. Each client sees them in its own way. */
class ProgramHost implements ToolHost {
  readonly #server: RequestDispatcher;
  readonly #registry: SkillSource;
  readonly #options: ToolOptions;
  readonly #tools: SkillTool[] = [];
  /** The profiles of the clients that know the list. */
  readonly #profiles = new Set<ClientProfile>();

  constructor(
    server: RequestDispatcher,
    registry: SkillSource,
    options: ToolOptions,
  ) {
    this.#server = server;
    this.#registry = registry;
    this.#options = options;
    server.setRequestHandler("tools/list", (_params, { client }) => {
      const profile = profileFor(client, options);
      this.#profiles.add(profile);
      return { tools: this.#listFor(profile, registry.catalog) };
    });
    server.setRequestHandler(
      "tools/call",
      (params, context) => this.#call(params, context),
    );
  }

  register(tool: SkillTool): void {
    this.#tools.push(tool);
  }

  listSent(catalog: SkillCatalog): Tool[] {
    // Whoever listens and has not listed yet may be any client.
    const profiles = this.#profiles.size > 0
      ? [...this.#profiles]
      : [profileFor(undefined, this.#options)];
    return profiles.flatMap((profile) => this.#listFor(profile, catalog));
  }

  update(): void {
    this.#server.notifyListChanged("tools");
  }

  #listFor(profile: ClientProfile, catalog: SkillCatalog): Tool[] {
    const view = { profile, catalog, options: this.#options };
    return this.#tools.map((tool) => toEntry(tool, view));
  }

  #call(
    { name, arguments: input = {} }: {
      name: string;
      arguments?: Record<string, unknown> | undefined;
    },
    context: RequestContext,
  ) {
    const tool = this.#tools.find((it) => it.name === name);
    if (tool === undefined) {
      const names = this.#tools.map((it) => quote(it.name)).join(", ");
      throw invalidParams(
        `Unknown tool ${quote(echo(name))}: the tools are ${names}`,
      );
    }
    const registry = this.#registry;
    return callTool(tool, input, {
      ...context,
      registry,
      options: this.#options,
    });
  }
}

/**
 * Adds to a schema how it becomes JSON Schema. Version 2 of the SDK asks for that, and the
 * small variant of zod leaves it out.
 */
function toStandard(schema: z.ZodMiniObject): z.ZodMiniObject {
  const { "~standard": standard } = z.toJSONSchema(schema);
  return Object.assign(schema, { "~standard": standard });
}

/** What a server of the SDK passes with a call, in version 2 one level deeper. */
type SdkContext = Pick<RequestContext, "signal"> & { mcpReq?: SdkContext };

/** Shows tools on a server of the SDK, as clients that were not measured see them. */
class SdkHost implements ToolHost {
  readonly #server: SkillToolServer;
  readonly #registry: SkillSource;
  readonly #options: ToolOptions;
  /** The tools, each with what updates it. */
  readonly #tools = new Map<
    SkillTool,
    ReturnType<SkillToolServer["registerTool"]>
  >();

  constructor(
    server: SkillToolServer,
    registry: SkillSource,
    options: ToolOptions,
  ) {
    this.#server = server;
    this.#registry = registry;
    this.#options = options;
  }

  register(tool: SkillTool): void {
    const registry = this.#registry;
    const options = this.#options;
    const config = {
      ...this.#toEntry(tool, registry.catalog),
      inputSchema: toStandard(tool.input),
      outputSchema: tool.output && toStandard(tool.output),
    };
    const call = (input: Record<string, unknown>, context: SdkContext) => {
      const { signal } = context.mcpReq ?? context;
      return callTool(tool, input, {
        registry,
        options,
        signal,
        client: undefined,
      });
    };
    const registered = this.#server
      .registerTool(tool.name, config as never, call as never);
    this.#tools.set(tool, registered);
  }

  listSent(catalog: SkillCatalog): Tool[] {
    return Array.from(this.#tools.keys(), (it) => this.#toEntry(it, catalog));
  }

  update(): void {
    for (const [tool, registered] of this.#tools) {
      const { description } = this.#toEntry(tool, this.#registry.catalog);
      // The SDK tells clients of each update, so the others get none.
      if (tool.describe) registered.update({ description: description! });
    }
  }

  #toEntry(tool: SkillTool, catalog: SkillCatalog): Tool {
    const options = this.#options;
    const profile = profileFor(undefined, options);
    return toEntry(tool, { profile, catalog, options });
  }
}
