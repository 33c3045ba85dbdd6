/**
 * Decides which clients can connect to the server over HTTP.
 *
 * 1. A web page can point its own host name at this machine (DNS rebinding). Its
 *    requests then carry that name in `Host` and `Origin`, so only known names
 *    are accepted. A page cannot know the token, so if there is a token, every
 *    `Host` is accepted unless the user lists names, and so are pages of that host.
 * 2. Without a token, only clients on this machine are accepted.
 * 3. The first request that is refused for a reason leaves a line in the log. It
 *    contains no text of the client's.
 *
 * @see
 *   {@link https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning}
 */

import { hash, timingSafeEqual } from "node:crypto";
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from "npm:@modelcontextprotocol/server@^2.4.0";

const ADVICE =
  'set SKILL_SERVER_TOKEN to the output of "openssl rand -hex 32", or listen on this machine only (deno serve --host 127.0.0.1)';

/** The reason to refuse a request that somebody else's web page could have sent. */
const UNKNOWN_HOST =
  "The Host or Origin header names an unknown host: add it to SKILL_SERVER_HOSTS";

const WRONG_TOKEN =
  "The bearer token is missing or wrong: send one of SKILL_SERVER_TOKEN in the header Authorization";

export interface AccessToken {
  readonly token: string;
  readonly name?: string | undefined;
}

export interface AccessOptions {
  /** The tokens. If there are any, clients must send one of them. */
  readonly tokens: readonly AccessToken[];
  /** Host names that are served in addition to those of the local machine. */
  readonly hosts: readonly string[];
}

export class AccessControl {
  readonly #tokens: readonly AccessToken[];
  readonly #hosts: string[];
  readonly #acceptsAnyHost: boolean;
  readonly #log: (line: string) => void;
  readonly #logged = new Set<string>();

  constructor({ tokens, hosts }: AccessOptions, log: (line: string) => void) {
    this.#tokens = tokens;
    this.#hosts = [...localhostAllowedHostnames(), ...hosts];
    this.#acceptsAnyHost = tokens.length > 0 && hosts.length === 0;
    this.#log = log;
  }

  get requiresToken(): boolean {
    return this.#tokens.length > 0;
  }

  /** Says why an address, of a client or of the server itself, is not served. */
  findAddressReason(address: Deno.Addr | undefined): string | undefined {
    if (isLoopback(address) || this.requiresToken) return undefined;
    return `Cannot serve other machines without a token: ${ADVICE}`;
  }

  /**
   * Returns an error response if a request is for an unknown host, or from a page on an
   * unknown host.
   */
  findHostRefusal(request: Request, address?: Deno.Addr): Response | undefined {
    const { headers, url } = request;
    // HTTP/2 has no Host header.
    const host = headers.get("host") ?? URL.parse(url)?.host;
    const origin = headers.get("origin");
    const isOwnPage = origin !== null && URL.parse(origin)?.host === host;
    const isKnownHost = this.#acceptsAnyHost ||
      validateHostHeader(host, this.#hosts).ok;
    // Only browsers send an origin. A request without one is valid.
    const isKnownOrigin = (this.#acceptsAnyHost && isOwnPage) ||
      validateOriginHeader(origin, this.#hosts).ok;
    if (isKnownHost && isKnownOrigin) return undefined;
    this.#logOnce(UNKNOWN_HOST, address);
    return createRefusal(403, UNKNOWN_HOST);
  }

  /**
   * Returns an error response if a client did not send the token. If there is no
   * token, returns one unless the client is on this machine.
   */
  findClientRefusal(
    request: Request,
    address?: Deno.Addr,
  ): Response | undefined {
    const reason = this.findAddressReason(address);
    if (reason !== undefined) {
      this.#logOnce(reason, address);
      return createRefusal(403, reason);
    }
    if (!this.requiresToken) return undefined;
    if (this.#find(tokenOf(request)) !== undefined) return undefined;
    this.#logOnce(WRONG_TOKEN, address);
    const isMissing = !request.headers.get("authorization");
    const error = isMissing ? "" : ' error="invalid_token"';
    return createRefusal(401, WRONG_TOKEN, {
      "WWW-Authenticate": `Bearer${error}`,
    });
  }

  /**
   * Returns who sent an accepted request, for the log: the client's network address,
   * behind the name of its token, as in `alice@127.0.0.1`.
   */
  senderOf(request: Request, address?: Deno.Addr): string | undefined {
    const { name } = this.#find(tokenOf(request)) ?? {};
    const host = hostnameOf(address);
    return name === undefined ? host : `${name}@${host ?? "?"}`;
  }

  /** Compares a token with each valid one, in the same time whatever it is. */
  #find(sent: string): AccessToken | undefined {
    const digest = digestOf(sent);
    return this.#tokens.filter(({ token }) =>
      timingSafeEqual(digest, digestOf(token))
    )[0];
  }

  #logOnce(reason: string, address?: Deno.Addr): void {
    if (this.#logged.has(reason)) return;
    this.#logged.add(reason);
    const client = hostnameOf(address) ?? "?";
    this.#log(`Refused a request from ${client}: ${reason} (logged once)`);
  }
}

/** Whether an address is reachable only from this machine. */
export function isLoopback(address: Deno.Addr | undefined): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test(hostnameOf(address) ?? "");
}

function hostnameOf(address?: Deno.Addr): string | undefined {
  return address !== undefined && "hostname" in address
    ? address.hostname
    : undefined;
}

export function createRefusal(
  status: number,
  message: string,
  headers?: HeadersInit,
): Response {
  const body = { jsonrpc: "2.0", error: { code: -32000, message } };
  return Response.json(body, { status, headers });
}

function tokenOf({ headers }: Request): string {
  const authorization = headers.get("authorization") ?? "";
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}

function digestOf(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}
