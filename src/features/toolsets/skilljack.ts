/** The toolset `skilljack`: loads a skill, and reads its files. */

import * as z from "npm:zod@^4/mini";
import { skillMdUri } from "../../skills/names.ts";
import type { Skill } from "../../skills/types.ts";
import { escapeInvisible } from "../../invisible.ts";
import { formatAvailableSkills } from "../../views/lists.ts";
import { loadSkill, loadWhole } from "../../views/loading.ts";
import { TOOL_NAMES } from "../../views/options.ts";
import { pathInSkill, readAsMeant, readPath } from "../../views/reading.ts";
import { defineTool, describedString, type SkillTool } from "./tool.ts";

const loadTool = defineTool({
  name: TOOL_NAMES.skilljack.load,
  title: "Activate Skill",
  describe: (list) => {
    const locationOf = (skill: Skill) =>
      list.options.isRemote ? skillMdUri(skill) : escapeInvisible(skill.file);
    const skills = formatAvailableSkills(list, locationOf);
    return `Load and activate an Agent Skill by name. Returns the full SKILL.md content.

# Skills

When a user's task matches a skill description below: 1) activate it, 2) follow its instructions completely.

${skills}`;
  },
  usage:
    "When a task matches a skill: 1) activate it by name, 2) follow its instructions completely.",
  input: z.object({
    name: describedString(
      "Skill name, as listed. If the user expects a skill that is not listed, pass its name: the answer says why it is missing",
    ),
  }),
  example: { name: "pdf" },
  call: ({ name }, context) => loadWhole(name, context),
});

const readTool = defineTool({
  name: TOOL_NAMES.skilljack.read,
  title: "Read Skill File",
  usage:
    "Read files in a skill's directory (scripts/, references/, assets/, snippets/, …) that its instructions refer to. Pass the path of a file to read it, the path of a folder to read all files in it if they are small texts, or an empty path to list the files.",
  input: z.object({
    skill: describedString("Skill name"),
    path: describedString(
      "Path relative to the skill's directory: 'snippets/tool.ts' (a file), 'templates' (all files in a folder), '' (the list of files)",
    ),
  }),
  example: { skill: "pdf", path: "SKILL.md" },
  call: async ({ skill: name, path }, context) => {
    const { skill } = await loadSkill(name, context);
    return await readAsMeant(
      pathInSkill(path, skill, context),
      (meant) => readPath(meant, skill, context),
    );
  },
});

export const SKILLJACK_TOOLS: readonly SkillTool[] = [loadTool, readTool];
