/**
 * What `--print-config` prints: the configuration for an MCP client, and what
 * the user should know about it.
 *
 * @module
 */

import {
  CLIENT_NAMES,
  MCP_CLIENTS,
  type McpClient,
  TOKEN_VARIABLE,
} from "./clients.ts";
import { expandPath, formatLocal, formatRemote } from "./client_files.ts";
import { UsageError } from "./command_line.ts";
import {
  createLaunch,
  findImportMap,
  isInNpxCache,
  type Launch,
  listFolders,
  serverArguments,
} from "./launch.ts";
import { readEnvironment, type Settings } from "./settings.ts";
import { ALLOW_SHELL, mayRunShell } from "../shell.ts";
import {
  quoteCommand,
  type Shell,
  SHELL_TITLES,
  shellInUse,
} from "./shell_quoting.ts";
import { quote } from "../text.ts";

/** A client's configuration, and what the user should know about it. */
export interface ClientConfig {
  /** The snippet to add to the configuration file. */
  readonly text: string;
  /** Messages for the user, one line each. */
  readonly notes: readonly string[];
  /** A command that adds the configuration, ready to paste. The last note introduces it. */
  readonly command?: string;
}

/**
 * Creates the configuration for a client that starts the server the way it is
 * running now or, with `--url`, connects to a URL.
 *
 * @throws {UsageError} If the client is unknown or cannot connect to the URL.
 */
export function createClientConfig(
  name: string,
  settings: Settings,
): ClientConfig {
  const client = findClient(name);
  const { url } = settings.values;
  if (url !== undefined) return createRemoteConfig(client, settings);
  const isExecutable = Deno.build.standalone;
  const map = isExecutable ? {} : findImportMap();
  const launch = createLaunch({
    executable: Deno.execPath(),
    mainModule: isExecutable ? undefined : Deno.mainModule,
    importMap: map.path,
    folders: listFolders(settings),
    allowRun: settings.tools.toolset === "agentskills" && mayRunShell()
      ? ALLOW_SHELL
      : undefined,
    args: serverArguments(settings),
  });
  const notes = [
    describePlace(client, settings),
    ...(map.note ?? []),
    ...listCaveats(client, launch),
  ];
  const text = formatLocal(client, launch);
  const shell = shellInUse({ os: Deno.build.os, variable: readEnvironment });
  const command = client.addCommand &&
    quoteCommand(client.addCommand(launch), shell);
  if (command === undefined) return { text, notes };
  notes.push(introduceCommand(client, shell));
  return { text, notes, command };
}

/** Creates the configuration for a client that connects to a URL. */
function createRemoteConfig(
  client: McpClient,
  settings: Settings,
): ClientConfig {
  const { title, remote } = client;
  const url = parseServerUrl(settings.values.url!);
  if (remote === undefined) {
    throw new UsageError(
      `Cannot configure ${title} with a URL: add a connector in its settings`,
    );
  }
  const { token = "<token>" } = remote;
  const format = (token: string | undefined) =>
    formatRemote({ ...client, remote }, { url, token });
  const notes = [
    describePlace(client, settings),
    ...listExpanded(client, [url]),
  ];
  if (!needsToken(url)) {
    return { text: format(undefined), notes };
  }
  notes.push(describeToken(client));
  return { text: format(token), notes };
}

function introduceCommand({ unsetFields }: McpClient, shell: Shell): string {
  const fields = Object.entries(unsetFields ?? {}).map(([name, value]) =>
    `, then add "${name}": ${value} to the entry in that file`
  );
  return `Or run this command in ${SHELL_TITLES[shell]}${fields.join("")}:`;
}

function findClient(name: string): McpClient {
  if (Object.hasOwn(MCP_CLIENTS, name)) return MCP_CLIENTS[name]!;
  throw new UsageError(
    `Invalid --print-config ${quote(name)}: expected one of ${
      CLIENT_NAMES.join(", ")
    }`,
  );
}

function parseServerUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === "https:" || url?.protocol === "http:") return url.href;
  throw new UsageError(
    `Invalid --url ${
      quote(text)
    }: expected a URL such as https://skills.example.com/mcp`,
  );
}

/**
 * Whether a server needs a token. A server on this machine needs one only if
 * the environment contains a token.
 */
function needsToken(url: string): boolean {
  return !["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname) ||
    Boolean(readEnvironment(TOKEN_VARIABLE));
}

/** Describes where a client gets the token. */
function describeToken({ title, remote }: McpClient): string {
  if (remote?.token === undefined) {
    return `Replace <token> with the token of the server: ${title} cannot read it from the environment`;
  }
  return remote.tokenSource ??
    `${title} reads the token from the environment variable ${TOKEN_VARIABLE}`;
}

/** Describes which file a configuration belongs in. */
function describePlace(client: McpClient, { home = "~" }: Settings): string {
  const places = {
    os: Deno.build.os,
    home,
    variable: readEnvironment,
  };
  const { title, userFile, projectFile, formerFile } = client;
  const former = formerFile &&
    `; in older versions, ${quote(expandPath(formerFile, places))}`;
  const project = projectFile &&
    `; for a single project, ${quote(projectFile)}`;
  return `Add this to the configuration of ${title} in ${
    quote(expandPath(userFile, places))
  }${former ?? ""}${project ?? ""}`;
}

/** Lists the problems with a configuration. */
function listCaveats(client: McpClient, launch: Launch): string[] {
  const caveats = [];
  if (isInNpxCache(launch.command)) {
    caveats.push(
      "This Deno belongs to npx, which may delete it at any time: install Deno and print the configuration with it",
    );
  }
  if (launch.args.includes("--allow-read")) {
    caveats.push(
      "Cannot restrict Deno to folders with a comma in their names: it gets permission to read every folder",
    );
  }
  return [
    ...caveats,
    ...listExpanded(client, [launch.command, ...launch.args]),
  ];
}

/** Returns a message for each text that the client would expand. */
function listExpanded(
  { title, expands }: McpClient,
  texts: readonly string[],
): string[] {
  return texts.filter((text) => expands?.test(text)).map((text) =>
    `Cannot configure ${title} with ${
      quote(text)
    }: the client would expand part of it; use other names`
  );
}
