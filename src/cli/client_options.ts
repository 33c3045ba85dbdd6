/**
 * The options that the entry for a client needs, and that `--list --as` assumes.
 *
 * @module
 */

import { join } from "../files/paths.ts";
import type { Problem } from "../problems.ts";
import type { CommandLine } from "../program/command_line.ts";
import type { Settings } from "../program/settings.ts";
import type { McpClient } from "./clients.ts";

/** The values of options. */
type Values = CommandLine["values"];

/** What the options for a client depend on. */
export interface ClientSituation {
  /** What the user chose. */
  readonly settings: Settings;
  /** The problem that `~/.agents/skills` holds skills and is not searched, if it is one. */
  readonly installed?: Problem | undefined;
}

/**
 * Adds to the user's options what a client needs, so that its model sees every skill,
 * once, and says why. What the user chose stays. Folders of the project are relative,
 * because each start can be in another project.
 */
export function addClientOptions(
  { title, toolset, ownSkills = [], readsAgents }: McpClient,
  { settings: { values, home = "~" }, installed }: ClientSituation,
): { values: Values; notes: string[] } {
  const added = { ...values };
  const notes: string[] = [];
  if (toolset !== undefined && values.tools === undefined) {
    added.tools = toolset;
    notes.push(
      `${title} cannot open files. So the entry selects the toolset ${toolset}, which has a tool that reads the other files of a skill.`,
    );
  }
  if (ownSkills.length > 0) {
    // Those that are not served do no harm, and links can lead to them.
    const own = ownSkills.flatMap((path) => [join(path), join(home, path)]);
    added["name-only"] = [...new Set([...own, ...values["name-only"] ?? []])];
    const folders = ownSkills.join(" and ");
    notes.push(
      `${title} itself lists the skills in ${folders}, of the project and of the home folder. So that the model sees each description once, the server lists these skills by name (--name-only). Remove these arguments if you switch off the list of ${title}.`,
    );
  }
  if (installed !== undefined) {
    if (!readsAgents) added.agents = true;
    const consequence = readsAgents
      ? `${title} shows these skills itself, so the entry leaves them to it. To serve them as well, add --agents.`
      : `${title} does not read it either, so the entry adds --agents.`;
    notes.push(
      `Installers put skills in ~/.agents/skills: ${installed.reason}. ${consequence}`,
    );
  }
  return { values: added, notes };
}
