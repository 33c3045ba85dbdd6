/**
 * The configuration for an MCP client that `--print-config` prints, with notes for the
 * user.
 */

import { basename, isAbsolute, join } from "../../fs/paths.ts";
import {
  type ClientName,
  type CommandLine,
  MCP_PATH,
  UsageError,
} from "../../program/command_line.ts";
import {
  type Program,
  quoteWord,
  runningProgram,
} from "../../program/running_program.ts";
import type { Settings } from "../../program/settings.ts";
import { SHARED_FOLDERS } from "../../skills/roots.ts";
import {
  escapeCodePoint,
  escapeInvisible,
  formatIndentedJson,
  isCopyable,
  quote,
  stringifyJson,
} from "../../text.ts";
import { profileOfOption } from "../../mcp/profiles.ts";
import { addClientOptions } from "./client_options.ts";
import { type Launch, MCP_CLIENTS, type McpClient } from "./clients.ts";
import { createLaunch } from "./launch.ts";

export interface ClientConfig {
  readonly text: string;
  /** Notes for the user, and where to add the text. */
  readonly message: string;
}

/**
 * Creates the configuration for a client that starts the server the way it is
 * running now.
 *
 * @throws {UsageError} If the entry would be less safe than the user can expect, or
 *   if the client would change it.
 */
export function createClientConfig(
  name: ClientName,
  settings: Settings,
  program: Program = runningProgram(),
): ClientConfig {
  const client = MCP_CLIENTS[name];
  const { values, notes } = addClientOptions(
    client,
    settings,
    profileOfOption(name),
  );
  const launch = createLaunch(program, { ...settings, values });
  const { homeFolders = {} } = settings.options;
  const folder = client.ownFolder && homeFolders[client.ownFolder.name];
  refuseVariables([launch.command, ...launch.args, folder ?? ""], client);
  const entry = {
    ...client.entry?.(launch) ?? launch,
    ...environmentOf(client, folder),
  };
  const { mainModule } = program;
  notes.push(...listLaunchNotes(client, { launch, entry, mainModule }));
  return configFor(client, { entry, notes, folder, os: program.os });
}

function environmentOf(
  { ownFolder }: McpClient,
  folder: string | undefined,
): object {
  const isSearched = ownFolder && SHARED_FOLDERS.includes(ownFolder.name);
  return isSearched && folder !== undefined
    ? { env: { [ownFolder.variable]: folder } }
    : {};
}

/** @throws {UsageError} If the client would replace a part of a word as a variable. */
function refuseVariables(
  words: readonly string[],
  { title, variables }: McpClient,
): void {
  if (variables === undefined) return;
  for (const word of words) {
    const [beginning] = variables.exec(word) ?? [];
    if (beginning === undefined) continue;
    const shown = quote(word);
    throw new UsageError(
      `Cannot print an entry with ${shown}: ${title} takes ${beginning} for the beginning of a variable, and replaces it; choose a name without it`,
    );
  }
}

function listLaunchNotes(
  client: McpClient,
  { launch, entry, mainModule = "" }: {
    launch: Launch;
    entry: object;
    mainModule: Program["mainModule"];
  },
): string[] {
  const notes: string[] = [];
  // A Deno that npx downloaded may be gone the next day.
  if (/[\\/]_npx[\\/]/.test(launch.command)) {
    notes.push(
      "The entry starts the Deno that npx downloaded, so print it again if you empty the cache of npm, or once with an installed Deno (https://deno.com).",
    );
  }
  if (isAbsolute(mainModule)) {
    const file = quote(mainModule);
    notes.push(
      `The entry starts ${file}, so print it again if you move or delete that.`,
    );
  }
  const words = [launch.command, ...launch.args];
  const added = { entry, words: words.map(quoteWord) };
  return [...notes, ...listCommandNotes(words, client.command?.(added))];
}

/** Says how to add an entry in a terminal, if every shell leaves the words in it as they are. */
function listCommandNotes(
  words: readonly string[],
  command: string | undefined,
): string[] {
  return command !== undefined && canBeQuoted(words)
    ? [`Run this in a terminal, or edit the file yourself:\n\n${command}`]
    : [];
}

/** Whether every shell, and JSON, leaves words as they are in quotes. Paths on Windows change. */
function canBeQuoted(words: readonly string[]): boolean {
  const text = words.join(" ");
  return !/['"\\]/.test(text) && isCopyable(text);
}

interface UrlConfigOptions {
  readonly command: CommandLine;
  readonly os: Program["os"];
  readonly hasToken: boolean;
}

const URL_OPTIONS = ["print-config", "url"];

/**
 * Creates the configuration for a client that connects to a server over HTTP. It
 * sends the token in `SKILL_SERVER_TOKEN`, unless the server is on this machine and
 * there is no such token.
 *
 * @throws {UsageError} If the client has no such entry.
 */
export function createUrlConfig(
  name: ClientName,
  { command, os, hasToken }: UrlConfigOptions,
): ClientConfig {
  const { values } = command;
  const client = MCP_CLIENTS[name];
  const { title, urlEntry, tokenFields, tokenInputs } = client;
  if (urlEntry === undefined) {
    throw new UsageError(
      `Cannot print an entry for a URL: by itself, ${title} connects only with OAuth, which this server does not have; let mcp-remote connect, as docs/http.md shows`,
    );
  }
  const url = new URL(values.url!);
  if (url.pathname === "/") url.pathname = MCP_PATH;
  refuseVariables([url.href], client);
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  const needsToken = hasToken || !isLocal;
  const isSafe = isLocal || url.protocol === "https:";
  const entry = {
    ...urlEntry(url.href),
    ...needsToken ? tokenFields : undefined,
  };
  const added = { entry, url: quoteWord(url.href), needsToken };
  return configFor(client, {
    entry,
    inputs: needsToken ? tokenInputs : undefined,
    notes: [
      ...listUrlNotes(url),
      ...listIneffectiveNotes(command),
      ...listTokenNotes(client, { needsToken, isSafe }),
      // The shells of Windows change JSON in quotes.
      ...os === "windows"
        ? []
        : listCommandNotes([url.href], client.urlCommand?.(added)),
    ],
    os,
  });
}

function listIneffectiveNotes({ values, positionals }: CommandLine): string[] {
  const ignored = Object.keys(values)
    .filter((option) => !URL_OPTIONS.includes(option))
    .map((option) => `--${option}`);
  if (positionals.length > 0) ignored.push("DIR");
  if (ignored.length === 0) return [];
  const options = ignored.join(", ");
  return [
    `These have no effect here, because a server over HTTP has the options that it was started with: ${options}.`,
  ];
}

function listUrlNotes({ pathname }: URL): string[] {
  return pathname.endsWith(MCP_PATH) ? [] : [
    `Check the URL, which does not end with ${MCP_PATH} as those of this server do, unless a proxy serves it at another path.`,
  ];
}

function listTokenNotes(
  { title, tokenAdvice }: McpClient,
  { needsToken, isSafe }: { needsToken: boolean; isSafe: boolean },
): string[] {
  if (!needsToken) {
    return [
      "The entry sends no token; if the server requires one, set SKILL_SERVER_TOKEN to it, and print the configuration again.",
    ];
  }
  const advice = tokenAdvice ??
    `set the environment variable SKILL_SERVER_TOKEN to it before you start ${title}`;
  const token = `The entry sends a token; ${advice}.`;
  return isSafe ? [token] : [
    token,
    "Everyone on the way to the server can read the token, unless the URL starts with https://.",
  ];
}

function configFor(
  client: McpClient,
  { entry, inputs, notes, folder, os }: {
    entry: object;
    inputs?: readonly object[] | undefined;
    notes: readonly string[];
    /** Where the client's own folder is, if not in the home folder. */
    folder?: string | undefined;
    os: Program["os"];
  },
): ClientConfig {
  const { title, projectFile } = client;
  const project = projectFile === undefined
    ? ""
    : `, or for a single project in ${quote(projectFile)}`;
  const file = quote(
    folder === undefined
      ? configFile(client, os)
      : join(folder, basename(client.file)),
  );
  const last =
    `Add this to the configuration of ${title} in ${file}${project}:`;
  return {
    text: formatConfig(client, entry, inputs),
    message: `\n${[...notes, last].join("\n\n")}\n\n`,
  };
}

export function formatConfig(
  { format = "json", section = "mcpServers" }: McpClient,
  skills: object,
  inputs?: readonly object[],
): string {
  switch (format) {
    case "json":
      return formatIndentedJson({ inputs, [section]: { skills } });
    case "toml":
      return formatToml(`${section}.skills`, skills);
  }
}

function configFile(
  { file }: McpClient,
  os: Program["os"],
): string {
  if (os === "windows") {
    return file.replace("{data}", "%APPDATA%").replace(/^~/, "%USERPROFILE%")
      .replaceAll("/", "\\");
  }
  const data = os === "darwin" ? "~/Library/Application Support" : "~/.config";
  return file.replace("{data}", data);
}

/** Formats a table with texts and lists of texts as TOML, which writes them as JSON does. */
function formatToml(name: string, entry: object): string {
  const fields = Object.entries(entry).map(([key, value]) =>
    `${key} = ${escapeInvisible(stringifyJson(value), escapeCodePoint)}\n`
  );
  return `[${name}]\n${fields.join("")}`;
}
