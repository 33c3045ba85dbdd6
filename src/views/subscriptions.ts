/**
 * Notifies clients when the skills and files that they subscribed to change.
 *
 * @module
 */

import { SKILL_MD } from "../files/paths.ts";
import type { McpServer } from "../protocol/mcp_server.ts";
import { qualifiedName } from "../skills/names.ts";
import type { SkillChange, SkillSource } from "../skills/types.ts";
import { skillKey } from "../text.ts";
import { requireResource } from "./resources.ts";

/** The URI of a subscription to all skills. */
const ALL_SKILLS = "skill://";

/** Tracks what clients subscribe to, and notifies them of changes. */
export function registerSubscriptions(
  server: McpServer,
  registry: SkillSource,
): void {
  server.onsubscribe = async (uri, notify) => {
    const { skill, path } = uri === ALL_SKILLS
      ? {}
      : requireResource(uri, registry);
    const key = skill && skillKey(qualifiedName(skill));
    const endTracking = await registry.trackFiles(key);
    const endListening = registry.onChange((change) => {
      if (isAffected({ key, path }, change)) notify();
    });
    return () => {
      endListening();
      endTracking();
    };
  };
}

/**
 * Whether a change affects a subscription.
 *
 * @param subscription The key of the skill, or `undefined` for all skills. The
 *   path of a file or folder, `undefined` for the skill itself, or an empty string
 *   for all of its files.
 */
function isAffected(
  { key, path }: { key: string | undefined; path: string | undefined },
  change: SkillChange,
): boolean {
  const { catalog, previous, keys, files } = change;
  if (key === undefined) return keys.size + files.size > 0;
  if (keys.has(key)) {
    const isAddedOrRemoved = !catalog.served.has(key) ||
      !previous.served.has(key);
    if (isAddedOrRemoved || !path || path === SKILL_MD) return true;
  }
  const paths = [...files.get(key) ?? []];
  return path !== undefined &&
    paths.some((changed) =>
      path === "" || changed === path || changed.startsWith(`${path}/`)
    );
}
