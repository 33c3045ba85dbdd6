/**
 * The tools of each toolset and the texts that they send to the model.
 *
 * @module
 */

import { isAbsolute, relative } from "jsr:@std/path@^1";
import type {
  CallToolResult,
  Tool,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import * as z from "npm:zod@^4";
import {
  type ClientProfile,
  profileFor,
  withDescriptionLimit,
  withoutParameter,
} from "./client_profiles.ts";
import { MAX_MESSAGE_SIZE } from "../protocol/json_rpc.ts";
import { cachePerCatalog } from "./list_views.ts";
import {
  type ClientInfo,
  describeIssues,
  invalidParams,
} from "../protocol/mcp_server.ts";
import { resourceContents } from "../files/media_types.ts";
import { isCaseBlind, isWithin, SKILL_MD } from "../files/paths.ts";
import {
  DEFAULT_SHELL_TIMEOUT,
  mayRunShell,
  runShellCommand,
} from "../shell.ts";
import {
  IS_A_FOLDER,
  LINK_OUT_OF_SKILL,
  LINK_TO_NOTHING,
  SkillFileError,
  splitPath,
} from "../files/skill_files.ts";
import { nearestSkills } from "../skills/search.ts";
import {
  type DividedList,
  divideList,
  formatAvailableSkills,
  formatSkillLine,
  isForModel,
  listModelSkills,
  measureSkills,
  summarizeSkills,
} from "./skill_lists.ts";
import { skillFileUri } from "../skills/uri.ts";
import {
  jsonText,
  oneLine,
  quote,
  skillKey,
  stringifyJson,
  unescapeXml,
} from "../text.ts";
import type {
  Skill,
  SkillCatalog,
  SkillFile,
  SkillFileContent,
  SkillProblem,
  SkillSource,
} from "../skills/types.ts";

/**
 * The maximum number of skills that the answer to an unknown name lists. If
 * there are more, it lists search results instead.
 */
const MAX_LISTED_SKILLS = 100;

/** The line that summarizes the skills is omitted below this description limit, in characters. */
const MIN_SUMMARY_LIMIT = 2_000;

/** The maximum number of files that a message names. */
const MAX_NAMED_FILES = 20;

/** The maximum number of problems that the answer to an unknown name reports. */
const MAX_NAMED_PROBLEMS = 20;

/** How many characters of an unknown name the answer repeats. */
const MAX_ECHO_LENGTH = 200;

/** A set of tools, named after the server that introduced them. */
export type Toolset = "skill" | "skilljack" | "reference" | "agentskills";

/** Options of {@linkcode registerSkillTools}. */
export interface SkillToolOptions {
  /** The toolset to register. */
  readonly toolset: Toolset;
  /**
   * The maximum length of the list of skills in the descriptions of a tool and
   * its parameter, in characters, or 0 for no limit. Default: what the client
   * shows, or 30,000 for an unknown client.
   */
  readonly descriptionLimit?: number;
  /**
   * Whether a client lists the skills itself, so that the tools can omit the
   * list. Default: no client does.
   */
  readonly listsSkills?: (client: ClientInfo | undefined) => boolean;
  /**
   * Whether to provide the tool that runs shell commands, if the toolset
   * contains it and Deno has permission to run the shell. Default: `true`.
   */
  readonly allowShell?: boolean;
  /** The time limit for shell commands, in seconds. Default: 60. */
  readonly shellTimeout?: number;
  /** Whether to install missing Python packages before a command runs. Default: `false`. */
  readonly autoInstallDeps?: boolean;
}

/** The context of a tool call. */
interface ToolContext {
  readonly registry: SkillSource;
  readonly options: SkillToolOptions;
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
}

/** A tool of a toolset. */
interface SkillTool<Input extends z.ZodObject = z.ZodObject> {
  /** The name that clients call. */
  readonly name: string;
  /** The display name. */
  readonly title: string;
  /** Returns the description in the wording of the tool's contract. */
  readonly describe: (catalog: SkillCatalog) => string;
  /** A brief description, for a tool whose description lists the skills. */
  readonly usage?: string;
  /** The parameter whose description can continue the list. */
  readonly listParameter?: string;
  /** The schema of its input. */
  readonly input: Input;
  /** The schema of its structured result, if it has one. */
  readonly output?: z.ZodObject;
  /** Hints for clients about its effects. */
  readonly annotations: ToolAnnotations;
  /** Whether the options and Deno's permissions allow it. Default: always. */
  readonly isAllowed?: (options: SkillToolOptions) => boolean;
  /** Runs the tool. If that fails, throws an error with a message for the model. */
  call(
    input: z.infer<Input>,
    context: ToolContext,
  ): CallToolResult | Promise<CallToolResult>;
}

/** Defines a tool. TypeScript infers the type of its input from the schema. */
function defineTool<Input extends z.ZodObject>(
  tool: SkillTool<Input>,
): SkillTool {
  return tool;
}

/** The annotations of a tool that only reads skills. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** The default toolset's tool `skill`. */
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
  listParameter: "name",
  input: z.strictObject({
    name: z.string()
      .min(1, "Skill name cannot be empty")
      .describe("Name of the skill to load (case-insensitive)"),
  }),
  annotations: READ_ONLY,
  call: async ({ name }, { registry }) => {
    const { skill, text } = await readSkillText(name, registry);
    return createTextResult(
      `Loading: ${skill.name}\nBase directory: ${skill.directory}\n\n${text}`,
    );
  },
});

/** Skilljack's tool `skill`. */
const skilljackSkillTool = defineTool({
  name: "skill",
  title: "Activate Skill",
  describe: (catalog) =>
    `Load and activate an Agent Skill by name. Returns the full SKILL.md content.

# Skills

When a user's task matches a skill description below: 1) activate it, 2) follow its instructions completely.

${formatAvailableSkills(catalog, ({ file }) => file)}`,
  usage:
    "When a task matches a skill: 1) activate it by name, 2) follow its instructions completely.",
  listParameter: "name",
  input: z.object({
    name: z.string().describe("Skill name from <available_skills>"),
  }),
  annotations: READ_ONLY,
  call: ({ name }, context) => loadSkill(name, context),
});

/** Skilljack's tool `skill-resource`. */
const skilljackResourceTool = defineTool({
  name: "skill-resource",
  title: "Read Skill File",
  describe: () =>
    "Read files in a skill's directory (scripts/, references/, assets/, snippets/, …) that its instructions refer to. Pass the path of a file to read it, the path of a folder to read all files in it, or an empty path to list the files.",
  input: z.object({
    skill: z.string().describe("Skill name"),
    path: z.string().describe(
      "Path relative to the skill's directory: 'snippets/tool.ts' (a file), 'templates' (all files in a folder), '' (the list of files)",
    ),
  }),
  annotations: READ_ONLY,
  call: ({ skill: name, path }, { registry }) =>
    withSkill(
      name,
      registry,
      (skill) => readResource(skill, pathInSkill(skill, path), registry),
    ),
});

/** The reference implementation's tool `list_skills`. */
const referenceListTool = defineTool({
  name: "list_skills",
  title: "List Available Skills",
  describe: (catalog) =>
    `List all available skills with their names and descriptions. Read one with read_skill when a task needs it.\n\nCurrently available:\n${
      listModelSkills(catalog).map(formatSkillLine).join("\n") || "none"
    }`,
  usage:
    "List all available skills. Read one with read_skill when a task needs it.",
  input: z.object({}),
  output: z.object({
    skills: z.array(z.object({ name: z.string(), description: z.string() })),
  }),
  annotations: READ_ONLY,
  call: (_input, { registry }) => {
    const skills = listModelSkills(registry.catalog).map(
      ({ name, description }) => ({ name, description }),
    );
    const text = jsonText(skills).trimEnd();
    return { ...createTextResult(text), structuredContent: { skills } };
  },
});

/** The reference implementation's tool `read_skill`. */
const referenceReadTool = defineTool({
  name: "read_skill",
  title: "Read Skill Instructions",
  describe: () =>
    "Read the full instructions of a skill by name. Returns the complete SKILL.md content.",
  input: z.object({
    name: z.string().describe("The skill name to read (from list_skills)"),
  }),
  annotations: READ_ONLY,
  call: ({ name }, context) => loadSkill(name, context),
});

/** AgentSkills' tool `load_skill_metadata_op`. */
const agentSkillsMetadataTool = defineTool({
  name: "load_skill_metadata_op",
  title: "Load Skill Metadata",
  describe: () =>
    "Load metadata from all available skills (always call at task start). Returns the description and directory of each skill, keyed by name.",
  input: z.object({}),
  annotations: READ_ONLY,
  call: (_input, { registry }) => {
    const metadata = listModelSkills(registry.catalog).map(
      ({ name, description, directory }) =>
        [name, { description, skill_dir: directory }] as const,
    );
    return createTextResult(jsonText(Object.fromEntries(metadata)).trimEnd());
  },
});

/** The parameter of AgentSkills' tools that names the skill. */
const skillName = z.string().describe("Name of the skill");

/** AgentSkills' tool `load_skill_op`. */
const agentSkillsLoadTool = defineTool({
  name: "load_skill_op",
  title: "Load Skill",
  describe: () => "Load a specific skill's instructions (its SKILL.md).",
  input: z.object({ skill_name: skillName }),
  annotations: READ_ONLY,
  call: ({ skill_name }, context) => loadSkill(skill_name, context),
});

/** AgentSkills' tool `read_reference_file_op`. */
const agentSkillsReadTool = defineTool({
  name: "read_reference_file_op",
  title: "Read Reference File",
  describe: () =>
    "Read a reference file of a skill, such as forms.md or reference.md, from the skill's directory.",
  input: z.object({
    skill_name: skillName,
    file_name: z.string().describe(
      "The file's name, or its path relative to the skill's directory",
    ),
  }),
  annotations: READ_ONLY,
  call: ({ skill_name, file_name }, { registry }) =>
    withSkill(skill_name, registry, (skill) => ({
      content: [readContent(skill, pathInSkill(skill, file_name), registry)],
    })),
});

/** AgentSkills' tool `run_shell_command_op`, the only tool that runs programs. */
const agentSkillsShellTool = defineTool({
  name: "run_shell_command_op",
  title: "Run Shell Command",
  describe: () =>
    "Execute a shell command in a skill's directory, for example to run a script that the skill's instructions refer to. Returns the command's stdout and stderr.",
  input: z.object({
    skill_name: skillName,
    command: z.string().describe("The shell command to execute"),
  }),
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  isAllowed: ({ allowShell = true }) => allowShell && mayRunShell(),
  call: async ({ skill_name, command }, { registry, options, signal }) => {
    const skill = await withSkill(skill_name, registry, (skill) => skill);
    const { shellTimeout = DEFAULT_SHELL_TIMEOUT, autoInstallDeps } = options;
    const { text, isError } = await runShellCommand(command, {
      directory: skill.directory,
      install: autoInstallDeps === true && command.includes("py"),
      timeout: shellTimeout,
      signal,
    });
    return { ...createTextResult(text), ...(isError && { isError }) };
  },
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
export function listTools(options: SkillToolOptions): SkillTool[] {
  return TOOLSETS[options.toolset].filter(
    ({ isAllowed }) => isAllowed?.(options) ?? true,
  );
}

/**
 * Finds a skill for the model and calls a function with it. If there is no such
 * skill, or if the call fails and the skill changed since the last scan, it
 * scans the roots and tries again, because the skill may have just been added
 * or moved.
 *
 * @throws {Error} If the skill is unknown or the call fails. The message is for the model.
 */
async function withSkill<T>(
  name: string,
  registry: SkillSource,
  use: (skill: Skill) => T | Promise<T>,
): Promise<T> {
  const known = findForModel(name, registry);
  if (known !== undefined) {
    try {
      return await use(known);
    } catch (error) {
      if (readIfCurrent(known, registry) !== undefined) throw error;
    }
  }
  return await use(await rescanForModel(name, registry));
}

/** Scans the roots, and then finds a skill for the model. */
async function rescanForModel(
  name: string,
  registry: SkillSource,
): Promise<Skill> {
  await registry.refresh();
  const skill = findForModel(name, registry);
  if (skill !== undefined) return skill;
  throw await createUnknownSkillError(name, registry.catalog);
}

/** Reads the `SKILL.md` of a skill if it is unchanged since the last scan. */
function readIfCurrent(
  skill: Skill,
  registry: SkillSource,
): SkillFileContent | undefined {
  try {
    const file = registry.readFile(skill, SKILL_MD);
    return file.version === skill.version ? file : undefined;
  } catch {
    return undefined;
  }
}

function findForModel(name: string, registry: SkillSource): Skill | undefined {
  const skill = registry.find(name) ?? registry.find(unescapeXml(name));
  return skill && isForModel(skill) ? skill : undefined;
}

/**
 * Reads the current `SKILL.md` of a skill. If the file changed since the last
 * scan, scans the roots first, because the frontmatter may have changed too.
 *
 * @throws {Error} If there is no such skill, or if its `SKILL.md` cannot be
 *   read. The message is for the model.
 */
async function readSkillText(
  name: string,
  registry: SkillSource,
): Promise<{ skill: Skill; text: string }> {
  let skill = findForModel(name, registry);
  let file = skill && readIfCurrent(skill, registry);
  if (skill === undefined || file === undefined) {
    skill = await rescanForModel(name, registry);
    file = registry.readFile(skill, SKILL_MD);
  }
  return { skill, text: file.text ?? new TextDecoder().decode(file.bytes) };
}

async function loadSkill(
  name: string,
  { registry }: ToolContext,
): Promise<CallToolResult> {
  return createTextResult((await readSkillText(name, registry)).text);
}

/** Reads a file of a skill as a content item of a result. */
function readContent(
  skill: Skill,
  path: string,
  registry: SkillSource,
): CallToolResult["content"][number] {
  const file = registry.readFile(skill, path);
  if (file.text !== undefined) return { type: "text", text: file.text };
  const uri = skillFileUri(skill, file.path);
  return { type: "resource", resource: resourceContents(uri, file) };
}

/**
 * Makes an absolute path relative to the skill's directory. The model knows
 * that directory, and some models pass absolute paths.
 */
function pathInSkill(
  { directory, realDirectory, file }: Skill,
  path: string,
): string {
  if (!isAbsolute(path)) return path;
  if (path === file) return SKILL_MD;
  const base = [directory, realDirectory].find((folder) =>
    isWithin(path, folder)
  );
  return base === undefined ? path : relative(base, path);
}

/** Reads a file, reads all files of a folder, or lists the files if the path is empty. */
function readResource(
  skill: Skill,
  path: string,
  registry: SkillSource,
): CallToolResult {
  if (path.trim() === "") return listResources(skill, registry);
  try {
    return { content: [readContent(skill, path, registry)] };
  } catch (error) {
    const { files, leftOut } = registry.inspectFiles(skill);
    const isFolder = error instanceof SkillFileError &&
      error.reason === IS_A_FOLDER.reason;
    if (!isFolder) throw withFileNames(error as Error, files);
    const folder = splitPath(path)!;
    return readFolder(skill, {
      path,
      files: files.filter(({ path }) => isBelow(folder, path)),
      leftOut: leftOut.filter(({ file }) => isBelow(folder, file)),
      registry,
    });
  }
}

/** Whether a path in a skill lies below a folder. */
function isBelow(folder: readonly string[], path: string): boolean {
  const fold = (name: string) => isCaseBlind ? name.toLowerCase() : name;
  const names = path.split("/");
  return names.length > folder.length &&
    folder.every((name, index) => fold(name) === fold(names[index]!));
}

function listResources(skill: Skill, registry: SkillSource): CallToolResult {
  const { files, leftOut } = registry.inspectFiles(skill);
  const paths = files.map(({ path }) => path)
    .filter((path) => path !== SKILL_MD);
  const name = quote(skill.name);
  const list = paths.length > 0
    ? `Files of the skill ${name}:\n\n- ${paths.join("\n- ")}`
    : `The skill ${name} has no files besides its SKILL.md`;
  return createTextResult([list, ...describeLeftOut(leftOut)].join("\n\n"));
}

/** Returns an error whose message also lists the skill's files. */
function withFileNames(
  { message }: Error,
  files: readonly SkillFile[],
): Error {
  const paths = files.slice(0, MAX_NAMED_FILES).map(({ path }) => quote(path));
  const rest = files.length - paths.length;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return new Error(`${message}. Its files: ${paths.join(", ")}${more}`);
}

/** A folder of a skill. */
interface SkillFolder {
  /** The path that the model passed. */
  readonly path: string;
  /** The files in it. */
  readonly files: readonly SkillFile[];
  /** The entries in it that are not served. */
  readonly leftOut: readonly SkillProblem[];
  readonly registry: SkillSource;
}

function readFolder(
  skill: Skill,
  { path, files, leftOut, registry }: SkillFolder,
): CallToolResult {
  const content = readTogether(files, ({ path }) => {
    const item = readContent(skill, path, registry);
    if (item.type === "text") item.text = `--- ${path} ---\n${item.text}`;
    return item;
  });
  const texts = describeLeftOut(leftOut);
  if (files.length === 0) {
    const state = texts.length > 0 ? "has no readable files" : "is empty";
    texts.unshift(`The folder ${quote(path)} ${state}`);
  }
  for (const text of texts) content.push({ type: "text", text });
  return { content };
}

/** Returns a text that lists the entries that are left out, or no text if there are none. */
function describeLeftOut(leftOut: readonly SkillProblem[]): string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.slice(0, MAX_NAMED_FILES).map((problem) =>
    `- ${quote(problem.file || ".")}: ${leftOutReason(problem)}`
  );
  const rest = leftOut.length - lines.length;
  if (rest > 0) lines.push(`- and ${rest} more`);
  return [`Left out:\n${lines.join("\n")}`];
}

/** Returns why an entry is left out, without revealing whether the target of a link exists. */
function leftOutReason({ reason }: SkillProblem): string {
  return reason === LINK_OUT_OF_SKILL.reason ||
      reason === LINK_TO_NOTHING.reason
    ? "it is a link that does not point to a file of the skill"
    : reason;
}

/**
 * Reads files for one message.
 *
 * @param files The files.
 * @param read Returns what the message contains for a file.
 * @throws {Error} If they do not fit into one message.
 */
export function readTogether<T>(
  files: readonly SkillFile[],
  read: (file: SkillFile) => T,
): T[] {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  // In JSON, a byte of a file takes one to six bytes.
  if (size > MAX_MESSAGE_SIZE) throw createTooLargeError(files, size);
  if (size * 6 < MAX_MESSAGE_SIZE / 2) return files.map(read);
  let length = 0;
  return files.map((file) => {
    const content = read(file);
    length += stringifyJson(content).length;
    if (length > MAX_MESSAGE_SIZE) throw createTooLargeError(files, size);
    return content;
  });
}

function createTooLargeError(files: readonly SkillFile[], size: number): Error {
  return new Error(
    `Cannot read ${files.length} files at once: they have ${size} bytes in total, and the limit for a message is ${MAX_MESSAGE_SIZE}; read them one at a time`,
  );
}

/** Thrown when no skill has the requested name. The message is for the model. */
class UnknownSkillError extends Error {
  /** Whether the message lists the results of a search for the name. */
  readonly isSearchResult: boolean;

  constructor(
    message: string,
    { isSearchResult }: { isSearchResult: boolean },
  ) {
    super(message);
    this.isSearchResult = isSearchResult;
  }
}

/**
 * Creates the error for an unknown skill. It lists the available skills and, if
 * a skill with that name was skipped, says why.
 */
async function createUnknownSkillError(
  name: string,
  catalog: SkillCatalog,
): Promise<UnknownSkillError> {
  const key = skillKey(name);
  const skipped = catalog.problems
    .filter(({ names = [] }) => names.some((name) => skillKey(name) === key))
    .slice(0, MAX_NAMED_PROBLEMS)
    .map((problem) => `${describeProblem(problem)}\n\n`).join("");
  const skills = listModelSkills(catalog);
  const echo = oneLine(name.slice(0, MAX_ECHO_LENGTH));
  const isSearchResult = skills.length > MAX_LISTED_SKILLS;
  const text = isSearchResult
    ? await formatSearchResults(echo, catalog, skills.length)
    : formatSkillList(echo, skills);
  return new UnknownSkillError(skipped + text, { isSearchResult });
}

/** Creates the contract's answer to an unknown name, which lists all skills. */
function formatSkillList(name: string, skills: readonly Skill[]): string {
  const lines = skills.map((skill) => `${formatSkillLine(skill)}\n`);
  return `Skill '${name}' not found.

Available skills:
${lines.join("")}
Use the exact skill name (case-insensitive) to load a skill.`;
}

/** Creates the answer to an unknown name that lists the best-matching skills. */
async function formatSearchResults(
  name: string,
  catalog: SkillCatalog,
  count: number,
): Promise<string> {
  const found = await nearestSkills(name, catalog, isForModel);
  const lines = found.map((skill) => `${formatSkillLine(skill)}\n`);
  const rest = count - found.length;
  if (found.length > 0) lines.push(`(and ${rest} other skills)\n`);
  const heading = found.length > 0
    ? "Search results for these words, best match first:"
    : `None of these words occurs in the names and descriptions of the ${count} skills.`;
  const next = found.length > 0
    ? "To load one of these skills, use its exact name (case-insensitive). To search again, pass other words instead of a name."
    : "To search again, pass other words instead of a name.";
  return `Skill '${name}' not found.

${heading}
${lines.join("")}
${next}`;
}

/** Creates a result with one text. */
export function createTextResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

export function describeProblem(
  { file, line, reason, hint }: SkillProblem,
): string {
  const position = line === undefined ? "" : ` (line ${line})`;
  return `Skipped ${quote(file)}${position}: ${reason}; ${hint}`;
}

/** What determines how a client sees the tools. */
export interface ToolView {
  /** What the client shows the model. */
  readonly profile: ClientProfile;
  /** Whether the client lists the skills itself, so that the tools can omit the list. */
  readonly listsSkills: boolean;
}

/** Creates the entry of a tool in a client's `tools/list`. */
function createToolEntry(
  tool: SkillTool,
  catalog: SkillCatalog,
  view: ToolView,
): Tool {
  const { name, title, annotations, input, output, listParameter } = tool;
  const { description, parameter } = describeTool(tool, catalog, view);
  const inputSchema = toJsonSchema(input);
  if (parameter !== "") {
    const field = inputSchema.properties![listParameter!] as {
      description: string;
    };
    field.description += parameter;
  }
  const { toolMeta } = view.profile;
  return {
    name,
    title,
    description,
    inputSchema,
    ...(output && { outputSchema: toJsonSchema(output) }),
    annotations: { title, ...annotations },
    ...(toolMeta && !view.listsSkills && { _meta: { ...toolMeta } }),
  };
}

/** The tool list of each client, created once per catalog. */
export class ToolLists {
  readonly #tools: readonly SkillTool[];
  readonly #options: SkillToolOptions;
  /** The views of the clients that requested a list, by key. */
  readonly #views = new Map<string, ToolView>();
  readonly #lists = cachePerCatalog(() => new Map<string, Tool[]>());

  constructor(tools: readonly SkillTool[], options: SkillToolOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  /** Returns the list for a client. */
  listFor(client: ClientInfo | undefined, catalog: SkillCatalog): Tool[] {
    const view = toolViewFor(client, this.#options);
    this.#views.set(viewKey(view), view);
    return this.#list(view, catalog);
  }

  /** Returns the lists of all clients that requested one, or the default list if none has. */
  listAll(catalog: SkillCatalog): Tool[][] {
    const views = this.#views.size > 0
      ? [...this.#views.values()]
      : [toolViewFor(undefined, this.#options)];
    return views.map((view) => this.#list(view, catalog));
  }

  #list(view: ToolView, catalog: SkillCatalog): Tool[] {
    const lists = this.#lists(catalog);
    const key = viewKey(view);
    const list = lists.get(key) ??
      this.#tools.map((tool) => createToolEntry(tool, catalog, view));
    lists.set(key, list);
    return list;
  }
}

function viewKey({ profile, listsSkills }: ToolView): string {
  return `${profile.clientName} ${listsSkills}`;
}

/** Returns the view of a client. */
export function toolViewFor(
  client: ClientInfo | undefined,
  { descriptionLimit, listsSkills }: SkillToolOptions,
): ToolView {
  const profile = profileFor(client);
  return {
    profile: descriptionLimit === undefined
      ? profile
      : withDescriptionLimit(profile, descriptionLimit),
    listsSkills: listsSkills?.(client) ?? false,
  };
}

function toJsonSchema(type: z.ZodObject): Tool["inputSchema"] {
  return z.toJSONSchema(type, { io: "input" }) as Tool["inputSchema"];
}

/** Describes a tool in the wording of its contract if that fits, or else in brief. */
function describeTool(
  { describe, usage, listParameter }: SkillTool,
  catalog: SkillCatalog,
  { profile, listsSkills }: ToolView,
): DividedList {
  if (usage === undefined) {
    return { description: describe(catalog), parameter: "" };
  }
  if (listsSkills) return { description: usage, parameter: "" };
  if (
    profile.style === "contract" &&
    measureSkills(catalog) <= profile.descriptionLimit
  ) {
    const description = describe(catalog);
    if (description.length <= profile.descriptionLimit) {
      return { description, parameter: "" };
    }
  }
  const summary = profile.descriptionLimit < MIN_SUMMARY_LIMIT
    ? ""
    : `${summarizeSkills(catalog, "Load instructions for a task")}\n`;
  return divideList(
    summary + usage,
    listModelSkills(catalog),
    listParameter === undefined ? withoutParameter(profile) : profile,
  );
}

/** Calls a tool. Turns errors into results that report to the model what failed. */
export async function callTool(
  tool: SkillTool,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<CallToolResult> {
  try {
    return await tool.call(tool.input.parse(input), context);
  } catch (error) {
    if (error instanceof UnknownSkillError && error.isSearchResult) {
      return createTextResult(error.message);
    }
    const text = error instanceof z.ZodError
      ? `Cannot call ${quote(tool.name)}: ${describeIssues(error)}`
      : (error as Error).message;
    return { ...createTextResult(text), isError: true };
  }
}

/** Creates the error for a call of an unknown tool. */
export function createUnknownToolError(
  name: string,
  tools: readonly SkillTool[],
): Error {
  const names = tools.map(({ name }) => quote(name)).join(", ");
  return invalidParams(`Unknown tool ${quote(name)}: the tools are ${names}`);
}

/**
 * Creates the server's instructions: what the skills are about, how to use
 * them, and how to find the tools in a client that defers them behind a search.
 * Some clients show only the first line, so it must make sense on its own.
 */
export function createInstructions(
  toolset: Toolset,
  catalog: SkillCatalog,
): string {
  const { list, load } = INSTRUCTIONS[toolset];
  return `${summarizeSkills(catalog, "Proven instructions for tasks (skills)")}
Before you start a task, check whether one of the skills that ${list} lists matches it. If so, load that skill with the tool ${load} and follow its instructions.
If the tool ${load} is not in your list of tools, use your tool search to find it: search for "${load}" or "skills". A skill that is added later can be loaded by name at any time.`;
}

/** For each toolset, where the skills are listed and which tool loads one. */
const INSTRUCTIONS: Readonly<Record<Toolset, { list: string; load: string }>> =
  {
    skill: { list: "the tool skill", load: "skill" },
    skilljack: { list: "the tool skill", load: "skill" },
    reference: { list: "the tool list_skills", load: "read_skill" },
    agentskills: {
      list: "the tool load_skill_metadata_op",
      load: "load_skill_op",
    },
  };
