/**
 * Decides which clients can connect to the server over HTTP.
 *
 * 1. A web page can point its own host name at this machine (DNS rebinding). Its
 *    requests then carry that name in `Host` and `Origin`, so only known names
 *    are accepted. A page cannot know the token, so if there is a token, every
 *    `Host` is accepted unless the user lists names.
 * 2. Without a token, only clients on this machine are accepted.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning}
 *
 * @module
 */

import { createHash, timingSafeEqual } from "node:crypto";
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from "npm:@modelcontextprotocol/server@^2.4.0";

/** The message for other machines if the server has no token. */
export const NEEDS_TOKEN =
  "Cannot serve other machines without a token: set SKILL_SERVER_TOKEN, or listen on this machine only (deno serve --host 127.0.0.1)";

/** The access settings. */
export interface AccessOptions {
  /** The token that clients must send, if any. */
  readonly token: string | undefined;
  /** Host names that are served in addition to those of the local machine. */
  readonly hosts: readonly string[];
}

/** Refuses requests from clients that have no access. */
export class AccessControl {
  readonly #digest: Uint8Array | undefined;
  readonly #hosts: string[];
  readonly #acceptsAnyHost: boolean;

  /** Creates an access control from the settings. */
  constructor({ token, hosts }: AccessOptions) {
    this.#digest = token === undefined ? undefined : sha256(token);
    this.#hosts = [...localhostAllowedHostnames(), ...hosts];
    this.#acceptsAnyHost = token !== undefined && hosts.length === 0;
  }

  /**
   * Returns an error response if a request is for an unknown host, or from a
   * page on an unknown host.
   */
  refuseHost({ headers, url }: Request): Response | undefined {
    // HTTP/2 has no Host header.
    const host = headers.get("host") ?? URL.parse(url)?.host;
    const results = [
      this.#acceptsAnyHost ? undefined : validateHostHeader(host, this.#hosts),
      validateOriginHeader(headers.get("origin"), this.#hosts),
    ];
    for (const result of results) {
      if (result === undefined || result.ok) continue;
      return refuse(403, `${result.message}; add it to SKILL_SERVER_HOSTS`);
    }
  }

  /**
   * Returns an error response if a client did not send the token. If the server
   * has no token, returns one unless the client is on this machine.
   */
  refuseClient(request: Request, address?: Deno.Addr): Response | undefined {
    if (this.#digest === undefined) {
      return isLoopback(address) ? undefined : refuse(403, NEEDS_TOKEN);
    }
    const authorization = request.headers.get("authorization") ?? "";
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (token !== undefined && timingSafeEqual(sha256(token), this.#digest)) {
      return undefined;
    }
    const challenge = authorization === ""
      ? "Bearer"
      : 'Bearer error="invalid_token"';
    return refuse(401, "The bearer token is missing or wrong", {
      headers: { "WWW-Authenticate": challenge },
    });
  }
}

/** Whether an address is reachable only from this machine. */
export function isLoopback(address: Deno.Addr | undefined): boolean {
  return address !== undefined && "hostname" in address &&
    /^(127\.|::1$|::ffff:127\.)/.test(address.hostname);
}

/** Creates an error response to a request whose ID is unknown. */
export function refuse(
  status: number,
  message: string,
  { code = -32000, headers }: { code?: number; headers?: HeadersInit } = {},
): Response {
  const body = { jsonrpc: "2.0", error: { code, message }, id: null };
  return Response.json(body, { status, headers });
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
