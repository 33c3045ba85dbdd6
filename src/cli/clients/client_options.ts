/** The options that the entry for a client needs, and that `--list --as` assumes. */

import { type BaseFolders, inHome, isAtOrBelow, join } from "../../fs/paths.ts";
import type { Settings } from "../../program/settings.ts";
import { SHARED_FOLDERS } from "../../skills/roots.ts";
import type { ClientProfile } from "../../mcp/profiles.ts";
import type { McpClient } from "./clients.ts";

/**
 * Adds to the user's options what a client needs so that its model sees every skill once.
 * The notes say why. What the user chose stays. Folders of the project are relative,
 * because each start can be in another project.
 */
export function addClientOptions(
  client: McpClient,
  settings: Settings,
  { ownListSize: size }: ClientProfile,
): { values: Settings["values"]; notes: string[] } {
  const { title, toolset, shows } = client;
  const { values, folders } = settings;
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
    const own = placesOf(ownSkills, settings.options);
    added["name-only"] = [...new Set([...own, ...values["name-only"] ?? []])];
    notes.push(...listNameOnlyNotes(client, ownSkills, size));
  }
  if (shows !== undefined && !values["name-only"]?.length) {
    notes.push(
      `${title} itself shows ${shows.skills}, so the entry leaves .agents/skills to it unless you add --agents; if the model sees skills twice, add ${shows.options}.`,
    );
  }
  // The server can describe what a limited list leaves out only if it finds it.
  const describesAgents = shows !== undefined ||
    (ownSkills.includes(".agents/skills") && size === undefined);
  if (!describesAgents && folders.length === 0 && !values.agents) {
    added.agents = true;
    notes.push(
      `${title} does not describe all skills in ~/.agents/skills, where installers such as npx skills add put skills, so the entry adds --agents.`,
    );
  }
  return { values: added, notes };
}

function listNameOnlyNotes(
  { title, listSwitch }: McpClient,
  ownSkills: readonly string[],
  size: number | undefined,
): string[] {
  const names = new Intl.ListFormat("en").format(ownSkills);
  const note =
    `${title} itself describes the skills in ${names}, in the project and in the home folder; where the server finds them as well, such as through links, it lists only their names (--name-only; remove these arguments if you turn off the skills of ${title}).`;
  if (size === undefined) return [note];
  const turnOff = listSwitch === undefined
    ? ""
    : `; to have each once, ${listSwitch}, and remove these arguments`;
  return [
    note,
    `The list of ${title} itself ends: if the names and descriptions of these skills need more than about ${size} characters, the server describes all of them, too${turnOff}.`,
  ];
}

function placesOf(
  folders: readonly string[],
  bases: BaseFolders,
): string[] {
  return folders.flatMap((path) => {
    const own = path.startsWith("./") ? undefined : inHome(path, bases);
    return [join(path), own ?? []].flat();
  });
}

/** Lists the folders that the client describes and the server may find skills in. */
function listOwnSkills(
  { ownSkills = [] }: McpClient,
  { roots, options }: Settings,
): string[] {
  // Links lead from other folders to those that clients share.
  const isShared = (folder: string) =>
    SHARED_FOLDERS.some((it) => join(folder) === join(it, "skills"));
  const isSearched = (folder: string) => {
    const own = inHome(folder, options);
    return own !== undefined &&
      roots.some(({ path }) => isAtOrBelow(own, path));
  };
  return ownSkills
    .filter((folder) => isShared(folder) || isSearched(folder));
}
