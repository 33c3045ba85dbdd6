/**
 * Creates the MCP server of each connection over stdio, and of each request over HTTP.
 * All of them answer with the same handlers.
 */

import {
  CLIENT_INFO_META_KEY,
  InMemoryServerEventBus,
  type McpRequestContext,
  Server,
  type ServerCapabilities,
  type ServerContext,
  type ServerEvent,
  type ServerEventBus,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import config from "../../deno.json" with { type: "json" };
import { DEFAULT_REFRESH_SECONDS } from "../skills/roots.ts";
import type { SkillSource } from "../skills/source.ts";
import type { SkillRegistryOptions } from "../skills/types.ts";
import { profileFor } from "../views/clients.ts";
import { COMPLETION_HANDLERS } from "../features/completion.ts";
import type { RequestContext } from "../views/context.ts";
import { createInstructions } from "../views/instructions.ts";
import type { ToolOptions } from "../views/options.ts";
import { serveOnlyMarkdown } from "../features/markdown_only.ts";
import { listPrompts, PROMPT_HANDLERS } from "../features/prompts.ts";
import {
  type Handler,
  type Handlers,
  type Method,
  METHODS,
  type Params,
} from "../features/requests.ts";
import { listResources, RESOURCE_HANDLERS } from "../features/resources.ts";
import { MAX_RESULT_SIZE, requireSize } from "../views/results.ts";
import {
  EXTENSION_HANDLERS,
  SKILLS_EXTENSION,
} from "../features/skills_extension.ts";
import {
  type SubscribedFiles,
  subscriptionHandlers,
} from "../features/subscriptions.ts";
import { listToolEntries, TOOL_HANDLERS } from "../features/tools.ts";

const HANDLERS: Handlers = {
  ...TOOL_HANDLERS,
  ...PROMPT_HANDLERS,
  ...RESOURCE_HANDLERS,
  ...COMPLETION_HANDLERS,
  ...EXTENSION_HANDLERS,
};

/** The longest time for which a client may cache a result, in seconds. */
const MAX_TTL_SECONDS = 5;

/** A result for the error that it is too large. */
const WHOLE_RESULT = { what: "the result", instead: "ask for less at a time" };

export interface McpService {
  /** Fulfilled after the first scan, for which all requests wait. */
  readonly ready: Promise<unknown>;
  /** Carries notifications to the clients that listen. */
  readonly bus: ServerEventBus;
  createServer(context: McpRequestContext): Server;
}

/**
 * Creates the service that both transports use.
 *
 * @param ready The first scan of the registry.
 * @param files Over stdio: the files that clients subscribe to.
 */
export function createService(
  registry: SkillSource,
  options: ToolOptions & SkillRegistryOptions,
  ready: Promise<unknown>,
  files?: SubscribedFiles,
): McpService {
  const { bus = new InMemoryServerEventBus() } = files ?? {};
  const subscriptions = files === undefined ? {} : subscriptionHandlers(files);
  const handlers: Handlers = { ...HANDLERS, ...subscriptions };
  const { refreshSeconds = DEFAULT_REFRESH_SECONDS, toolset } = options;
  const source = toolset === "reference"
    ? serveOnlyMarkdown(registry)
    : registry;
  const cacheHint = {
    ttlMs: Math.floor(Math.min(refreshSeconds, MAX_TTL_SECONDS) * 1000),
    cacheScope: "private" as const,
  };
  const { name, version } = config;
  const createServer = (connection: McpRequestContext): Server => {
    const server = new Server({ name, title: "Agent Skills", version }, {
      capabilities: capabilitiesFor(connection),
      instructions: createInstructions(toolset, registry.catalog),
      cacheHints: { "server/discover": cacheHint },
    });
    for (const method of Object.keys(handlers) as Method[]) {
      const handle = handlers[method] as Handler<Method>;
      const caching = isCacheable(method) ? cacheHint : {};
      const schemas = { params: METHODS[method] };
      server.setRequestHandler(method, schemas, async (params, request) => {
        await ready;
        const caller = identifyCaller(request, server);
        const profile = profileFor(caller.client, options);
        const context = { ...caller, profile, registry: source, options };
        const result = await handle(params as Params<Method>, context);
        // Tools keep their results within the client's limit.
        if (method !== "tools/call") {
          requireSize(result, MAX_RESULT_SIZE, WHOLE_RESULT);
        }
        // Only clients of 2026-07-28 know these fields.
        const isModern = request.mcpReq.envelope !== undefined;
        return isModern ? { ...result, ...caching } : result;
      });
    }
    // Over HTTP, the SDK itself listens to the bus.
    if (connection.requestInfo === undefined) {
      server.onclose = bus.subscribe((event) => notify(server, event));
    }
    return server;
  };
  ready.then(() => publishChanges(registry, options, bus));
  return { ready, bus, createServer };
}

/** Over HTTP, only clients of 2026-07-28 can listen, and only for changes to lists. */
function capabilitiesFor(
  { era, requestInfo }: McpRequestContext,
): ServerCapabilities {
  const isStdio = requestInfo === undefined;
  const list = { listChanged: isStdio || era === "modern" };
  return {
    tools: list,
    prompts: list,
    resources: { ...list, subscribe: isStdio },
    completions: {},
    extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
  };
}

/** Whether clients may cache the results of a method. Only lists and files are cacheable. */
function isCacheable(method: Method): boolean {
  return /\/(?:list|read)$/.test(method) || method === "skills/get";
}

function identifyCaller(
  { mcpReq: { signal, envelope }, http }: ServerContext,
  server: Server,
): Pick<RequestContext, "signal" | "client" | "sender"> {
  // Clients of 2026-07-28 give their name in each request, and earlier ones in
  // `initialize`.
  const named: { [CLIENT_INFO_META_KEY]?: { name: string } } = { ...envelope };
  const info = named[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  return {
    signal,
    client: info?.name || undefined,
    sender: http?.authInfo?.clientId,
  };
}

/** Notifies clients if a scan changed a list, as clients without a profile see it. */
function publishChanges(
  registry: SkillSource,
  options: ToolOptions,
  bus: ServerEventBus,
): void {
  const profile = profileFor(undefined, options);
  const renderLists = ({ catalog }: SkillSource) => ({
    tools: JSON.stringify(listToolEntries({ profile, catalog, options })),
    prompts: JSON.stringify(listPrompts({ profile, catalog, options })),
    resources: JSON.stringify(listResources(catalog)),
  });
  let last = renderLists(registry);
  registry.onChange(() => {
    const lists = renderLists(registry);
    for (const name of ["tools", "prompts", "resources"] as const) {
      if (lists[name] !== last[name]) {
        bus.publish({ kind: `${name}_list_changed` });
      }
    }
    last = lists;
  });
}

/** Notifies the client of a connection. */
async function notify(server: Server, event: ServerEvent): Promise<void> {
  switch (event.kind) {
    case "tools_list_changed":
      return await server.sendToolListChanged();
    case "prompts_list_changed":
      return await server.sendPromptListChanged();
    case "resources_list_changed":
      return await server.sendResourceListChanged();
    case "resource_updated":
      return await server.sendResourceUpdated({ uri: event.uri });
  }
}
