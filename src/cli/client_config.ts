/**
 * What `--print-config` prints: the configuration for an MCP client, and what
 * the user should know about it.
 *
 * @module
 */

import { join } from "jsr:@std/path@^1";
import { MCP_CLIENTS, type McpClient } from "./clients.ts";
import { type ClientName, UsageError } from "../program/command_line.ts";
import { createLaunch, type Program, runningProgram } from "./launch.ts";
import type { Settings } from "../program/settings.ts";
import {
  escapeCodePoint,
  escapeHidden,
  jsonText,
  quote,
  stringifyJson,
} from "../text.ts";

/** A client's configuration, and what the user should know about it. */
export interface ClientConfig {
  /** The snippet to add to the configuration file. */
  readonly text: string;
  /** What the user should know, and where to add it. */
  readonly message: string;
}

/**
 * Creates the configuration for a client that starts the server the way it is
 * running now or, with `--url`, connects to a server over HTTP.
 *
 * @throws {UsageError} If the client has no such entry, or if the entry would be less
 *   safe than the user can expect.
 */
export function createClientConfig(
  name: ClientName,
  settings: Settings,
  program: Program = runningProgram(),
): ClientConfig {
  const client = MCP_CLIENTS[name];
  const { title, projectFile } = client;
  const { url } = settings.values;
  const { entry, notes } = url === undefined
    ? createEntry(client, { settings, program })
    : { entry: createUrlEntry(client, url), notes: [] };
  const file = quote(configFile(client, program.os));
  const project = projectFile === undefined
    ? ""
    : `, or for a single project in ${quote(projectFile)}`;
  const place =
    `Add this to the configuration of ${title} in ${file}${project}:`;
  const paragraphs = [...notes, place].filter((text) => text !== false);
  return {
    text: formatConfig(client, entry),
    message: `\n${paragraphs.join("\n\n")}\n\n`,
  };
}

/** Creates the entry that starts the server, and what the user should know about it. */
function createEntry(
  client: McpClient,
  { settings, program }: { settings: Settings; program: Program },
) {
  const { title, toolset, ownSkills = [] } = client;
  const { values, home = "~" } = settings;
  // Those that are not served do no harm, and links can lead to them.
  const ownFolders = ownSkills
    .flatMap((path) => [join(path), join(home, path)]);
  const nameOnly = new Set([...ownFolders, ...values["name-only"] ?? []]);
  const tools = values.tools ?? toolset;
  const launch = createLaunch(program, {
    ...settings,
    values: { ...values, ...tools && { tools }, "name-only": [...nameOnly] },
  });
  const entry = client.entry?.(launch) ?? launch;
  const words = quoteWords([launch.command, ...launch.args]);
  const command = words && client.command?.({ entry, words });
  const notes = [
    toolset !== undefined && values.tools === undefined &&
    `${title} cannot open files. So the entry selects the toolset ${toolset}, which has a tool that reads the other files of a skill.`,
    ownSkills.length > 0 &&
    `${title} itself lists the skills in ${
      ownSkills.join(" and ")
    }, of the project and of the home folder. So that the model sees each description once, the server lists these skills by name (--name-only). Remove these arguments if you switch off the list of ${title}.`,
    // What npx downloaded may be gone the next day.
    /[\\/]_npx[\\/]/.test(launch.command) &&
    "The entry starts the Deno that npx downloaded. If you empty the cache of npm, print the configuration again. To avoid that, install Deno (https://deno.com) and print the configuration with it.",
    command !== undefined &&
    `Run this in a terminal, or edit the file yourself:\n\n${command}`,
  ];
  return { entry, notes };
}

/**
 * Quotes words that mean the same in sh, bash, zsh, and fish, alone and in JSON. Returns
 * nothing if single quotes are not enough for that, as with any path on Windows.
 */
function quoteWords(words: readonly string[]): string[] | undefined {
  const text = words.join(" ");
  return /['"\\]/.test(text) || text !== escapeHidden(text)
    ? undefined
    : words.map((word) => /^[\w./:,@=-]+$/.test(word) ? word : `'${word}'`);
}

/** Creates the entry for a server over HTTP. */
function createUrlEntry({ title, urlEntry }: McpClient, url: string): object {
  if (urlEntry !== undefined) return urlEntry(url);
  throw new UsageError(
    `Cannot print an entry for a URL: the configuration file of ${title} has none; add the URL to the connectors in its settings, or use mcp-remote as docs/http.md shows`,
  );
}

/** Formats an entry as the configuration of a client. */
export function formatConfig(
  { format, section = "mcpServers" }: McpClient,
  skills: object,
): string {
  return format === "toml"
    ? tomlText(`${section}.skills`, skills)
    : jsonText({ [section]: { skills } });
}

/** Returns the path of a client's configuration file, as the client's documentation has it. */
function configFile(
  { file }: McpClient,
  os: typeof Deno.build.os,
): string {
  if (os === "windows") {
    return file.replace("{data}", "%APPDATA%").replace(/^~/, "%USERPROFILE%")
      .replaceAll("/", "\\");
  }
  const data = os === "darwin" ? "~/Library/Application Support" : "~/.config";
  return file.replace("{data}", data);
}

/** Formats a table with texts and lists of texts as TOML, which writes them as JSON does. */
function tomlText(name: string, entry: object): string {
  const fields = Object.entries(entry).map(([key, value]) =>
    `${key} = ${escapeHidden(stringifyJson(value), escapeCodePoint)}\n`
  );
  return `[${name}]\n${fields.join("")}`;
}
