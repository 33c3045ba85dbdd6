/**
 * Finds and reads skills and their files for the tools, and formats what the
 * tools return.
 *
 * @module
 */

import { isAbsolute, relative } from "jsr:@std/path@^1";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { resourceContents } from "../files/media_types.ts";
import { isAtOrBelow, SKILL_MD } from "../files/paths.ts";
import {
  IS_A_FOLDER,
  LINK_OUT_OF_SKILL,
  LINK_TO_NOTHING,
  SkillFileError,
} from "../files/faults.ts";
import { splitPath } from "../files/served_folder.ts";
import { readTogether } from "./read_together.ts";
import { isForModel } from "./skill_lists.ts";
import {
  createUnknownSkillError,
  type SkillsForModel,
} from "./unknown_skill.ts";
import { skillFileUri } from "../skills/uri.ts";
import { quote, unescapeXml } from "../text.ts";
import type {
  Problem,
  Skill,
  SkillFileContent,
  SkillSource,
} from "../skills/types.ts";

/** What tools read, the model sees. */
const MODEL = { forModel: true };

/** The time between two scans because of unknown names, in milliseconds. */
const UNKNOWN_NAME_INTERVAL_MS = 100;

/** The maximum number of files that a message names. */
const MAX_NAMED_FILES = 20;

/** The reasons why links are left out. */
const LINK_REASONS = [LINK_OUT_OF_SKILL.reason, LINK_TO_NOTHING.reason];

/**
 * Finds a skill for the model.
 *
 * @throws {Error} If the skill is unknown. The message is for the model.
 */
export async function requireSkill(
  name: string,
  skills: SkillsForModel,
): Promise<Skill> {
  return (await findCurrent(name, skills)).skill;
}

/**
 * Finds a skill for the model, and reads its `SKILL.md`. If there is none with the
 * name, or if the file changed since the last scan, scans the roots instead: the
 * skill may have just been added or moved, and its frontmatter may have changed.
 */
async function findCurrent(
  name: string,
  skills: SkillsForModel,
): Promise<{ skill: Skill; file?: SkillFileContent }> {
  const { registry } = skills;
  const known = findForModel(name, registry);
  const file = known &&
    await registry.readFile(known, SKILL_MD, MODEL).catch(() => undefined);
  if (file !== undefined && file.version === known?.version) {
    return { skill: known, file };
  }
  const minIntervalMs = known === undefined ? UNKNOWN_NAME_INTERVAL_MS : 0;
  await registry.refresh({ minIntervalMs });
  const skill = findForModel(name, registry);
  if (skill !== undefined) return { skill };
  throw await createUnknownSkillError(name, skills);
}

function findForModel(name: string, registry: SkillSource): Skill | undefined {
  const skill = registry.find(name) ?? registry.find(unescapeXml(name));
  return skill && isForModel(skill) ? skill : undefined;
}

/**
 * Reads the current `SKILL.md` of a skill.
 *
 * @throws {Error} If there is no such skill, or if its `SKILL.md` cannot be
 *   read. The message is for the model.
 */
export async function readSkillText(
  name: string,
  skills: SkillsForModel,
): Promise<{ skill: Skill; text: string }> {
  const { skill, file } = await findCurrent(name, skills);
  const { text, bytes } = file ??
    await skills.registry.readFile(skill, SKILL_MD, MODEL);
  return { skill, text: text ?? new TextDecoder().decode(bytes) };
}

export async function loadSkill(
  name: string,
  skills: SkillsForModel,
): Promise<CallToolResult> {
  return createTextResult((await readSkillText(name, skills)).text);
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
  if (path.startsWith(uri)) {
    const rest = path.slice(uri.length);
    try {
      return decodeURIComponent(rest);
    } catch {
      // The model did not encode it.
      return rest;
    }
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
    const isFolder = error instanceof SkillFileError &&
      error.reason === IS_A_FOLDER.reason;
    if (isFolder) return await readFolder(skill, path, registry);
    const { message } = error as Error;
    const { files } = await registry.inspectFiles(skill, MODEL);
    const names = shorten(files.map(({ path }) => quote(path)));
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
  const name = quote(skill.name);
  const list = paths.length > 0
    ? `Files of the skill ${name}:\n\n- ${paths.join("\n- ")}`
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
  const content = await readTogether(inFolder, async (file) => {
    const item = await readContent(skill, file.path, registry);
    if (item.type === "text") item.text = `--- ${file.path} ---\n${item.text}`;
    return item;
  });
  const texts = describeLeftOut(
    leftOut.filter(({ file }) => file.startsWith(prefix)),
  );
  if (inFolder.length === 0) {
    const state = texts.length > 0 ? "has no readable files" : "is empty";
    texts.unshift(`The folder ${quote(folder)} ${state}`);
  }
  for (const text of texts) content.push({ type: "text", text });
  return { content };
}

/** Returns a text that lists the entries that are left out, or no text if there are none. */
function describeLeftOut(leftOut: readonly Problem[]): string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.map(({ file, reason }) => {
    // Whether the target of a link exists stays hidden.
    const shown = LINK_REASONS.includes(reason)
      ? "it is a link that does not point to a file of the skill"
      : reason;
    return `${quote(file || ".")}: ${shown}`;
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

export function createTextResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}
