/**
 * The requests of MCP that the server handles, as schemas.
 *
 * The SDK has them too, but it creates the schemas of the whole protocol when it
 * is loaded, which would take a sixth of the startup time. The tests compare these
 * schemas with the SDK's.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2025-11-25/schema}
 *
 * @module
 */

import * as z from "npm:zod@^4/mini";

/** A schema of requests with one method. */
export type RequestSchema = z.ZodMiniObject<
  { method: z.ZodMiniLiteral<string> }
>;

/** Returns the method of the requests that a schema accepts. */
export function methodOf(schema: RequestSchema): string {
  return schema.shape.method.def.values[0]!;
}

/** Where a page of a list starts. */
export const cursorParam = z.optional(z.string());

export const uriParam = z.string();

/** Creates the schema of a request from those of its params. Other params are kept. */
export function requestSchema<
  Method extends string,
  Params extends z.core.$ZodLooseShape,
>(method: Method, params: Params) {
  const _meta = z.optional(z.looseObject({}));
  return z.object({
    method: z.literal(method),
    params: z.looseObject({ _meta, ...params }),
  });
}

/** Creates the schema of a request that needs no params, such as one for a list. */
export function listRequestSchema<Method extends string>(method: Method) {
  const { shape } = requestSchema(method, { cursor: cursorParam });
  return z.object({ ...shape, params: z.optional(shape.params) });
}

export const InitializeRequestSchema = requestSchema("initialize", {
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});
export const PingRequestSchema = listRequestSchema("ping");

export const ListToolsRequestSchema = listRequestSchema("tools/list");
export const CallToolRequestSchema = requestSchema("tools/call", {
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
});

export const ListPromptsRequestSchema = listRequestSchema("prompts/list");
export const GetPromptRequestSchema = requestSchema("prompts/get", {
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.string())),
});

export const ListResourcesRequestSchema = listRequestSchema("resources/list");
export const ListResourceTemplatesRequestSchema = listRequestSchema(
  "resources/templates/list",
);
export const ReadResourceRequestSchema = requestSchema("resources/read", {
  uri: uriParam,
});
export const SubscribeRequestSchema = requestSchema("resources/subscribe", {
  uri: uriParam,
});
export const UnsubscribeRequestSchema = requestSchema("resources/unsubscribe", {
  uri: uriParam,
});

export const CompleteRequestSchema = requestSchema("completion/complete", {
  ref: z.union([
    z.object({ type: z.literal("ref/prompt"), name: z.string() }),
    z.object({ type: z.literal("ref/resource"), uri: uriParam }),
  ]),
  argument: z.object({ name: z.string(), value: z.string() }),
  context: z.optional(z.object({
    arguments: z.optional(z.record(z.string(), z.string())),
  })),
});

const flag = z.optional(z.boolean());

/** The notifications that a modern client requests. */
const SubscriptionFilterSchema = z.object({
  toolsListChanged: flag,
  promptsListChanged: flag,
  resourcesListChanged: flag,
  resourceSubscriptions: z.optional(z.array(z.string())),
});

export type SubscriptionFilter = z.infer<typeof SubscriptionFilterSchema>;

export const DiscoverRequestSchema = listRequestSchema("server/discover");
export const ListenRequestSchema = requestSchema("subscriptions/listen", {
  notifications: SubscriptionFilterSchema,
});
