/**
 * Serves skills as MCP resources, to which clients can subscribe, and through the Skills
 * extension of MCP: the skills with the digests of all their files, and their directories.
 *
 * @see {@link https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/beta/skills.mdx}
 *
 * @module
 */

import type {
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { mediaTypeOfName, resourceContents } from "../files/media_types.ts";
import { sha256 } from "../files/reading.ts";
import type { RequestDispatcher } from "../protocol/dispatcher.ts";
import { invalidParams, MAX_MESSAGE_SIZE } from "../protocol/json_rpc.ts";
import type { McpServer } from "../protocol/mcp_server.ts";
import { differingKeys } from "../skills/catalog.ts";
import { findUnlisting } from "../skills/checks.ts";
import { readSkillText } from "../skills/frontmatter.ts";
import {
  findResource,
  qualifiedName,
  SKILL_MD,
  skillFileUri,
  skillMdUri,
} from "../skills/names.ts";
import type { Skill, SkillFile, SkillSource } from "../skills/types.ts";
import { escapeHidden, quote, skillKey } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import {
  deriveOnce,
  type ListItem,
  loadPage,
  serveList,
  sortList,
} from "./paging.ts";
import { describeSkill, listKey } from "./skill_list.ts";

const RESOURCE_TEMPLATES: readonly ResourceTemplate[] = [
  {
    name: "skill",
    uriTemplate: "skill://{name}",
    description: "The SKILL.md of a skill",
    mimeType: "text/markdown",
  },
  {
    name: "skill-files",
    uriTemplate: "skill://{name}/",
    description: "All files of a skill except its SKILL.md",
  },
  {
    name: "skill-file",
    uriTemplate: "skill://{name}/{+path}",
    description: "A file of a skill",
  },
];

/** Sets the request handlers of the resources and the extension, and notifies clients of changes. */
export function registerResources(
  server: RequestDispatcher,
  registry: SkillSource,
): void {
  const itemsOf = deriveOnce(createResources);
  serveList(server, registry, {
    name: "resources",
    itemsOf: ({ served }) => [...served.values()].flatMap(itemsOf),
  });
  server.setRequestHandler(
    "resources/templates/list",
    () => ({ resourceTemplates: RESOURCE_TEMPLATES }),
  );
  server.setRequestHandler("resources/read", async ({ uri }) => {
    const reading = readResource(uri, registry);
    return { contents: await readForRequest(uri, reading) };
  });
  registerSkillsExtension(server, registry);
}

/** Creates the resources of a skill: its `SKILL.md` and the collection of its other files. */
function createResources(skill: Skill): ListItem<Resource>[] {
  const { name } = describeSkill(skill);
  // Sizes are omitted, so that a change to a body does not change the list.
  const resources = [
    {
      uri: skillMdUri(skill),
      name,
      description: skill.description,
      mimeType: "text/markdown",
      _meta: { "io.github.skill-server/scope": skill.scope },
    },
    {
      uri: skillFileUri(skill, ""),
      name: `${name}/`,
      description: "All files of the skill except its SKILL.md",
    },
  ];
  return resources.map((value) => ({ key: listKey(skill, value.uri), value }));
}

/** Reads the file or the files that a URI refers to. */
async function readResource(
  uri: string,
  registry: SkillSource,
): Promise<ReadResourceResult["contents"]> {
  const { skill, path = SKILL_MD } = requireResource(uri, registry);
  if (path !== "") {
    return [resourceContents(uri, await registry.readFile(skill, path))];
  }
  const { files } = await registry.listFiles(skill);
  const others = files.filter(({ path }) => path !== SKILL_MD);
  return await readTogether(others, async (file) =>
    resourceContents(
      skillFileUri(skill, file.path),
      await registry.readFile(skill, file.path),
    ));
}

/**
 * Reads files of a skill for one message.
 *
 * @param read Returns what the message contains for a file.
 * @throws {Error} If they do not fit into one message.
 */
export async function readTogether<T>(
  files: readonly SkillFile[],
  read: (file: SkillFile) => Promise<T>,
): Promise<T[]> {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > MAX_MESSAGE_SIZE) {
    throw new Error(
      `Cannot read ${files.length} files at once: they have ${size} bytes in total, and the limit for a message is ${MAX_MESSAGE_SIZE}; read them one at a time`,
    );
  }
  const slice = new TimeSlice();
  const contents: T[] = [];
  for (const file of files) {
    if (slice.isOver) await slice.pause();
    contents.push(await read(file));
  }
  return contents;
}

/**
 * Finds the skill and the path that a URI refers to.
 *
 * @throws {Error} The JSON-RPC error "invalid params" if there is no such
 *   skill.
 */
export function requireResource(
  uri: string,
  { catalog }: SkillSource,
): { skill: Skill; path: string | undefined } {
  const found = findResource(uri, catalog);
  if (found !== undefined) return found;
  throw invalidParams(
    `Unknown resource ${quote(uri)}: resources/list lists the skills`,
    { uri },
  );
}

/**
 * Returns what is read for a request.
 *
 * @throws {Error} The JSON-RPC error "invalid params" with the URI if it cannot
 *   be read.
 */
export function readForRequest<T>(
  uri: string,
  reading: Promise<T>,
): Promise<T> {
  return reading.catch(({ message }: Error) => {
    throw invalidParams(message, { uri });
  });
}

/** The name of the extension. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** Sets the request handlers of the extension. */
function registerSkillsExtension(
  server: RequestDispatcher,
  registry: SkillSource,
): void {
  serveList(server, registry, {
    name: "skills",
    itemsOf: ({ served }) =>
      [...served.values()].map((value) => ({
        key: listKey(value, skillMdUri(value)),
        value,
      })),
    load: (skill) => loadEntry(skill, registry).catch(() => undefined),
  });
  // The URI must be the one that the entry has.
  server.setRequestHandler("skills/get", async ({ uri }) => {
    const { skill } = requireResource(uri, registry);
    if (skillMdUri(skill) !== uri) {
      throw invalidParams(
        `${quote(uri)} is not the URI of a SKILL.md: skills/list lists these`,
        { uri },
      );
    }
    const loading = loadEntry(skill, registry).catch(({ message }: Error) => {
      throw new Error(`Cannot get the skill ${quote(uri)}: ${message}`);
    });
    return { skill: await readForRequest(uri, loading) };
  });
  server.setRequestHandler(
    "resources/directory/read",
    async ({ uri, cursor }) => {
      const children = await listChildren(uri, registry);
      const { entries, nextCursor } = await loadPage(children, { cursor });
      return { resources: entries, nextCursor };
    },
  );
}

/**
 * Creates the entry of a skill. The frontmatter and the digest of its `SKILL.md`
 * come from the same bytes.
 *
 * @throws {Error} If hosts cannot load the skill.
 */
async function loadEntry(skill: Skill, registry: SkillSource) {
  const contents = await registry.listFiles(skill);
  const { text, bytes, size } = await registry.readFile(skill, SKILL_MD);
  if (text === undefined) throw new Error("SKILL.md is not valid UTF-8");
  const { frontmatter, isRepaired, problems } = readSkillText(text);
  if (frontmatter === undefined) throw new Error(problems[0]!.reason);
  const unlisting = findUnlisting(
    { ...skill, frontmatter, isRepaired },
    contents,
  );
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

/**
 * Lists the files and folders directly in a folder of a skill, as resources.
 *
 * @throws {Error} The JSON-RPC error "invalid params" if there is no such
 *   folder.
 */
async function listChildren(
  uri: string,
  registry: SkillSource,
): Promise<ListItem<Resource>[]> {
  const { skill, path: folder } = requireResource(uri, registry);
  const prefix = folder === undefined ? "" : `${folder}/`;
  const children = new Map<string, Resource>();
  const { files } = await registry.listFiles(skill);
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue;
    const [name, ...rest] = file.path.slice(prefix.length).split("/");
    const path = prefix + name;
    children.set(path, {
      uri: skillFileUri(skill, path),
      name: escapeHidden(name!),
      ...(rest.length > 0
        ? { mimeType: "inode/directory" }
        : { mimeType: mediaTypeOfName(path), size: file.size }),
    });
  }
  const items = [...children].map(([key, value]) => ({ key, value }));
  if (items.length > 0) return sortList(items);
  throw invalidParams(
    `${
      quote(uri)
    } is not a directory: the directory of a skill is skill://<name>, without a trailing slash`,
    { uri },
  );
}

/** The URI of a subscription to all skills. */
const ALL_SKILLS = "skill://";

/** What a client subscribed to. */
interface Subscription {
  /** The key of the skill, or `undefined` for all skills. */
  readonly key: string | undefined;
  /** The URI of a file, or the beginning of the URIs of several files. */
  readonly uri: string;
  readonly notify: () => void;
  /** Whether a scan has listed the files, so that later changes are known. */
  isBegun: boolean;
}

/** Tracks what clients subscribe to, and notifies them of changes. */
export function registerSubscriptions(
  server: McpServer,
  registry: SkillSource,
): void {
  const subscriptions = new Set<Subscription>();
  server.onsubscribe = async (uri, notify) => {
    const { skill, path = SKILL_MD } = uri === ALL_SKILLS
      ? {}
      : requireResource(uri, registry);
    const subscription = {
      key: skill && skillKey(qualifiedName(skill)),
      uri: skill ? skillFileUri(skill, path) : uri,
      notify,
      isBegun: false,
    };
    subscriptions.add(subscription);
    await registry.refresh();
    return () => subscriptions.delete(subscription);
  };
  /** The versions of the files of these skills, by URI. */
  let known: ReadonlyMap<string, string> = new Map();
  registry.onScan(async () => {
    const current = [...subscriptions];
    const keys = new Set(current.map(({ key }) => key));
    const { versions, folders } = await listVersions(keys, registry);
    const changed = [...differingKeys(versions, known)];
    known = versions;
    for (const subscription of current) {
      const { uri, notify, isBegun } = subscription;
      const folder = uri.endsWith("/") ? uri : `${uri}/`;
      if (isBegun && changed.some((it) => `${it}/`.startsWith(folder))) {
        notify();
      }
      subscription.isBegun = true;
    }
    return folders;
  });
}

/** Lists the files of the skills with some keys, or of all, and the folders that contain them. */
async function listVersions(
  keys: ReadonlySet<string | undefined>,
  registry: SkillSource,
): Promise<{ versions: Map<string, string>; folders: string[] }> {
  const { served } = registry.catalog;
  const versions = new Map<string, string>();
  const folders: string[] = [];
  const slice = new TimeSlice();
  for (const [key, skill] of served) {
    if (!keys.has(key) && !keys.has(undefined)) continue;
    if (slice.isOver) await slice.pause();
    const contents = await registry.listFiles(skill);
    folders.push(...contents.folders);
    for (const { path, version } of contents.files) {
      versions.set(skillFileUri(skill, path), version);
    }
  }
  return { versions, folders };
}
