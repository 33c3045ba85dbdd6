/** The toolset `reference`: lists the skills, and reads one. */

import * as z from "npm:zod@^4/mini";
import { formatIndentedJson } from "../../text.ts";
import {
  findNoSkillsReason,
  fitJsonList,
  formatLine,
} from "../../views/lists.ts";
import { loadWhole } from "../../views/loading.ts";
import { TOOL_NAMES } from "../../views/options.ts";
import { createTextResult } from "../../views/results.ts";
import { defineTool, describedString, type SkillTool } from "./tool.ts";

const listTool = defineTool({
  name: TOOL_NAMES.reference.list,
  title: "List Available Skills",
  describe: ({ skills, catalog }) => {
    const lines = skills.map(formatLine);
    const list = lines.length > 0
      ? lines.join("")
      : `\n${findNoSkillsReason(catalog) ?? "none"}`;
    return `List all available skills with their names and descriptions. Read one with read_skill when a task needs it.\n\nCurrently available:${list}`;
  },
  usage:
    "List all available skills. Read one with read_skill when a task needs it.",
  input: z.object({}),
  example: {},
  output: z.object({
    skills: z.array(z.object({
      name: z.string(),
      description: z.string(),
    })),
  }),
  call: (_input, { registry: { catalog }, options }) => {
    const { items: skills, notes } = fitJsonList(
      catalog,
      options,
      ({ name, description }) => ({ name, description }),
    );
    const result = createTextResult(
      formatIndentedJson(skills).trimEnd(),
      ...notes,
    );
    return { ...result, structuredContent: { skills } };
  },
});

const readTool = defineTool({
  name: TOOL_NAMES.reference.load,
  title: "Read Skill Instructions",
  usage:
    "Read the full instructions of a skill by name. Returns the complete SKILL.md content.",
  input: z.object({
    name: describedString("The skill name to read (from list_skills)"),
  }),
  example: { name: "pdf" },
  call: ({ name }, context) => loadWhole(name, context),
});

export const REFERENCE_TOOLS: readonly SkillTool[] = [listTool, readTool];
