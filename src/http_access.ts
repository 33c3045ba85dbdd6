// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Who may call the server over HTTP.
 *
 * 1. A page in a browser can make its own name point at this machine (DNS
 *    rebinding). Its requests carry that name as `Host` and as `Origin`, so only
 *    known names are served. A page cannot know the token: with one, any `Host` is.
 * 2. Without a token only callers from this machine are served.
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

/** How callers are told apart. */
export interface AccessOptions {
  /** The token that callers must show, if there is one. */
  readonly token: string | undefined;
  /** Names of this server, beside those of the local machine. */
  readonly hosts: readonly string[];
}

/** Decides who may call. */
export class Access {
  readonly #digest: Uint8Array | undefined;
  readonly #names: string[];
  readonly #isAnyHost: boolean;

  constructor({ token, hosts }: AccessOptions) {
    this.#digest = token === undefined ? undefined : sha256(token);
    this.#names = [...localhostAllowedHostnames(), ...hosts];
    this.#isAnyHost = token !== undefined && hosts.length === 0;
  }

  /** Returns the refusal of a request under a name that is not this server's, or from a page elsewhere. */
  refuseHost({ headers, url }: Request): Response | undefined {
    // HTTP/2 has the name in the URL alone.
    const host = headers.get("host") ?? hostIn(url);
    const checks = [
      this.#isAnyHost ? undefined : validateHostHeader(host, this.#names),
      validateOriginHeader(headers.get("origin"), this.#names),
    ];
    for (const check of checks) {
      if (check?.ok === false) return refusal(403, check.message);
    }
  }

  /** Returns the refusal of a caller who has no token, or of one elsewhere where none is set. */
  refuseCaller(request: Request, remote?: Deno.Addr): Response | undefined {
    if (this.#digest === undefined) {
      return isLoopback(remote) ? undefined : refusal(403, NEEDS_TOKEN);
    }
    const authorization = request.headers.get("authorization") ?? "";
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (token !== undefined && timingSafeEqual(sha256(token), this.#digest)) {
      return undefined;
    }
    const challenge = authorization === ""
      ? "Bearer"
      : 'Bearer error="invalid_token"';
    return refusal(401, "The bearer token is missing or wrong", {
      "WWW-Authenticate": challenge,
    });
  }
}

/** Why a server without a token serves nobody elsewhere, and how to change that. */
export const NEEDS_TOKEN =
  "Cannot serve other machines without a token: set SKILL_SERVER_TOKEN, or listen on this machine only (deno serve --host 127.0.0.1)";

/** Whether an address is this machine's own. */
export function isLoopback(address: Deno.Addr | undefined): boolean {
  return address !== undefined && "hostname" in address &&
    /^(127\.|::1$|::ffff:127\.)/.test(address.hostname);
}

/** Makes the answer to a request that is refused before its message is read. */
export function refusal(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  const error = { code: -32000, message };
  const body = { jsonrpc: "2.0", error, id: null };
  return Response.json(body, { status, headers });
}

function hostIn(url: string): string | undefined {
  return URL.parse(url)?.host;
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
