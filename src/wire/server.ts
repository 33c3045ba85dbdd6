/**
 * What the MCP servers of all connections have in common: how they describe themselves,
 * their handlers, and their notifications. `createSkillService()` creates the servers.
 */

import {
  CLIENT_INFO_META_KEY,
  type McpRequestContext,
  type RequestId,
  type Result,
  type Server,
  type ServerCapabilities,
  type ServerContext,
  type ServerEvent,
  type ServerEventBus,
  type StandardSchemaV1,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import config from "../../deno.json" with { type: "json" };
import { COMPLETION_HANDLERS } from "../features/completion.ts";
import { METHODS } from "../features/methods.ts";
import { listPrompts, PROMPT_HANDLERS } from "../features/prompts.ts";
import type {
  Handler,
  Handlers,
  Method,
  Params,
} from "../features/requests.ts";
import { listResources, RESOURCE_HANDLERS } from "../features/resources.ts";
import {
  EXTENSION_HANDLERS,
  SKILLS_EXTENSION,
} from "../features/skills_extension.ts";
import {
  type SubscribedFiles,
  subscriptionHandlers,
} from "../features/subscriptions.ts";
import { listMcpTools, TOOL_HANDLERS } from "../features/tools.ts";
import type { SkillSource } from "../skills/source.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { profileFor } from "../views/clients.ts";
import { createInstructions } from "../views/instructions.ts";
import type { RequestContext, ToolOptions } from "../views/options.ts";
import { requireSize } from "../views/results.ts";

/**
 * Serves the skills of a registry to any number of clients, with the MCP SDK. The
 * documentation leaves out the members whose types are the SDK's.
 */
export interface SkillService {
  /** Fulfilled after the first scan, for which all requests wait. */
  readonly ready: Promise<unknown>;
  /** @ignore Carries the notifications to the clients that listen over HTTP. */
  readonly bus: ServerEventBus;
  /** @ignore Creates the server of a connection over stdio, or of a request over HTTP. */
  readonly createServer: (connection: McpRequestContext) => Server;
  /** @ignore Subscribes a request over stdio, where the SDK does not pass on who listens. */
  readonly subscribe: (
    id: RequestId,
    uris: readonly string[],
  ) => Promise<void>;
  /** @ignore Ends the subscriptions of the request with an ID. */
  readonly unsubscribe: (id: RequestId) => void;
}

const HANDLERS: Handlers = {
  ...TOOL_HANDLERS,
  ...PROMPT_HANDLERS,
  ...RESOURCE_HANDLERS,
  ...COMPLETION_HANDLERS,
  ...EXTENSION_HANDLERS,
};

/** The longest time for which a client may cache a result, in seconds. */
const MAX_TTL_SECONDS = 5;

export function describeServer(
  connection: McpRequestContext,
  registry: SkillSource,
  { toolset }: ToolOptions,
): ConstructorParameters<typeof Server> {
  const { name, version } = config;
  return [{ name, title: "Agent Skills", version }, {
    capabilities: capabilitiesFor(connection),
    instructions: createInstructions(toolset, registry.catalog),
    cacheHints: { "server/discover": cacheHintOf(registry) },
  }];
}

/** For how long clients may cache results: not longer than a change can stay unnoticed. */
function cacheHintOf(
  { refreshSeconds }: SkillSource,
): { ttlMs: number; cacheScope: "private" } {
  const ttlMs = Math.floor(Math.min(refreshSeconds, MAX_TTL_SECONDS) * 1_000);
  return { ttlMs, cacheScope: "private" };
}

/** Whether a connection is over stdio. Only requests over HTTP have a `requestInfo`. */
export function isStdio({ requestInfo }: McpRequestContext): boolean {
  return requestInfo === undefined;
}

interface ServedMethod {
  readonly method: Method;
  readonly paramsSchema: StandardSchemaV1;
  readonly handle: Handler<Method>;
}

/** Lists the methods of a connection: over stdio, also those that subscribe to files. */
export function listMethods(
  connection: McpRequestContext,
  files: SubscribedFiles,
): ServedMethod[] {
  const handlers: Handlers = isStdio(connection)
    ? { ...HANDLERS, ...subscriptionHandlers(files) }
    : HANDLERS;
  return (Object.keys(handlers) as Method[]).map((method) => ({
    method,
    paramsSchema: METHODS[method],
    handle: handlers[method] as Handler<Method>,
  }));
}

/** Over HTTP, only clients of 2026-07-28 can listen, and only for changes to lists. */
function capabilitiesFor(connection: McpRequestContext): ServerCapabilities {
  const list = {
    listChanged: isStdio(connection) || connection.era === "modern",
  };
  return {
    tools: list,
    prompts: list,
    resources: { ...list, subscribe: isStdio(connection) },
    completions: {},
    extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
  };
}

interface Serving {
  readonly server: Server;
  readonly registry: SkillSource;
  readonly options: ToolOptions;
}

/** @throws {Error} As the handler does, and if the result is larger than clients accept. */
export async function answer(
  { method, handle }: ServedMethod,
  params: unknown,
  request: ServerContext,
  serving: Serving,
): Promise<Result> {
  const context = contextOf(request, serving);
  const result = await handle(params as Params<Method>, context);
  // Tools keep their results within the client's limit.
  if (method !== "tools/call") {
    requireSize(result, "the result", "ask for less at a time");
  }
  // Only clients of 2026-07-28 know these fields.
  const isModern = request.mcpReq.envelope !== undefined;
  return isModern && isCacheable(method)
    ? { ...result, ...cacheHintOf(serving.registry) }
    : result;
}

/** Whether clients may cache the results of a method: lists, files, and skills. */
function isCacheable(method: Method): boolean {
  return /\/(?:list|read)$/.test(method) || method === "skills/get";
}

/** Returns who sends a request, and how to answer it. */
function contextOf(
  { mcpReq: { signal, envelope }, http }: ServerContext,
  { server, registry, options }: Serving,
): RequestContext {
  // Clients of 2026-07-28 give their name in each request, and earlier ones in
  // `initialize`.
  const named: { [CLIENT_INFO_META_KEY]?: { name: string } } = { ...envelope };
  const info = named[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  return {
    signal,
    clientName: info?.name || undefined,
    sender: http?.authInfo?.clientId || undefined,
    profile: profileFor(options, info?.name),
    registry,
    options,
  };
}

/** Notifies clients if a scan changed a list, as clients without a profile see it. */
export function publishChanges(
  registry: SkillSource,
  options: ToolOptions,
  bus: ServerEventBus,
): void {
  const profile = profileFor(options);
  const renderLists = (catalog: SkillCatalog) => ({
    tools: JSON.stringify(listMcpTools({ profile, catalog, options })),
    prompts: JSON.stringify(listPrompts({ profile, catalog, options })),
    resources: JSON.stringify(listResources(catalog)),
  });
  registry.onChange(({ catalog, previous }) => {
    // Kept lists would take memory, and delay the first answer.
    const before = renderLists(previous);
    const after = renderLists(catalog);
    for (const name of ["tools", "prompts", "resources"] as const) {
      if (after[name] !== before[name]) {
        bus.publish({ kind: `${name}_list_changed` });
      }
    }
  });
}

export async function notify(
  server: Server,
  event: ServerEvent,
): Promise<void> {
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
