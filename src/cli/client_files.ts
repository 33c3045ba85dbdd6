/**
 * The configuration files of MCP clients: their paths on each operating system
 * and their contents.
 *
 * @module
 */

import {
  type McpClient,
  type PathTemplate,
  type RemoteServer,
  SERVER_NAME,
} from "./clients.ts";
import type { Launch } from "./launch.ts";
import {
  escapeCodePoint,
  escapeHidden,
  jsonText,
  stringifyJson,
} from "../text.ts";

/** The locations of a user's folders. */
export interface UserPlaces {
  readonly os: typeof Deno.build.os;
  readonly home: string;
  /** Returns the value of an environment variable, if it is set. */
  readonly variable: (name: string) => string | undefined;
}

/** Returns the path that a template stands for, with the separator of the operating system. */
export function expandPath(template: PathTemplate, places: UserPlaces): string {
  if (typeof template !== "string") {
    const { windows, darwin, other } = template;
    if (places.os === "windows") return expandPath(windows, places);
    return expandPath(places.os === "darwin" && darwin || other, places);
  }
  const [, name, fallback, rest] = /^\{(\w+):(.*)\}([^{}]*)$/.exec(template) ??
    [];
  const separator = places.os === "windows" ? "\\" : "/";
  const written = (path: string) => path.replaceAll("/", separator);
  if (name === undefined) {
    return template.startsWith("~")
      ? places.home + written(template.slice(1))
      : written(template);
  }
  const value = places.variable(name) || expandPath(fallback!, places);
  return value + written(rest!);
}

/** Returns a client's entry for a server. */
export function entryFor(
  client: McpClient,
  server: Launch | RemoteServer,
): object {
  if ("url" in server) return client.remote.entry(server);
  return client.entry?.(server) ?? server;
}

/** Returns the words of the client's own command that adds a server, if it has one. */
export function commandToAdd(
  client: McpClient,
  server: Launch | RemoteServer,
): string[] | undefined {
  const isRemote = "url" in server;
  const template = isRemote ? client.remote.addCommand : client.addCommand;
  if (template === undefined) return undefined;
  const entry = entryFor(client, server);
  const parts: Readonly<Record<string, readonly string[]>> = {
    "{entry}": [inlineJson(entry)],
    "{namedEntry}": [
      inlineJson({
        name: SERVER_NAME,
        ...entry,
        ...(isRemote && client.remote.topLevel?.(server)),
      }),
    ],
    ...isRemote
      ? { "{url}": [server.url], "{token}": tokenOption(client, server) }
      : { "{command}": [server.command], "{args}": server.args },
  };
  return template.split(" ").flatMap((word) => parts[word] ?? word);
}

function tokenOption(
  { remote }: McpClient,
  { token }: RemoteServer,
): readonly string[] {
  if (token === undefined) return [];
  const { tokenOption = ["--header", "Authorization: Bearer {token}"] } =
    remote;
  return tokenOption.map((word) => word.replace("{token}", () => token));
}

/** Serializes a value as single-line JSON, with hidden characters escaped. */
function inlineJson(value: unknown): string {
  return escapeHidden(stringifyJson(value));
}

/** Formats the configuration of a client for a server. */
export function formatConfig(
  client: McpClient,
  server: Launch | RemoteServer,
): string {
  const { format, section = "mcpServers", topLevel, remote } = client;
  const content = {
    ...topLevel,
    [section]: { [SERVER_NAME]: entryFor(client, server) },
    ...("url" in server && remote.topLevel?.(server)),
  };
  if (format === "toml") return asToml(content);
  return format === "yaml" ? asYaml(content) : jsonText(content);
}

/** Formats a file that contains one section with one entry as TOML. */
function asToml(content: object): string {
  return Object.entries(content).flatMap(([section, servers]) =>
    Object.entries(servers).map(([name, entry]) =>
      `[${section}.${name}]\n${tomlFields(entry as object)}`
    )
  ).join("\n");
}

function tomlFields(entry: object): string {
  return Object.entries(entry).map(([key, value]) =>
    Array.isArray(value)
      ? `${key} = [\n${value.map((item) => `  ${quoted(item)},\n`).join("")}]\n`
      : `${key} = ${quoted(value)}\n`
  ).join("");
}

function asYaml(content: object, indent = ""): string {
  return Object.entries(content).map(([key, value]) => {
    if (Array.isArray(value)) {
      if (value.length === 0) return `${indent}${key}: []\n`;
      const items = value.map((item) => `${indent}  - ${quoted(item)}\n`);
      return `${indent}${key}:\n${items.join("")}`;
    }
    return typeof value === "object"
      ? `${indent}${key}:\n${asYaml(value, `${indent}  `)}`
      : `${indent}${key}: ${quoted(value)}\n`;
  }).join("");
}

/** Formats a value for TOML or YAML, with texts in double quotes. */
function quoted(value: unknown): string {
  return escapeHidden(stringifyJson(value), escapeCodePoint);
}
