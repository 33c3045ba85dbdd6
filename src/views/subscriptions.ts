/**
 * Notifies clients when the skills and files that they subscribed to change.
 *
 * @module
 */

import { SKILL_MD } from "../files/paths.ts";
import type { McpServer } from "../protocol/mcp_server.ts";
import { differingKeys } from "../skills/catalog.ts";
import { qualifiedName } from "../skills/names.ts";
import type { SkillCatalog, SkillSource } from "../skills/types.ts";
import { skillKey } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import { requireResource } from "./resources.ts";

/** The URI of a subscription to all skills. */
const ALL_SKILLS = "skill://";

/** What a client subscribed to. */
interface Subscription {
  /** The key of the skill, or `undefined` for all skills. */
  readonly key: string | undefined;
  /** The path of a file or folder, or an empty string for all files. */
  readonly path: string;
  readonly notify: () => void;
  /** Whether a scan has listed the files, so that later changes are known. */
  isBegun: boolean;
}

/** The versions of the files of skills, by path, by the keys of the skills. */
type Versions = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Tracks what clients subscribe to, and notifies them of changes. */
export function registerSubscriptions(
  server: McpServer,
  registry: SkillSource,
): void {
  const subscriptions = new Set<Subscription>();
  let known: Versions = new Map();
  server.onsubscribe = async (uri, notify) => {
    const { skill, path = SKILL_MD } = uri === ALL_SKILLS
      ? { path: "" }
      : requireResource(uri, registry);
    const key = skill && skillKey(qualifiedName(skill));
    const subscription = { key, path, notify, isBegun: false };
    subscriptions.add(subscription);
    const end = () => subscriptions.delete(subscription);
    await registry.refresh().catch((error) => {
      end();
      throw error;
    });
    return end;
  };
  registry.onScan(async (catalog) => {
    const current = [...subscriptions];
    const keys = new Set(current.map(({ key }) => key));
    const { versions, folders } = await listFiles(keys, { catalog, registry });
    const changes = compare(versions, known);
    known = versions;
    for (const subscription of current) {
      const { key, path, notify, isBegun } = subscription;
      const isAffected = key === undefined
        ? changes.size > 0
        : isAmong(path, changes.get(key) ?? []);
      if (isAffected && isBegun) notify();
      subscription.isBegun = true;
    }
    return folders;
  });
}

/** Lists the files of the skills with some keys, or of all, and the folders that contain them. */
async function listFiles(
  keys: ReadonlySet<string | undefined>,
  { catalog: { served }, registry }: {
    catalog: SkillCatalog;
    registry: SkillSource;
  },
): Promise<{ versions: Versions; folders: string[] }> {
  const versions = new Map<string, Map<string, string>>();
  const folders: string[] = [];
  const slice = new TimeSlice();
  for (const key of keys.has(undefined) ? served.keys() : keys) {
    const skill = served.get(key!);
    if (skill === undefined) continue;
    if (slice.isOver) await slice.pause();
    const contents = await registry.inspectFiles(skill);
    folders.push(...contents.folders);
    const files = contents.files
      .map(({ path, version }) => [path, version] as const);
    versions.set(key!, new Map(files));
  }
  return { versions, folders };
}

/** Returns the paths that differ, by the keys of their skills. */
function compare(now: Versions, before: Versions): Map<string, Set<string>> {
  const changes = new Map<string, Set<string>>();
  const nothing = new Map<string, string>();
  for (const key of new Set([...now.keys(), ...before.keys()])) {
    const files = [
      now.get(key) ?? nothing,
      before.get(key) ?? nothing,
    ] as const;
    const paths = differingKeys(...files);
    if (paths.size > 0) changes.set(key, paths);
  }
  return changes;
}

/** Whether one of some paths is, or is in, what a path refers to. */
function isAmong(path: string, changed: Iterable<string>): boolean {
  return Iterator.from(changed).some((other) =>
    path === "" || other === path || other.startsWith(`${path}/`)
  );
}
