// Requests and notifications of the modern era on stdio.
import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { nextId } from "./client.ts";
import type { Reply, Wire } from "./server.ts";

/** The key of the client's info in the metadata of a modern request. */
export const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";

/** The metadata of a modern request. */
export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  [CLIENT_INFO]: { name: "test", version: "1.0.0" },
};

/** The metadata of a request of the client of a name. */
export function metaOf(name: string): Record<string, unknown> {
  return { ...MODERN_META, [CLIENT_INFO]: { name, version: "1.0.0" } };
}

/** What the server adds to the metadata of modern results. */
export const SERVER_INFO = {
  "io.modelcontextprotocol/serverInfo": {
    name: config.name,
    title: "Agent Skills",
    version: config.version,
  },
};

/** Sends a modern request and returns the reply. */
export function askModern(
  wire: Wire,
  method: string,
  params: Record<string, unknown> = {},
  _meta: Record<string, unknown> = MODERN_META,
): Promise<Reply> {
  return wire.ask(nextId(), method, { ...params, _meta });
}

/** Opens a subscription and returns the notifications that the server acknowledges. */
export async function listen(
  wire: Wire,
  id: number | string,
  notifications: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const method = "subscriptions/listen";
  const params = { _meta: MODERN_META, notifications };
  await wire.write({ jsonrpc: "2.0", id, method, params });
  const notification = await takeNotification(wire, id);
  assert.equal(notification.method, "notifications/subscriptions/acknowledged");
  return notification.params.notifications as Record<string, unknown>;
}

/** Takes the next notification of a subscription. */
export async function takeNotification(
  wire: Wire,
  id: number | string,
): Promise<{ method: string; params: Record<string, unknown> }> {
  const line = await wire.lines.take(
    (line) => subscriptionOf(line) === id,
    `a notification of the subscription ${id}`,
  );
  return JSON.parse(line);
}

/** Returns the ID of the subscription that a message belongs to. */
export function subscriptionOf(line: string): number | string | undefined {
  const { params, result } = JSON.parse(line);
  const { _meta = {} } = params ?? result ?? {};
  return _meta["io.modelcontextprotocol/subscriptionId"];
}
