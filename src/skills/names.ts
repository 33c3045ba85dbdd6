/**
 * The names of skills, and their `skill://` URIs. If a skill has the name of an earlier
 * one, its name is qualified: by its scope, as in `global:git`, or by its plugin, as in
 * `office:pdf` for `office/skills/pdf`. `src/mcp/resolve.ts` says what a name loads.
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 */

import { namesIn } from "../fs/paths.ts";
import { MAX_LENGTHS, normalizeText, oneLine } from "../text.ts";
import type { Skill } from "./types.ts";

/** The name of the main file of a skill, which is also its path in the skill. */
export const SKILL_MD = "SKILL.md";

/** Matches clean names, which nearly all are. */
const CLEAN_NAME = /^[!-%'-~]+(?: [!-%'-~]+)*$/;

/** Escapes of XML, even if they were escaped again. */
const XML_ESCAPES = /&(?:amp;)*(?:amp|(lt)|(gt));/g;

/**
 * Cleans a name: on one line, without invisible characters, in Unicode normalization
 * form C. Escapes of XML are undone, because models copy names from lists in XML. A
 * text that is too long for a name becomes empty.
 */
export function cleanName(name: string): string {
  if (name.length > MAX_LENGTHS.name) return "";
  if (CLEAN_NAME.test(name)) return name;
  const unescaped = name.replace(
    XML_ESCAPES,
    (_, less?: string, greater?: string) => less ? "<" : greater ? ">" : "&",
  );
  const cleaned = normalizeText(oneLine(unescaped));
  // A step can produce what an earlier one cleans.
  return cleaned === name ? name : cleanName(cleaned);
}

/** Returns the key of a name, by which skills are found: the clean name in lowercase. */
export function skillKey(name: string): string {
  return normalizeText(cleanName(name).toLowerCase());
}

/** The scopes, as words in names. */
export const SCOPES = ["project", "global"] as const;

/** Whether a name begins with a scope. No skill's own name does. */
export function isScoped(name: string): boolean {
  return /^(?:project|global):/i.test(name);
}

/**
 * Returns the clean name of the plugin that a skill is in: the directory around
 * `skills`, as in `<plugin>/skills/<name>`. One that is named like a scope qualifies
 * nothing.
 */
export function pluginOf(directory: string): string | undefined {
  const [, skills, around = ""] = namesIn(directory).reverse();
  if (skills !== "skills") return undefined;
  const plugin = cleanName(around);
  const isUnusable = plugin === "" || plugin.startsWith(".") ||
    isScoped(`${plugin}:`);
  return isUnusable ? undefined : plugin;
}

/** Lists the keys of a skill's name: plain, and qualified by its scope and by its plugin. */
export function keysOf(
  { name, scope, plugin }: Pick<Skill, "name" | "scope" | "plugin">,
): string[] {
  const prefixes = plugin === undefined ? [scope] : [scope, plugin];
  return [name, ...prefixes.map((prefix) => `${prefix}:${name}`)].map(skillKey);
}

/** Returns the name by which a skill is loaded: the qualified one, if it has a prefix. */
export function qualifiedName({ name, prefix }: Skill): string {
  return prefix === undefined ? name : `${prefix}:${name}`;
}

/** Returns the key of the name by which a skill is loaded, in {@linkcode SkillCatalog.served}. */
export function servedKey(skill: Skill): string {
  return skillKey(qualifiedName(skill));
}

/**
 * Creates the URI of a file of a skill, `skill://<name>/<path>`, or of the
 * skill itself if there is no path.
 *
 * ```ts
 * import { parseSkillUri, skillUri } from "@skill-server/skill-server";
 *
 * const uri = skillUri("pdf", "reference/forms & fields.md");
 * if (uri !== "skill://pdf/reference/forms%20%26%20fields.md") throw new Error(uri);
 * console.log(parseSkillUri(uri)); // { name: "pdf", path: "reference/forms & fields.md" }
 * ```
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 *
 * @param name The skill's name. It may contain any characters.
 * @param path The file's path relative to the skill's directory, or an empty
 *   string for the collection of all files.
 * @returns The URI. The skill's name and each segment of the path are percent-encoded.
 */
export function skillUri(name: string, path?: string): string {
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  const rest = path === undefined
    ? ""
    : `/${path.split("/").map(encode).join("/")}`;
  return `skill://${encode(name)}${rest}`;
}

/**
 * Parses a URI that {@linkcode skillUri} created. Each file has exactly one
 * URI, so a path with `.`, `..`, or empty segments is invalid.
 *
 * @param uri The text to parse.
 * @returns The skill's name and the path (`undefined` for the skill itself,
 *   empty for the collection of all files), or `undefined` if the text is not
 *   such a URI.
 */
export function parseSkillUri(
  uri: string,
): { name: string; path: string | undefined } | undefined {
  if (uri.length > MAX_LENGTHS.uri) return undefined;
  const [, name, path] = /^skill:\/\/([^/?#]*)(?:\/([^?#]*))?$/.exec(uri) ?? [];
  if (!name) return undefined;
  try {
    const segments = path?.split("/").map(decodeURIComponent);
    const isValid = !path ||
      segments!.every((segment) =>
        !["", ".", ".."].includes(segment) && !segment.includes("/")
      );
    if (!isValid) return undefined;
    return { name: decodeURIComponent(name), path: segments?.join("/") };
  } catch {
    return undefined;
  }
}

/**
 * Creates the URI by which a file of a skill is served, with its qualified name.
 *
 * @param path As {@linkcode skillUri} takes it.
 */
export function skillFileUri(skill: Skill, path: string): string {
  return skillUri(qualifiedName(skill), path);
}

export function skillMdUri(skill: Skill): string {
  return skillFileUri(skill, SKILL_MD);
}
