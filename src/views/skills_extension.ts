/**
 * Serves skills through the Skills extension of MCP: the skills with the digests
 * of all their files, and their directories.
 *
 * @see {@link https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx}
 *
 * @module
 */

import type { Resource } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { parseSkillMd } from "../skills/frontmatter.ts";
import {
  CatalogView,
  createCursor,
  getPage,
  type ListItem,
  PageRoom,
  SkillItems,
  sortList,
} from "./list_views.ts";
import type { ClientInfo } from "../protocol/eras.ts";
import { invalidParams } from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import {
  cursorParam,
  listRequestSchema,
  requestSchema,
  uriParam,
} from "../protocol/requests.ts";
import { mediaTypeOf, mediaTypeOfName } from "../files/media_types.ts";
import { sha256 } from "../files/reading.ts";
import {
  checkFrontmatter,
  findUnlisting,
  isUnlisting,
} from "../skills/validity.ts";
import { listKey } from "./skill_lists.ts";
import { skillFileUri, skillMdUri } from "../skills/uri.ts";
import { SKILL_MD } from "../files/paths.ts";
import { quote, stringifyJson, withoutInvisible } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import type {
  Skill,
  SkillFile,
  SkillFrontmatter,
  SkillSource,
} from "../skills/types.ts";
import { requireResource } from "./resources.ts";

export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/**
 * An entry of the Skills extension: a skill with all its files.
 *
 * @see {@link https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx}
 */
interface SkillEntry {
  readonly uri: string;
  readonly frontmatter: SkillFrontmatter;
  readonly resources: {
    readonly uri: string;
    readonly digest: string;
    readonly size: number;
  }[];
}

const ListSkillsRequestSchema = listRequestSchema("skills/list");

const GetSkillRequestSchema = requestSchema("skills/get", { uri: uriParam });

const ReadDirectoryRequestSchema = requestSchema("resources/directory/read", {
  uri: uriParam,
  cursor: cursorParam,
});

export interface SkillsExtensionOptions {
  /** Called when a client lists the skills. */
  readonly onlist?: (client: ClientInfo | undefined) => void;
}

export function registerSkillsExtension(
  server: RequestHandlers,
  registry: SkillSource,
  { onlist }: SkillsExtensionOptions,
): void {
  const entries = new SkillEntries(registry);
  const items = new SkillItems<Skill>((value) =>
    checkFrontmatter(value).some(isUnlisting)
      ? []
      : [{ key: listKey(value, skillMdUri(value)), value }]
  );
  const list = new CatalogView(({ served }) =>
    sortList(items.of(served.values()))
  );
  server.setRequestHandler(ListSkillsRequestSchema, async (
    { params },
    { client },
  ) => {
    onlist?.(client);
    const page = getPage(list.of(registry.catalog), params?.cursor);
    const skills: SkillEntry[] = [];
    const slice = new TimeSlice();
    const room = new PageRoom();
    let lastKey = "";
    for (const skill of page.items) {
      if (slice.isOver) await slice.yield();
      const entry = await entries.load(skill);
      if (typeof entry === "string") continue;
      if (!room.take(estimateLength(entry))) {
        return { skills, nextCursor: createCursor(lastKey) };
      }
      skills.push(entry);
      lastKey = listKey(skill, entry.uri);
    }
    return { skills, nextCursor: page.nextCursor };
  });
  server.setRequestHandler(
    GetSkillRequestSchema,
    async ({ params: { uri } }) => ({ skill: await entries.find(uri) }),
  );
  server.setRequestHandler(ReadDirectoryRequestSchema, async ({ params }) => {
    const { uri, cursor } = params;
    const { skill, children } = await listChildren(uri, registry);
    const page = getPage(children, cursor);
    const resources: Resource[] = [];
    const slice = new TimeSlice();
    for (const child of page.items) {
      if (slice.isOver) await slice.yield();
      resources.push(await describeChild(child, { skill, registry }));
    }
    return { resources, nextCursor: page.nextCursor };
  });
}

/** Estimates the length of an entry as JSON, in characters. */
function estimateLength({ frontmatter, resources }: SkillEntry): number {
  const lengths = resources.map(({ uri }) => uri.length + 128);
  return lengths.reduce(
    (sum, length) => sum + length,
    stringifyJson(frontmatter).length,
  );
}

/** The entries of skills, kept until their files change. */
class SkillEntries {
  readonly #registry: SkillSource;
  /**
   * The entries, and the versions of the files that they describe. A scan that
   * finds a change replaces the skill, and its entry should go with it.
   */
  readonly #entries = new WeakMap<
    Skill,
    { versions: string; entry: SkillEntry }
  >();

  constructor(registry: SkillSource) {
    this.#registry = registry;
  }

  /** Returns the current entry of a skill, or the reason why hosts cannot load it. */
  async load(skill: Skill): Promise<SkillEntry | string> {
    const contents = await this.#registry.inspectFiles(skill);
    const unlisting = findUnlisting(skill, contents);
    if (unlisting !== undefined) return unlisting.reason;
    const { files } = contents;
    const versions = files.map(({ path, version }) => `${version}:${path}`)
      .join("\n");
    const known = this.#entries.get(skill);
    if (known?.versions === versions) return known.entry;
    try {
      const entry = await createEntry(skill, files, this.#registry);
      const isSettled = !files.some(({ isRacy }) => isRacy);
      if (isSettled) this.#entries.set(skill, { versions, entry });
      return entry;
    } catch (error) {
      // Not kept, because the next attempt may succeed though no file changes.
      return (error as Error).message;
    }
  }

  /**
   * Finds the entry of a skill by the URI of its `SKILL.md`.
   *
   * @throws {Error} The JSON-RPC error "invalid params" if there is no such
   *   skill, or if hosts cannot load it.
   */
  async find(uri: string): Promise<SkillEntry> {
    const { skill } = requireResource(uri, this.#registry);
    const skillMd = skillMdUri(skill);
    if (skillMd !== uri) {
      throw invalidParams(
        `${quote(uri)} is not the URI of a skill's SKILL.md: the URI is ${
          quote(skillMd)
        }`,
        { uri },
      );
    }
    const entry = await this.load(skill);
    if (typeof entry !== "string") return entry;
    throw invalidParams(`Cannot get the skill ${quote(uri)}: ${entry}`, {
      uri,
    });
  }
}

/**
 * Creates the entry of a skill. The frontmatter and the digest of its `SKILL.md`
 * come from the same bytes.
 *
 * @throws {Error} If hosts cannot load the skill.
 */
async function createEntry(
  skill: Skill,
  files: readonly SkillFile[],
  registry: SkillSource,
): Promise<SkillEntry> {
  const { frontmatter, ...skillMd } = await readSkillMd(skill, registry);
  const { file, name } = skill;
  const unlisting = checkFrontmatter({ frontmatter, file }).find(isUnlisting);
  if (unlisting !== undefined) throw new Error(unlisting.reason);
  if (frontmatter.name !== name) throw new Error("the skill was renamed");
  const resources = [];
  const slice = new TimeSlice();
  for (const file of files) {
    if (slice.isOver) await slice.yield();
    const uri = skillFileUri(skill, file.path);
    const digested = file.path === SKILL_MD
      ? skillMd
      : await registry.digest(skill, file);
    resources.push({ uri, ...digested });
  }
  return { uri: skillMdUri(skill), frontmatter, resources };
}

/** Reads the frontmatter, the digest, and the size of a `SKILL.md`. */
async function readSkillMd(skill: Skill, registry: SkillSource): Promise<{
  frontmatter: SkillFrontmatter;
  digest: string;
  size: number;
}> {
  const { text, bytes, size } = await registry.readFile(
    skill,
    SKILL_MD,
  );
  if (text === undefined) throw new Error("SKILL.md is not valid UTF-8");
  return { frontmatter: parseSkillMd(text), digest: await sha256(bytes), size };
}

/** A file or folder directly in a folder of a skill. */
interface Child {
  readonly uri: string;
  readonly name: string;
  /** The file, or `undefined` for a folder. */
  readonly file: SkillFile | undefined;
}

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
  const { skill, path } = requireResource(uri, registry);
  const prefix = path === undefined ? "" : `${path}/`;
  const children = new Map<string, Child>();
  const slice = new TimeSlice();
  for (const file of await registry.listFiles(skill)) {
    if (slice.isOver) await slice.yield();
    if (path === "" || !file.path.startsWith(prefix)) continue;
    const [name, ...rest] = file.path.slice(prefix.length).split("/");
    const uri = skillFileUri(skill, prefix + name!);
    const isFile = rest.length === 0;
    children.set(uri, { uri, name: name!, file: isFile ? file : undefined });
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
  { uri, name, file }: Child,
  { skill, registry }: { skill: Skill; registry: SkillSource },
): Promise<Resource> {
  const shown = { uri, name: withoutInvisible(name) };
  if (file === undefined) return { ...shown, mimeType: "inode/directory" };
  const { path, size } = file;
  const readText = async () => {
    try {
      return (await registry.readFile(skill, file)).text;
    } catch {
      return undefined;
    }
  };
  const mimeType = mediaTypeOfName(path) ??
    mediaTypeOf({ path, text: await readText() });
  return { ...shown, mimeType, size };
}
