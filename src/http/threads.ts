/**
 * Shares changes between the threads of `deno serve --parallel`. A client may listen to
 * one thread and ask another, which has not scanned since the change. So each thread
 * scans when another has found a change, and then notifies its own listeners again: the
 * last notification follows the scan of the last thread.
 */

import type {
  ServerEvent,
  ServerEventBus,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import type { SkillSource } from "../skills/source.ts";

/** The shortest time between two notifications because of other threads, in milliseconds. */
const MIN_INTERVAL_MS = 1_000;

/** Tells the other threads what changed, and the listeners of this one what they tell. */
export function shareChanges(registry: SkillSource, bus: ServerEventBus): void {
  const others = new BroadcastChannel("skill-server");
  const waiting = new Map<string, ServerEvent>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRelaying = false;
  const relay = () => {
    timer = undefined;
    isRelaying = true;
    for (const event of waiting.values()) bus.publish(event);
    isRelaying = false;
    waiting.clear();
  };
  bus.subscribe((event) => {
    if (!isRelaying) others.postMessage(event);
  });
  others.onmessage = async ({ data: event }: MessageEvent<ServerEvent>) => {
    await registry.refresh();
    waiting.set(event.kind, event);
    timer ??= setTimeout(relay, MIN_INTERVAL_MS);
  };
}
