/**
 * The names of skills, qualified names, and `skill://` URIs. If `git` is a
 * skill of the project, `global:git` is the user's own skill with that name, and
 * `project:git` is another name for the first one. `tools:git` is the one in the folder
 * `tools/skills/git`, which is that of a plugin.
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 */

import { namesIn } from "../fs/paths.ts";
import {
  MAX_LENGTHS,
  normalizeText,
  oneLine,
  withoutInvisible,
} from "../text.ts";
import type { Skill, SkillCatalog } from "./types.ts";

/** The name of the main file of a skill, which is also its path in the skill. */
export const SKILL_MD = "SKILL.md";

/** Matches clean names, which nearly all are. */
const CLEAN_NAME = /^[!-%'-~]+(?: [!-%'-~]+)*$/;

/** Characters that are blank although they are not whitespace. */
const BLANKS = /[\u2800\u{13441}\u{13442}\u{1d159}]/gu;

/** Escapes of XML, even if they were escaped again. */
const XML_ESCAPES = /&(?:amp;)*(?:amp|(lt)|(gt));/g;

/**
 * Cleans a name, so that names that differ only invisibly are the same: on one line, without
 * invisible characters, in Unicode normalization form C. XML escapes are undone, because
 * models copy names from lists in XML. A text that is too long for a name becomes empty
 * at once, because cleaning it would take long.
 */
export function cleanName(name: string): string {
  if (name.length > MAX_LENGTHS.name) return "";
  if (CLEAN_NAME.test(name)) return name;
  const line = oneLine(normalizeText(name.replace(BLANKS, " ")));
  const unescaped = line.replace(
    XML_ESCAPES,
    (_, less?: string, greater?: string) => less ? "<" : greater ? ">" : "&",
  );
  const cleaned = normalizeText(unescaped);
  // A step can produce what an earlier one cleans.
  return cleaned === name ? name : cleanName(cleaned);
}

/** Joiners are visible in some scripts, but two names must differ in more than these. */
const JOINERS = /[\u200c\u200d]/g;

/** Returns the key of a name, by which skills are found: the clean name in lowercase. */
export function skillKey(name: string): string {
  if (name.length > MAX_LENGTHS.name) return "";
  if (CLEAN_NAME.test(name)) return name.toLowerCase();
  const lower = cleanName(name).replace(JOINERS, "").toLowerCase();
  return normalizeText(lower);
}

/**
 * Returns a name in the form that hosts accept: `a-z`, `0-9`, and single hyphens
 * between them. Returns `undefined` if it has letters of other alphabets.
 */
export function validName(name: string): string | undefined {
  const text = withoutInvisible(name);
  if (/[^\p{ASCII}]/u.test(text.replace(/[^\p{L}\p{N}]/gu, ""))) {
    return undefined;
  }
  const valid = text.toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return valid === "" ? undefined : valid;
}

/** The scopes, as words in names and URIs. */
export const SCOPES = ["project", "global"] as const;

/** A name with a scope. No skill's own name has this form. */
const SCOPED = /^(project|global):(.+)$/is;

/** The name of a folder for a version, which installers put around the skills of a plugin. */
const VERSION = /^v?\d+(?:\.\d+)*(?:[-+]|$)/i;

/** Returns the clean name of the plugin that a skill is in: `<plugin>/skills/<name>`. */
export function pluginOf(directory: string): string | undefined {
  const [, skills, around = "", above = ""] = namesIn(directory).reverse();
  if (skills !== "skills") return undefined;
  const plugin = cleanName(VERSION.test(around) ? above : around);
  // No prefix may only look like another one.
  const isUnusable = plugin === "" || plugin.startsWith(".") ||
    isLookalike(`${plugin}:name`);
  return isUnusable ? undefined : plugin;
}

/** A Latin letter, and a letter that looks like one: of a similar alphabet, or a script g. */
const LATIN = /\p{Script=Latin}/u;
const LIKE_LATIN =
  /[\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Cyrillic}\p{Script=Deseret}\p{Script=Greek}\p{Script=Lisu}\u0261]/u;

/** Characters that look like a colon, and are no form of one. */
const LIKE_COLON =
  /[\u02d0\u02f8\u0589\u05c3\u0703\u0704\u0903\u0a83\u16ec\u1803\u1809\u205a\u205d\u2236\ua4fd\ua789\ufe30]/g;

/**
 * Whether a name only looks like another one: a word of it has letters of alphabets that
 * look alike, a letter is another form of one in ASCII, or it seems to begin with a scope.
 */
export function isLookalike(name: string): boolean {
  const words = name.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const folded = name.normalize("NFKC").replace(/\s/g, "")
    .replace(LIKE_COLON, ":");
  const others = name.match(/[^\p{ASCII}]/gu) ?? [];
  return isScoped(folded) || others.some(isFormOfLetter) ||
    words.some((word) => LATIN.test(word) && LIKE_LATIN.test(word));
}

/** Whether a character is a compatibility form of an ASCII letter, such as a bold one. */
function isFormOfLetter(character: string): boolean {
  return /^[a-z]$/i.test(character.normalize("NFKC"));
}

/** Lists the keys of a skill's name: plain, and qualified by its scope and by its plugin. */
export function keysOf(
  { name, scope, plugin }: Pick<Skill, "name" | "scope" | "plugin">,
): string[] {
  const key = skillKey(name);
  const prefixes = plugin === undefined ? [scope] : [scope, skillKey(plugin)];
  return [key, ...prefixes.map((prefix) => `${prefix}:${key}`)];
}

export function isScoped(name: string): boolean {
  return SCOPED.test(name);
}

/** Returns the key of a text that may begin with a scope. Blanks after the scope do not count. */
export function keyOfText(text: string): string {
  const [, scope, name] = SCOPED.exec(cleanName(text)) ?? [];
  return name === undefined
    ? skillKey(text)
    : `${scope!.toLowerCase()}:${skillKey(name)}`;
}

/** Returns the key of the name by which a skill is loaded, in {@linkcode SkillCatalog.served}. */
export function servedKey({ name, prefix }: Skill): string {
  const key = skillKey(name);
  return prefix === undefined ? key : `${skillKey(prefix)}:${key}`;
}

/** Returns the name by which a skill is loaded: the qualified one, if it has a prefix. */
export function qualifiedName({ name, prefix }: Skill): string {
  return prefix === undefined ? name : `${prefix}:${name}`;
}

export function findSkill(
  text: string,
  catalog: SkillCatalog,
): Skill | undefined {
  const key = keyOfText(text);
  return catalog.names.get(key) ?? findByLastPart(key, catalog);
}

/**
 * Finds the user's skill that is named like the text after the last colon, if there is
 * only one. Finds none if the key begins with a scope, or is that of a skill that cannot
 * be loaded.
 */
function findByLastPart(
  key: string,
  { skills, shadowed, off, skipped }: SkillCatalog,
): Skill | undefined {
  const start = key.lastIndexOf(":") + 1;
  if (start === 0 || isScoped(key)) return undefined;
  const unloadable = [
    ...off,
    ...skipped.flatMap((it) => it.names.map((name) => ({ ...it, name }))),
  ];
  if (unloadable.some((it) => keysOf(it).includes(key))) return undefined;
  const last = key.slice(start);
  const found = [...skills.values(), ...shadowed.map(({ skill }) => skill)]
    .filter(({ name, scope }) => scope === "global" && skillKey(name) === last);
  return found.length === 1 ? found[0] : undefined;
}

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
  const { name, path = "" } = parsed;
  if (path.length > MAX_LENGTHS.path) return undefined;
  const skill = scope
    ? catalog.names.get(`${scope.toLowerCase()}:${skillKey(name)}`)
    : findSkill(name, catalog);
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
 * @param path The file's path relative to the skill's folder, or an empty
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
 * Creates the URI by which a file of a skill is served. In the URI of a
 * shadowed skill, the scope precedes its name, or its plugin with a colon. If the name is
 * a scope, the skill's own scope precedes it.
 *
 * @param path As {@linkcode skillUri} takes it.
 */
export function skillFileUri(skill: Skill, path: string): string {
  const { name, scope } = skill;
  const isScope = SCOPES.some((word) => word === skillKey(name));
  const prefix = skill.prefix ?? (isScope ? scope : undefined);
  if (prefix === undefined) return skillUri(name, path);
  return SCOPES.some((word) => word === prefix)
    ? skillUri(name, path).replace("//", `//${prefix}/`)
    : skillUri(qualifiedName(skill), path);
}

export function skillMdUri(skill: Skill): string {
  return skillFileUri(skill, SKILL_MD);
}
