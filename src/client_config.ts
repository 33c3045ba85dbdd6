// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * What `--print-config` prints: how MCP clients start the server.
 *
 * @module
 */

import { isAbsolute } from "jsr:@std/path@^1";
import { fileURLToPath } from "node:url";
import { resolveSkillRoots } from "../mod.ts";
import {
  OPTIONS,
  parseMegabytes,
  readEnvironment,
  type Settings,
  UsageError,
} from "./command_line.ts";
import { isWithin } from "./paths.ts";
import { ALLOW_SHELL, mayRunShell } from "./shell.ts";
import { escapeHidden, jsonText, quote, stringifyJson } from "./text.ts";

/** What the server is called in a client's configuration. */
const SERVER_NAME = "skills";

/** A program and its arguments. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** Where a user's folders are. */
export interface UserPlaces {
  readonly os: typeof Deno.build.os;
  /** The home folder. */
  readonly home: string;
  /** Returns an environment variable, if it is set. */
  readonly variable: (name: string) => string | undefined;
}

/** A client of the Model Context Protocol. */
export interface McpClient {
  readonly title: string;
  /** Its configuration file for all of a user's projects. */
  readonly userFile: (places: UserPlaces) => string;
  /** Its configuration file in a project, with `/` between names. */
  readonly projectFile?: string;
  /** A file that its older versions have in place of {@linkcode userFile}. */
  readonly formerFile?: (places: UserPlaces) => string;
  /** Writes the configuration. */
  readonly format: (launch: Launch) => string;
  /** What it would replace in arguments by something else. */
  readonly expands?: RegExp;
  /** How many characters of a tool's description it shows to the model. */
  readonly descriptionLimit?: number;
}

/** The clients, each as its makers' documentation had it in November 2026. */
export const MCP_CLIENTS: Readonly<Record<string, McpClient>> = {
  /** @see {@link https://code.claude.com/docs/en/mcp} */
  "claude-code": {
    title: "Claude Code",
    userFile: (places) =>
      inFolder(places, folderOf(places, "CLAUDE_CONFIG_DIR"), ".claude.json"),
    projectFile: ".mcp.json",
    format: inMcpServers({ type: "stdio" }),
    expands: /\$\{/,
    descriptionLimit: 2048,
  },
  /** @see {@link https://modelcontextprotocol.io/docs/develop/connect-local-servers} */
  "claude-desktop": {
    title: "Claude Desktop",
    userFile: (places) =>
      inFolder(places, appFolder(places), "Claude/claude_desktop_config.json"),
    format: inMcpServers({}),
  },
  /** @see {@link https://developers.openai.com/codex/mcp} */
  "codex": {
    title: "Codex",
    userFile: (places) =>
      inFolder(places, folderOf(places, "CODEX_HOME", ".codex"), "config.toml"),
    projectFile: ".codex/config.toml",
    format: asToml,
  },
  /** @see {@link https://cursor.com/docs/mcp} */
  "cursor": {
    title: "Cursor",
    userFile: (places) => inFolder(places, places.home, ".cursor/mcp.json"),
    projectFile: ".cursor/mcp.json",
    format: inMcpServers({ type: "stdio" }),
    expands: /\$\{/,
  },
  /** @see {@link https://code.visualstudio.com/docs/agents/reference/mcp-configuration} */
  "vscode": {
    title: "VS Code",
    userFile: (places) =>
      inFolder(places, appFolder(places), "Code/User/mcp.json"),
    projectFile: ".vscode/mcp.json",
    format: ({ command, args }) =>
      jsonText({
        servers: { [SERVER_NAME]: { type: "stdio", command, args } },
      }),
    expands: /\$\{|^~/,
  },
  /** @see {@link https://opencode.ai/docs/mcp-servers} */
  "opencode": {
    title: "OpenCode",
    userFile: (places) =>
      inFolder(
        places,
        folderOf(places, "XDG_CONFIG_HOME", ".config"),
        "opencode/opencode.json",
      ),
    projectFile: "opencode.json",
    format: ({ command, args }) => {
      const server = {
        type: "local",
        command: [command, ...args],
        enabled: true,
      };
      const $schema = "https://opencode.ai/config.json";
      return jsonText({ $schema, mcp: { [SERVER_NAME]: server } });
    },
    expands: /\{(?:env|file):/,
  },
  /** @see {@link https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md} */
  "gemini-cli": {
    title: "Gemini CLI",
    userFile: (places) =>
      inFolder(
        places,
        folderOf(places, "GEMINI_CLI_HOME"),
        ".gemini/settings.json",
      ),
    projectFile: ".gemini/settings.json",
    format: inMcpServers({}),
    expands: /\$[\w{]/,
  },
  /** @see {@link https://docs.devin.ai/cli/extensibility/mcp/configuration} */
  "windsurf": {
    title: "Windsurf (Devin Desktop)",
    userFile: (places) =>
      inFolder(places, configFolder(places), "devin/mcp_config.json"),
    projectFile: ".devin/mcp_config.json",
    formerFile: (places) =>
      inFolder(places, places.home, ".codeium/windsurf/mcp_config.json"),
    format: inMcpServers({}),
    expands: /\$\{/,
  },
  /** @see {@link https://zed.dev/docs/ai/mcp} */
  "zed": {
    title: "Zed",
    userFile: (places) => {
      const name = places.os === "windows" ? "Zed" : "zed";
      return inFolder(places, configFolder(places), `${name}/settings.json`);
    },
    projectFile: ".zed/settings.json",
    format: ({ command, args }) =>
      jsonText({ context_servers: { [SERVER_NAME]: { command, args } } }),
  },
};

/** Returns a folder that an environment variable names, else one of the home folder's. */
function folderOf(
  places: UserPlaces,
  variable: string,
  name?: string,
): string {
  const { home } = places;
  return places.variable(variable) ||
    (name === undefined ? home : inFolder(places, home, name));
}

/** Returns the folder of the user's applications' data. */
function appFolder(places: UserPlaces): string {
  return places.os === "darwin"
    ? inFolder(places, places.home, "Library/Application Support")
    : configFolder(places);
}

/** Returns the folder of the user's configuration. */
function configFolder(places: UserPlaces): string {
  return places.os === "windows"
    ? folderOf(places, "APPDATA", "AppData/Roaming")
    : folderOf(places, "XDG_CONFIG_HOME", ".config");
}

/** Joins a path with `/` between its names to a folder as the system writes it. */
function inFolder({ os }: UserPlaces, folder: string, path: string): string {
  const separator = os === "windows" ? "\\" : "/";
  return [folder, ...path.split("/")].join(separator);
}

/** Makes a format of clients that know servers by the key "mcpServers". */
function inMcpServers(type: { type?: string }): McpClient["format"] {
  return ({ command, args }) =>
    jsonText({ mcpServers: { [SERVER_NAME]: { ...type, command, args } } });
}

function asToml({ command, args }: Launch): string {
  const items = args.map((arg) => `  ${tomlString(arg)},\n`).join("");
  return `[mcp_servers.${SERVER_NAME}]
command = ${tomlString(command)}
args = [
${items}]
`;
}

/** Writes a basic string of TOML. Unlike JSON it escapes code points, not their halves. */
function tomlString(text: string): string {
  return escapeHidden(stringifyJson(text), (character) => {
    const digits = character.codePointAt(0)!.toString(16);
    return digits.length > 4
      ? `\\U${digits.padStart(8, "0")}`
      : `\\u${digits.padStart(4, "0")}`;
  });
}

/** What to write into a client's configuration, and what to tell the user beside it. */
export interface ClientConfig {
  readonly text: string;
  readonly notes: readonly string[];
}

/** The clients' names. */
export const CLIENT_NAMES: readonly string[] = Object.keys(MCP_CLIENTS);

/**
 * Writes how a client is to start the server the way it runs now.
 *
 * @throws {UsageError} If there is no client of that name.
 */
export function createClientConfig(
  name: string,
  settings: Settings,
): ClientConfig {
  const client = findClient(name);
  const isExecutable = Deno.build.standalone;
  const map = isExecutable ? {} : findImportMap();
  const launch = launchOf({
    executable: Deno.execPath(),
    mainModule: isExecutable ? undefined : Deno.mainModule,
    importMap: map.path,
    folders: foldersToRead(settings),
    allowRun: settings.tools.toolset === "agentskills" && mayRunShell()
      ? ALLOW_SHELL
      : undefined,
    args: serverArguments(client, settings),
  });
  const notes = [
    placeOf(client, settings),
    ...(map.note ?? []),
    ...caveatsOf(client, launch),
  ];
  return { text: client.format(launch), notes };
}

function findClient(name: string): McpClient {
  if (Object.hasOwn(MCP_CLIENTS, name)) return MCP_CLIENTS[name]!;
  throw new UsageError(
    `--print-config takes one of ${CLIENT_NAMES.join(", ")}, not ${
      quote(name)
    }`,
  );
}

/** Says into which file a client's configuration belongs. */
function placeOf(client: McpClient, { home = "~" }: Settings): string {
  const places = {
    os: Deno.build.os,
    home,
    variable: readEnvironment,
  };
  const { title, userFile, projectFile, formerFile } = client;
  return [
    `For ${title}, put this into ${
      quote(userFile(places))
    }, beside what is there`,
    ...(formerFile
      ? [`in older versions into ${quote(formerFile(places))}`]
      : []),
    ...(projectFile ? [`for one project into ${quote(projectFile)}`] : []),
  ].join("; ");
}

/** Says what of a launch is not as it should be. */
function caveatsOf({ title, expands }: McpClient, launch: Launch): string[] {
  const caveats = [];
  if (isOfNpx(launch.command)) {
    caveats.push(
      "This Deno is one that npx keeps for the time being: install Deno, and print the configuration with that",
    );
  }
  if (launch.args.includes("--allow-read")) {
    caveats.push(
      "Deno has no way to write a folder with a comma in it: it is allowed to read every folder",
    );
  }
  for (const text of [launch.command, ...launch.args]) {
    if (!expands?.test(text)) continue;
    caveats.push(
      `Cannot write ${
        quote(text)
      } so that ${title} takes it as it is: it would replace a part of it; use other names`,
    );
  }
  return caveats;
}

/** Writes the command line anew, so that it means the same in any folder and environment. */
function serverArguments(
  { descriptionLimit }: McpClient,
  { values, directories, recursiveDirectories, options }: Settings,
): string[] {
  const size = values["max-file-size"] ?? readEnvironment("MAX_FILE_SIZE_MB");
  const limit = values["description-limit"] ?? descriptionLimit?.toString();
  const whole: Readonly<Record<string, unknown>> = {
    ...values,
    "skill-dir": recursiveDirectories,
    "trust-links": options.trustLinks,
    "max-file-size": parseMegabytes(size) ? size : undefined,
    "description-limit": limit,
  };
  const flags = SERVING_OPTIONS.flatMap((name) =>
    [whole[name] ?? []].flat().flatMap((value) =>
      value === true ? [`--${name}`] : [`--${name}`, String(value)]
    )
  );
  return [...flags, ...directories];
}

/** The options that matter to a server that serves. */
const SERVING_OPTIONS = Object.keys(OPTIONS).filter((name) =>
  !["list", "check", "json", "print-config", "help", "version"].includes(name)
);

/** Lists the folders that are read. Those of the project are relative, for it is another one each time. */
function foldersToRead(
  { values, home, directories, recursiveDirectories, options }: Settings,
): string[] {
  const usual = resolveSkillRoots({
    workingDirectory: ".",
    homeDirectory: home,
    directories: directories.length > 0 ? [] : undefined,
    agents: values.agents,
  });
  return [
    ...usual.map(({ path }) => path),
    ...directories,
    ...recursiveDirectories,
    ...options.trustLinks ?? [],
  ];
}

/** Returns the import map that Deno was given, as far as it can be told. */
function findImportMap(): { path?: string; note?: string[] } {
  const yaml = import.meta.resolve("jsr:@std/yaml@^1");
  if (yaml.endsWith("/npm_only/yaml.ts")) {
    const map = new URL("import_map.json", yaml);
    return { path: map.protocol === "file:" ? fileURLToPath(map) : map.href };
  }
  // Only by an import map a package of JSR can be a file.
  if (!yaml.startsWith("file:")) return {};
  return {
    note: [
      "Cannot tell which import map Deno was given: add --import-map=… to the arguments",
    ],
  };
}

/** How the server that runs now was started, and what it is to be started with. */
export interface LaunchOptions {
  /** The program that runs: Deno, or the server as an executable. */
  readonly executable: string;
  /** The module that runs, or `undefined` where it is part of the executable. */
  readonly mainModule: string | undefined;
  /** The import map that it runs with, if it is known. */
  readonly importMap: string | undefined;
  /** Folders that it reads. */
  readonly folders: readonly string[];
  /** Which programs it may run, as Deno's flag, if any. */
  readonly allowRun: string | undefined;
  /** Its command line. */
  readonly args: readonly string[];
}

/** Returns how to start the server the way it runs now, allowed no more than it needs. */
export function launchOf(options: LaunchOptions): Launch {
  const { executable, mainModule, importMap, args } = options;
  // An executable has its permissions built in.
  if (mainModule === undefined) return { command: executable, args };
  const flags = [
    allowRead(options.folders),
    "--allow-env",
    ...(options.allowRun ? [options.allowRun] : []),
    ...(importMap ? [`--import-map=${importMap}`] : []),
  ];
  const main = mainModule.startsWith("file:")
    ? fileURLToPath(mainModule)
    : mainModule;
  return { command: executable, args: ["run", ...flags, main, ...args] };
}

/** Whether a program is one that `npx` keeps, until its cache is cleaned. */
export function isOfNpx(executable: string): boolean {
  return /[\\/]_npx[\\/]/.test(executable);
}

/** Returns Deno's flag for the permission to read folders. It has no way to write a comma in one. */
function allowRead(folders: readonly string[]): string {
  const list = withoutNested(folders);
  return list.length === 0 || list.some((folder) => folder.includes(","))
    ? "--allow-read"
    : `--allow-read=${list.join(",")}`;
}

/** Leaves out the folders that lie in another one, and what is there twice. Where a relative one lies nobody knows. */
function withoutNested(folders: readonly string[]): string[] {
  const unique = [...new Set(folders)];
  const whole = unique.filter(isAbsolute);
  return unique.filter((folder) =>
    !isAbsolute(folder) ||
    !whole.some((other) => other !== folder && isWithin(folder, other))
  );
}
