/**
 * The toolsets: the tools of each, in the wording of the contract of the server that
 * introduced them.
 */

import type {
  CallToolResult,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import * as z from "npm:zod@^4/mini";
import { isWindows } from "../../fs/paths.ts";
import { escapeInvisible } from "../../invisible.ts";
import { SKILL_MD } from "../../skills/names.ts";
import type { Skill } from "../../skills/types.ts";
import { formatIndentedJson, quote } from "../../text.ts";
import { OTHER_CLIENTS, PROFILE_NAMES } from "../../views/clients.ts";
import { listEntries } from "../../views/entries.ts";
import { findNoSkillsReason } from "../../views/instructions.ts";
import {
  fitJsonList,
  formatAvailableSkills,
  formatLine,
} from "../../views/lists.ts";
import {
  dirPlaceOf,
  loadFormatted,
  loadSkill,
  loadWhole,
  placeOf,
} from "../../views/loading.ts";
import {
  type ListView,
  type RequestContext,
  TOOL_NAMES,
  type ToolOptions,
  type Toolset,
} from "../../views/options.ts";
import {
  pathInSkill,
  readAsMeant,
  readContent,
  readPath,
} from "../../views/reading.ts";
import { createTextResult } from "../../views/results.ts";
import { findShell, runShellCommand, SHELL_TIMEOUT_SECONDS } from "./shell.ts";

export interface SkillTool<Input extends z.ZodMiniObject = z.ZodMiniObject> {
  readonly name: string;
  readonly title: string;
  /** Its description, or, if that lists the skills, a brief one without the list. */
  readonly usage: string;
  /** Returns the description that lists the skills, in the wording of the tool's contract. */
  readonly describe?: (view: ListView) => string;
  /** The schema of its arguments. The description of one named `name` can list the skills. */
  readonly input: Input;
  /** Arguments that show the model how to call it, in the error about wrong ones. */
  readonly example: z.infer<Input>;
  /** The schema of its structured result. */
  readonly output?: z.ZodMiniObject;
  /** Hints for clients about its effects. Default: it only reads. */
  readonly annotations?: ToolAnnotations;
  /**
   * Runs the tool. If that fails, throws an error with a message for the model. A method,
   * because {@linkcode defineTool} could not widen the type of a property.
   */
  call(
    input: z.infer<Input>,
    context: RequestContext,
  ): CallToolResult | Promise<CallToolResult>;
}

/** Defines a tool. TypeScript infers the type of its input from the schema. */
function defineTool<Input extends z.ZodMiniObject>(
  tool: SkillTool<Input>,
): SkillTool {
  return tool;
}

function describedString(description: string): z.ZodMiniString {
  return z.string().check(z.describe(description));
}

// ---- skill: the one tool of the contract -------------------------------------------

const skillTool = defineTool({
  name: TOOL_NAMES.skill.load,
  title: "Load Skill",
  describe: (view) =>
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

${formatAvailableSkills(view, ({ scope }) => scope)}`,
  usage:
    "Before you start a task, load the skill that matches it by name and follow its instructions.",
  input: z.strictObject({
    name: describedString("Name of the skill to load (case-insensitive)")
      .check(z.minLength(1, "Skill name cannot be empty")),
  }),
  example: { name: "pdf" },
  call: ({ name }, context) => loadFormatted(name, context),
});

// ---- skilljack: loads a skill, and reads its files ----------------------------------

const activateTool = defineTool({
  name: TOOL_NAMES.skilljack.load,
  title: "Activate Skill",
  describe: (view) => {
    const locationOf = (skill: Skill) =>
      escapeInvisible(placeOf(skill, SKILL_MD, view.options));
    const skills = formatAvailableSkills(view, locationOf);
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

const readFileTool = defineTool({
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
      pathInSkill(skill, path, context),
      (meant) => readPath(skill, meant, context),
    );
  },
});

// ---- reference: lists the skills, and reads one -------------------------------------

const listSkillsTool = defineTool({
  name: TOOL_NAMES.reference.list,
  title: "List Available Skills",
  describe: ({ catalog }) => {
    const list = listEntries("model", catalog).map(formatLine).join("") ||
      `\n${findNoSkillsReason(catalog) ?? "none"}`;
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

const readSkillTool = defineTool({
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

// ---- agentskills: lists the skills, loads one, reads its files, and runs commands ---

const loadMetadataTool = defineTool({
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
        { description, skill_dir: dirPlaceOf(skill, options) },
      ],
    );
    const list = formatIndentedJson(Object.fromEntries(items));
    return createTextResult(list.trimEnd(), ...notes);
  },
});

const skillName = describedString("Name of the skill");

const loadSkillTool = defineTool({
  name: TOOL_NAMES.agentskills.load,
  title: "Load Skill",
  usage: "Load a specific skill's instructions (its SKILL.md).",
  input: z.object({ skill_name: skillName }),
  example: { skill_name: "pdf" },
  call: ({ skill_name }, context) => loadWhole(skill_name, context),
});

const readReferenceTool = defineTool({
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
      pathInSkill(skill, file_name, context),
      (meant) => readContent(skill, meant, context),
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
const shellTool = defineTool({
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
      { directory, timeout: SHELL_TIMEOUT_SECONDS, signal },
    );
    return { ...createTextResult(text), isError };
  },
});

const TOOLSETS: Readonly<Record<Toolset, readonly SkillTool[]>> = {
  skill: [skillTool],
  skilljack: [activateTool, readFileTool],
  reference: [listSkillsTool, readSkillTool],
  agentskills: [loadMetadataTool, loadSkillTool, readReferenceTool, shellTool],
};

export const TOOLSET_NAMES = Object.keys(TOOLSETS) as Toolset[];

/** Whether the options ask for the tool that runs shell commands. */
export function wantsShell(
  { toolset, allowShell = true }: ToolOptions,
): boolean {
  return allowShell && TOOLSETS[toolset].includes(shellTool);
}

/** @throws {TypeError} If it is not one of the choices. The message lists them. */
function requireChoice(
  kind: string,
  choice: string,
  choices: readonly string[],
): void {
  if (choices.includes(choice)) return;
  const list = choices.join(", ");
  throw new TypeError(
    `Invalid ${kind} ${quote(String(choice))}: expected one of ${list}`,
  );
}

/**
 * Returns the tools that the options and Deno's permissions allow.
 *
 * @throws {TypeError} If there is no such toolset or profile.
 */
export function listTools(options: ToolOptions): SkillTool[] {
  const { toolset, profile = OTHER_CLIENTS } = options;
  requireChoice("toolset", toolset, TOOLSET_NAMES);
  requireChoice("profile", profile, PROFILE_NAMES);
  const mayRun = wantsShell(options) && findShell() !== undefined;
  return TOOLSETS[toolset]
    .filter((tool) => mayRun || tool !== shellTool);
}
