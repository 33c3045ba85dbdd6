/**
 * Notifies clients when the skills and files that they subscribed to change.
 *
 * @module
 */

import { SKILL_MD } from "../files/paths.ts";
import type { McpServer } from "../protocol/mcp_server.ts";
import { differingKeys } from "../skills/catalog.ts";
import { qualifiedName, skillFileUri } from "../skills/names.ts";
import type { SkillSource } from "../skills/types.ts";
import { skillKey } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import { requireResource } from "./resources.ts";

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
      const isAffected = isBegun &&
        changed.some((it) => it === uri || it.startsWith(folder));
      if (isAffected) notify();
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
    const contents = await registry.inspectFiles(skill);
    folders.push(...contents.folders);
    for (const { path, version } of contents.files) {
      versions.set(skillFileUri(skill, path), version);
    }
  }
  return { versions, folders };
}
