/**
 * The tools of each toolset, in the wording of their contracts.
 *
 * @module
 */

import type {
  CallToolResult,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import * as z from "npm:zod@^4/mini";
import { isWindows } from "../files/paths.ts";
import { DEFAULT_SHELL_TIMEOUT, findShell, runShellCommand } from "./shell.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { skillMdUri } from "../skills/names.ts";
import { escapeHidden, jsonText } from "../text.ts";
import {
  createTextResult,
  directoryOf,
  formatLoadedSkill,
  loadWhole,
  logLoad,
  pathInSkill,
  readContent,
  readPath,
  type ToolContext,
  withSkill,
} from "./loading.ts";
import { deriveOnce } from "./paging.ts";
import {
  explainEmptyList,
  findPolicyFault,
  fitSkills,
  formatAvailableSkills,
  formatMore,
  formatSkill,
  type ListedSkill,
  listForModel,
} from "./skill_list.ts";
import type { SkillToolOptions, Toolset } from "./options.ts";

/** A tool: an entry in the table of a toolset. */
export interface SkillTool<Input extends z.ZodMiniObject = z.ZodMiniObject> {
  /** The name that clients call. */
  readonly name: string;
  /** The display name. */
  readonly title: string;
  /** What it is for. If its description lists the skills: in brief, without the list. */
  readonly usage: string;
  /** Returns the description that lists the skills, in the wording of the tool's contract. */
  readonly describe?: (
    catalog: SkillCatalog,
    options: SkillToolOptions,
  ) => string;
  /** If it has the parameter `name`, the list can stand in the description of that instead. */
  readonly input: Input;
  /** The schema of its structured result, if it has one. */
  readonly output?: z.ZodMiniObject;
  /** Hints for clients about its effects. Default: it only reads. */
  readonly annotations?: ToolAnnotations;
  /** Runs the tool. If that fails, throws an error with a message for the model. */
  call(
    input: z.infer<Input>,
    context: ToolContext,
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

/** The maximum size of a list of skills as JSON, in bytes. A message has room for two. */
const MAX_JSON_SIZE = 4 * 1024 * 1024;

/**
 * Returns the skills that fit into a list as JSON, with shorter descriptions if they do
 * not fit otherwise.
 *
 * @param entryOf Returns what the list contains for a skill.
 */
function fitJsonList(
  catalog: SkillCatalog,
  entryOf: (listed: ListedSkill) => object,
): ListedSkill[] {
  const encoder = new TextEncoder();
  const lengthOf = deriveOnce((listed: ListedSkill) => {
    // The list is a text in a message, which is JSON in JSON.
    const escaped = JSON.stringify(jsonText([entryOf(listed)]));
    return encoder.encode(escaped).length;
  });
  return fitSkills(listForModel(catalog), { room: MAX_JSON_SIZE, lengthOf });
}

/** Creates the result of a tool that lists skills, and says what is missing and why. */
function createJsonList(
  list: object,
  count: number,
  catalog: SkillCatalog,
): CallToolResult {
  const missing = listForModel(catalog).length - count;
  const note = missing > 0
    ? formatMore(missing).trim()
    : explainEmptyList(catalog);
  const json = jsonText(list).trimEnd();
  return note === undefined
    ? createTextResult(json)
    : createTextResult(json, note);
}

const skillTool = defineTool({
  name: "skill",
  title: "Load Skill",
  describe: (catalog) =>
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

${formatAvailableSkills(catalog, ({ scope }) => scope)}`,
  usage:
    "Before you start a task, load the skill that matches it by name and follow its instructions.",
  input: z.strictObject({
    name: describedString("Name of the skill to load (case-insensitive)")
      .check(z.minLength(1, "Skill name cannot be empty")),
  }),
  call: ({ name }, context) =>
    withSkill(name, context, (skill, text) => {
      logLoad(skill, "a tool", context);
      const { options } = context;
      return createTextResult(formatLoadedSkill(skill, text, options));
    }),
});

const skilljackSkillTool = defineTool({
  name: "skill",
  title: "Activate Skill",
  describe: (catalog, { isRemote }) => {
    const locationOf = (skill: Skill) =>
      isRemote ? skillMdUri(skill) : escapeHidden(skill.file);
    const list = formatAvailableSkills(catalog, locationOf);
    return `Load and activate an Agent Skill by name. Returns the full SKILL.md content.

# Skills

When a user's task matches a skill description below: 1) activate it, 2) follow its instructions completely.

${list}`;
  },
  usage:
    "When a task matches a skill: 1) activate it by name, 2) follow its instructions completely.",
  input: z.object({
    name: describedString("Skill name, as listed"),
  }),
  call: ({ name }, context) => loadWhole(name, context),
});

const skilljackResourceTool = defineTool({
  name: "skill-resource",
  title: "Read Skill File",
  usage:
    "Read files in a skill's directory (scripts/, references/, assets/, snippets/, …) that its instructions refer to. Pass the path of a file to read it, the path of a folder to read all files in it, or an empty path to list the files.",
  input: z.object({
    skill: describedString("Skill name"),
    path: describedString(
      "Path relative to the skill's directory: 'snippets/tool.ts' (a file), 'templates' (all files in a folder), '' (the list of files)",
    ),
  }),
  call: ({ skill: name, path }, context) =>
    withSkill(
      name,
      context,
      (skill) => readPath(skill, pathInSkill(path, skill), context.registry),
    ),
});

const referenceListTool = defineTool({
  name: "list_skills",
  title: "List Available Skills",
  describe: (catalog) => {
    const lines = listForModel(catalog).map(formatSkill);
    const list = lines.length > 0
      ? lines.join("")
      : `\n${findPolicyFault(catalog) ?? "none"}`;
    return `List all available skills with their names and descriptions. Read one with read_skill when a task needs it.\n\nCurrently available:${list}`;
  },
  usage:
    "List all available skills. Read one with read_skill when a task needs it.",
  input: z.object({}),
  output: z.object({
    skills: z.array(z.object({
      name: z.string(),
      description: z.string(),
    })),
  }),
  call: (_input, { registry: { catalog } }) => {
    const entryOf = ({ name, description }: ListedSkill) => ({
      name,
      description,
    });
    const skills = fitJsonList(catalog, entryOf).map(entryOf);
    const result = createJsonList(skills, skills.length, catalog);
    return { ...result, structuredContent: { skills } };
  },
});

const referenceReadTool = defineTool({
  name: "read_skill",
  title: "Read Skill Instructions",
  usage:
    "Read the full instructions of a skill by name. Returns the complete SKILL.md content.",
  input: z.object({
    name: describedString("The skill name to read (from list_skills)"),
  }),
  call: ({ name }, context) => loadWhole(name, context),
});

const agentSkillsMetadataTool = defineTool({
  name: "load_skill_metadata_op",
  title: "Load Skill Metadata",
  usage:
    "Load metadata from all available skills (always call at task start). Returns the description and directory of each skill, keyed by name.",
  input: z.object({}),
  call: (_input, { registry: { catalog }, options }) => {
    const entryOf = ({ skill, name, description }: ListedSkill) => [name, {
      description,
      skill_dir: directoryOf(skill, options),
    }];
    const metadata = fitJsonList(catalog, entryOf).map(entryOf);
    const list = Object.fromEntries(metadata);
    return createJsonList(list, metadata.length, catalog);
  },
});

/** The parameter of AgentSkills' tools that names the skill. */
const skillName = describedString("Name of the skill");

const agentSkillsLoadTool = defineTool({
  name: "load_skill_op",
  title: "Load Skill",
  usage: "Load a specific skill's instructions (its SKILL.md).",
  input: z.object({ skill_name: skillName }),
  call: ({ skill_name }, context) => loadWhole(skill_name, context),
});

const agentSkillsReadTool = defineTool({
  name: "read_reference_file_op",
  title: "Read Reference File",
  usage:
    "Read a reference file of a skill, such as forms.md or reference.md, from the skill's directory.",
  input: z.object({
    skill_name: skillName,
    file_name: describedString(
      "The file's name, or its path relative to the skill's directory",
    ),
  }),
  call: ({ skill_name, file_name }, context) =>
    withSkill(skill_name, context, async (skill) => {
      const path = pathInSkill(file_name, skill);
      return { content: [await readContent(skill, path, context.registry)] };
    }),
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
const agentSkillsShellTool = defineTool({
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
  call: ({ skill_name, command }, context) =>
    withSkill(skill_name, context, async ({ directory }) => {
      const { options, signal, permit } = context;
      // Other requests do not wait for the command.
      permit?.release();
      const { shellTimeout = DEFAULT_SHELL_TIMEOUT, autoInstallDeps } = options;
      const installs = autoInstallDeps && command.includes("py") && !isWindows;
      const { text, isError } = await runShellCommand(
        installs ? INSTALL + command : command,
        { directory, timeout: shellTimeout, signal },
      );
      return { ...createTextResult(text), isError };
    }),
});

/** The tools of each toolset. */
export const TOOLSETS: Readonly<Record<Toolset, readonly SkillTool[]>> = {
  skill: [skillTool],
  skilljack: [skilljackSkillTool, skilljackResourceTool],
  reference: [referenceListTool, referenceReadTool],
  agentskills: [
    agentSkillsMetadataTool,
    agentSkillsLoadTool,
    agentSkillsReadTool,
    agentSkillsShellTool,
  ],
};

/** The names of the toolsets. */
export const TOOLSET_NAMES = Object.keys(TOOLSETS) as Toolset[];

/** Returns the tools that the options and Deno's permissions allow. */
export function listTools(
  { toolset, allowShell = true }: SkillToolOptions,
): SkillTool[] {
  const mayRun = allowShell && findShell() !== undefined;
  return TOOLSETS[toolset]
    .filter((tool) => mayRun || tool !== agentSkillsShellTool);
}
