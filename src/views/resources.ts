/**
 * Serves skills as MCP resources, to which clients can subscribe.
 *
 * @module
 */

import type {
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { NOT_THERE, SkillFileError } from "../files/faults.ts";
import { resourceContents } from "../files/media_types.ts";
import type { RequestDispatcher } from "../protocol/dispatcher.ts";
import {
  INVALID_PARAMS,
  invalidParams,
  resourceNotFound,
} from "../protocol/json_rpc.ts";
import type { McpServer } from "../protocol/mcp_server.ts";
import { differingKeys } from "../skills/catalog.ts";
import {
  findResource,
  servedKey,
  SKILL_MD,
  skillFileUri,
  skillMdUri,
} from "../skills/names.ts";
import type { ScanSubscriber, Skill, SkillSource } from "../skills/types.ts";
import { echo, quote } from "../text.ts";
import { SharedTask, TimeSlice } from "../time_slice.ts";
import { logLoad, readTogether, type Requester } from "./loading.ts";
import type { ToolOptions } from "./options.ts";
import { deriveOnce, type ListItem, serveList } from "./paging.ts";
import {
  listByName,
  listedDescription,
  type ListedSkill,
  listKey,
} from "./skill_list.ts";

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
    description: "All files of a skill",
  },
  {
    name: "skill-file",
    uriTemplate: "skill://{name}/{+path}",
    description: "A file of a skill",
  },
];

/** Sets the request handlers of the resources, and notifies clients of changes. */
export function registerResources(
  server: RequestDispatcher,
  registry: SkillSource,
  options: ToolOptions,
): void {
  const itemsOf = deriveOnce(createResources);
  serveList(server, registry, {
    name: "resources",
    itemsOf: (catalog) => listByName(catalog.served.values()).flatMap(itemsOf),
  });
  server.setRequestHandler(
    "resources/templates/list",
    () => ({ resourceTemplates: RESOURCE_TEMPLATES }),
  );
  server.setRequestHandler("resources/read", async ({ uri }, requester) => {
    try {
      const reader = { ...requester, options };
      return { contents: await readResource(uri, registry, reader) };
    } catch (error) {
      throw toResourceError(error as Error, uri);
    }
  });
}

/** Returns the JSON-RPC error for a resource that does not exist or cannot be read. */
function toResourceError(
  error: Error & { code?: unknown },
  uri: string,
): Error {
  const { code, message } = error;
  const isUnknown = code === INVALID_PARAMS;
  const isMissing = error instanceof SkillFileError &&
    error.rule === NOT_THERE.rule;
  return isUnknown || isMissing
    ? resourceNotFound(message, uri)
    : invalidParams(message, { uri: echo(uri) });
}

/** Creates the resources of a skill: its `SKILL.md` and the collection of its files. */
function createResources({ skill, name }: ListedSkill): ListItem<Resource>[] {
  // Sizes are omitted, so that a change to a body does not change the list.
  const main: Resource = {
    uri: skillMdUri(skill),
    name,
    description: listedDescription(skill),
    mimeType: "text/markdown",
    _meta: { "io.github.skill-server/scope": skill.scope },
  };
  const files: Resource = {
    uri: skillFileUri(skill, ""),
    name: `${name}/`,
    description: "All files of the skill",
  };
  return [main, files]
    .map((value) => ({ key: listKey(skill, value.uri), value }));
}

/** Reads the file or the files that a URI refers to. */
async function readResource(
  uri: string,
  registry: SkillSource,
  reader: Requester & { options: ToolOptions },
): Promise<ReadResourceResult["contents"]> {
  const { skill, path = SKILL_MD } = requireResource(uri, registry);
  if (path !== "") {
    const file = await registry.readFile(skill, path);
    if (file.path === SKILL_MD) logLoad(skill, "a resource", reader);
    return [resourceContents(uri, file)];
  }
  const { files } = await registry.listFiles(skill);
  return await readTogether(files, async (file) =>
    resourceContents(
      skillFileUri(skill, file.path),
      await registry.readFile(skill, file.path),
    ));
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
    `Unknown resource ${quote(echo(uri))}: resources/list lists the skills`,
    { uri: echo(uri) },
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
    throw invalidParams(message, { uri: echo(uri) });
  });
}

/**
 * How many entries of a skill are visited to list it. Hosts refuse a skill of more than
 * 512 files, so one with four times as many entries is not listed anyway.
 */
export const MAX_LISTED_ENTRIES = 4 * 512;

/** The URI of a subscription to all skills. */
const ALL_SKILLS = "skill://";

/** What a client subscribed to. */
interface Subscription {
  /** The key of the skill, or `undefined` for all skills. */
  readonly key: string | undefined;
  /** The URI of a file, or the beginning of the URIs of several files. */
  readonly uri: string;
  readonly notify: () => void;
  /** Whether its files have been listed once, so that later changes are known. */
  hasBaseline: boolean;
}

/** Tracks what clients subscribe to, and notifies them of changes. */
export function registerSubscriptions(
  server: McpServer,
  registry: SkillSource,
): void {
  const files = new SubscribedFiles(registry);
  server.onsubscribe = async (uri, notify) => {
    const subscription = createSubscription(uri, registry, notify);
    files.subscriptions.add(subscription);
    await files.look();
    return () => files.subscriptions.delete(subscription);
  };
  registry.addSubscriber(files);
}

/**
 * Finds out what a URI that a client subscribes to refers to.
 *
 * @throws {Error} If there is no such skill.
 */
function createSubscription(
  uri: string,
  registry: SkillSource,
  notify: () => void,
): Subscription {
  if (uri === ALL_SKILLS) {
    return { key: undefined, uri, notify, hasBaseline: false };
  }
  const { skill, path = SKILL_MD } = requireResource(uri, registry);
  return {
    key: servedKey(skill),
    uri: skillFileUri(skill, path),
    notify,
    hasBaseline: false,
  };
}

/** The files that clients subscribed to. */
class SubscribedFiles implements ScanSubscriber {
  readonly subscriptions = new Set<Subscription>();
  /** The real paths of the folders that contain the files. */
  #folders: readonly string[] = [];
  readonly #registry: SkillSource;
  readonly #looks = new SharedTask<void>();
  /** The versions of the files, by URI. */
  #versions: ReadonlyMap<string, string> = new Map();

  constructor(registry: SkillSource) {
    this.#registry = registry;
  }

  onScan(): void {
    // Not awaited: whoever waits for a scan should not wait for all files of all skills.
    // If it fails, the next scan looks again.
    this.look().catch(() => {});
  }

  listFolders(): readonly string[] {
    return this.#folders;
  }

  /** Lists the files, and notifies the clients of those that changed. */
  async look(): Promise<void> {
    await this.#looks.run(() => this.#look());
  }

  async #look(): Promise<void> {
    const subscriptions = [...this.subscriptions];
    const keys = new Set(subscriptions.map(({ key }) => key));
    const { versions, folders } = await listVersions(keys, this.#registry);
    const changed = [...differingKeys(versions, this.#versions)];
    this.#versions = versions;
    for (const subscription of subscriptions) {
      const { uri, notify, hasBaseline } = subscription;
      if (hasBaseline && changed.some((it) => isAtOrBelowUri(it, uri))) {
        notify();
      }
      subscription.hasBaseline = true;
    }
    const isSame = folders.join("\0") === this.#folders.join("\0");
    this.#folders = folders;
    if (!isSame) this.#registry.watchFolders();
  }
}

/** Whether the URI of a file is another URI, or lies below it. */
function isAtOrBelowUri(file: string, uri: string): boolean {
  const folder = uri.endsWith("/") ? uri : `${uri}/`;
  return file === uri || file.startsWith(folder);
}

/**
 * Lists the files of the skills with some keys, and the folders that contain them. If all
 * skills are meant, each is listed only as far as hosts accept.
 */
async function listVersions(
  keys: ReadonlySet<string | undefined>,
  registry: SkillSource,
): Promise<{ versions: Map<string, string>; folders: string[] }> {
  const { served } = registry.catalog;
  const versions = new Map<string, string>();
  const folders: string[] = [];
  const slice = new TimeSlice();
  for (const [key, skill] of served) {
    const isNamed = keys.has(key);
    if (!isNamed && !keys.has(undefined)) continue;
    const limit = isNamed ? {} : { maxEntries: MAX_LISTED_ENTRIES };
    const contents = await registry.listFiles(skill, limit);
    folders.push(...contents.folders);
    for (const { path, version } of contents.files) {
      if (slice.isOver) await slice.pause();
      versions.set(skillFileUri(skill, path), version);
    }
  }
  return { versions, folders };
}
