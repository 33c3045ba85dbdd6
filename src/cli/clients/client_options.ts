/**
 * The options that the entry for a client needs, and that `--list --as` assumes.
 *
 * @module
 */

import { isAtOrBelow, join } from "../../files/paths.ts";
import type { Settings } from "../../program/settings.ts";
import { SHARED_FOLDERS } from "../../skills/roots.ts";
import type { McpClient } from "./clients.ts";

/**
 * Adds to the user's options what a client needs, so that its model sees every skill,
 * once, and says why. What the user chose stays. Folders of the project are relative,
 * because each start can be in another project.
 */
export function addClientOptions(
  client: McpClient,
  settings: Settings,
): { values: Settings["values"]; notes: string[] } {
  const { title, toolset, shows } = client;
  const { values, folders, home } = settings;
  const added = { ...values };
  const notes: string[] = [];
  if (toolset !== undefined && values.tools === undefined) {
    added.tools = toolset;
    notes.push(
      `${title} cannot open files, so the entry selects the toolset ${toolset}, which has a tool that reads the other files of a skill.`,
    );
  }
  const ownSkills = listOwnSkills(client, settings);
  if (ownSkills.length > 0) {
    const own = ownSkills.flatMap((path) =>
      home === undefined ? [join(path)] : [join(path), join(home, path)]
    );
    added["name-only"] = [...new Set([...own, ...values["name-only"] ?? []])];
    const names = new Intl.ListFormat("en").format(ownSkills);
    notes.push(
      `${title} itself describes the skills in ${names}, in the project and in the home folder; where the server finds them as well, such as through links, it lists only their names (--name-only; remove these arguments if you turn off the skills of ${title}).`,
    );
  }
  if (shows !== undefined && !values["name-only"]?.length) {
    notes.push(
      `${title} itself shows ${shows.skills}, so the entry leaves .agents/skills to it unless you add --agents; if the model sees skills twice, add ${shows.options}.`,
    );
  }
  const readsAgents = shows !== undefined ||
    ownSkills.includes(".agents/skills");
  if (!readsAgents && folders.length === 0 && !values.agents) {
    added.agents = true;
    notes.push(
      `${title} does not read ~/.agents/skills, where installers such as npx skills add put skills, so the entry adds --agents.`,
    );
  }
  return { values: added, notes };
}

/** Lists the folders that the client describes and the server may find skills in. */
function listOwnSkills(
  { ownSkills = [] }: McpClient,
  { roots, home }: Settings,
): string[] {
  // Links lead from other folders to those that clients share.
  const isShared = (folder: string) =>
    SHARED_FOLDERS.some((shared) => folder === `${shared}/skills`);
  const isSearched = (folder: string) =>
    home !== undefined &&
    roots.some(({ path }) => isAtOrBelow(join(home, folder), path));
  return ownSkills
    .filter((folder) => isShared(folder) || isSearched(folder));
}
