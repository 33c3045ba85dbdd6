/**
 * The configuration files of MCP clients: their paths on each operating system
 * and their contents.
 *
 * @module
 */

import {
  type McpClient,
  type RemoteServer,
  type Server,
  SERVER_NAME,
  urlEntry as usualUrlEntry,
} from "./clients.ts";
import type { Program } from "./program.ts";
import {
  escapeCodePoint,
  escapeHidden,
  jsonText,
  stringifyJson,
} from "../text.ts";

/** The locations of a user's folders. */
export interface UserPlaces extends Pick<Program, "os" | "variable"> {
  readonly home: string;
}

/** Returns the path of a client's configuration file. */
export function userFileOf(client: McpClient, places: UserPlaces): string {
  const { userFile, windowsFile, macFile } = client;
  const files: Partial<Record<UserPlaces["os"], string | undefined>> = {
    windows: windowsFile,
    darwin: macFile,
  };
  return expandPath(files[places.os] ?? userFile, places);
}

/** Returns the path that a template stands for, with the separator of the operating system. */
export function expandPath(template: string, places: UserPlaces): string {
  const { os, home, variable } = places;
  const [, name, fallback = "", rest = template] =
    /^\{(\w+):(.*)\}([^{}]*)$/.exec(template) ?? [];
  const path = rest.replaceAll("/", os === "windows" ? "\\" : "/");
  return name === undefined
    ? path.replace(/^~/, () => home)
    : (variable(name) || expandPath(fallback, places)) + path;
}

/** Returns a client's entry for a server. */
export function entryFor(client: McpClient, server: Server): object {
  const { entry, urlEntry = usualUrlEntry, fields } = client;
  return "url" in server
    ? { ...urlEntry(server), ...fields }
    : { ...entry?.(server) ?? server, ...fields };
}

/** Returns a client's entry with the server's name, and what belongs to the top level. */
export function namedEntryFor(client: McpClient, server: Server): object {
  const entry = entryFor(client, server);
  return { name: SERVER_NAME, ...entry, ...tokenTopLevel(client, server) };
}

function tokenTopLevel(client: McpClient, server: Server): object | undefined {
  const hasToken = "url" in server && server.token !== undefined;
  return hasToken ? client.tokenTopLevel : undefined;
}

/** Returns the words of the client's own command that adds a server, if it has one. */
export function commandToAdd(
  client: McpClient,
  server: Server,
): string[] | undefined {
  const template = "url" in server ? client.addUrlCommand : client.addCommand;
  const parts: Readonly<Record<string, readonly string[]>> = {
    "{entry}": [inlineJson(entryFor(client, server))],
    "{namedEntry}": [inlineJson(namedEntryFor(client, server))],
    ..."url" in server
      ? { "{url}": [server.url], "{token}": wordsForToken(client, server) }
      : { "{command}": [server.command], "{args}": server.args },
  };
  return template?.split(" ").flatMap((word) => parts[word] ?? word);
}

function wordsForToken(
  { tokenOption = ["--header", "Authorization: Bearer {token}"] }: McpClient,
  { token }: RemoteServer,
): readonly string[] {
  if (token === undefined) return [];
  return tokenOption.map((word) => word.replace("{token}", () => token));
}

/** Serializes a value as single-line JSON, with hidden characters escaped. */
function inlineJson(value: unknown): string {
  return escapeHidden(stringifyJson(value));
}

/** Formats the configuration of a client for a server. */
export function formatConfig(client: McpClient, server: Server): string {
  const { format, section = "mcpServers", topLevel } = client;
  const entry = entryFor(client, server);
  if (format === "toml") return asToml(`${section}.${SERVER_NAME}`, entry);
  const content = {
    ...topLevel,
    [section]: { [SERVER_NAME]: entry },
    ...tokenTopLevel(client, server),
  };
  return format === "yaml" ? asYaml(content) : jsonText(content);
}

/** Formats a table with texts and lists of texts as TOML. */
function asToml(name: string, entry: object): string {
  const fields = Object.entries(entry).map(([key, value]) =>
    Array.isArray(value)
      ? `${key} = [\n${value.map((item) => `  ${quoted(item)},\n`).join("")}]\n`
      : `${key} = ${quoted(value)}\n`
  );
  return `[${name}]\n${fields.join("")}`;
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
