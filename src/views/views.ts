/**
 * Everything that clients are given: the server's description of itself, and the
 * handlers of its requests for tools, prompts, resources, completions, and the
 * Skills extension.
 *
 * @module
 */

import config from "../../deno.json" with { type: "json" };
import { registerCompletion } from "./completion.ts";
import { createInstructions } from "./instructions.ts";
import type {
  RequestHandlers,
  ServerDescription,
} from "../protocol/handlers.ts";
import { registerPrompts } from "./prompts.ts";
import { registerResources } from "./resources.ts";
import {
  registerSkillsExtension,
  SKILLS_EXTENSION,
  type SkillsExtensionOptions,
} from "./skills_extension.ts";
import { DEFAULT_REFRESH_SECONDS } from "../skills/roots.ts";
import { registerTools } from "./tools.ts";
import type { SkillToolOptions } from "./options.ts";
import type { SkillRegistryOptions, SkillSource } from "../skills/types.ts";

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
};

/** The maximum time for which a client is allowed to cache results, in seconds. */
const MAX_TTL_SECONDS = 5;

/** Creates the description of the server for clients of both eras of the protocol. */
export function describeServer(
  registry: SkillSource,
  { toolset, refreshSeconds = DEFAULT_REFRESH_SECONDS }:
    & SkillToolOptions
    & SkillRegistryOptions,
): ServerDescription {
  const { name, version } = config;
  return {
    serverInfo: { name, title: "Agent Skills", version },
    capabilities: CAPABILITIES,
    instructions: () => createInstructions(toolset, registry.catalog),
    ttlMs: Math.floor(Math.min(refreshSeconds, MAX_TTL_SECONDS) * 1000),
  };
}

/**
 * Sets the request handlers that stdio and HTTP share, which do not need a
 * connection.
 */
export function registerViews(
  server: RequestHandlers,
  registry: SkillSource,
  options: SkillToolOptions & SkillsExtensionOptions,
): void {
  registerTools(server, registry, options);
  registerPrompts(server, registry, options);
  registerResources(server, registry);
  registerSkillsExtension(server, registry, options);
  registerCompletion(server, registry);
}
