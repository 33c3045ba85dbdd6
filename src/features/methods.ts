/** The methods that the server answers, and the schemas of their params. */

import {
  specTypeSchemas,
  type StandardSchemaV1,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import * as z from "npm:zod@^4/mini";
import { InvalidParamsError } from "./requests.ts";

const {
  CallToolRequestParams,
  CompleteRequestParams,
  GetPromptRequestParams,
  InitializeRequestParams,
  PaginatedRequestParams,
  ResourceRequestParams,
} = specTypeSchemas;

const SkillParams = z.looseObject({ uri: z.string() });

const DirParams = z.looseObject({
  uri: z.string(),
  cursor: z.optional(z.string()),
});

/** The schema of the params of each method, as MCP and its Skills extension define them. */
export const METHODS = {
  "tools/list": PaginatedRequestParams,
  "tools/call": CallToolRequestParams,
  "prompts/list": PaginatedRequestParams,
  "prompts/get": GetPromptRequestParams,
  "resources/list": PaginatedRequestParams,
  "resources/templates/list": PaginatedRequestParams,
  "resources/read": ResourceRequestParams,
  "resources/subscribe": ResourceRequestParams,
  "resources/unsubscribe": ResourceRequestParams,
  "completion/complete": CompleteRequestParams,
  "skills/list": PaginatedRequestParams,
  "skills/get": SkillParams,
  "resources/directory/read": DirParams,
};

/**
 * The methods whose params the SDK itself checks, with the whole report of its schema
 * library as the error.
 */
const CHECKED_BY_SDK = new Map<string, StandardSchemaV1>([
  ["initialize", InitializeRequestParams],
  ["tools/call", CallToolRequestParams],
]);

/**
 * Checks the params of a request before the SDK does, and fails as it does for the other
 * methods.
 *
 * @throws {InvalidParamsError} If they are wrong.
 */
export function requireParams(method: string, params: unknown = {}): void {
  const result = CHECKED_BY_SDK.get(method)?.["~standard"].validate(params);
  if (result === undefined || result instanceof Promise) return;
  const [issue] = result.issues ?? [];
  if (issue === undefined) return;
  const { path = [], message } = issue;
  const place = path.map(String).join(".");
  throw new InvalidParamsError(
    `Invalid params for ${method}: ${place}: ${message}`,
  );
}
