/**
 * Notifies clients when the skills and files that they subscribed to change.
 *
 * @module
 */

import type { McpServer } from "../protocol/mcp_server.ts";
import { qualifiedName } from "../skills/names.ts";
import { requireResource } from "./resources.ts";
import { SKILL_MD } from "../files/paths.ts";
import { skillKey } from "../text.ts";
import type { SkillChange, SkillSource } from "../skills/types.ts";

/** The URI of a subscription to all skills. */
const ALL_SKILLS = "skill://";

/** What a client subscribed to. */
interface Subscription {
  /** The skill's key, or `undefined` for all skills. */
  readonly key: string | undefined;
  /**
   * The path of a file or folder, `undefined` for the skill itself, or an empty
   * string for all of its files.
   */
  readonly path: string | undefined;
}

export function registerSubscriptions(
  server: McpServer,
  registry: SkillSource,
): void {
  server.onsubscribe = async (uri) => {
    const subscription = parseSubscription(uri, registry);
    const endTracking = await registry.trackFiles(subscription.key);
    const endListening = registry.onChange((change) => {
      if (isAffected(subscription, change)) server.notifyUpdated(uri);
    });
    return () => {
      endListening();
      endTracking();
    };
  };
}

function parseSubscription(
  uri: string,
  registry: SkillSource,
): Subscription {
  if (uri === ALL_SKILLS) return { key: undefined, path: "" };
  const { skill, path } = requireResource(uri, registry);
  return { key: skillKey(qualifiedName(skill)), path };
}

/** Whether a change affects what a client subscribed to. */
function isAffected(
  { key, path }: Subscription,
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
