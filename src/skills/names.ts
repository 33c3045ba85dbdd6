/**
 * What skills are called: their `skill://` URIs and qualified names. If `git` is a
 * skill of the project, `global:git` is the user's own skill with that name, and
 * `project:git` is another name for the first one.
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 *
 * @module
 */

import { escapeXml, oneLine, shownName, skillKey } from "../text.ts";
import type { Skill, SkillCatalog, SkillScope } from "./types.ts";

/** The name of the main file of a skill, which is also its path in the skill. */
export const SKILL_MD = "SKILL.md";

/** A name that begins with a scope. */
const SCOPED_NAME = /^(project|global):(.+)$/s;

/** Whether the key of a plain name could be taken for that of a qualified one. */
export function isScopedKey(key: string): boolean {
  return SCOPED_NAME.test(key);
}

/** Splits the key of a text that may be a qualified name into the scope and the key of the name. */
export function splitKey(
  key: string,
): { scope: SkillScope; key: string } | undefined {
  const [, scope, rest] = SCOPED_NAME.exec(key) ?? [];
  return scope === undefined
    ? undefined
    : { scope: scope as SkillScope, key: skillKey(rest!) };
}

/** Returns the key of the name by which a skill is loaded, in {@linkcode SkillCatalog.served}. */
export function servedKey({ name, prefix }: Skill): string {
  const key = skillKey(name);
  return prefix === undefined ? key : `${prefix}:${key}`;
}

/** Returns the name by which a skill is loaded: the qualified one, if it has a prefix. */
export function qualifiedName({ name, prefix }: Skill): string {
  return prefix === undefined ? name : `${prefix}:${oneLine(name)}`;
}

/**
 * Finds a skill by a text: its exact name, its qualified name, or the form in which a
 * list shows one of these. If the text means several skills, the user's own precede the
 * project's, then exact names precede qualified ones, and these precede shown forms. So no
 * name in a project stands before a name of the user's. Of skills with the same exact
 * name, the one that holds it is meant.
 */
export function findSkill(
  text: string,
  catalog: SkillCatalog,
): Skill | undefined {
  const key = skillKey(text);
  const parts = splitKey(key);
  const exact = catalog.skills.get(key);
  const qualified = parts && findInScope(parts.scope, parts.key, catalog);
  const shown = shownForms(catalog).get(key) ?? [];
  const meant = [exact, qualified, ...shown].filter((it) => it !== undefined);
  return meant.find((skill) => skill.scope === "global") ?? meant[0];
}

/** Finds the first skill of a scope by the key of its name. */
function findInScope(
  scope: SkillScope,
  key: string,
  { skills, served }: SkillCatalog,
): Skill | undefined {
  const holder = skills.get(key);
  return served.get(`${scope}:${key}`) ??
    (holder?.scope === scope ? holder : undefined);
}

/** The skills of each catalog whose names lists show in other forms, by the keys of the forms. */
const formsOf = new WeakMap<SkillCatalog, Map<string, Skill[]>>();

/** Returns the forms of names in a catalog that differ from the names. */
function shownForms(catalog: SkillCatalog): Map<string, Skill[]> {
  const known = formsOf.get(catalog);
  if (known !== undefined) return known;
  const forms = new Map<string, Skill[]>();
  for (const skill of catalog.served.values()) {
    const name = oneLine(skill.name);
    const qualified = `${skill.scope}:${name}`;
    // Nearly all names are shown as they are.
    if (escapeXml(shownName(qualified)) === qualified) continue;
    for (const written of [name, qualified]) {
      const shown = shownName(written);
      for (const key of [shown, escapeXml(shown)].map(skillKey)) {
        if (key !== skillKey(written)) {
          forms.set(key, [...forms.get(key) ?? [], skill]);
        }
      }
    }
  }
  formsOf.set(catalog, forms);
  return forms;
}

/** How a list shows a skill. */
interface ListedNameOptions {
  /** Whether the name is to say whom the skill comes from. Default: `false`. */
  readonly isQualified?: boolean;
  /** Writes a name in the language of the list. Default: as it is. */
  readonly write?: (name: string) => string;
}

/**
 * Returns the name by which a list shows a skill: the first of its names that loads it,
 * both as it is and as the list writes it. Returns `undefined` if there is none.
 */
export function listedName(
  skill: Skill,
  catalog: SkillCatalog,
  { isQualified = false, write = (name) => name }: ListedNameOptions = {},
): string | undefined {
  const { name, scope } = skill;
  const loads = (text: string) => findSkill(text, catalog) === skill;
  for (const isLong of [isQualified, !isQualified]) {
    const shown = shownName(isLong ? `${scope}:${oneLine(name)}` : name);
    const written = write(shown);
    const isLoaded = loads(shown) && (written === shown || loads(written));
    if (isLoaded) return shown;
  }
  return undefined;
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
    ? findInScope(skillKey(scope) as SkillScope, key, catalog)
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
