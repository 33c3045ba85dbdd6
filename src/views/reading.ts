/**
 * How tools find and read skills and their files, and what they answer if there are
 * none. Everything here is for the model.
 *
 * @module
 */

import { basename, dirname, isAbsolute, relative } from "jsr:@std/path@^1";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  IS_A_FOLDER,
  LINK_OUT_OF_SKILL,
  LINK_TO_NOTHING,
  SkillFileError,
} from "../files/faults.ts";
import { resourceContents } from "../files/media_types.ts";
import { isAtOrBelow, isAtOrBelowAny, SKILL_MD } from "../files/paths.ts";
import { splitPath } from "../files/served_folder.ts";
import { describeProblem } from "../skills/problems.ts";
import type {
  Problem,
  Skill,
  SkillCatalog,
  SkillFileContent,
  SkillSource,
} from "../skills/types.ts";
import { skillFileUri } from "../skills/names.ts";
import {
  escapeHidden,
  oneLine,
  quote,
  shownName,
  shownPath,
  skillKey,
  unescapeXml,
} from "../text.ts";
import { type SkillToolOptions, TOOL_NAMES } from "./options.ts";
import { readTogether } from "./paging.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  describeSkills,
  findByName,
  findPolicyFault,
  fitList,
  isForModel,
  listModelSkills,
  type RankedSearch,
} from "./skill_list.ts";

/** What tools read, the model sees. */
const MODEL = { forModel: true };

/** The time between two scans because of unknown names, in milliseconds. */
const UNKNOWN_NAME_INTERVAL_MS = 100;

/** The maximum number of files that a message names. */
const MAX_NAMED_FILES = 20;

/** The reasons why links are left out. */
const LINK_REASONS = [LINK_OUT_OF_SKILL.reason, LINK_TO_NOTHING.reason];

/** What a call of a tool works with. */
export interface ToolContext {
  readonly registry: SkillSource;
  readonly search: RankedSearch;
  readonly options: SkillToolOptions;
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
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
  const skill = findByName(name, registry) ??
    findByName(unescapeXml(name), registry);
  return skill && isForModel(skill) ? skill : undefined;
}

/** What stands for the skill's directory in instructions. */
const DIRECTORY = /\$\{CLAUDE_SKILL_DIR\}/g;

/** What stands for the arguments of a prompt, but not for one of them. */
const ARGUMENTS = /\$ARGUMENTS\b(?!\[)/g;

/** Returns the text of a `SKILL.md`. Bytes that are not valid UTF-8 are replaced. */
export function textOf({ text, bytes }: SkillFileContent): string {
  return text ?? new TextDecoder().decode(bytes);
}

/** How the model refers to the directory of a skill: by its path or its URI. */
export function directoryOf(
  skill: Skill,
  { isRemote }: Pick<SkillToolOptions, "isRemote">,
): string {
  return isRemote ? skillFileUri(skill, "") : skill.directory;
}

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
    ? fill(
      fillArguments(text, options.input),
      DIRECTORY,
      directory.replace(/\/$/, ""),
    )
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
  const filled = fill(text, ARGUMENTS, input);
  return filled !== text || input === ""
    ? filled
    : `${text.replace(/\n?$/, "\n")}\nARGUMENTS: ${input}`;
}

/** The maximum length of what is put in place of placeholders, in characters. */
const MAX_FILLED_LENGTH = 1024 * 1024;

/** Puts a text in place of each placeholder, unless that takes too much room. */
function fill(text: string, placeholder: RegExp, value: string): string {
  const count = text.match(placeholder)?.length ?? 0;
  return count * value.length > MAX_FILLED_LENGTH
    ? text
    : text.replace(placeholder, () => value);
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
export function pathInSkill(skill: Skill, path: string): string {
  const uri = skillFileUri(skill, "");
  if (path.startsWith(uri)) return decodePath(path.slice(uri.length));
  if (!isAbsolute(path)) return path;
  const { directory, realDirectory, file } = skill;
  if (path === file) return SKILL_MD;
  const base = [directory, realDirectory].find((folder) =>
    isAtOrBelow(path, folder)
  );
  return base === undefined ? path : relative(base, path);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // The model did not encode it.
    return path;
  }
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
    const isFolder = error instanceof SkillFileError &&
      error.reason === IS_A_FOLDER.reason;
    if (isFolder) return await readFolder(skill, path, registry);
    const { message } = error as Error;
    const { files } = await registry.inspectFiles(skill, MODEL);
    const names = shorten(files.map(({ path }) => `"${shownPath(path)}"`));
    throw new Error(`${message}. Its files: ${names.join(", ")}`);
  }
}

async function listResources(
  skill: Skill,
  registry: SkillSource,
): Promise<CallToolResult> {
  const { files, leftOut } = await registry.inspectFiles(skill, MODEL);
  const paths = files.map(({ path }) => path)
    .filter((path) => path !== SKILL_MD);
  const name = quote(shownName(skill.name));
  const list = paths.length > 0
    ? `Files of the skill ${name}:\n\n- ${paths.map(shownPath).join("\n- ")}`
    : `The skill ${name} has no files besides its SKILL.md`;
  return createTextResult([list, ...describeLeftOut(leftOut)].join("\n\n"));
}

async function readFolder(
  skill: Skill,
  folder: string,
  registry: SkillSource,
): Promise<CallToolResult> {
  const prefix = [...splitPath(folder)!, ""].join("/");
  const { files, leftOut } = await registry.inspectFiles(skill, MODEL);
  const inFolder = files.filter(({ path }) => path.startsWith(prefix));
  const content = await readTogether(inFolder, async ({ path }) => {
    const item = await readContent(skill, path, registry);
    if (item.type === "text") {
      item.text = `--- ${shownPath(path)} ---\n${item.text}`;
    }
    return item;
  });
  const texts = describeLeftOut(
    leftOut.filter(({ file }) => file.startsWith(prefix)),
  );
  if (inFolder.length === 0) {
    const state = texts.length > 0 ? "has no readable files" : "is empty";
    texts.unshift(`The folder ${quote(folder)} ${state}`);
  }
  return { content: [...content, ...createTextResult(...texts).content] };
}

/** Returns a text that lists the entries that are left out, or no text if there are none. */
function describeLeftOut(leftOut: readonly Problem[]): string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.map(({ file, reason }) => {
    // Whether the target of a link exists stays hidden.
    const shown = LINK_REASONS.includes(reason)
      ? "it is a link that does not point to a file of the skill"
      : reason;
    return `"${shownPath(file || ".")}": ${shown}`;
  });
  return [`Left out:\n- ${shorten(lines).join("\n- ")}`];
}

/** Replaces the end of a long list with the number of its items. */
function shorten(items: string[]): string[] {
  const rest = items.length - MAX_NAMED_FILES;
  return rest > 0
    ? items.toSpliced(MAX_NAMED_FILES, rest, `and ${rest} more`)
    : items;
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

/** The maximum number of problems that the answer to an unknown name reports. */
const MAX_NAMED_PROBLEMS = 20;

/** How many characters of an unknown name the answer repeats. */
const MAX_ECHO_LENGTH = 200;

/** Thrown if the answer to an unknown name lists the results of a search for it. */
export class SearchResults extends Error {}

/**
 * Creates the error for an unknown skill. It lists the available skills or the results
 * of a search and, if a skill with that name was skipped, says why.
 */
async function createUnknownSkillError(
  name: string,
  { registry: { catalog }, search, options }: ToolContext,
): Promise<Error> {
  const echo = oneLine(name.slice(0, MAX_ECHO_LENGTH));
  const skipped = describeSkipped(name, catalog, options);
  const start = `${skipped}Skill '${echo}' not found.\n\n`;
  const format = (skills: readonly Skill[]) =>
    fitList(describeSkills(skills, catalog), DEFAULT_DESCRIPTION_LIMIT);
  const skills = listModelSkills(catalog);
  if (skills.length <= MAX_LISTED_SKILLS) {
    // The wording of the contract of the tool "skill".
    return new Error(`${start}Available skills:${format(skills)}

Use the exact skill name (case-insensitive) to load a skill.`);
  }
  const found = await search.find(echo, catalog);
  const results = found.length === 0
    ? `None of these words occurs in the names, the descriptions, or the first lines of the instructions of the ${skills.length} skills.

`
    : `Search results for these words, the user's own skills first, then best match first:${
      format(found)
    }
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
  const problems = catalog.problems.filter(({ rule, file }) => {
    const isMain = basename(file).toLowerCase() === SKILL_MD.toLowerCase();
    return rule === "policy" ||
      skillKey(basename(isMain ? dirname(file) : file)) === key;
  }).slice(0, MAX_NAMED_PROBLEMS);
  const projectRoots = catalog.roots.filter(({ scope }) => scope === "project")
    .map(({ root }) => root.path);
  // Problems contain paths of this machine and text of the skill. That of a project,
  // which may be a stranger's, must not speak as the server.
  const lines = problems.map((problem) =>
    isRemote || isAtOrBelowAny(problem.file, projectRoots)
      ? findPolicyFault(catalog) ??
        "The server skipped a skill with this name. Its log says why."
      : describeProblem(problem)
  );
  return [...new Set(lines)].map((line) => `${line}\n\n`).join("");
}
