/**
 * What `--print-config` prints: the configuration for an MCP client, and what
 * the user should know about it.
 *
 * @module
 */

import { join } from "jsr:@std/path@^1";
import {
  type ClientName,
  type Launch,
  MCP_CLIENTS,
  type McpClient,
} from "./clients.ts";
import {
  createLaunch,
  isInNpxCache,
  type Program,
  runningProgram,
} from "./launch.ts";
import type { Settings } from "./settings.ts";
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
 * running now.
 *
 * @throws {UsageError} If the entry would be less safe than the user can expect.
 */
export function createClientConfig(
  name: ClientName,
  settings: Settings,
  program: Program = runningProgram(),
): ClientConfig {
  const client = MCP_CLIENTS[name];
  const { title, toolset, ownSkills = [], projectFile } = client;
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
  const file = quote(configFile(client, program.os));
  const project = projectFile === undefined
    ? ""
    : `, or for a single project in ${quote(projectFile)}`;
  const paragraphs = [
    toolset !== undefined && values.tools === undefined &&
    `${title} cannot open files. So the entry selects the toolset ${toolset}, which has a tool that reads the other files of a skill.`,
    ownSkills.length > 0 &&
    `${title} itself lists the skills in ${
      ownSkills.join(" and ")
    }, of the project and of the home folder. So that the model sees each description once, the server lists these skills by name (--name-only). Remove these arguments if you switch off the list of ${title}.`,
    isInNpxCache(launch.command) &&
    "The entry starts the Deno that npx downloaded. If you empty the cache of npm, print the configuration again. To avoid that, install Deno (https://deno.com) and print the configuration with it.",
    `Add this to the configuration of ${title} in ${file}${project}:`,
  ];
  const message = paragraphs.filter((text) => text !== false).join("\n\n");
  return {
    text: formatConfig(client, launch),
    message: `\n${message}\n\n`,
  };
}

/** Formats the configuration of a client that starts the server. */
export function formatConfig(
  { format, section = "mcpServers", entry }: McpClient,
  launch: Launch,
): string {
  const skills = entry?.(launch) ?? launch;
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

/** Formats a table with texts and lists of texts as TOML. */
function tomlText(name: string, entry: object): string {
  const text = (value: unknown) =>
    escapeHidden(stringifyJson(value), escapeCodePoint);
  const fields = Object.entries(entry).map(([key, value]) =>
    Array.isArray(value)
      ? `${key} = [\n${value.map((item) => `  ${text(item)},\n`).join("")}]\n`
      : `${key} = ${text(value)}\n`
  );
  return `[${name}]\n${fields.join("")}`;
}
