/**
 * Everything that clients are given: the server's description of itself, and the
 * handlers of its requests for tools, prompts, resources, completions, and the
 * Skills extension.
 */

import config from "../../deno.json" with { type: "json" };
import type {
  RequestDispatcher,
  ServerDescription,
} from "../protocol/dispatcher.ts";
import { DEFAULT_REFRESH_SECONDS } from "../skills/roots.ts";
import type {
  SkillCatalog,
  SkillRegistryOptions,
  SkillSource,
} from "../skills/types.ts";
import { registerCompletion } from "./completion.ts";
import { TOOL_NAMES, type ToolOptions, type Toolset } from "./options.ts";
import { registerPrompts } from "./prompts.ts";
import { registerResources } from "./resources.ts";
import { summarizeSkills } from "./skill_list.ts";
import {
  registerSkillsExtension,
  SKILLS_EXTENSION,
} from "./skills_extension.ts";

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
};

/** The maximum time for which a client is allowed to cache results, in seconds. */
const MAX_TTL_SECONDS = 5;

export function createDescription(
  registry: SkillSource,
  { toolset, refreshSeconds = DEFAULT_REFRESH_SECONDS }:
    & ToolOptions
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
 * Sets the request handlers that stdio and HTTP share, except those of the tools, which
 * `registerSkillTools` in `mod.ts` sets.
 */
export function registerViews(
  server: RequestDispatcher,
  registry: SkillSource,
  options: ToolOptions,
): void {
  registerPrompts(server, registry, options);
  registerCompletion(server, registry);
  registerResources(server, registry, options);
  registerSkillsExtension(server, registry);
}

/**
 * Creates the server's instructions: what the skills are about, how to use
 * them, and how to find the tools in a client that defers them behind a search.
 * Some clients show only the first line, so it must make sense on its own.
 */
export function createInstructions(
  toolset: Toolset,
  catalog: SkillCatalog,
): string {
  const { list, load } = TOOL_NAMES[toolset];
  const purpose = "Instructions for tasks (skills)";
  // Before the first scan, it is unknown whether there are any.
  const firstLine = catalog.revision === 0
    ? `${purpose}: the tool ${list} lists them.`
    : summarizeSkills(catalog, purpose);
  return `${firstLine}
Before you start a task, check whether one of the skills that the tool ${list} lists matches it. If so, load that skill with the tool ${load} and follow its instructions.
If the tool ${load} is not in your list of tools, use your tool search to find it: search for "${load}" or "skills". A skill that is added later can be loaded by name at any time.`;
}
