/**
 * Serves skills through the Skills extension of MCP: the skills with the digests
 * of all their files, and their directories.
 *
 * @see {@link https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/beta/skills.mdx}
 *
 * @module
 */

import type { Resource } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { mediaTypeOf, mediaTypeOfName } from "../files/media_types.ts";
import { SKILL_MD } from "../files/paths.ts";
import { sha256 } from "../files/reading.ts";
import type { ClientInfo } from "../protocol/eras.ts";
import { invalidParams } from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import {
  cursorParam,
  listRequestSchema,
  requestSchema,
  uriParam,
} from "../protocol/requests.ts";
import { readSkillText } from "../skills/frontmatter.ts";
import type {
  Skill,
  SkillCatalog,
  SkillFile,
  SkillSource,
} from "../skills/types.ts";
import { skillFileUri, skillMdUri } from "../skills/names.ts";
import { findUnlisting } from "../skills/validity.ts";
import { quote, shownPath } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import { deriveOnce, type ListItem, loadPage, sortList } from "./paging.ts";
import { requireResource } from "./resources.ts";
import { listKey } from "./skill_list.ts";

/** The name of the extension. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

const ListSkillsRequestSchema = listRequestSchema("skills/list");

const GetSkillRequestSchema = requestSchema("skills/get", { uri: uriParam });

const ReadDirectoryRequestSchema = requestSchema("resources/directory/read", {
  uri: uriParam,
  cursor: cursorParam,
});

/** Options of {@linkcode registerSkillsExtension}. */
export interface SkillsExtensionOptions {
  /** Called when a client lists the skills. */
  readonly onlist?: (client: ClientInfo | undefined) => void;
}

/** Sets the request handlers of the extension. */
export function registerSkillsExtension(
  server: RequestHandlers,
  registry: SkillSource,
  { onlist }: SkillsExtensionOptions,
): void {
  const list = deriveOnce(({ served }: SkillCatalog) =>
    sortList(
      [...served.values()].map((value) => ({
        key: listKey(value, skillMdUri(value)),
        value,
      })),
    )
  );
  server.setRequestHandler(
    ListSkillsRequestSchema,
    async ({ params }, { client }) => {
      onlist?.(client);
      const skills = list(registry.catalog);
      const { entries, nextCursor } = await loadPage(skills, {
        cursor: params?.cursor,
        load: (skill) => loadEntry(skill, registry).catch(() => undefined),
      });
      return { skills: entries, nextCursor };
    },
  );
  server.setRequestHandler(GetSkillRequestSchema, async ({ params }) => ({
    skill: await findEntry(params.uri, registry),
  }));
  server.setRequestHandler(ReadDirectoryRequestSchema, async ({ params }) => {
    const { uri, cursor } = params;
    const { skill, children } = await listChildren(uri, registry);
    const { entries, nextCursor } = await loadPage(children, {
      cursor,
      load: (child) => describeChild(child, { skill, registry }),
    });
    return { resources: entries, nextCursor };
  });
}

/**
 * Finds the entry of a skill by the URI of its `SKILL.md`.
 *
 * @throws {Error} The JSON-RPC error "invalid params" if there is no such
 *   skill, or if hosts cannot load it.
 */
async function findEntry(uri: string, registry: SkillSource) {
  const { skill } = requireResource(uri, registry);
  const skillMd = skillMdUri(skill);
  if (skillMd !== uri) {
    throw invalidParams(
      `${quote(uri)} is not the URI of a skill's SKILL.md: the URI is ${
        quote(skillMd)
      }`,
      { uri },
    );
  }
  return await loadEntry(skill, registry).catch(({ message }: Error) => {
    const text = `Cannot get the skill ${quote(uri)}: ${message}`;
    throw invalidParams(text, { uri });
  });
}

/**
 * Creates the entry of a skill. The frontmatter and the digest of its `SKILL.md`
 * come from the same bytes.
 *
 * @throws {Error} If hosts cannot load the skill.
 */
async function loadEntry(skill: Skill, registry: SkillSource) {
  const contents = await registry.inspectFiles(skill);
  const { text, bytes, size } = await registry.readFile(skill, SKILL_MD);
  if (text === undefined) throw new Error("SKILL.md is not valid UTF-8");
  const { frontmatter, isRepaired, problems } = readSkillText(text);
  if (frontmatter === undefined) throw new Error(problems[0]!.reason);
  const current = { ...skill, frontmatter, isRepaired };
  const unlisting = findUnlisting(current, contents);
  if (unlisting !== undefined) throw new Error(unlisting.reason);
  if (frontmatter.name !== skill.name) {
    throw new Error("the skill was renamed");
  }
  const resources = [];
  const slice = new TimeSlice();
  for (const file of contents.files) {
    if (slice.isOver) await slice.pause();
    const uri = skillFileUri(skill, file.path);
    const digested = file.path === SKILL_MD
      ? { digest: sha256(bytes), size }
      : await registry.digest(skill, file);
    resources.push({ uri, ...digested });
  }
  return { uri: skillMdUri(skill), frontmatter, resources };
}

/** A file of a skill, or the path of a folder. */
type Child = Pick<SkillFile, "path"> & Partial<SkillFile>;

/**
 * Lists the files and folders directly in a folder of a skill.
 *
 * @throws {Error} The JSON-RPC error "invalid params" if there is no such
 *   folder.
 */
async function listChildren(
  uri: string,
  registry: SkillSource,
): Promise<{ skill: Skill; children: ListItem<Child>[] }> {
  const { skill, path: folder } = requireResource(uri, registry);
  const prefix = folder === undefined ? "" : `${folder}/`;
  const children = new Map<string, Child>();
  for (const file of await registry.listFiles(skill)) {
    if (!file.path.startsWith(prefix)) continue;
    const [name, ...rest] = file.path.slice(prefix.length).split("/");
    const path = prefix + name;
    children.set(path, rest.length === 0 ? file : { path });
  }
  const items = [...children].map(([key, value]) => ({ key, value }));
  if (items.length > 0) return { skill, children: sortList(items) };
  throw invalidParams(
    `${
      quote(uri)
    } is not a directory: the directory of a skill is skill://<name>, without a trailing slash`,
    { uri },
  );
}

/** Describes a file or folder as a resource. */
async function describeChild(
  { path, size }: Child,
  { skill, registry }: { skill: Skill; registry: SkillSource },
): Promise<Resource> {
  const uri = skillFileUri(skill, path);
  const name = shownPath(path.slice(path.lastIndexOf("/") + 1));
  if (size === undefined) return { uri, name, mimeType: "inode/directory" };
  const readContent = () =>
    registry.readFile(skill, path).catch(() => ({ path, text: undefined }));
  const mimeType = mediaTypeOfName(path) ?? mediaTypeOf(await readContent());
  return { uri, name, mimeType, size };
}
