/** The toolset `skill`: the one tool of the contract, in its wording. */

import * as z from "npm:zod@^4/mini";
import { formatAvailableSkills } from "../../views/lists.ts";
import { loadFormatted } from "../../views/loading.ts";
import { TOOL_NAMES } from "../../views/options.ts";
import { defineTool, describedString, type SkillTool } from "./tool.ts";

const loadTool = defineTool({
  name: TOOL_NAMES.skill.load,
  title: "Load Skill",
  describe: (list) =>
    `Execute a skill within the main conversation

<skills_instructions>
When users ask you to perform tasks, check if any of the available skills below can help complete the task more effectively. Skills provide specialized capabilities and domain knowledge.

How to use skills:
- Invoke skills using this tool with the skill name only (no arguments)
- When you invoke a skill, you will see <command-message>The "{name}" skill is loading</command-message>
- The skill's prompt will expand and provide detailed instructions on how to complete the task
- Examples:
  - \`name: "pdf"\` - invoke the pdf skill
  - \`name: "xlsx"\` - invoke the xlsx skill
  - \`name: "ms-office-suite:pdf"\` - invoke using fully qualified name

Important:
- Only use skills listed in <available_skills> below
- Do not invoke a skill that is already running
- Do not use this tool for built-in CLI commands (like /help, /clear, etc.)
</skills_instructions>

${formatAvailableSkills(list, ({ scope }) => scope)}`,
  usage:
    "Before you start a task, load the skill that matches it by name and follow its instructions.",
  input: z.strictObject({
    name: describedString("Name of the skill to load (case-insensitive)")
      .check(z.minLength(1, "Skill name cannot be empty")),
  }),
  example: { name: "pdf" },
  call: ({ name }, context) => loadFormatted(name, context),
});

export const SKILL_TOOLS: readonly SkillTool[] = [loadTool];
