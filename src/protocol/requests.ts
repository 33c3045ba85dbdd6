/**
 * The requests of MCP and of its Skills extension that the server handles, as schemas
 * of their params.
 *
 * The SDK has them too, but it creates the schemas of the whole protocol when it
 * is loaded, which would take a sixth of the startup time. The tests compare these
 * schemas with the SDK's.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2025-11-25/schema}
 */

import * as z from "npm:zod@^4/mini";
import en from "npm:zod@^4/v4/locales/en.js";
import { escapeInvisible, MAX_LENGTHS, quote } from "../text.ts";

export function textUpTo(limit: number): z.ZodMiniString {
  const message = `it has more than ${limit} characters; pass a shorter one`;
  return z.string().check(z.refine(({ length }) => length <= limit, message));
}

const NAME = textUpTo(MAX_LENGTHS.name);

const URI = textUpTo(MAX_LENGTHS.uri);

const CURSOR = z.optional(textUpTo(MAX_LENGTHS.cursor));

/** Creates the schema of params. Other params are kept. */
function paramsOf<Params extends z.core.$ZodLooseShape>(params: Params) {
  return z.looseObject({ _meta: z.optional(z.looseObject({})), ...params });
}

/** The params of requests for a list: where a page starts. */
const LIST = paramsOf({ cursor: CURSOR });

/** The params of requests for a list that has one page, so that no cursor is valid. */
const ONE_PAGE = paramsOf({
  cursor: z.optional(z.never("the list has only one page; omit the cursor")),
});

const RESOURCE = paramsOf({ uri: URI });

const FLAG = z.optional(z.boolean());

const MAX_RESOURCES = 256;

const SUBSCRIPTION_FILTER = z.object({
  toolsListChanged: FLAG,
  promptsListChanged: FLAG,
  resourcesListChanged: FLAG,
  resourceSubscriptions: z.optional(
    z.array(URI).check(z.maxLength(MAX_RESOURCES)),
  ),
});

export type SubscriptionFilter = z.infer<typeof SUBSCRIPTION_FILTER>;

/** The method of requests that last until they are cancelled. */
export const LISTEN = "subscriptions/listen";

export const REQUESTS = {
  "initialize": paramsOf({
    protocolVersion: z.string(),
    capabilities: z.looseObject({}),
    clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
  }),
  "ping": LIST,
  "server/discover": LIST,
  [LISTEN]: paramsOf({ notifications: SUBSCRIPTION_FILTER }),
  "tools/list": ONE_PAGE,
  "tools/call": paramsOf({
    name: NAME,
    arguments: z.optional(z.record(z.string(), z.unknown())),
  }),
  "prompts/list": LIST,
  "prompts/get": paramsOf({
    name: NAME,
    arguments: z.optional(z.record(z.string(), z.string())),
  }),
  "resources/list": LIST,
  "resources/templates/list": ONE_PAGE,
  "resources/read": RESOURCE,
  "resources/subscribe": RESOURCE,
  "resources/unsubscribe": RESOURCE,
  "resources/directory/read": paramsOf({ uri: URI, cursor: CURSOR }),
  "skills/list": LIST,
  "skills/get": RESOURCE,
  "completion/complete": paramsOf({
    ref: z.union([
      z.object({ type: z.literal("ref/prompt"), name: NAME }),
      z.object({ type: z.literal("ref/resource"), uri: URI }),
    ]),
    argument: z.object({ name: NAME, value: NAME }),
    context: z.optional(z.object({
      arguments: z.optional(z.record(z.string(), NAME)),
    })),
  }),
};

export type Method = keyof typeof REQUESTS;

export type Params<Name extends Method> = z.infer<typeof REQUESTS[Name]>;

// The small variant of zod has no messages.
z.config(en());

/** By itself, zod calls a missing value one of the wrong type. */
export const PARSE_OPTIONS = {
  error: ({ input }: { input?: unknown }): string | undefined =>
    input === undefined ? "it is missing" : undefined,
};

/** The maximum length of a description of what is wrong with a value, in characters. */
const MAX_ISSUES_LENGTH = 5_000;

/** Describes what is wrong with a value, and where. */
export function formatIssues({ issues }: z.core.$ZodError): string {
  const text = issues.map(({ path, message }) =>
    path.length > 0 ? `${quote(path.join("."))}: ${message}` : message
  ).join("; ").slice(0, MAX_ISSUES_LENGTH);
  // The messages of zod repeat keys as they are.
  return escapeInvisible(text);
}
