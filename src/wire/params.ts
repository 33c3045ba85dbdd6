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

const CAPABILITIES = ["capabilities", CLIENT_CAPABILITIES_META_KEY];

/** Members that are objects. So are those of {@linkcode CAPABILITIES}. */
const OBJECTS = ["params", "_meta", "arguments", ...CAPABILITIES];

const CLIENT_INFOS = ["clientInfo", CLIENT_INFO_META_KEY];

const NOBODY = { name: "", version: "" };

/**
 * Removes members that are `null`, which libraries of Go, C#, and Java write for absent
 * ones, takes `[]` for an empty object, as PHP writes it, fills in what clients omit
 * about themselves, and replaces lone surrogates, which strict parsers of the answer
 * refuse.
 *
 * @throws {RangeError} If the params are nested too deeply, or have too many values.
 */
export function cleanParams(method: unknown, params: unknown): unknown {
  let values = 0;
  const count = (more: number) => {
    values += more;
    if (values > MAX_VALUES) throw new RangeError();
  };
  const clean = (value: unknown, name = "", parent = ""): unknown => {
    if (typeof value === "string") return value.toWellFormed();
    if (Array.isArray(value)) {
      count(value.length);
      const isMeant = OBJECTS.includes(name) || CAPABILITIES.includes(parent);
      return isMeant && value.length === 0 ? {} : value.map((it) => clean(it));
    }
    if (!isObject(value)) return value;
    const members = Object.keys(value).filter((key) => value[key] !== null);
    count(members.length);
    const cleaned = Object.fromEntries(
      members.map((key) => [key, clean(value[key], key, name)]),
    );
    return CLIENT_INFOS.includes(name) ? { ...NOBODY, ...cleaned } : cleaned;
  };
  const cleaned = clean(params, "params");
  return method === "initialize" && isObject(cleaned)
    ? { capabilities: {}, clientInfo: NOBODY, ...cleaned }
    : cleaned;
}
