/**
 * The names of skills and their `skill://` URIs. If an earlier skill has the same name,
 * a skill gets a qualified name: with its scope, as in `global:git`, or with its plugin,
 * as in `office:pdf` for `office/skills/pdf`. `lookup.ts` looks up names.
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 */

import { namesIn } from "../fs/paths.ts";
import { MAX_LENGTHS, normalizeText, oneLine } from "../text.ts";
import type { Skill } from "./types.ts";

/** The name of a skill's main file, and its path in the skill. */
export const SKILL_MD = "SKILL.md";

/** Matches most clean names, to skip the slow path. */
const CLEAN_NAME = /^[!-%'-~]+(?: [!-%'-~]+)*$/;

/** XML escapes, including repeatedly escaped ones. */
const XML_ESCAPES = /&(?:amp;)*(?:amp|(lt)|(gt));/g;

/**
 * Cleans a name: puts it on one line, removes invisible characters, and normalizes it to
 * NFC. Undoes XML escapes, because models copy names from XML lists. A name that is too
 * long becomes empty.
 */
export function cleanName(name: string): string {
  if (name.length > MAX_LENGTHS.name) return "";
  if (CLEAN_NAME.test(name)) return name;
  const unescaped = name.replace(
    XML_ESCAPES,
    (_, less?: string, greater?: string) => less ? "<" : greater ? ">" : "&",
  );
  const cleaned = normalizeText(oneLine(unescaped));
  // One step can create input for an earlier one.
  return cleaned === name ? name : cleanName(cleaned);
}

/** Matches names that are their own keys, as most are. */
const KEY = /^[a-z\d-]{1,64}$/;

/** Returns the lookup key of a name: the clean name in lowercase. */
export function skillKey(name: string): string {
  if (KEY.test(name)) return name;
  return normalizeText(cleanName(name).toLowerCase());
}

/** The scopes, as words in names. */
export const SCOPES = ["project", "global"] as const;

/** A name that begins with a scope: the scope, and the rest. */
export const SCOPED = /^(project|global):(.*)$/is;

/** Whether a name begins with a scope. The plain name of a skill must not. */
export function isScoped(name: string): boolean {
  return SCOPED.test(name);
}

/** Matches versions, such as `5.0.1`. */
const VERSION = /^v?\d+(?:\.\d+)+(?:[-+][\w.+-]*)?$/;

/**
 * Returns the clean name of a skill's plugin: the directory above `skills` in
 * `<plugin>/skills/<name>`, or the one above that in `<plugin>/<version>/skills/<name>`,
 * unless it is the name of a scope.
 */
export function pluginOf(directory: string): string | undefined {
  const [, skills, around = "", above = ""] = namesIn(directory).reverse();
  if (skills !== "skills") return undefined;
  const plugin = cleanName(VERSION.test(around) ? above : around);
  const isUnusable = plugin === "" || plugin.startsWith(".") ||
    isScoped(`${plugin}:`);
  return isUnusable ? undefined : plugin;
}

/** Replaces white space, because Claude Code cannot invoke a prompt whose name has any. */
export function toPromptName(name: string): string {
  return name.replace(/\s/g, "-");
}

/** Returns the name that loads a skill: qualified, if it has a prefix. */
export function qualifiedName({ name, prefix }: Skill): string {
  return prefix === undefined ? name : `${prefix}:${name}`;
}

/** Returns the key of a skill in {@linkcode SkillCatalog.served}. */
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
 * // { name: "pdf", path: "reference/forms & fields.md" }
 * console.log(parseSkillUri(uri));
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

/** Creates the URI of a file of a skill, with the skill's qualified name. */
export function skillFileUri(skill: Skill, path: string): string {
  return skillUri(qualifiedName(skill), path);
}

export function skillMdUri(skill: Skill): string {
  return skillFileUri(skill, SKILL_MD);
}
