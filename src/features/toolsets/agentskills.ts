/**
 * The toolset `agentskills`: lists the skills, loads one, reads its files, and runs
 * commands in its directory.
 */

import * as z from "npm:zod@^4/mini";
import { isWindows } from "../../fs/paths.ts";
import { formatIndentedJson } from "../../text.ts";
import { fitJsonList } from "../../views/lists.ts";
import { directoryOf, loadSkill, loadWhole } from "../../views/loading.ts";
import { TOOL_NAMES } from "../../views/options.ts";
import { pathInSkill, readAsMeant, readContent } from "../../views/reading.ts";
import { createTextResult } from "../../views/results.ts";
import { runShellCommand, SHELL_TIMEOUT } from "./shell.ts";
import { defineTool, describedString, type SkillTool } from "./tool.ts";

const listTool = defineTool({
  name: TOOL_NAMES.agentskills.list,
  title: "Load Skill Metadata",
  usage:
    "Load metadata from all available skills (always call at task start). Returns the description and directory of each skill, keyed by name.",
  input: z.object({}),
  example: {},
  call: (_input, { registry: { catalog }, options }) => {
    const { items, notes } = fitJsonList(
      catalog,
      options,
      ({ skill, name, description }) => [
        name,
        { description, skill_dir: directoryOf(skill, options) },
      ],
    );
    const list = formatIndentedJson(Object.fromEntries(items));
    return createTextResult(list.trimEnd(), ...notes);
  },
});

const skillName = describedString("Name of the skill");

const loadTool = defineTool({
  name: TOOL_NAMES.agentskills.load,
  title: "Load Skill",
  usage: "Load a specific skill's instructions (its SKILL.md).",
  input: z.object({ skill_name: skillName }),
  example: { skill_name: "pdf" },
  call: ({ skill_name }, context) => loadWhole(skill_name, context),
});

const readTool = defineTool({
  name: TOOL_NAMES.agentskills.read,
  title: "Read Reference File",
  usage:
    "Read a reference file of a skill, such as forms.md or reference.md, from the skill's directory.",
  input: z.object({
    skill_name: skillName,
    file_name: describedString(
      "The file's name, or its path relative to the skill's directory",
    ),
  }),
  example: { skill_name: "pdf", file_name: "reference.md" },
  call: async ({ skill_name, file_name }, context) => {
    const { skill } = await loadSkill(skill_name, context);
    const content = await readAsMeant(
      pathInSkill(file_name, skill, context),
      (meant) => readContent(meant, skill, context),
    );
    return { content: [content] };
  },
});

/** Installs the packages that the Python files in the working directory import. Not for `cmd`. */
const INSTALL = `command -v pipreqs >/dev/null && (
  list=$(mktemp)
  log=$({ pipreqs --force --savepath "$list" . && pip install -r "$list"; } 2>&1) ||
    printf '%s\\n' "Cannot install the packages that the Python files import:" "$log" >&2
  rm -f "$list"
)
`;

/** The only tool that runs programs. */
export const shellTool = defineTool({
  name: "run_shell_command_op",
  title: "Run Shell Command",
  usage:
    "Execute a shell command in a skill's directory, for example to run a script that the skill's instructions refer to. Returns the command's stdout and stderr.",
  input: z.object({
    skill_name: skillName,
    command: describedString("The shell command to execute"),
  }),
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  example: { skill_name: "pdf", command: "ls" },
  call: async ({ skill_name, command }, context) => {
    const { skill: { directory } } = await loadSkill(skill_name, context);
    const { options, signal } = context;
    const installs = options.autoInstallDeps && command.includes("py") &&
      !isWindows;
    const { text, isError } = await runShellCommand(
      installs ? INSTALL + command : command,
      { directory, timeout: SHELL_TIMEOUT, signal },
    );
    return { ...createTextResult(text), isError };
  },
});

export const AGENTSKILLS_TOOLS: readonly SkillTool[] = [
  listTool,
  loadTool,
  readTool,
  shellTool,
];
