/**
 * Decides which requests the server accepts over HTTP.
 *
 * 1. A web page can point its own host name at this machine (DNS rebinding). Its
 *    requests carry that name in `Host` and `Origin`, so the server accepts only known
 *    names. No page knows a token, so with tokens and without a list of names, it
 *    accepts any `Host` and any `Origin`.
 * 2. Without a token, it accepts only clients on this machine.
 *
 * @see
 *   {@link https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning}
 */

import { isIP } from "node:net";
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import type { Refusals } from "./refusals.ts";
import type { Tokens } from "./tokens.ts";

const NO_TOKEN =
  'Cannot serve other machines without a token: set SKILL_SERVER_TOKEN to the output of "openssl rand -hex 32", or listen on this machine only (deno serve --host 127.0.0.1)';

const UNKNOWN_HOST =
  "The Host or Origin header names an unknown host: add it to SKILL_SERVER_HOSTS, or set only SKILL_SERVER_TOKEN, so that tokens decide instead";

const WRONG_TOKEN =
  "The bearer token is missing or wrong: send a valid one, without its name, in the Authorization header";

export interface AccessOptions {
  readonly tokens: Tokens | undefined;
  /** Host names that are served in addition to those of the local machine. */
  readonly hosts: readonly string[];
  /** The IP address of the proxy whose `X-Forwarded-For` names the client in the log. */
  readonly proxy: string | undefined;
}

export interface Sender {
  /** Its network address, after the name of its token, as in `alice@127.0.0.1`. */
  readonly label?: string | undefined;
  /** Aborted when the token that it sent is removed. */
  readonly removal?: AbortSignal;
}

export class AccessControl {
  readonly #options: AccessOptions;
  readonly #refusals: Refusals;
  readonly #hosts: string[];
  readonly #acceptsAnyHost: boolean;

  constructor(options: AccessOptions, refusals: Refusals) {
    const { hosts } = options;
    this.#options = options;
    this.#refusals = refusals;
    this.#hosts = [...localhostAllowedHostnames(), ...hosts];
    this.#acceptsAnyHost = this.requiresToken && hosts.length === 0;
  }

  get requiresToken(): boolean {
    return this.#options.tokens !== undefined;
  }

  /** Returns the reason not to serve an address, of a client or of the server itself. */
  findNoTokenReason(address: Deno.Addr | undefined): string | undefined {
    return isLoopback(address) || this.requiresToken ? undefined : NO_TOKEN;
  }

  /** Returns an error response to a request for an unknown host, or from a page of one. */
  refuseUnknownHost(
    request: Request,
    address?: Deno.Addr,
  ): Response | undefined {
    const { headers, url } = request;
    // HTTP/2 has no Host header.
    const host = headers.get("host") ?? URL.parse(url)?.host;
    const isKnownHost = this.#acceptsAnyHost ||
      validateHostHeader(host, this.#hosts).ok;
    if (isKnownHost && this.#isKnownOrigin(headers)) return undefined;
    const sender = this.#addressOf(request, address);
    return this.#refusals.refuse(403, UNKNOWN_HOST, sender);
  }

  /** Only browsers send an origin. A request without one is valid. */
  #isKnownOrigin(headers: Headers): boolean {
    return this.#acceptsAnyHost ||
      validateOriginHeader(headers.get("origin"), this.#hosts).ok;
  }

  /** Lets a web page of a known origin read the response to its request. */
  allowOrigin({ headers }: Request, response: Response): Response {
    const origin = headers.get("origin");
    response.headers.append("Vary", "Origin");
    if (origin === null || !this.#isKnownOrigin(headers)) return response;
    response.headers.set("Access-Control-Allow-Origin", origin);
    const readable = "Retry-After, WWW-Authenticate";
    response.headers.set("Access-Control-Expose-Headers", readable);
    return response;
  }

  identify(request: Request, address?: Deno.Addr): Sender | Response {
    const sender = this.#addressOf(request, address);
    const reason = this.findNoTokenReason(address);
    if (reason !== undefined) return this.#refusals.refuse(403, reason, sender);
    const { tokens } = this.#options;
    if (tokens === undefined) return { label: sender };
    const authorization = request.headers.get("authorization") ?? "";
    const token = tokens.find(bearerTokenIn(authorization));
    if (token === undefined) {
      const error = authorization === "" ? "" : ' error="invalid_token"';
      const headers = { "WWW-Authenticate": `Bearer${error}` };
      return this.#refusals.refuse(401, WRONG_TOKEN, sender, headers);
    }
    const { name, removal } = token;
    return {
      label: name === undefined ? sender : `${name}@${sender ?? "?"}`,
      removal: removal.signal,
    };
  }

  /** Returns the address of a client for the log, as the proxy says it. */
  #addressOf({ headers }: Request, address?: Deno.Addr): string | undefined {
    const host = hostnameOf(address);
    if (host === undefined) return undefined;
    if (host.replace(/^::ffff:/, "") !== this.#options.proxy) return host;
    const forwarded = headers.get("x-forwarded-for") ?? "";
    const last = forwarded.split(",").at(-1)!.trim();
    return isIP(last) === 0 ? host : last;
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

function bearerTokenIn(authorization: string): string {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
}
