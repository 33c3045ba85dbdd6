// Requests of the modern era on stdio.
import { nextId } from "./client.ts";
import type { Reply, Wire } from "./server.ts";

/** The key of the client's info in the metadata of a modern request. */
const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";

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

/** Sends a modern request and returns the reply. */
export function askModern(
  wire: Wire,
  method: string,
  params: Record<string, unknown> = {},
  _meta: Record<string, unknown> = MODERN_META,
): Promise<Reply> {
  return wire.ask(nextId(), method, { ...params, _meta });
}
