/** Tells clients of changes to the files that they subscribed to. */

import type { McpServer } from "../protocol/mcp_server.ts";
import { differingKeys } from "../skills/catalog.ts";
import { MAX_LISTED_ENTRIES } from "../skills/checks.ts";
import { servedKey, SKILL_MD, skillFileUri } from "../skills/names.ts";
import type { ScanSubscriber, SkillSource } from "../skills/types.ts";
import { SharedTask, TimeSlice } from "../tasks.ts";
import { requireResource } from "./resources.ts";

const ALL_SKILLS = "skill://";

interface Subscription {
  /** The key of the skill, or `undefined` for all skills. */
  readonly key: string | undefined;
  /** The URI of a file, or the beginning of the URIs of several files. */
  readonly uri: string;
  readonly notify: () => void;
  /** Whether its files have been listed once, so that later changes are known. */
  hasBaseline: boolean;
}

export function registerSubscriptions(
  server: McpServer,
  registry: SkillSource,
): void {
  const files = new SubscribedFiles(registry);
  server.onSubscribe = async (uri, notify) => {
    const subscribed = resolveUri(uri, registry);
    const subscription = { ...subscribed, notify, hasBaseline: false };
    files.subscriptions.add(subscription);
    await files.look();
    return () => files.subscriptions.delete(subscription);
  };
  registry.addSubscriber(files);
}

/** @throws {Error} If there is no such skill. */
function resolveUri(
  uri: string,
  registry: SkillSource,
): Pick<Subscription, "key" | "uri"> {
  if (uri === ALL_SKILLS) return { key: undefined, uri };
  const { skill, path = SKILL_MD } = requireResource(uri, registry);
  return { key: servedKey(skill), uri: skillFileUri(skill, path) };
}

class SubscribedFiles implements ScanSubscriber {
  readonly subscriptions = new Set<Subscription>();
  /** The real paths of the folders that contain the files. */
  #folders: readonly string[] = [];
  readonly #registry: SkillSource;
  readonly #looks = new SharedTask<void>();
  #versions: ReadonlyMap<string, string> = new Map();

  constructor(registry: SkillSource) {
    this.#registry = registry;
  }

  onScan(): void {
    // Not awaited: whoever waits for a scan should not wait for all files of all skills.
    // If it fails, the next scan looks again.
    this.look().catch(() => {});
  }

  listFoldersToWatch(): readonly string[] {
    return this.#folders;
  }

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
