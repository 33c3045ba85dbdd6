/**
 * Serves the Skills extension of MCP: the skills with the digests of all their files,
 * and their directories.
 *
 * @see
 *   {@link https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx}
 */

import type { Resource } from "npm:@modelcontextprotocol/server@^2.4.0";
import { mediaTypeOfName } from "../fs/media_types.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { type Handlers, invalidParams } from "./requests.ts";
import { findUnlistingReason, MAX_LISTED_ENTRIES } from "../skills/limits.ts";
import { SKILL_MD, skillFileUri, skillMdUri } from "../skills/names.ts";
import { readSkillMd } from "../skills/skill_md.ts";
import { sha256 } from "../skills/files.ts";
import { resolveUri } from "./resolve.ts";
import type { Skill, SkillSource } from "../skills/types.ts";
import { inTurns } from "../tasks.ts";
import { escapeInvisible, quote, stringifyJson } from "../text.ts";
import { createListHandler, loadPage, orderForPages } from "./paging.ts";
import { readForRequest, requireResource } from "./resources.ts";
import { listEntries } from "./entries.ts";

export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

export function skillsExtensionHandlers(registry: SkillSource): Handlers {
  return {
    "skills/list": createListHandler(
      registry,
      "skills",
      (catalog) => orderForPages(listEntries("host", catalog)),
      // `skills/get` and `--list` say why a skill is left out.
      ({ skill }) => loadEntry(skill, registry).catch(() => undefined),
    ),
    "skills/get": async ({ uri }) => ({ skill: await getEntry(uri, registry) }),
    "resources/directory/read": async ({ uri, cursor }) => {
      const { skill, children } = await listChildren(uri, registry);
      const resources = children.map((child) => toResource(child, skill));
      const { entries, nextCursor } = await loadPage(resources, cursor);
      return { resources: entries, ...nextCursor && { nextCursor } };
    },
  };
}

/** @throws {Error} If no skill is listed under the URI, or hosts cannot load it. */
async function getEntry(uri: string, registry: SkillSource): Promise<unknown> {
  const { skill } = resolveUri(uri, registry.catalog) ?? {};
  if (skill === undefined || skillMdUri(skill) !== uri) {
    throw invalidParams(
      `Unknown skill ${quote(uri)}: skills/list lists the URIs`,
      uri,
    );
  }
  const loading = loadEntry(skill, registry).catch(({ message }: Error) => {
    throw new Error(`Cannot get the skill ${quote(uri)}: ${message}`);
  });
  return await readForRequest(uri, loading);
}

/**
 * Creates the entry of a skill. The frontmatter and the digest of its `SKILL.md`
 * come from the same bytes.
 *
 * @throws {Error} If hosts cannot load the skill.
 */
async function loadEntry(skill: Skill, registry: SkillSource) {
  const maxEntries = MAX_LISTED_ENTRIES;
  const contents = await registry.listFiles(skill, { maxEntries });
  const main = await registry.readFile(skill, SKILL_MD);
  const { frontmatter, isRepaired, diagnostic } = readSkillMd(main.bytes);
  if (frontmatter === undefined) throw toError(diagnostic!);
  const current = { ...skill, frontmatter, isRepaired };
  const unlisting = findUnlistingReason(current, contents);
  if (unlisting !== undefined) throw toError(unlisting);
  if (frontmatter.name !== skill.name) {
    throw new Error("the skill was renamed; list the skills again");
  }
  const resources = [];
  for await (const file of inTurns(contents.files)) {
    const uri = skillFileUri(skill, file.path);
    const digested = file.path === SKILL_MD
      ? { digest: sha256(main.bytes), size: main.size }
      : await registry.digest(skill, file);
    resources.push({ uri, ...digested });
  }
  // YAML can write half a surrogate pair, which strict parsers of JSON refuse.
  const wellFormed = JSON.parse(stringifyJson(frontmatter));
  return { uri: skillMdUri(skill), frontmatter: wellFormed, resources };
}

function toError({ reason, fix }: DiagnosticDetails): Error {
  return new Error(`${reason}; ${fix}`);
}

interface Child {
  readonly path: string;
  /** Its size in bytes, unless it is a directory. */
  readonly size?: number;
}

/**
 * Lists the files and directories directly in a directory of a skill, sorted as the
 * files in them are.
 *
 * @throws {Error} The JSON-RPC error "invalid params" if there is no such
 *   directory.
 */
async function listChildren(
  uri: string,
  registry: SkillSource,
): Promise<{ skill: Skill; children: Child[] }> {
  const { skill, path: dir } = requireResource(uri, registry);
  const prefix = dir ? `${dir}/` : "";
  const children = new Map<string, Child>();
  const { files } = await registry.listFiles(skill);
  for (const { path, size } of files) {
    if (!path.startsWith(prefix)) continue;
    const end = path.indexOf("/", prefix.length);
    if (end < 0) children.set(path, { path, size });
    else children.set(path.slice(0, end + 1), { path: path.slice(0, end) });
  }
  if (children.size === 0) {
    const fix =
      "pass one with files, as in skill://<name> or skill://<name>/references";
    throw invalidParams(`Unknown directory ${quote(uri)}: ${fix}`, uri);
  }
  const paths = [...children.keys()].sort();
  return { skill, children: paths.map((path) => children.get(path)!) };
}

function toResource({ path, size }: Child, skill: Skill): Resource {
  const uri = skillFileUri(skill, path);
  const name = escapeInvisible(path.slice(path.lastIndexOf("/") + 1));
  return size === undefined
    ? { uri, name, mimeType: "inode/directory" }
    : { uri, name, mimeType: mediaTypeOfName(path), size };
}
