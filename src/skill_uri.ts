/**
 * `skill://` URIs.
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 *
 * @module
 */

import type { Skill } from "./types.ts";

/**
 * Returns the URI of a skill's file, `skill://<name>/<path>`, or of the skill
 * itself where no path is given.
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
 * @param name The skill's name, any characters.
 * @param path The file's path from the skill directory; empty for the collection of all its files.
 * @returns The URI, each name in it percent-encoded.
 */
export function skillUri(name: string, path?: string): string {
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  const rest = path === undefined
    ? ""
    : `/${path.split("/").map(encode).join("/")}`;
  return `skill://${encode(name)}${rest}`;
}

/** How long a URI can be, in characters: longer than any name and path make it. */
const MAX_URI_LENGTH = 1024 * 1024;

/**
 * Takes a URI apart that {@linkcode skillUri} makes. Each file has one URI
 * only: a path with empty names, `.` or `..` in it has none.
 *
 * @param uri Any text.
 * @returns The name and the path (`undefined` for the skill itself, empty for the collection), or `undefined` if it is no such URI.
 */
export function parseSkillUri(
  uri: string,
): { name: string; path: string | undefined } | undefined {
  if (uri.length > MAX_URI_LENGTH) return undefined;
  const [, name, path] = /^skill:\/\/([^/?#]*)(?:\/([^?#]*))?$/.exec(uri) ?? [];
  if (!name) return undefined;
  try {
    const names = path?.split("/").map(decodeURIComponent);
    const isExact = !path ||
      names!.every((name) =>
        name !== "" && name !== "." && name !== ".." && !name.includes("/")
      );
    if (!isExact) return undefined;
    return { name: decodeURIComponent(name), path: names?.join("/") };
  } catch {
    return undefined;
  }
}

/**
 * Returns the URI of a file of a skill as it is served. A skill that another
 * one shadows has its prefix before its name.
 *
 * @param skill The skill.
 * @param path The file's path from the skill directory; empty for the collection of all its files.
 */
export function skillFileUri({ name, prefix }: Skill, path: string): string {
  const uri = skillUri(name, path);
  return prefix === undefined
    ? uri
    : `${skillUri(prefix)}${uri.slice("skill:/".length)}`;
}

/** Returns the URI of the `SKILL.md` of a skill. */
export function skillMdUri(skill: Skill): string {
  return skillFileUri(skill, "SKILL.md");
}

/**
 * Takes a URI apart that {@linkcode skillFileUri} makes of a skill with a prefix.
 */
export function parsePrefixedUri(
  uri: string,
): { prefix: string; name: string; path: string | undefined } | undefined {
  const [, first, rest] = /^(skill:\/\/[^/?#]+)\/(.+)$/s.exec(uri) ?? [];
  const prefix = first === undefined ? undefined : parseSkillUri(first)?.name;
  const place = rest === undefined
    ? undefined
    : parseSkillUri(`skill://${rest}`);
  return prefix === undefined || place === undefined
    ? undefined
    : { prefix, ...place };
}
