/**
 * Lets tools join those that a server of the MCP SDK already has.
 *
 * @module
 */

import type { RequestHandlers } from "../protocol/handlers.ts";
import { methodOf, type RequestSchema } from "../protocol/requests.ts";
import { quote } from "../text.ts";

/**
 * The part of the low-level `Server` of `@modelcontextprotocol/sdk` that tools
 * need. It is declared here because the SDK's own type would pull undocumented
 * types into the library's documentation.
 */
export interface SkillToolServer {
  /** Sets the handler for a request. */
  setRequestHandler(requestSchema: never, handler: never): void;
  /** Notifies the client that the list of tools changed. */
  sendToolListChanged(): Promise<void>;
}

// deno-lint-ignore no-explicit-any -- handlers of requests and results of any kind
type AnyHandler = (request: any, context: any) => any;

/**
 * Returns a server on which handlers join the ones that the host has set.
 *
 * @param server The host's `Server` or `McpServer`.
 * @param names The names of the tools that join the host's.
 * @throws {TypeError} If the server's own handlers cannot be found.
 */
export function joinTools(
  server: SkillToolServer | { readonly server: SkillToolServer },
  names: ReadonlySet<string>,
): RequestHandlers {
  const target = "server" in server ? server.server : server;
  const known = knownHandlers(target);
  if ("server" in server && !known.has("tools/list")) {
    // An McpServer declares this capability only when it gets its first tool.
    (target as unknown as {
      registerCapabilities(capabilities: object): void;
    }).registerCapabilities({ tools: { listChanged: true } });
  }
  return {
    setRequestHandler: (schema: RequestSchema, handler: AnyHandler) => {
      const method = methodOf(schema);
      const host = known.get(method);
      const join = method === "tools/list" ? joinLists : joinCalls;
      const joined = host ? join({ host, handler, names }) : handler;
      target.setRequestHandler(schema as never, joined as never);
    },
    notifyListChanged: () => target.sendToolListChanged(),
  };
}

/** Returns the handlers of a server by method. The SDK has no public way to get them. */
function knownHandlers(server: object): ReadonlyMap<string, AnyHandler> {
  const { _requestHandlers: handlers } = server as Record<string, unknown>;
  if (handlers instanceof Map) return handlers;
  throw new TypeError(
    "Cannot register the tools: the server is not a Server or McpServer of @modelcontextprotocol/sdk 1; pass one of these",
  );
}

/** Handlers of the same request, and the names of the tools that join the host's. */
interface Handlers {
  readonly host: AnyHandler;
  readonly handler: AnyHandler;
  readonly names: ReadonlySet<string>;
}

/** Lists the host's tools, and after those of the first page the ones that join them. */
function joinLists({ host, handler, names }: Handlers): AnyHandler {
  return async (request, context) => {
    const theirs = await host(request, context);
    for (const { name } of theirs.tools) {
      if (!names.has(name)) continue;
      throw new TypeError(
        `Cannot list the tools: both the server and the toolset have a tool ${
          quote(name)
        }; rename the server's tool, or choose another toolset`,
      );
    }
    if (request.params?.cursor !== undefined) return theirs;
    const { tools } = await handler(request, context);
    return { ...theirs, tools: [...theirs.tools, ...tools] };
  };
}

/** Calls the tools that join by name, and otherwise the host's. */
function joinCalls({ host, handler, names }: Handlers): AnyHandler {
  return (request, context) =>
    (names.has(request.params.name) ? handler : host)(request, context);
}
