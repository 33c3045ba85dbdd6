/** Loads skills for the model: their `SKILL.md`, their files, and the lists of these. */

import type { CallToolResult } from "npm:@modelcontextprotocol/server@^2.4.0";
import { attempt } from "../attempt.ts";
import { mediaTypeOfName, resourceContents } from "../fs/media_types.ts";
import { isAbsolute, isAtOrBelow, join, relative } from "../fs/paths.ts";
import { isForModel } from "../policy/states.ts";
import type { Diagnostic } from "../diagnostics.ts";
import type { RequestContext } from "./requests.ts";
import { splitPath } from "../skills/files.ts";
import { totalSize } from "../skills/limits.ts";
import {
  parseSkillUri,
  SKILL_MD,
  skillFileUri,
  skillMdUri,
} from "../skills/names.ts";
import type {
  Skill,
  SkillFile,
  SkillFileContent,
  SkillSource,
} from "../skills/types.ts";
import { escapeInvisible, log, quote } from "../text.ts";
import { inTurns } from "../tasks.ts";
import { TOOL_NAMES, type ToolOptions } from "./options.ts";
import {
  isCut,
  MAX_RESULT_SIZE,
  maxResultSize,
  type ResultReader,
  sizeUpTo,
} from "./results.ts";

/** Whatever the tools read is for the model. */
const MODEL = { forModel: true };

/** The time between two scans because of unknown names, in milliseconds. */
const UNKNOWN_NAME_INTERVAL_MS = 100;

export type Requester = Pick<RequestContext, "client" | "sender">;

export interface ToolContext extends RequestContext {
  readonly registry: SkillSource;
  readonly options: ToolOptions;
}

/**
 * Calls a function with the skill of a name and the text of its `SKILL.md`. If there is
 * no such skill for the model, returns an answer that says which ones there are.
 *
 * @throws {Error} If its `SKILL.md` cannot be read. The message is for the model.
 */
export async function withSkill(
  name: string,
  context: ToolContext,
  use: (skill: Skill, text: string) => CallToolResult | Promise<CallToolResult>,
): Promise<CallToolResult> {
  const { registry, options } = context;
  const found = await findWithText(name, registry);
  if (found !== undefined) return await use(found.skill, found.text);
  // Loaded on demand, because most names are known.
  const { answerUnknownName } = await import("./not_found.ts");
  const { catalog } = registry;
  const text = await answerUnknownName(name, catalog, options);
  return { ...createTextResult(text), isError: true };
}

/**
 * Finds a skill for the model, and reads its `SKILL.md`. If there is none with the
 * name, or if the file changed since the last scan, scans the roots first: the
 * skill may have just been added or moved, and its frontmatter may have changed.
 */
async function findWithText(
  name: string,
  registry: SkillSource,
): Promise<{ skill: Skill; text: string } | undefined> {
  const known = findForModel(name, registry);
  const file = known === undefined
    ? undefined
    : await registry.readFile(known, SKILL_MD, MODEL).catch(() => undefined);
  if (known !== undefined && file?.version === known.fileVersion) {
    return { skill: known, text: decodeText(file) };
  }
  const minIntervalMs = known === undefined ? UNKNOWN_NAME_INTERVAL_MS : 0;
  await registry.refresh({ minIntervalMs });
  const skill = findForModel(name, registry);
  if (skill === undefined) return undefined;
  const current = await registry.readFile(skill, SKILL_MD, MODEL);
  return { skill, text: decodeText(current) };
}

function findForModel(name: string, registry: SkillSource): Skill | undefined {
  const skill = registry.find(name);
  return skill !== undefined && isForModel(skill) ? skill : undefined;
}

/** Returns the text of a `SKILL.md`. Bytes that are not valid UTF-8 are replaced. */
export function decodeText({ text, bytes }: SkillFileContent): string {
  return text ?? new TextDecoder().decode(bytes);
}

export function logLoad(
  skill: Skill,
  way: string,
  { client, sender, options: { logLoads } }:
    & Requester
    & Pick<ToolContext, "options">,
): void {
  if (!logLoads) return;
  const time = new Date().toISOString();
  const who = client === undefined ? "an unnamed client" : quote(client);
  const where = sender === undefined ? "" : ` at ${sender}`;
  const what = `the ${skill.scope} skill ${quote(skill.name)}`;
  log(`${time} ${who}${where} loaded ${what} ${way}`);
}

/** How the model refers to the directory of a skill: by its path or its URI. */
export function directoryOf(
  skill: Skill,
  { isRemote }: ToolOptions,
): string {
  return isRemote ? skillFileUri(skill, "") : skill.directory;
}

/**
 * Formats the text of a `SKILL.md`. It begins with the skill's directory, because the
 * instructions may refer to files in it.
 *
 * @param reader.input The arguments of the skill's own prompt, which follow the text.
 */
export function formatLoadedSkill(
  skill: Skill,
  text: string,
  reader: ResultReader & { input?: string | undefined },
): string {
  const { options, input } = reader;
  const lines = [
    `Loading: ${skill.name}`,
    `Base directory: ${escapeInvisible(directoryOf(skill, options))}`,
    ...formatLength(skill, text, reader),
    ...formatRemoteFiles(skill, options),
  ];
  const end = input
    ? `${text.endsWith("\n") ? "" : "\n"}\nARGUMENTS: ${input}`
    : "";
  return `${lines.join("\n")}\n\n${text}${end}`;
}

/**
 * Says in one line how long a `SKILL.md` is and where it is, for a client that is known
 * to cut results of this length.
 */
function formatLength(
  skill: Skill,
  text: string,
  reader: ResultReader,
): string[] {
  if (!isCut(text, reader)) return [];
  const place = reader.options.isRemote
    ? `the resource ${skillMdUri(skill)}`
    : escapeInvisible(skill.file);
  return [
    `Length: ${text.length} characters. If a part is cut out here, read it in ${place}`,
  ];
}

/** Says in one line how to read the files of a skill that are on another machine. */
function formatRemoteFiles(
  skill: Skill,
  { isRemote, toolset }: ToolOptions,
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

export async function loadWhole(
  name: string,
  context: ToolContext,
): Promise<CallToolResult> {
  return await withSkill(name, context, (skill, text) => {
    logLoad(skill, "with a tool", context);
    const lines = [
      ...formatLength(skill, text, context),
      ...formatRemoteFiles(skill, context.options),
    ];
    return createTextResult(text, ...lines);
  });
}

export function createTextResult(...texts: string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

/** @throws {Error} If the file cannot be read, or the client accepts no result of its size. */
export async function readContent(
  skill: Skill,
  path: string,
  context: ToolContext,
): Promise<CallToolResult["content"][number]> {
  const file = await context.registry.readFile(skill, path, MODEL);
  const isText = mediaTypeOfName(file.path)?.startsWith("text/");
  if (file.text === undefined && isText) {
    throw new Error(
      `Cannot read ${
        quote(file.path)
      }: it is a text, but not UTF-8; ask the user to save it as UTF-8`,
    );
  }
  const uri = skillFileUri(skill, file.path);
  const content = file.text === undefined
    ? { type: "resource" as const, resource: resourceContents(uri, file) }
    : { type: "text" as const, text: file.text };
  const limit = maxResultSize(context);
  const size = sizeUpTo(limit, content);
  if (size <= limit) return content;
  const place = context.options.isRemote ? uri : join(skill.directory, path);
  throw new Error(
    `Cannot return ${
      quote(file.path)
    }: as JSON, it has ${size} bytes, and the client accepts ${limit}; open ${
      quote(place)
    } in another way`,
  );
}

/**
 * Makes an absolute path or a URI relative to the skill's directory. The model
 * knows that directory, and some models pass absolute paths. Clients on other machines
 * do not know it.
 */
export function pathInSkill(
  path: string,
  skill: Skill,
  { isRemote = false }: ToolOptions,
): string {
  const uri = skillFileUri(skill, "");
  if (path.startsWith(uri)) {
    // The URI may contain the scope of the skill, which is not part of its name.
    return parseSkillUri(path.replace(uri, "skill://name/"))?.path ?? path;
  }
  if (isRemote || !isAbsolute(path)) return path;
  const { directory, realDirectory, file } = skill;
  if (path === file) return SKILL_MD;
  const base = [directory, realDirectory].find((dir) => isAtOrBelow(path, dir));
  return base === undefined ? path : relative(base, path);
}

/**
 * Reads a path as it is written, or else as a model may mean it. If that fails, too,
 * the first error is thrown.
 */
export async function readAsMeant<T>(
  path: string,
  read: (path: string) => Promise<T>,
): Promise<T> {
  try {
    return await read(path);
  } catch (error) {
    const meant = meantPath(path);
    if (meant === undefined || meant === path) throw error;
    return await read(meant).catch(() => {
      throw error;
    });
  }
}

/** Returns a path without a fragment, percent-encoding, backslashes, and a slash before it. */
function meantPath(path: string): string | undefined {
  const [beforeFragment = ""] = path.split("#", 1);
  const decoded = attempt(() => decodeURIComponent(beforeFragment));
  return decoded?.replaceAll("\\", "/").replace(/^\//, "");
}

/** Reads a file, reads all files of a directory, or lists the files if the path is empty. */
export async function readPath(
  skill: Skill,
  path: string,
  context: ToolContext,
): Promise<CallToolResult> {
  if (path.trim() === "") return await listFilesOf(skill, context.registry);
  try {
    return { content: [await readContent(skill, path, context)] };
  } catch (error) {
    const result = await readDir(skill, path, context);
    if (result === undefined) throw error;
    return result;
  }
}

async function readDir(
  skill: Skill,
  path: string,
  context: ToolContext,
): Promise<CallToolResult | undefined> {
  const prefix = [...splitPath(path) ?? [path], ""].join("/");
  const { files, leftOut } = await context.registry.listFiles(skill, MODEL);
  const inDir = files.filter((file) => file.path.startsWith(prefix));
  if (inDir.length === 0) return undefined;
  const content = await readTogether(inDir, async (file) => {
    // One file that cannot be read hides none of the others.
    const item = await readContent(skill, file.path, context)
      .catch(({ message }: Error) => ({
        type: "text" as const,
        text: message,
      }));
    if (item.type === "text") {
      item.text = `--- ${escapeInvisible(file.path)} ---\n${item.text}`;
    }
    return item;
  }, maxResultSize(context));
  const missing = leftOut.filter(({ file }) => file.startsWith(prefix));
  const note = formatLeftOut(missing);
  if (note !== "") content.push({ type: "text", text: note });
  return { content };
}

async function listFilesOf(
  skill: Skill,
  registry: SkillSource,
): Promise<CallToolResult> {
  const { files, leftOut } = await registry.listFiles(skill, MODEL);
  const paths = files.map(({ path }) => escapeInvisible(path)).join("\n- ");
  const list = `Files of the skill ${quote(skill.name)}:\n\n- ${paths}`;
  const note = formatLeftOut(leftOut);
  return createTextResult(note === "" ? list : `${list}\n\n${note}`);
}

const MAX_NAMED_ENTRIES = 20;

/**
 * Names the entries that are left out, and why. A link that leads outside the skill is
 * not named, as if it did not exist.
 */
function formatLeftOut(diagnostics: readonly Diagnostic[]): string {
  const named = diagnostics.filter(({ rule }) => !rule.startsWith("link-"));
  if (named.length === 0) return "";
  const lines = named.slice(0, MAX_NAMED_ENTRIES)
    .map(({ file, reason }) => `- ${quote(file)}: ${reason}`);
  const more = named.length - lines.length;
  if (more > 0) lines.push(`(and ${more} more)`);
  return `Left out:\n\n${lines.join("\n")}`;
}

/**
 * Reads files for one result.
 *
 * @param limit The largest result, in bytes of JSON. Files take at least their size.
 * @throws {Error} If the result would be larger.
 */
export async function readTogether<T>(
  files: readonly SkillFile[],
  read: (file: SkillFile) => Promise<T>,
  limit: number = MAX_RESULT_SIZE,
): Promise<T[]> {
  requireTogether(files, totalSize(files), limit);
  const contents: T[] = [];
  for await (const file of inTurns(files)) contents.push(await read(file));
  requireTogether(files, sizeUpTo(limit, contents), limit);
  return contents;
}

function requireTogether(
  files: readonly SkillFile[],
  size: number,
  limit: number,
): void {
  if (size <= limit) return;
  const names = files.slice(0, MAX_NAMED_ENTRIES)
    .map(({ path }) => quote(path)).join(", ");
  const more = files.length - MAX_NAMED_ENTRIES;
  const list = more > 0 ? `${names}, and ${more} more` : names;
  throw new Error(
    `Cannot return ${files.length} files at once: as JSON, they have ${size} bytes, and the client accepts ${limit}; read them one by one: ${list}`,
  );
}
