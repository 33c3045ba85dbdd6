/**
 * The options that the entry for a client needs, and that `--list --as` assumes.
 *
 * @module
 */

import { isAtOrBelow, join } from "../../files/paths.ts";
import type { CommandLine } from "../../program/command_line.ts";
import type { Settings } from "../../program/settings.ts";
import type { SkillCatalog } from "../../skills/types.ts";
import type { McpClient } from "./clients.ts";

/** The values of options. */
type Values = CommandLine["values"];

/** What the options for a client depend on. */
export interface ClientSituation {
  /** What the user chose. */
  readonly settings: Settings;
  /** The skills that a server with these settings finds. */
  readonly catalog: SkillCatalog;
}

/**
 * Adds to the user's options what a client needs, so that its model sees every skill,
 * once, and says why. What the user chose stays. Folders of the project are relative,
 * because each start can be in another project.
 */
export function addClientOptions(
  client: McpClient,
  situation: ClientSituation,
): { values: Values; notes: string[] } {
  const { title, toolset, privateSkills = [] } = client;
  const { values, home } = situation.settings;
  const added = { ...values };
  const notes: string[] = [];
  if (toolset !== undefined && values.tools === undefined) {
    added.tools = toolset;
    notes.push(
      `${title} cannot open files, so the entry selects the toolset ${toolset}, which has a tool that reads the other files of a skill.`,
    );
  }
  const ownSkills = [
    ...client.ownSkills ?? [],
    ...privateSkills.filter((path) => servesWhole(path, situation)),
  ];
  if (ownSkills.length > 0) {
    // Those that are not served do no harm, and links can lead to them.
    const own = ownSkills.flatMap((path) =>
      home === undefined ? [join(path)] : [join(path), join(home, path)]
    );
    added["name-only"] = [...new Set([...own, ...values["name-only"] ?? []])];
    const folders = ownSkills.join(" and ");
    notes.push(
      `${title} itself describes the skills in ${folders}, of the project and of the home folder, so where the server finds them, too, it lists only their names (--name-only; remove these arguments if you turn off the skills of ${title}).`,
    );
  }
  if (needsAgents(client, situation)) {
    added.agents = true;
    notes.push(
      `${title} does not read ~/.agents/skills, where installers such as npx skills add put skills, so the entry adds --agents.`,
    );
  }
  notes.push(...listOwnSkillNotes(client, situation));
  return { values: added, notes };
}

/** Whether the entry should add `--agents`, because the client does not read that folder. */
function needsAgents(
  { readsAgents }: McpClient,
  { settings: { directories, values } }: ClientSituation,
): boolean {
  return !readsAgents && directories.length === 0 && !values.agents;
}

/** Says what a client shows itself, in addition to what its entry takes into account. */
function listOwnSkillNotes(
  client: McpClient,
  situation: ClientSituation,
): string[] {
  const { agents } = situation.settings.values;
  const { title, ownSkills = [], readsAgents, mayReadClaude } = client;
  const part = client.agentsPart === undefined ? "" : ` (${client.agentsPart})`;
  const notes: string[] = [];
  if (readsAgents && !ownSkills.includes(".agents/skills")) {
    const consequence = agents
      ? "the model may see them twice unless you omit --agents"
      : "the entry does not search that folder unless you add --agents";
    notes.push(
      `${title} itself shows the skills in .agents/skills${part}, so ${consequence}.`,
    );
  }
  if (mayReadClaude && servesWhole(join(".claude", "skills"), situation)) {
    notes.push(
      `${title} also reads ~/.claude/skills, as its documentation says; if the model sees those skills twice, add --name-only ~/.claude/skills.`,
    );
  }
  return notes;
}

/** Whether the server searches a folder of the home folder, and lists skills whole there. */
function servesWhole(
  folder: string,
  { settings: { home, values }, catalog }: ClientSituation,
): boolean {
  if (home === undefined) return false;
  const path = join(home, folder);
  const isListedByName = values["name-only"]?.includes(path) === true;
  return !isListedByName &&
    catalog.roots.some(({ root, skills }) =>
      isAtOrBelow(path, root.path) && skills > 0
    );
}
