/**
 * Creates the MCP server of each connection over stdio, and of each request over HTTP.
 * All of them answer with the same handlers.
 */

import {
  CLIENT_INFO_META_KEY,
  InMemoryServerEventBus,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerCapabilities,
  type ServerContext,
  type ServerEvent,
  type ServerEventBus,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import config from "../../deno.json" with { type: "json" };
import { DEFAULT_REFRESH_SECONDS } from "../skills/roots.ts";
import type { SkillRegistryOptions, SkillSource } from "../skills/types.ts";
import { completionHandlers } from "./completion.ts";
import { createInstructions } from "./instructions.ts";
import type { ToolOptions } from "./options.ts";
import { listPrompts, promptHandlers } from "./prompts.ts";
import { listResources, resourceHandlers } from "./resources.ts";
import { MAX_RESULT_SIZE, maxResultSize, sizeUpTo } from "./results.ts";
import {
  SKILLS_EXTENSION,
  skillsExtensionHandlers,
} from "./skills_extension.ts";
import { renderTools, toolHandlers } from "./tools.ts";
import {
  type Handler,
  type Handlers,
  type Method,
  METHODS,
  type Params,
  type RequestContext,
} from "./requests.ts";

/** The longest time for which a client may cache a result, in seconds. */
const MAX_TTL_SECONDS = 5;

export interface McpService {
  /** Fulfilled after the first scan, for which all requests wait. */
  readonly ready: Promise<unknown>;
  /** Carries what changed to the clients that listen. */
  readonly bus: ServerEventBus;
  createServer(context: McpRequestContext): Server;
}

/**
 * Creates what both transports serve.
 *
 * @param options.ready The first scan of the registry.
 * @param options.bus Carries what changed to the clients that listen.
 * @param options.subscriptions The handlers of `resources/subscribe`, if clients can.
 */
export function createService(
  registry: SkillSource,
  options: ToolOptions & SkillRegistryOptions,
  { ready, bus = new InMemoryServerEventBus(), subscriptions = {} }: {
    ready: Promise<unknown>;
    bus?: ServerEventBus;
    subscriptions?: Handlers;
  },
): McpService {
  const handlers: Handlers = {
    ...toolHandlers(registry, options),
    ...promptHandlers(registry, options),
    ...resourceHandlers(registry, options),
    ...completionHandlers(registry),
    ...skillsExtensionHandlers(registry),
    ...subscriptions,
  };
  const { refreshSeconds = DEFAULT_REFRESH_SECONDS, toolset } = options;
  const cacheHint = {
    ttlMs: Math.floor(Math.min(refreshSeconds, MAX_TTL_SECONDS) * 1000),
    cacheScope: "private" as const,
  };
  const { name, version } = config;
  const createServer = (context: McpRequestContext): Server => {
    const server = new Server({ name, title: "Agent Skills", version }, {
      capabilities: capabilitiesFor(context),
      instructions: createInstructions(toolset, registry.catalog),
      cacheHints: { "server/discover": cacheHint },
    });
    for (const method of Object.keys(handlers) as Method[]) {
      const handle = handlers[method] as Handler<Method>;
      const caching = isCacheable(method) ? cacheHint : {};
      const schemas = { params: METHODS[method] };
      server.setRequestHandler(method, schemas, async (params, context) => {
        await ready;
        const request = toRequestContext(context, server);
        const result = await handle(params as Params<Method>, request);
        const { client } = request;
        const limit = method === "tools/call"
          ? maxResultSize({ client, options })
          : MAX_RESULT_SIZE;
        requireSendable(result, limit);
        // Only clients of 2026-07-28 know these fields.
        const isModern = context.mcpReq.envelope !== undefined;
        return isModern ? { ...result, ...caching } : result;
      });
    }
    // Over HTTP, the SDK itself listens to the bus.
    if (context.requestInfo === undefined) {
      server.onclose = bus.subscribe((event) => notify(server, event));
    }
    return server;
  };
  ready.then(() => publishChanges(registry, options, bus));
  return { ready, bus, createServer };
}

/** Over HTTP, clients of 2026-07-28 listen for changes to lists, and no client to others. */
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

/** Whether clients may cache the results of a method: those of lists and files. */
function isCacheable(method: Method): boolean {
  return /\/(?:list|read)$/.test(method) || method === "skills/get";
}

function toRequestContext(
  { mcpReq: { signal, envelope }, http }: ServerContext,
  server: Server,
): RequestContext {
  // Clients of 2026-07-28 give their name in each request, and earlier ones in
  // `initialize`.
  const named: { [CLIENT_INFO_META_KEY]?: { name: string } } = { ...envelope };
  const info = named[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  return { signal, client: info?.name, sender: http?.authInfo?.clientId };
}

/** @throws {ProtocolError} If a result is larger than the client reads. */
function requireSendable(result: Result, limit: number): void {
  const size = sizeUpTo(limit, result);
  if (size <= limit) return;
  throw new ProtocolError(
    ProtocolErrorCode.InternalError,
    `The result is too large: as JSON, it has ${size} bytes, and the limit is ${limit}; ask for less at a time`,
  );
}

/** Tells clients of each list that a scan changed, as clients without a profile see it. */
function publishChanges(
  registry: SkillSource,
  options: ToolOptions,
  bus: ServerEventBus,
): void {
  const lists = {
    tools: () => renderTools(registry.catalog, options),
    prompts: () => JSON.stringify(listPrompts(registry.catalog, options)),
    resources: () => JSON.stringify(listResources(registry.catalog)),
  };
  const names = Object.keys(lists) as (keyof typeof lists)[];
  const last = new Map(names.map((name) => [name, lists[name]()]));
  registry.onChange(() => {
    for (const name of names) {
      const rendered = lists[name]();
      if (rendered === last.get(name)) continue;
      last.set(name, rendered);
      bus.publish({ kind: `${name}_list_changed` });
    }
  });
}

/** Tells the client of a connection what changed. */
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
