// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * The tools of each toolset, and what they say to the model.
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
  profileOf,
  withDescriptionLimit,
} from "./client_profiles.ts";
import { MAX_MESSAGE_SIZE } from "./json_rpc.ts";
import { perCatalog } from "./list_views.ts";
import {
  type ClientInfo,
  describeIssues,
  invalidParams,
} from "./mcp_server.ts";
import { resourceContents } from "./media_types.ts";
import { isCaseBlind, isWithin } from "./paths.ts";
import {
  DEFAULT_SHELL_TIMEOUT,
  mayRunShell,
  runShellCommand,
} from "./shell.ts";
import {
  IS_A_FOLDER,
  LINK_OUT_OF_SKILL,
  LINK_TO_NOTHING,
  namesOf,
  SkillFileError,
} from "./skill_files.ts";
import { nearestSkills } from "./skill_search.ts";
import {
  aboutSkills,
  availableSkills,
  type DividedList,
  divideList,
  isForModel,
  modelSkills,
  skillLine,
  textLength,
} from "./skill_lists.ts";
import { skillFileUri } from "./skill_uri.ts";
import {
  jsonText,
  oneLine,
  quote,
  skillKey,
  stringifyJson,
  unescapeXml,
} from "./text.ts";
import type {
  Skill,
  SkillCatalog,
  SkillFile,
  SkillProblem,
  SkillSource,
} from "./types.ts";

/** Up to this many skills the answer to an unknown name lists them all. */
const MAX_LISTED_SKILLS = 100;

/** With less room than this a description does without a line that says what the skills are about, in characters. */
const MIN_ABOUT_LIMIT = 2_000;

/** How many files of a skill a message names. */
const MAX_NAMED_FILES = 20;

/** How many problems the answer to an unknown name reports. */
const MAX_NAMED_PROBLEMS = 20;

/** How many characters of a name that is not found are repeated. */
const MAX_ECHO_LENGTH = 200;

/** A set of tools that belong together, named after the server that has them. */
export type Toolset = "skill" | "skilljack" | "reference" | "agentskills";

/** Options of {@linkcode registerSkillTools}. */
export interface SkillToolOptions {
  /** Which tools. */
  readonly toolset: Toolset;
  /** How many characters the list of skills in a tool's description takes at most, 0 for no limit. Default: what the client shows, and 30,000 at most. */
  readonly descriptionLimit?: number;
  /** Whether a client lists the skills itself, so that no tool needs to. Default: none does. */
  readonly listsSkills?: (client: ClientInfo | undefined) => boolean;
  /** Whether a tool may run shell commands. Default: where Deno may run the shell. */
  readonly allowShell?: boolean;
  /** How long a shell command may run, in seconds. Default: 60. */
  readonly shellTimeout?: number;
  /** Whether Python packages are installed before a command that needs some. Default: `false`. */
  readonly autoInstallDeps?: boolean;
}

/** What a tool works with. */
interface ToolContext {
  readonly registry: SkillSource;
  readonly options: SkillToolOptions;
  /** Ends when the client takes its call back, or goes. */
  readonly signal: AbortSignal;
}

/** A tool: one entry of a toolset. */
interface SkillTool<Input extends z.ZodObject = z.ZodObject> {
  /** The name it is called by. */
  readonly name: string;
  /** The name that people read. */
  readonly title: string;
  /** Writes what the model reads, in the words of the tool's contract, from the skills there are. */
  readonly describe: (catalog: SkillCatalog) => string;
  /** What the tool is for, in brief, if its description lists the skills. */
  readonly usage?: string;
  /** The parameter whose description has room for more of the list. */
  readonly listParameter?: string;
  /** What it takes. */
  readonly input: Input;
  /** What its structured result looks like, if it gives one. */
  readonly output?: z.ZodObject;
  /** What it does to the world. */
  readonly annotations: ToolAnnotations;
  /** Whether the options and Deno's permissions allow it. Default: they do. */
  readonly isAllowed?: (options: SkillToolOptions) => boolean;
  /** Does it. Throws an error whose message is for the model if it cannot. */
  call(
    input: z.infer<Input>,
    context: ToolContext,
  ): CallToolResult | Promise<CallToolResult>;
}

/** Creates an entry of the table of tools. Its input type follows from its schema. */
function defineTool<Input extends z.ZodObject>(
  tool: SkillTool<Input>,
): SkillTool {
  return tool;
}

/** Annotations of a tool that only reads skills. */
const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** The tool `skill`, where nothing else is asked for. */
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

${availableSkills(catalog, ({ scope }) => scope)}`,
  usage:
    "Before you begin a task, load the skill that fits it by its name and follow it.",
  listParameter: "name",
  input: z.strictObject({
    name: z.string()
      .min(1, "Skill name cannot be empty")
      .describe("Name of the skill to load (case-insensitive)"),
  }),
  annotations: READS,
  call: async ({ name }, { registry }) => {
    const { skill, text } = await readSkillText(name, registry);
    return textResult(
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

${availableSkills(catalog, ({ file }) => file)}`,
  usage:
    "When a task matches a skill: 1) activate it by its name, 2) follow its instructions completely.",
  listParameter: "name",
  input: z.object({
    name: z.string().describe("Skill name from <available_skills>"),
  }),
  annotations: READS,
  call: ({ name }, context) => loadSkill(name, context),
});

/** Skilljack's tool `skill-resource`. */
const skilljackResourceTool = defineTool({
  name: "skill-resource",
  title: "Read Skill File",
  describe: () =>
    "Read files within a skill's directory (scripts/, references/, assets/, snippets/, …) as its instructions name them. Pass the path of a file to read it, the path of a folder to read all files in it, or an empty path to list the files.",
  input: z.object({
    skill: z.string().describe("Skill name"),
    path: z.string().describe(
      "Path from the skill's directory: 'snippets/tool.ts' (a file), 'templates' (all files in a folder), '' (the list of files)",
    ),
  }),
  annotations: READS,
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
      modelSkills(catalog).map(skillLine).join("\n") || "none"
    }`,
  usage:
    "List all available skills. Read one with read_skill when a task needs it.",
  input: z.object({}),
  output: z.object({
    skills: z.array(z.object({ name: z.string(), description: z.string() })),
  }),
  annotations: READS,
  call: (_input, { registry }) => {
    const skills = modelSkills(registry.catalog).map(
      ({ name, description }) => ({ name, description }),
    );
    const text = jsonText(skills).trimEnd();
    return { ...textResult(text), structuredContent: { skills } };
  },
});

/** The reference implementation's tool `read_skill`. */
const referenceReadTool = defineTool({
  name: "read_skill",
  title: "Read Skill Instructions",
  describe: () =>
    "Read the full instructions of a skill by its name. Returns the complete SKILL.md content.",
  input: z.object({
    name: z.string().describe("The skill name to read (from list_skills)"),
  }),
  annotations: READS,
  call: ({ name }, context) => loadSkill(name, context),
});

/** AgentSkills' tool `load_skill_metadata_op`. */
const agentSkillsMetadataTool = defineTool({
  name: "load_skill_metadata_op",
  title: "Load Skill Metadata",
  describe: () =>
    "Load metadata from all available skills (always call at task start). Returns each skill's description and directory by its name.",
  input: z.object({}),
  annotations: READS,
  call: (_input, { registry }) => {
    const metadata = modelSkills(registry.catalog).map(
      ({ name, description, directory }) =>
        [name, { description, skill_dir: directory }] as const,
    );
    return textResult(jsonText(Object.fromEntries(metadata)).trimEnd());
  },
});

/** What AgentSkills' tools call a skill by. */
const skillName = z.string().describe("Name of the skill");

/** AgentSkills' tool `load_skill_op`. */
const agentSkillsLoadTool = defineTool({
  name: "load_skill_op",
  title: "Load Skill",
  describe: () => "Load a specific skill's instructions (its SKILL.md).",
  input: z.object({ skill_name: skillName }),
  annotations: READS,
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
      "The file's name, or its path from the skill's directory",
    ),
  }),
  annotations: READS,
  call: ({ skill_name, file_name }, { registry }) =>
    withSkill(skill_name, registry, (skill) => ({
      content: [fileContent(skill, pathInSkill(skill, file_name), registry)],
    })),
});

/** AgentSkills' tool `run_shell_command_op`: the only one that runs anything. */
const agentSkillsShellTool = defineTool({
  name: "run_shell_command_op",
  title: "Run Shell Command",
  describe: () =>
    "Execute a shell command in a skill's directory, for instance to run a script that the skill's instructions name. Returns what it wrote to stdout and stderr.",
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
    return { ...textResult(text), ...(isError && { isError }) };
  },
});

/** The toolsets: to add one, add a line. */
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

/**
 * The names of the toolsets.
 */
export const TOOLSET_NAMES = Object.keys(TOOLSETS) as Toolset[];

/**
 * Finds a skill for a model and does something with it. If there is no such
 * skill, or it changed since the scan and that fails, it scans again: the skill
 * may have appeared or moved a moment ago.
 *
 * @throws {Error} If that fails, with a text that a model can act on.
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
      if (isCurrent(known, registry)) throw error;
    }
  }
  await registry.refresh();
  const skill = findForModel(name, registry);
  if (skill === undefined) throw await unknownSkill(name, registry.catalog);
  return await use(skill);
}

/** Whether the `SKILL.md` of a skill is still the one that was scanned. */
function isCurrent(skill: Skill, registry: SkillSource): boolean {
  try {
    return registry.readFile(skill, "SKILL.md").version === skill.version;
  } catch {
    return false;
  }
}

function findForModel(name: string, registry: SkillSource): Skill | undefined {
  const skill = registry.find(name) ?? registry.find(unescapeXml(name));
  return skill && isForModel(skill) ? skill : undefined;
}

/**
 * Reads the `SKILL.md` of a skill as it is now. If it changed since the scan
 * its frontmatter may say something else by now, so it is scanned anew.
 *
 * @throws {Error} If there is no such skill (any more), with a text that a model can act on.
 */
async function readSkillText(
  name: string,
  registry: SkillSource,
): Promise<{ skill: Skill; text: string }> {
  const read = (skill: Skill) => ({
    skill,
    file: registry.readFile(skill, "SKILL.md"),
  });
  let { skill, file } = await withSkill(name, registry, read);
  if (file.version !== skill.version) {
    await registry.refresh();
    ({ skill, file } = await withSkill(name, registry, read));
  }
  return { skill, text: file.text ?? new TextDecoder().decode(file.bytes) };
}

async function loadSkill(
  name: string,
  { registry }: ToolContext,
): Promise<CallToolResult> {
  return textResult((await readSkillText(name, registry)).text);
}

/** Reads a file of a skill as one item of a result. */
function fileContent(
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
 * Makes an absolute path relative to the skill's directory. Models know that
 * directory, so some of them write absolute paths.
 */
function pathInSkill(
  { directory, realDirectory, file }: Skill,
  path: string,
): string {
  if (!isAbsolute(path)) return path;
  if (path === file) return "SKILL.md";
  const base = [directory, realDirectory].find((folder) =>
    isWithin(path, folder)
  );
  return base === undefined ? path : relative(base, path);
}

/** Reads a file or all files of a folder, or lists the files if the path is empty. */
function readResource(
  skill: Skill,
  path: string,
  registry: SkillSource,
): CallToolResult {
  if (path.trim() === "") return listResources(skill, registry);
  try {
    return { content: [fileContent(skill, path, registry)] };
  } catch (error) {
    const { files, leftOut } = registry.inspectFiles(skill);
    const isFolder = error instanceof SkillFileError &&
      error.reason === IS_A_FOLDER.reason;
    if (!isFolder) throw withFileNames(error as Error, files);
    const folder = namesOf(path)!;
    return readFolder(skill, {
      path,
      files: files.filter(({ path }) => isBelow(folder, path)),
      leftOut: leftOut.filter(({ file }) => isBelow(folder, file)),
      registry,
    });
  }
}

/** Whether a path in a skill leads through a folder. */
function isBelow(folder: readonly string[], path: string): boolean {
  const fold = (name: string) => isCaseBlind ? name.toLowerCase() : name;
  const names = path.split("/");
  return names.length > folder.length &&
    folder.every((name, index) => fold(name) === fold(names[index]!));
}

function listResources(skill: Skill, registry: SkillSource): CallToolResult {
  const { files, leftOut } = registry.inspectFiles(skill);
  const paths = files.map(({ path }) => path)
    .filter((path) => path !== "SKILL.md");
  const name = quote(skill.name);
  const list = paths.length > 0
    ? `Files of the skill ${name}:\n\n- ${paths.join("\n- ")}`
    : `The skill ${name} has no files besides its SKILL.md`;
  return textResult([list, ...leftOutTexts(leftOut)].join("\n\n"));
}

/** Adds the skill's files to the message of an error. */
function withFileNames(
  { message }: Error,
  files: readonly SkillFile[],
): Error {
  const paths = files.slice(0, MAX_NAMED_FILES).map(({ path }) => quote(path));
  const rest = files.length - paths.length;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return new Error(`${message}. Its files: ${paths.join(", ")}${more}`);
}

/** A folder of a skill, to be read. */
interface SkillFolder {
  /** The path as the model wrote it. */
  readonly path: string;
  /** The files below it. */
  readonly files: readonly SkillFile[];
  /** What is below it but not served. */
  readonly leftOut: readonly SkillProblem[];
  readonly registry: SkillSource;
}

function readFolder(
  skill: Skill,
  { path, files, leftOut, registry }: SkillFolder,
): CallToolResult {
  const content = readTogether(files, ({ path }) => {
    const item = fileContent(skill, path, registry);
    if (item.type === "text") item.text = `--- ${path} ---\n${item.text}`;
    return item;
  });
  const texts = leftOutTexts(leftOut);
  if (files.length === 0) {
    const state = texts.length > 0 ? "has no readable files" : "is empty";
    texts.unshift(`The folder ${quote(path)} ${state}`);
  }
  for (const text of texts) content.push({ type: "text", text });
  return { content };
}

/** Returns a text that lists what is left out and why, if anything is. */
function leftOutTexts(leftOut: readonly SkillProblem[]): string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.slice(0, MAX_NAMED_FILES).map((problem) =>
    `- ${quote(problem.file || ".")}: ${leftOutReason(problem)}`
  );
  const rest = leftOut.length - lines.length;
  if (rest > 0) lines.push(`- and ${rest} more`);
  return [`Left out:\n${lines.join("\n")}`];
}

/** Returns why something is left out, without revealing whether a link's target exists. */
function leftOutReason({ reason }: SkillProblem): string {
  return reason === LINK_OUT_OF_SKILL.reason ||
      reason === LINK_TO_NOTHING.reason
    ? "it is a link that does not lead to a file of the skill"
    : reason;
}

/**
 * Reads files for one message.
 *
 * @param files The files.
 * @param read Returns what the message is to hold of a file.
 * @throws {Error} If that is more than a message may have.
 */
export function readTogether<T>(
  files: readonly SkillFile[],
  read: (file: SkillFile) => T,
): T[] {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  // In JSON no byte of a file takes less than one, or more than six.
  if (size > MAX_MESSAGE_SIZE) throw tooMuchTogether(files, size);
  if (size * 6 < MAX_MESSAGE_SIZE / 2) return files.map(read);
  let length = 0;
  return files.map((file) => {
    const content = read(file);
    length += stringifyJson(content).length;
    if (length > MAX_MESSAGE_SIZE) throw tooMuchTogether(files, size);
    return content;
  });
}

function tooMuchTogether(files: readonly SkillFile[], size: number): Error {
  return new Error(
    `Cannot read ${files.length} files at once: they have ${size} bytes, which take more than the ${MAX_MESSAGE_SIZE} that a message may have; read them one at a time`,
  );
}

/** There is no skill of a name. The message is for the model. */
class UnknownSkillError extends Error {
  /** Whether the message lists what was found by the words of the name. */
  readonly isSearchResult: boolean;

  constructor(
    message: string,
    { isSearchResult }: { isSearchResult: boolean },
  ) {
    super(message);
    this.isSearchResult = isSearchResult;
  }
}

/** Says that there is no skill of a name, why one was skipped, and which there are. */
async function unknownSkill(
  name: string,
  catalog: SkillCatalog,
): Promise<UnknownSkillError> {
  const key = skillKey(name);
  const skipped = catalog.problems
    .filter(({ names = [] }) => names.some((name) => skillKey(name) === key))
    .slice(0, MAX_NAMED_PROBLEMS)
    .map((problem) => `${describeProblem(problem)}\n\n`).join("");
  const skills = modelSkills(catalog);
  const echo = oneLine(name.slice(0, MAX_ECHO_LENGTH));
  const isSearchResult = skills.length > MAX_LISTED_SKILLS;
  const text = isSearchResult
    ? await searchText(echo, catalog, skills.length)
    : listText(echo, skills);
  return new UnknownSkillError(skipped + text, { isSearchResult });
}

/** Lists all skills in the words of the contract. */
function listText(name: string, skills: readonly Skill[]): string {
  const lines = skills.map((skill) => `${skillLine(skill)}\n`);
  return `Skill '${name}' not found.

Available skills:
${lines.join("")}
Use the exact skill name (case-insensitive) to load a skill.`;
}

/** Lists the skills that a search for the words of a name finds. */
async function searchText(
  name: string,
  catalog: SkillCatalog,
  count: number,
): Promise<string> {
  const found = await nearestSkills(name, catalog, isForModel);
  const lines = found.map((skill) => `${skillLine(skill)}\n`);
  const rest = count - found.length;
  if (found.length > 0) lines.push(`(and ${rest} more, less like '${name}')\n`);
  const heading = found.length > 0
    ? "Search results for these words, best first:"
    : `No word of it occurs in the names and descriptions of the ${count} skills.`;
  const next = found.length > 0
    ? "To load one of these skills, use its exact name (case-insensitive). To search again, use other words in place of the name."
    : "To search again, use other words in place of the name.";
  return `Skill '${name}' not found.

${heading}
${lines.join("")}
${next}`;
}

export function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

export function describeProblem(
  { file, line, reason, hint }: SkillProblem,
): string {
  const place = line === undefined ? "" : ` (line ${line})`;
  return `Skipped ${quote(file)}${place}: ${reason}; ${hint}`;
}

/** How a client sees the tools. */
export interface ToolView {
  /** What the client shows the model. */
  readonly profile: ClientProfile;
  /** Whether the client lists the skills itself, so that no tool needs to. */
  readonly listsSkills: boolean;
}

/** Makes the entry of a tool in `tools/list`, as a client is to see it. */
function toolEntry(
  tool: SkillTool,
  catalog: SkillCatalog,
  view: ToolView,
): Tool {
  const { name, title, annotations, input, output, listParameter } = tool;
  const { description, parameter } = describeTool(tool, catalog, view);
  const inputSchema = jsonSchemaOf(input);
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
    ...(output && { outputSchema: jsonSchemaOf(output) }),
    annotations: { title, ...annotations },
    ...(toolMeta && !view.listsSkills && { _meta: { ...toolMeta } }),
  };
}

/** The lists of tools as each client sees them, made once for each catalog. */
export class ToolLists {
  readonly #tools: readonly SkillTool[];
  readonly #options: SkillToolOptions;
  /** The views that were asked for, by their keys. */
  readonly #views = new Map<string, ToolView>();
  readonly #lists = perCatalog(() => new Map<string, Tool[]>());

  constructor(tools: readonly SkillTool[], options: SkillToolOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  /** Returns the list that a client sees. */
  listFor(client: ClientInfo | undefined, catalog: SkillCatalog): Tool[] {
    const view = toolView(client, this.#options);
    this.#views.set(keyOf(view), view);
    return this.#list(view, catalog);
  }

  /** Returns the lists of all clients that asked for theirs, or the usual one if none did yet. */
  listAll(catalog: SkillCatalog): Tool[][] {
    const views = this.#views.size > 0
      ? [...this.#views.values()]
      : [toolView(undefined, this.#options)];
    return views.map((view) => this.#list(view, catalog));
  }

  #list(view: ToolView, catalog: SkillCatalog): Tool[] {
    const lists = this.#lists(catalog);
    const key = keyOf(view);
    const list = lists.get(key) ??
      this.#tools.map((tool) => toolEntry(tool, catalog, view));
    lists.set(key, list);
    return list;
  }
}

function keyOf({ profile, listsSkills }: ToolView): string {
  return `${profile.clientName} ${listsSkills}`;
}

/** Returns how a client sees the tools. */
export function toolView(
  client: ClientInfo | undefined,
  { descriptionLimit, listsSkills }: SkillToolOptions,
): ToolView {
  const profile = profileOf(client);
  return {
    profile: descriptionLimit === undefined
      ? profile
      : withDescriptionLimit(profile, descriptionLimit),
    listsSkills: listsSkills?.(client) ?? false,
  };
}

function jsonSchemaOf(type: z.ZodObject): Tool["inputSchema"] {
  return z.toJSONSchema(type, { io: "input" }) as Tool["inputSchema"];
}

/** Describes a tool: in its contract's words where these have room, else in brief. */
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
    textLength(catalog) <= profile.descriptionLimit
  ) {
    const description = describe(catalog);
    if (description.length <= profile.descriptionLimit) {
      return { description, parameter: "" };
    }
  }
  const about = profile.descriptionLimit < MIN_ABOUT_LIMIT
    ? ""
    : `${aboutSkills(catalog, "Load instructions for a task")}\n`;
  return divideList(about + usage, modelSkills(catalog), {
    ...profile,
    parameterLimit: listParameter === undefined ? 0 : profile.parameterLimit,
  });
}

/** Calls a tool. Whatever fails becomes a result that tells the model why. */
export async function callTool(
  tool: SkillTool,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<CallToolResult> {
  try {
    return await tool.call(tool.input.parse(input), context);
  } catch (error) {
    if (error instanceof UnknownSkillError && error.isSearchResult) {
      return textResult(error.message);
    }
    const text = error instanceof z.ZodError
      ? `Cannot call ${quote(tool.name)}: ${describeIssues(error)}`
      : (error as Error).message;
    return { ...textResult(text), isError: true };
  }
}

export function unknownTool(name: string, tools: readonly SkillTool[]): Error {
  const names = tools.map(({ name }) => quote(name)).join(", ");
  return invalidParams(`Unknown tool ${quote(name)}: the tools are ${names}`);
}

/**
 * Writes the instructions of the server: what skills there are, how they are
 * used, and how to get at the tools where a client keeps them back until it
 * searches for them. The first line stands alone: some clients show no more.
 */
export function instructionsFor(
  toolset: Toolset,
  catalog: SkillCatalog,
): string {
  const { list, load } = INSTRUCTIONS[toolset];
  return `${aboutSkills(catalog, "Proven instructions for tasks (skills)")}
Before you begin a task, see whether one of the skills that ${list} lists fits it. If so, load it with the tool ${load} and follow it.
If the tool ${load} is not among your tools, search for "${load}" or "skills" with your tool search. A skill that is added later can be loaded by its name at any time.`;
}

/** Where each toolset lists the skills, and the tool that loads one. */
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
