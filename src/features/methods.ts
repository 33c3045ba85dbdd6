/** The methods that the server answers, and the schemas of their params. */

import { specTypeSchemas } from "npm:@modelcontextprotocol/server@^2.4.0";
import * as z from "npm:zod@^4/mini";

const {
  CallToolRequestParams,
  CompleteRequestParams,
  GetPromptRequestParams,
  PaginatedRequestParams,
  ResourceRequestParams,
} = specTypeSchemas;

const SkillParams = z.looseObject({ uri: z.string() });

const DirectoryParams = z.looseObject({
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
  "resources/directory/read": DirectoryParams,
};
