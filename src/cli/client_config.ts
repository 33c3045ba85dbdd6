/**
 * What `--print-config` prints: the configuration for an MCP client, and what
 * the user should know about it.
 *
 * @module
 */

import { join } from "jsr:@std/path@^1";
import {
  type ClientName,
  isLocal,
  isPlainRemote,
  MCP_CLIENTS,
  type McpClient,
  type Server,
  TOKEN_VARIABLE,
} from "./clients.ts";
import { createLaunch } from "./launch.ts";
import {
  isInNpxCache,
  type Program,
  quoteCommand,
  runningProgram,
} from "./program.ts";
import type { Settings } from "./settings.ts";
import { attempt } from "../files/faults.ts";
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
  /** Introduces the text. */
  readonly title: string;
  /** Messages for the user, a paragraph each. */
  readonly notes: readonly string[];
  /** A command that adds the configuration, ready to paste into a terminal. */
  readonly command?: string | undefined;
}

/**
 * Creates the configuration for a client that starts the server the way it is
 * running now or, with `--url`, connects to a URL.
 *
 * @throws {UsageError} If the entry would be less safe than the user can expect.
 */
export function createClientConfig(
  name: ClientName,
  settings: Settings,
  program: Program = runningProgram(),
): ClientConfig {
  const client = MCP_CLIENTS[name];
  const { url } = settings.values;
  const { server, notes } = url === undefined
    ? describeLaunch(client, { settings, program })
    : describeRemote(client, new URL(url));
  const { title, projectFile } = client;
  const file = quote(configFile(client, program.os));
  const project = projectFile === undefined
    ? ""
    : `, or for a single project in ${quote(projectFile)}`;
  return {
    text: formatConfig(client, server),
    title: `Add this to the configuration of ${title} in ${file}${project}`,
    notes: notes.filter((note) => typeof note === "string"),
    command: program.os === "windows"
      ? undefined
      : createCommand(client, server),
  };
}

/** Formats everything but the configuration itself, between blank lines. */
export function configMessage(config: ClientConfig): string {
  const { notes, command, title } = config;
  const paragraphs = command === undefined ? [`${title}:`] : [
    ...["Run this command in a terminal:", command],
    `Or ${title.replace("Add", "add")}:`,
  ];
  return `\n${[...notes, ...paragraphs].join("\n\n")}\n\n`;
}

/** Returns the path of a client's configuration file, as the client's documentation has it. */
export function configFile(
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

/** What the user should know. Notes that do not apply are no texts. */
type Notes = readonly (string | false | undefined)[];

/** Describes the command that starts the server. */
function describeLaunch(
  client: McpClient,
  { settings, program }: { settings: Settings; program: Program },
) {
  const { title, toolset, ownSkills = [] } = client;
  const { values, home = "~" } = settings;
  // Those that are not served do no harm, and links can lead to them.
  const ownFolders = ownSkills.flatMap((path) => [
    join(path),
    join(home, path),
  ]);
  const nameOnly = new Set([...ownFolders, ...values["name-only"] ?? []]);
  const tools = values.tools ?? toolset;
  const server = createLaunch(program, {
    ...settings,
    values: { ...values, ...tools && { tools }, "name-only": [...nameOnly] },
  });
  const notes: Notes = [
    toolset !== undefined && values.tools === undefined &&
    `${title} cannot open files. So the entry selects the toolset ${toolset}, which has a tool that reads the other files of a skill.`,
    ownSkills.length > 0 &&
    `${title} itself lists the skills in ${
      ownSkills.join(" and ")
    }, of the project and of the home folder. So that the model sees each description once, the server lists these skills by name (--name-only). Remove these arguments if you switch off the list of ${title}.`,
    isInNpxCache(server.command) &&
    "The entry starts the Deno that npx downloaded. If you empty the cache of npm, print the configuration again. To avoid that, install Deno (https://deno.com) and print the configuration with it.",
  ];
  return { server, notes };
}

/** Describes the server at a URL. Completes the URL if it has no path. */
function describeRemote(client: McpClient, url: URL) {
  if (url.pathname === "/") url.pathname = "/mcp";
  const { href, hostname } = url;
  // On this machine, a server needs no token unless the environment has one.
  const needsToken = !isLocal(href) ||
    Boolean(attempt(() => Deno.env.get(TOKEN_VARIABLE)));
  const { title, token, inputs, urlNote } = client;
  const source = token === undefined
    ? `Replace <token> with the token of the server, because ${title} cannot read it from the environment.`
    : inputs
    ? `${title} asks for the token.`
    : `${title} reads the token from the environment variable ${TOKEN_VARIABLE}.`;
  const notes: Notes = [
    urlNote,
    needsToken && source,
    needsToken && isPlainRemote(href) &&
    `Everyone between this machine and ${hostname} can read the token, because the URL does not start with https://.`,
  ];
  const Authorization = `Bearer ${token ?? "<token>"}`;
  const headers = needsToken && { headers: { Authorization } };
  return { server: { url: href, ...headers }, notes };
}

function entryFor({ entry, urlEntry }: McpClient, server: Server): object {
  return ("url" in server ? urlEntry?.(server) : entry?.(server)) ?? server;
}

/** Formats the configuration of a client for a server. */
export function formatConfig(client: McpClient, server: Server): string {
  const { format, section = "mcpServers", inputs } = client;
  const skills = entryFor(client, server);
  if (format === "toml") return tomlText(`${section}.skills`, skills);
  const asks = inputs && "url" in server && server.headers;
  return jsonText({ [section]: { skills }, ...asks && { inputs } });
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

/** Creates the client's own command that adds the entry, if there is one that can be pasted safely. */
function createCommand(client: McpClient, server: Server): string | undefined {
  const { add, addJson } = client;
  if (addJson !== undefined) {
    const entry = escapeHidden(stringifyJson(entryFor(client, server)));
    return quoteCommand([...addJson.split(" "), entry]);
  }
  return add === undefined || "url" in server
    ? undefined
    : quoteCommand(add(server));
}
