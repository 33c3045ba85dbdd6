/**
 * Decides which requests the server accepts over HTTP.
 *
 * 1. A web page can point its own host name at this machine (DNS rebinding). Its
 *    requests carry that name in `Host` and `Origin`, so the server accepts only known
 *    names. No page knows a token, so with tokens and without a list of names, it
 *    accepts any `Host`, and pages of that host.
 * 2. Without a token, it accepts only clients on this machine.
 * 3. It logs the first request that it refuses for each reason, without any text that
 *    the client sent.
 *
 * @see
 *   {@link https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning}
 */

import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import type { Tokens } from "./tokens.ts";

const NO_TOKEN =
  'Cannot serve other machines without a token: set SKILL_SERVER_TOKEN to the output of "openssl rand -hex 32", or listen on this machine only (deno serve --host 127.0.0.1)';

const UNKNOWN_HOST =
  "The Host or Origin header names an unknown host: add it to SKILL_SERVER_HOSTS";

const WRONG_TOKEN =
  "The bearer token is missing or wrong: send a valid one in the Authorization header";

export interface AccessOptions {
  /** If there are tokens, clients must send one of them. */
  readonly tokens?: Tokens | undefined;
  /** Host names that are served in addition to those of the local machine. */
  readonly hosts: readonly string[];
}

/** Who sent a request that the server accepts. */
export interface Sender {
  /** Its network address, after the name of its token, as in `alice@127.0.0.1`. */
  readonly name?: string | undefined;
  /** Aborted when the token that it sent is removed. */
  readonly removal?: AbortSignal;
}

export class AccessControl {
  readonly #tokens: Tokens | undefined;
  readonly #hosts: string[];
  readonly #acceptsAnyHost: boolean;
  readonly #log: (line: string) => void;
  readonly #logged = new Set<string>();

  constructor({ tokens, hosts }: AccessOptions, log: (line: string) => void) {
    this.#tokens = tokens;
    this.#hosts = [...localhostAllowedHostnames(), ...hosts];
    this.#acceptsAnyHost = this.requiresToken && hosts.length === 0;
    this.#log = log;
  }

  get requiresToken(): boolean {
    return this.#tokens !== undefined;
  }

  /** Returns the reason not to serve an address, of a client or of the server itself. */
  findAddressReason(address: Deno.Addr | undefined): string | undefined {
    return isLoopback(address) || this.requiresToken ? undefined : NO_TOKEN;
  }

  /** Returns an error response to a request for an unknown host, or from a page of one. */
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
    return this.#refuse(403, UNKNOWN_HOST, address);
  }

  /** Returns who sent a request, or an error response. */
  identify(request: Request, address?: Deno.Addr): Sender | Response {
    const reason = this.findAddressReason(address);
    if (reason !== undefined) return this.#refuse(403, reason, address);
    const host = hostnameOf(address);
    if (this.#tokens === undefined) return { name: host };
    const authorization = request.headers.get("authorization") ?? "";
    const token = this.#tokens.find(bearerTokenIn(authorization));
    if (token === undefined) {
      const error = authorization === "" ? "" : ' error="invalid_token"';
      const headers = { "WWW-Authenticate": `Bearer${error}` };
      return this.#refuse(401, WRONG_TOKEN, address, headers);
    }
    const { name, removal } = token;
    return {
      name: name === undefined ? host : `${name}@${host ?? "?"}`,
      removal: removal.signal,
    };
  }

  #refuse(
    status: number,
    reason: string,
    address?: Deno.Addr,
    headers?: HeadersInit,
  ): Response {
    if (!this.#logged.has(reason)) {
      this.#logged.add(reason);
      const client = hostnameOf(address) ?? "?";
      this.#log(`Refused a request from ${client}: ${reason} (logged once)`);
    }
    return createRefusal(status, reason, headers);
  }
}

/** Whether an address is reachable only from this machine. */
function isLoopback(address: Deno.Addr | undefined): boolean {
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

function bearerTokenIn(authorization: string): string {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}
