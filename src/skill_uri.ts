/**
 * `skill://` URIs.
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 *
 * @module
 */

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
