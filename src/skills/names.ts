/**
 * What skills are called: their `skill://` URIs and qualified names. If `git` is a
 * skill of the project, `global:git` is the user's own skill with that name, and
 * `project:git` is another name for the first one.
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 *
 * @module
 */

import { SKILL_MD } from "../files/paths.ts";
import { oneLine, skillKey } from "../text.ts";
import type { Skill, SkillCatalog, SkillScope } from "./types.ts";

/** A name that begins with a scope. */
const SCOPED_NAME = /^(project|global):(.+)$/s;

/** Whether the key of a plain name could be taken for that of a qualified one. */
export function isScopedKey(key: string): boolean {
  return SCOPED_NAME.test(key);
}

/** Returns the name by which a skill is loaded: the qualified one, if it has a prefix. */
export function qualifiedName({ name, prefix }: Skill): string {
  return prefix === undefined ? name : `${prefix}:${oneLine(name)}`;
}

/**
 * Finds a skill by its plain or qualified name. A name that begins with a scope
 * always means the first skill of that scope.
 */
export function findSkill(
  name: string,
  catalog: SkillCatalog,
): Skill | undefined {
  const key = skillKey(name);
  const [, scope, rest] = SCOPED_NAME.exec(key) ?? [];
  return scope === undefined
    ? catalog.skills.get(key)
    : findInScope(scope as SkillScope, { key: rest!, catalog });
}

/** Finds the first skill of a scope. */
function findInScope(
  scope: SkillScope,
  { key, catalog }: { key: string; catalog: SkillCatalog },
): Skill | undefined {
  const first = catalog.skills.get(key);
  return first?.scope === scope ? first : catalog.served.get(`${scope}:${key}`);
}

/** A URI that begins with a scope, and what follows it. */
const SCOPED_URI = /^skill:\/\/(project|global)\/(.+)$/is;

/**
 * Finds the skill that a `skill://` URI refers to, and the path in the skill. The path
 * is `undefined` for the skill itself, and empty for the collection of its files.
 */
export function findResource(
  uri: string,
  catalog: SkillCatalog,
): { skill: Skill; path: string | undefined } | undefined {
  const [, scope, rest] = SCOPED_URI.exec(uri) ?? [];
  const parsed = parseSkillUri(scope ? `skill://${rest}` : uri);
  if (parsed === undefined) return undefined;
  const key = skillKey(parsed.name);
  const skill = scope
    ? findInScope(skillKey(scope) as SkillScope, { key, catalog })
    : catalog.skills.get(key);
  return skill && { skill, path: parsed.path };
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
 * @param path The file's path relative to the skill directory, or an empty
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

/** The maximum length of a URI, in characters. The URI of any name and path is shorter. */
const MAX_URI_LENGTH = 1024 * 1024;

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
  if (uri.length > MAX_URI_LENGTH) return undefined;
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
 * Creates the URI by which a file of a skill is served. In the URI of a
 * shadowed skill, the skill's prefix precedes its name. If the name is a scope,
 * the skill's own scope precedes it.
 *
 * @param skill The skill.
 * @param path The file's path relative to the skill directory, or an empty
 *   string for the collection of all files.
 */
export function skillFileUri(skill: Skill, path: string): string {
  const { name, scope } = skill;
  const isScope = ["project", "global"].includes(skillKey(name));
  const prefix = skill.prefix ?? (isScope ? scope : undefined);
  const uri = skillUri(name, path);
  return prefix ? uri.replace("//", `//${prefix}/`) : uri;
}

export function skillMdUri(skill: Skill): string {
  return skillFileUri(skill, SKILL_MD);
}
