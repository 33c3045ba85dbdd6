/**
 * The options that the entry for a client needs, and that `--list --as` assumes.
 *
 * @module
 */

import { join } from "jsr:@std/path@^1";
import type { CommandLine } from "../program/command_line.ts";
import { MCP_CLIENTS, type McpClient } from "./clients.ts";

/** The values of options. */
type Values = CommandLine["values"];

/** What the options for a client depend on. */
export interface ClientSituation {
  /** The home folder, if known. */
  readonly home: string | undefined;
  /** Whether `~/.agents/skills` holds skills that no other folder lists. */
  readonly hasInstalledSkills: boolean;
}

/** Returns the description of a client with a name that `--as` accepts, if it has one. */
export function findClient(name: string): McpClient | undefined {
  return Object.hasOwn(MCP_CLIENTS, name)
    ? MCP_CLIENTS[name as keyof typeof MCP_CLIENTS]
    : undefined;
}

/**
 * Adds to the user's options what a client needs, so that its model sees every skill,
 * once. What the user chose stays. Folders of the project are relative, because each
 * start can be in another project.
 */
export function addClientOptions(
  values: Values,
  client: McpClient,
  { home = "~", hasInstalledSkills }: ClientSituation,
): Values {
  const { toolset, ownSkills = [], readsAgents = false } = client;
  // Those that are not served do no harm, and links can lead to them.
  const ownFolders = ownSkills
    .flatMap((path) => [join(path), join(home, path)]);
  const nameOnly = new Set([...ownFolders, ...values["name-only"] ?? []]);
  const addsAgents = hasInstalledSkills && !readsAgents;
  return {
    ...values,
    tools: values.tools ?? toolset,
    agents: values.agents ?? (addsAgents ? true : undefined),
    "name-only": [...nameOnly],
  };
}
