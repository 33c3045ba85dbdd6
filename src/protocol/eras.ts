/**
 * The two eras of the protocol: which one a request belongs to, and what the
 * modern era requires of requests and results.
 *
 * @see {@link https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning}
 */

import type {
  JSONRPCRequest,
  Result,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { echo, isObject } from "../text.ts";
import { CODES, invalidParams, rpcError, unknownMethod } from "./json_rpc.ts";

/** The protocol versions of the legacy era that the server supports, the latest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

export const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];

export function isKnownVersion(version: string): boolean {
  return [...LEGACY_VERSIONS, ...MODERN_VERSIONS].includes(version);
}

/** Keys of `_meta` that the protocol reserves. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
};

/** Methods that exist only in the legacy era. */
const LEGACY_METHODS = /^(initialize|ping|resources\/(un)?subscribe)$/;

const MODERN_METHODS = /^(server\/discover|subscriptions\/listen)$/;

/** Methods whose results a modern client can cache: those that list and read. */
const CACHEABLE_METHODS = /\/(discover|list|read)$|^skills\/get$/;

export function isModern({ method, params }: JSONRPCRequest): boolean {
  if (MODERN_METHODS.test(method)) return true;
  const meta = metaOf(params);
  return META.protocolVersion in meta || META.clientCapabilities in meta ||
    META.clientInfo in meta;
}

export function clientOf({ params }: JSONRPCRequest): string | undefined {
  const info = metaOf(params)[META.clientInfo];
  return isObject(info) && typeof info.name === "string"
    ? info.name
    : undefined;
}

/** Returns the fields that say how a modern client can cache the results of a method. */
export function cachingOf(
  method: string,
  ttlMs: number,
): { ttlMs?: number; cacheScope?: "private" } {
  return CACHEABLE_METHODS.test(method) ? { ttlMs, cacheScope: "private" } : {};
}

/** Adds the fields that the modern era requires to the result of a method. */
export function toModernResult(
  result: Result,
  method: string,
  { serverInfo, ttlMs }: { serverInfo: object; ttlMs: number },
): Result {
  return {
    resultType: "complete",
    ...result,
    ...cachingOf(method, ttlMs),
    _meta: { ...result._meta, [META.serverInfo]: serverInfo },
  };
}

/** @throws {Error} If the metadata or the method of a modern request is invalid. */
export function requireModern({ method, params }: JSONRPCRequest): void {
  const {
    [META.protocolVersion]: version,
    [META.clientCapabilities]: capabilities,
  } = metaOf(params);
  if (typeof version !== "string") {
    throw invalidParams(`_meta must contain ${META.protocolVersion}, a string`);
  }
  if (!MODERN_VERSIONS.includes(version)) {
    throw unsupportedVersion(version);
  }
  if (!isObject(capabilities)) {
    throw invalidParams(
      `_meta must contain ${META.clientCapabilities}, an object`,
    );
  }
  if (LEGACY_METHODS.test(method)) throw unknownToModern(method);
}

export function unknownToModern(method: string): Error {
  if (!LEGACY_METHODS.test(method)) return unknownMethod(method);
  const [last, next] = [LEGACY_VERSIONS[0], MODERN_VERSIONS[0]];
  const fix = `omit it, or the keys of ${next} in _meta`;
  return unknownMethod(method, `it exists only up to ${last}; ${fix}`);
}

export function unsupportedVersion(requested: string): Error {
  const message = "Unsupported protocol version";
  const data = { supported: MODERN_VERSIONS, requested: echo(requested) };
  return rpcError(CODES.unsupportedVersion, message, data);
}

function metaOf(
  params: JSONRPCRequest["params"],
): Record<string, unknown> {
  const meta: unknown = params?._meta;
  return isObject(meta) ? meta : {};
}
