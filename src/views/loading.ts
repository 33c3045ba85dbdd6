/** Loads a skill: finds it by its name, reads its `SKILL.md`, and formats that for the model. */

import type { CallToolResult } from "npm:@modelcontextprotocol/server@^2.4.0";
import { escapeInvisible } from "../invisible.ts";
import { log } from "../log.ts";
import { pathOnDisk } from "../skills/files.ts";
import { SKILL_MD, skillFileUri } from "../skills/names.ts";
import { findYaml } from "../skills/skill_md.ts";
import type { Skill, SkillFileContent } from "../skills/types.ts";
import { quote } from "../text.ts";
import {
  type RequestContext,
  TOOL_NAMES,
  type ToolOptions,
} from "./options.ts";
import { createTextResult, requireSize } from "./results.ts";

/** How long ago a scan may have begun to say that a name is unknown, in milliseconds. */
const UNKNOWN_NAME_AGE_MS = 100;

export interface LoadedSkill {
  readonly skill: Skill;
  /** The text of its `SKILL.md`. */
  readonly text: string;
}

/**
 * Finds a skill for the model, and reads its `SKILL.md`. If there is none with the
 * name, or if the file changed since the last scan, scans the roots first: the
 * skill may have just been added or moved, and its frontmatter may have changed.
 *
 * @throws {Error} If there is no such skill, or its `SKILL.md` cannot be read. The
 *   message is for the model, and lists the skills that there are.
 */
export async function loadSkill(
  name: string,
  { registry, options }: RequestContext,
): Promise<LoadedSkill> {
  const known = registry.find(name, { viewer: "model" });
  if (known !== undefined) {
    const file = await registry.readFile(known, SKILL_MD, { viewer: "model" })
      .catch(() => undefined);
    if (file?.version === known.fileVersion) {
      return { skill: known, text: decodeText(file) };
    }
  }
  const maxAgeMs = known === undefined ? UNKNOWN_NAME_AGE_MS : 0;
  await registry.refresh({ maxAgeMs });
  const skill = registry.find(name, { viewer: "model" });
  if (skill === undefined) {
    // Loaded on demand, because most names are known.
    const { answerUnknownName } = await import("./not_found.ts");
    throw new Error(await answerUnknownName(name, registry, options));
  }
  const text = decodeText(
    await registry.readFile(skill, SKILL_MD, { viewer: "model" }),
  );
  // An editor or an installer is writing it. The scan keeps its last state for a while.
  if (findYaml(text) === undefined) {
    throw new Error(
      `Cannot load ${
        quote(skill.name)
      }: its ${SKILL_MD} is incomplete, because it has just changed; try again in two seconds`,
    );
  }
  return { skill, text };
}

/** Returns the text of a `SKILL.md`. Bytes that are not valid UTF-8 are replaced. */
export function decodeText({ text, bytes }: SkillFileContent): string {
  return text ?? new TextDecoder().decode(bytes);
}

/** Loads a skill with a tool that returns its `SKILL.md` as it is, and notes after it. */
export async function loadWhole(
  name: string,
  context: RequestContext,
): Promise<CallToolResult> {
  const loaded = await loadSkill(name, context);
  return finishLoad(loaded, context, [
    loaded.text,
    ...noteLength(loaded, loaded.text, context),
    ...noteRemoteFiles(loaded.skill, context.options),
  ]);
}

/** Loads a skill in the form of the contract of the tool `skill`. */
export async function loadFormatted(
  name: string,
  context: RequestContext,
): Promise<CallToolResult> {
  const loaded = await loadSkill(name, context);
  return finishLoad(loaded, context, [formatLoadedSkill(loaded, context)]);
}

/** @throws {Error} If the client accepts no result of this size. */
function finishLoad(
  { skill }: LoadedSkill,
  context: RequestContext,
  texts: string[],
): CallToolResult {
  const result = createTextResult(...texts);
  requireAccepted(result, skill, SKILL_MD, context);
  logLoad(skill, "with a tool", context);
  return result;
}

/** @throws {Error} If the client accepts no result with a file of this size. */
export function requireAccepted(
  content: unknown,
  skill: Skill,
  path: string,
  { options, profile }: RequestContext,
): void {
  const place = quote(placeOf(skill, path, options));
  const instead = `open ${place} with another tool`;
  requireSize(content, quote(path), instead, profile.maxResultSize);
}

/**
 * Formats a skill as the contract of the tool `skill` does. The text begins with the
 * skill's directory, because the instructions may refer to files in it.
 *
 * @param input The arguments of the skill's own prompt, which follow the text.
 */
export function formatLoadedSkill(
  loaded: LoadedSkill,
  context: RequestContext,
  input = "",
): string {
  const { skill, text } = loaded;
  const directory = escapeInvisible(dirPlaceOf(skill, context.options));
  const start = [`Loading: ${skill.name}`, `Base directory: ${directory}`];
  const notes = noteRemoteFiles(skill, context.options);
  const end = text.endsWith("\n") ? "" : "\n";
  const rest = `\n\n${text}` +
    (input === "" ? "" : `${end}\nARGUMENTS: ${input}`);
  const whole = [...start, ...notes].join("\n") + rest;
  const length = noteLength(loaded, whole, context);
  return [...start, ...length, ...notes].join("\n") + rest;
}

/** Where the directory of a skill is: a path, or a URI. */
export function dirPlaceOf(skill: Skill, { isRemote }: ToolOptions): string {
  return isRemote ? skillFileUri(skill, "") : skill.directory;
}

/** Where a file of a skill is: a path, or a URI. */
export function placeOf(
  skill: Skill,
  path: string,
  { isRemote }: ToolOptions,
): string {
  return isRemote ? skillFileUri(skill, path) : pathOnDisk(skill, path);
}

/**
 * Tells the model where to read the rest of a `SKILL.md`, if the client is known to cut
 * the result.
 */
function noteLength(
  { skill, text }: LoadedSkill,
  result: string,
  { profile, options }: RequestContext,
): string[] {
  const size = profile.countsBytes
    ? new TextEncoder().encode(result).length
    : result.length;
  if (size <= profile.keepsResultsTo) return [];
  const kind = options.isRemote ? "the resource " : "";
  const place = escapeInvisible(placeOf(skill, SKILL_MD, options));
  return [
    `Length: ${text.length} characters. If a part is cut out here, read it in ${kind}${place}`,
  ];
}

/** Tells the model how to read the other files of a skill, if they are on another machine. */
function noteRemoteFiles(
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

/** Logs that a client loaded a skill, if `--log-loads` asks for it. */
export function logLoad(
  skill: Skill,
  way: string,
  { clientName, sender, options }: RequestContext,
): void {
  if (!options.logLoads) return;
  const time = new Date().toISOString();
  const who = clientName === undefined
    ? "an unnamed client"
    : quote(clientName);
  const where = sender === undefined ? "" : ` at ${sender}`;
  const what = `the ${skill.scope} skill ${quote(skill.name)}`;
  log(`${time} ${who}${where} loaded ${what} ${way}`);
}
