/**
 * The options of the tools, how they find and read skills and their files, and what they
 * answer if there are none. Everything here is for the model.
 *
 * @module
 */

import { basename, dirname, isAbsolute, relative } from "jsr:@std/path@^1";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { resourceContents } from "../files/media_types.ts";
import { isAtOrBelow } from "../files/paths.ts";
import { splitPath } from "../files/folder_rules.ts";
import type { RequestContext } from "../protocol/dispatcher.ts";
import { describeProblem } from "../problems.ts";
import type {
  Skill,
  SkillCatalog,
  SkillFileContent,
  SkillSource,
} from "../skills/types.ts";
import { parseSkillUri, SKILL_MD, skillFileUri } from "../skills/names.ts";
import { escapeHidden, quote, shownName, skillKey } from "../text.ts";
import { readTogether } from "./resources.ts";
import {
  describeSkill,
  findByWords,
  findPolicyFault,
  fitList,
  isForModel,
  listForModel,
} from "./skill_list.ts";

/** A set of tools, named after the server that introduced them. */
export type Toolset = "skill" | "skilljack" | "reference" | "agentskills";

/** Options of {@linkcode registerSkillTools}. */
export interface SkillToolOptions {
  /** The toolset to register. */
  readonly toolset: Toolset;
  /**
   * The maximum length of the list of skills in the description of a tool or its
   * parameter, in characters, or 0 for no limit. Default: 36,000.
   */
  readonly descriptionLimit?: number;
  /**
   * Whether to provide the tool that runs shell commands, if the toolset
   * contains it and Deno has permission to run the shell. Default: `true`.
   */
  readonly allowShell?: boolean;
  /**
   * Whether clients are on other machines, where the paths of this machine mean
   * nothing. The results then name the directories and files of skills by their
   * URIs. Default: `false`.
   */
  readonly isRemote?: boolean;
  /** The time limit for shell commands, in seconds. Default: 60. */
  readonly shellTimeout?: number;
  /** Whether to install missing Python packages before a command runs. Default: `false`. */
  readonly autoInstallDeps?: boolean;
}

/** For each toolset, which tools list skills, load one, and read its other files. */
export const TOOL_NAMES: Readonly<
  Record<Toolset, { list: string; load: string; read?: string }>
> = {
  skill: { list: "skill", load: "skill" },
  skilljack: { list: "skill", load: "skill", read: "skill-resource" },
  reference: { list: "list_skills", load: "read_skill" },
  agentskills: {
    list: "load_skill_metadata_op",
    load: "load_skill_op",
    read: "read_reference_file_op",
  },
};

/** What tools read, the model sees. */
const MODEL = { forModel: true };

/** The time between two scans because of unknown names, in milliseconds. */
const UNKNOWN_NAME_INTERVAL_MS = 100;

/** What a call of a tool works with. */
export interface ToolContext extends Pick<RequestContext, "signal" | "permit"> {
  readonly registry: SkillSource;
  readonly options: SkillToolOptions;
}

/**
 * Finds a skill for the model, and reads its `SKILL.md`. If there is none with the
 * name, or if the file changed since the last scan, scans the roots first: the
 * skill may have just been added or moved, and its frontmatter may have changed.
 *
 * @throws {Error} If there is no such skill, or if its `SKILL.md` cannot be
 *   read. The message is for the model.
 */
export async function readSkill(
  name: string,
  context: ToolContext,
): Promise<{ skill: Skill; text: string }> {
  const { registry } = context;
  let skill = findForModel(name, registry);
  const reading = skill && registry.readFile(skill, SKILL_MD, MODEL);
  let file = await reading?.catch(() => undefined);
  if (file === undefined || file.version !== skill?.version) {
    const minIntervalMs = skill === undefined ? UNKNOWN_NAME_INTERVAL_MS : 0;
    await registry.refresh({ minIntervalMs });
    skill = findForModel(name, registry);
    if (skill === undefined) throw await createUnknownSkillError(name, context);
    file = await registry.readFile(skill, SKILL_MD, MODEL);
  }
  return { skill: skill!, text: textOf(file) };
}

function findForModel(name: string, registry: SkillSource): Skill | undefined {
  const skill = registry.find(name);
  return skill && isForModel(skill) ? skill : undefined;
}

/** Returns the text of a `SKILL.md`. Bytes that are not valid UTF-8 are replaced. */
export function textOf({ text, bytes }: SkillFileContent): string {
  return text ?? new TextDecoder().decode(bytes);
}

/** How the model refers to the directory of a skill: by its path or its URI. */
export function directoryOf(
  skill: Skill,
  { isRemote }: SkillToolOptions,
): string {
  return isRemote ? skillFileUri(skill, "") : skill.directory;
}

/** What stands for the skill's directory in instructions. */
const DIRECTORY = /\$\{CLAUDE_SKILL_DIR\}/;

/** What stands for the arguments of a prompt, but not for one of them. */
const ARGUMENTS = /\$ARGUMENTS\b(?!\[)/;

/**
 * Formats the text of a `SKILL.md`. It begins with the skill's directory, because the
 * instructions may refer to files in it.
 *
 * @param options.input The arguments of the skill's own prompt.
 */
export function formatLoadedSkill(
  skill: Skill,
  text: string,
  options: SkillToolOptions & { input?: string | undefined },
): string {
  const directory = escapeHidden(directoryOf(skill, options));
  const lines = [
    `Loading: ${shownName(skill.name)}`,
    `Base directory: ${directory}`,
    ...describeRemoteFiles(skill, options),
  ];
  // The toolsets of other servers return the text as it is.
  const filled = options.toolset === "skill"
    ? fill(fillArguments(text, options.input), {
      placeholder: DIRECTORY,
      value: directory.replace(/\/$/, ""),
    })
    : text;
  return `${lines.join("\n")}\n\n${filled}`;
}

/** Says in one line how to read the files of a skill that are on another machine. */
function describeRemoteFiles(
  skill: Skill,
  { isRemote, toolset }: SkillToolOptions,
): string[] {
  if (!isRemote) return [];
  const { read } = TOOL_NAMES[toolset];
  const way = read === undefined
    ? `as resources, ${skillFileUri(skill, "")}<path>`
    : `with the tool ${read}`;
  return [
    `The files of this skill are on the server and cannot run here: read them ${way}`,
  ];
}

/**
 * Puts the arguments of a prompt in place of `$ARGUMENTS` or, if that does not occur,
 * on a last line.
 */
function fillArguments(text: string, input: string | undefined): string {
  if (input === undefined) return text;
  const filled = fill(text, { placeholder: ARGUMENTS, value: input });
  return filled !== text || input === ""
    ? filled
    : `${text.replace(/\n?$/, "\n")}\nARGUMENTS: ${input}`;
}

/** The maximum length of all that stands for a placeholder, in characters. */
const MAX_FILLED_LENGTH = 1024 * 1024;

/** Puts a value in place of each placeholder, unless that takes too much memory. */
function fill(
  text: string,
  { placeholder, value }: { placeholder: RegExp; value: string },
): string {
  const parts = text.split(placeholder);
  const length = (parts.length - 1) * value.length;
  return length > MAX_FILLED_LENGTH ? text : parts.join(value);
}

/** Returns the whole `SKILL.md` of a skill. */
export async function loadSkill(
  name: string,
  context: ToolContext,
): Promise<CallToolResult> {
  const { skill, text } = await readSkill(name, context);
  return createTextResult(
    text,
    ...describeRemoteFiles(skill, context.options),
  );
}

/** Reads a file of a skill as a content item of a result. */
export async function readContent(
  skill: Skill,
  path: string,
  registry: SkillSource,
): Promise<CallToolResult["content"][number]> {
  const file = await registry.readFile(skill, path, MODEL);
  if (file.text !== undefined) return { type: "text", text: file.text };
  const uri = skillFileUri(skill, file.path);
  return { type: "resource", resource: resourceContents(uri, file) };
}

/**
 * Makes an absolute path or a URI relative to the skill's directory. The model
 * knows that directory, and some models pass absolute paths.
 */
export function pathInSkill(path: string, skill: Skill): string {
  const uri = skillFileUri(skill, "");
  if (path.startsWith(uri)) {
    // The URI may contain the scope of the skill, which is no part of its name.
    return parseSkillUri(path.replace(uri, "skill://name/"))?.path ?? path;
  }
  if (!isAbsolute(path)) return path;
  const { directory, realDirectory, file } = skill;
  if (path === file) return SKILL_MD;
  const base = [directory, realDirectory].find((folder) =>
    isAtOrBelow(path, folder)
  );
  return base === undefined ? path : relative(base, path);
}

/** Reads a file, reads all files of a folder, or lists the files if the path is empty. */
export async function readPath(
  skill: Skill,
  path: string,
  registry: SkillSource,
): Promise<CallToolResult> {
  if (path.trim() === "") return await listResources(skill, registry);
  try {
    return { content: [await readContent(skill, path, registry)] };
  } catch (error) {
    const prefix = [...splitPath(path) ?? [path], ""].join("/");
    const { files } = await registry.listFiles(skill, MODEL);
    const inFolder = files.filter(({ path }) => path.startsWith(prefix));
    if (inFolder.length === 0) throw error;
    const content = await readTogether(inFolder, async ({ path }) => {
      const item = await readContent(skill, path, registry);
      if (item.type === "text") {
        item.text = `--- ${escapeHidden(path)} ---\n${item.text}`;
      }
      return item;
    });
    return { content };
  }
}

async function listResources(
  skill: Skill,
  registry: SkillSource,
): Promise<CallToolResult> {
  const { files } = await registry.listFiles(skill, MODEL);
  const paths = files.map(({ path }) => escapeHidden(path))
    .filter((path) => path !== SKILL_MD);
  const name = quote(shownName(skill.name));
  return createTextResult(
    paths.length > 0
      ? `Files of the skill ${name}:\n\n- ${paths.join("\n- ")}`
      : `The skill ${name} has no files besides its SKILL.md`,
  );
}

/** Creates the result of a tool that consists of texts. */
export function createTextResult(...texts: string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

/**
 * The maximum number of skills that the answer to an unknown name lists. If
 * there are more, it lists search results instead.
 */
const MAX_LISTED_SKILLS = 100;

/** Thrown if the answer to an unknown name lists the results of a search for it. */
export class SearchResults extends Error {}

/**
 * Creates the error for an unknown skill. It lists the available skills or the results
 * of a search and, if a skill with that name was skipped, says why.
 */
async function createUnknownSkillError(
  name: string,
  { registry: { catalog }, options }: ToolContext,
): Promise<Error> {
  const echo = shownName(name);
  const skipped = describeSkipped(name, catalog, options);
  const start = `${skipped}Skill '${echo}' not found.\n\n`;
  const skills = listForModel(catalog);
  if (skills.length <= MAX_LISTED_SKILLS) {
    const list = fitList(skills);
    // The wording of the contract of the tool "skill".
    return new Error(`${start}Available skills:${list}

Use the exact skill name (case-insensitive) to load a skill.`);
  }
  const found = await findByWords(echo, catalog);
  const list = fitList(found.map(describeSkill));
  const results = found.length === 0
    ? `None of these words occurs in the names, the descriptions, or the first lines of the instructions of the ${skills.length} skills.

`
    : `Search results for these words, the user's own skills first, then best match first:${list}
(and ${skills.length - found.length} other skills)

To load one of these skills, use its exact name (case-insensitive). `;
  return new SearchResults(
    `${start}${results}To search again, pass other words instead of a name.`,
  );
}

/** Says why a skill in a folder of a name, or all skills, are skipped, if they are. */
function describeSkipped(
  name: string,
  catalog: SkillCatalog,
  { isRemote }: SkillToolOptions,
): string {
  const key = skillKey(name);
  const problem = catalog.problems.find(({ rule, file }) => {
    const isMain = basename(file).toLowerCase() === SKILL_MD.toLowerCase();
    return rule === "policy" ||
      skillKey(basename(isMain ? dirname(file) : file)) === key;
  });
  if (problem === undefined) return "";
  const isOfProject = catalog.roots.some(({ scope, root }) =>
    scope === "project" && isAtOrBelow(problem.file, root.path)
  );
  // Problems contain paths of this machine and text of the skill. That of a project,
  // which may be a stranger's, must not speak as the server.
  const text = isRemote || isOfProject
    ? findPolicyFault(catalog) ??
      "The server skipped a skill with this name. Its log says why."
    : describeProblem(problem).join("\n");
  return `${text}\n\n`;
}
