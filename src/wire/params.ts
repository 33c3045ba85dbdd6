/**
 * Cleans the params of messages, so that the SDK understands what the JSON libraries of
 * many languages write.
 */

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { isObject } from "../text.ts";

/**
 * The maximum number of values in the params of a message. Each wrong one would cost the
 * schema library an explanation.
 */
export const MAX_VALUES = 10_000;

/**
 * Removes members that are `null`, which libraries of Go, C#, and Java write for absent
 * ones, and replaces lone surrogates, which strict parsers of the answer refuse.
 *
 * @throws {RangeError} If the params are nested too deeply, or have too many values.
 */
export function cleanParams(params: unknown): unknown {
  let values = 0;
  const count = (more: number) => {
    values += more;
    if (values > MAX_VALUES) throw new RangeError();
  };
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return value.toWellFormed();
    if (Array.isArray(value)) {
      count(value.length);
      return value.map(clean);
    }
    if (!isObject(value)) return value;
    const names = Object.keys(value);
    count(names.length);
    return Object.fromEntries(
      names.filter((name) => value[name] !== null)
        .map((name) => [name, clean(value[name])]),
    );
  };
  return clean(params);
}

/** Members of the params that are objects. */
const OBJECTS = ["_meta", "arguments", "capabilities"];

/**
 * Takes `[]` for an empty object, as PHP writes it, except in the arguments of a tool,
 * and fills in what the client does not say about itself.
 */
export function completeParams(method: unknown, params: unknown): unknown {
  const given = toObject(params);
  if (!isObject(given)) return given;
  const { _meta: meta, ...rest } = Object.fromEntries(
    Object.entries(given).map(([name, value]) =>
      OBJECTS.includes(name) ? [name, toObject(value)] : [name, value]
    ),
  );
  const { clientInfo, capabilities } = rest;
  const client = method === "initialize"
    ? {
      clientInfo: completeInfo(clientInfo),
      capabilities: completeCapabilities(capabilities),
    }
    : {};
  if (meta === undefined) return { ...rest, ...client };
  return { ...rest, ...client, _meta: completeMeta(meta) };
}

function completeMeta(meta: unknown): unknown {
  if (!isObject(meta)) return meta;
  const completed = { ...meta };
  if (CLIENT_INFO_META_KEY in meta) {
    completed[CLIENT_INFO_META_KEY] = completeInfo(meta[CLIENT_INFO_META_KEY]);
  }
  if (CLIENT_CAPABILITIES_META_KEY in meta) {
    completed[CLIENT_CAPABILITIES_META_KEY] = completeCapabilities(
      meta[CLIENT_CAPABILITIES_META_KEY],
    );
  }
  return completed;
}

function completeInfo(info: unknown = {}): unknown {
  return isObject(info) ? { name: "", version: "", ...info } : info;
}

function completeCapabilities(capabilities: unknown = {}): unknown {
  const given = toObject(capabilities);
  if (!isObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, toObject(value)]),
  );
}

function toObject(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? {} : value;
}
