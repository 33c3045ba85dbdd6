/**
 * The MCP clients that `--print-config` knows, and the formats of their
 * configurations.
 *
 * @module
 */

import type { Launch } from "./launch.ts";
import { escapeHidden, jsonText, stringifyJson } from "../text.ts";

/** The server's name in a client's configuration. */
const SERVER_NAME = "skills";

/** A server at a URL. */
export interface RemoteServer {
  readonly url: string;
  /** The token or the configuration's reference to it, if the server needs one. */
  readonly token: string | undefined;
}

/** How a client is configured for a server at a URL. */
export interface RemoteFormat {
  /** The reference that stands for the token in the configuration, if the client supports one. */
  readonly token?: string;
  /**
   * The note that says where the client gets the token. By default, it names
   * the environment variable.
   */
  readonly tokenSource?: string;
  /** Formats the configuration. */
  readonly format: (server: RemoteServer) => string;
}

/** The locations of a user's folders. */
export interface UserPlaces {
  readonly os: typeof Deno.build.os;
  /** The home folder. */
  readonly home: string;
  /** Returns the value of an environment variable, if it is set. */
  readonly variable: (name: string) => string | undefined;
}

/** An MCP client. */
export interface McpClient {
  readonly title: string;
  /** The user's configuration file, which applies to all projects. */
  readonly userFile: (places: UserPlaces) => string;
  /** The configuration file of a project, with `/` as separator. */
  readonly projectFile?: string;
  /** The user's configuration file in older versions of the client. */
  readonly formerFile?: (places: UserPlaces) => string;
  /** Formats the configuration. */
  readonly format: (launch: Launch) => string;
  /** How the client is configured for a server at a URL, if the same file supports it. */
  readonly remote?: RemoteFormat;
  /** The client's own command that adds the configuration, as a list of words. */
  readonly addCommand?: (launch: Launch) => readonly string[];
  /** The fields of the configuration that this command cannot set. */
  readonly unsetFields?: Readonly<Record<string, unknown>>;
  /** Matches the text that the client would expand in arguments. */
  readonly expands?: RegExp;
}

/** Makes Claude Code show the tools to the model immediately instead of after a search. */
const CLAUDE_CODE_FIELDS = { alwaysLoad: true };

/** Makes VS Code ask for the token and store it encrypted. */
const VSCODE_INPUT = {
  type: "promptString",
  id: "skill-server-token",
  description: "Token of the skill server",
  password: true,
};

/** Makes Qwen Code show the tools to the model immediately instead of after a search. */
const QWEN_FIELDS = { alwaysLoadTools: true };

/** Makes Cline wait 60 seconds for a reply. By default, the server has 3 seconds to start. */
const CLINE_FIELDS = { timeout: 60 };

/** The environment variable that contains the token of a server at a URL. */
export const TOKEN_VARIABLE = "SKILL_SERVER_TOKEN";

/** The clients, as documented by their vendors in November 2026. */
export const MCP_CLIENTS: Readonly<Record<string, McpClient>> = {
  /** @see {@link https://code.claude.com/docs/en/mcp} */
  "claude-code": {
    title: "Claude Code",
    userFile: (places) =>
      inFolder(places, folderOf(places, "CLAUDE_CONFIG_DIR"), ".claude.json"),
    projectFile: ".mcp.json",
    format: inMcpServers(claudeCodeEntry),
    remote: {
      token: `\${${TOKEN_VARIABLE}}`,
      format: inMcpServers((server) => ({
        type: "http",
        ...remoteEntry(server),
        ...CLAUDE_CODE_FIELDS,
      })),
    },
    addCommand: (launch) => [
      ...["claude", "mcp", "add-json", "--scope", "user", SERVER_NAME],
      inlineJson(claudeCodeEntry(launch)),
    ],
    expands: /\$\{/,
  },
  /** @see {@link https://modelcontextprotocol.io/docs/develop/connect-local-servers} */
  "claude-desktop": {
    title: "Claude Desktop",
    userFile: (places) =>
      inFolder(places, appFolder(places), "Claude/claude_desktop_config.json"),
    format: inMcpServers(),
  },
  /** @see {@link https://developers.openai.com/codex/mcp} */
  "codex": {
    title: "Codex",
    userFile: (places) =>
      inFolder(places, folderOf(places, "CODEX_HOME", ".codex"), "config.toml"),
    projectFile: ".codex/config.toml",
    format: asToml,
    remote: { token: TOKEN_VARIABLE, format: asRemoteToml },
    addCommand: ({ command, args }) => [
      ...["codex", "mcp", "add", SERVER_NAME, "--", command],
      ...args,
    ],
  },
  /** @see {@link https://cursor.com/docs/mcp} */
  "cursor": {
    title: "Cursor",
    userFile: (places) => inFolder(places, places.home, ".cursor/mcp.json"),
    projectFile: ".cursor/mcp.json",
    format: inMcpServers(stdioEntry),
    remote: {
      token: `\${env:${TOKEN_VARIABLE}}`,
      format: inMcpServers(remoteEntry),
    },
    expands: /\$\{/,
  },
  /** @see {@link https://code.visualstudio.com/docs/agents/reference/mcp-configuration} */
  "vscode": {
    title: "VS Code",
    userFile: (places) =>
      inFolder(places, appFolder(places), "Code/User/mcp.json"),
    projectFile: ".vscode/mcp.json",
    format: (launch) =>
      jsonText({ servers: { [SERVER_NAME]: stdioEntry(launch) } }),
    remote: {
      token: `\${input:${VSCODE_INPUT.id}}`,
      tokenSource: "VS Code asks for the token",
      format: asVsCodeRemote,
    },
    addCommand: (launch) => [
      ...["code", "--add-mcp"],
      inlineJson({ name: SERVER_NAME, ...stdioEntry(launch) }),
    ],
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
    format: inMcp("https://opencode.ai/config.json", localEntry),
    remote: {
      token: `{env:${TOKEN_VARIABLE}}`,
      format: inMcp("https://opencode.ai/config.json", typedRemoteEntry),
    },
    addCommand: ({ command, args }) => [
      ...["opencode", "mcp", "add", SERVER_NAME, "--", command],
      ...args,
    ],
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
    format: inMcpServers(),
    remote: {
      token: `$${TOKEN_VARIABLE}`,
      format: inMcpServers((server) => remoteEntry(server, "httpUrl")),
    },
    addCommand: ({ command, args }) => [
      ...["gemini", "mcp", "add", "--scope", "user", SERVER_NAME, command],
      ...["--", ...args],
    ],
    expands: /\$[\w{]/,
  },
  /** @see {@link https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers} */
  "copilot": {
    title: "Copilot CLI",
    userFile: (places) =>
      inFolder(
        places,
        folderOf(places, "COPILOT_HOME", ".copilot"),
        "mcp-config.json",
      ),
    projectFile: ".github/mcp.json",
    format: inMcpServers((launch) => ({
      type: "local",
      ...launch,
      tools: ["*"],
    })),
    remote: {
      token: `\${${TOKEN_VARIABLE}}`,
      format: inMcpServers((server) => ({
        type: "http",
        ...remoteEntry(server),
        tools: ["*"],
      })),
    },
    addCommand: ({ command, args }) => [
      ...["copilot", "mcp", "add", SERVER_NAME, "--", command],
      ...args,
    ],
    expands: /\$[\w{]/,
  },
  /** @see {@link https://docs.cline.bot/mcp/configuring-mcp-servers} */
  "cline": {
    title: "Cline",
    userFile: (places) =>
      places.variable("CLINE_MCP_SETTINGS_PATH") ||
      inFolder(
        places,
        folderOf(places, "CLINE_DATA_DIR", ".cline/data"),
        "settings/cline_mcp_settings.json",
      ),
    format: inMcpServers((launch) => ({ ...launch, ...CLINE_FIELDS })),
    remote: {
      format: inMcpServers((server) => ({
        type: "streamableHttp",
        ...remoteEntry(server),
      })),
    },
    addCommand: ({ command, args }) => [
      ...["cline", "mcp", "install", "--yes", SERVER_NAME, "--", command],
      ...args,
    ],
    unsetFields: CLINE_FIELDS,
  },
  /** @see {@link https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/} */
  "qwen-code": {
    title: "Qwen Code",
    userFile: (places) =>
      inFolder(places, folderOf(places, "QWEN_HOME", ".qwen"), "settings.json"),
    projectFile: ".qwen/settings.json",
    format: inMcpServers((launch) => ({ ...launch, ...QWEN_FIELDS })),
    remote: {
      token: `$${TOKEN_VARIABLE}`,
      format: inMcpServers((server) => ({
        ...remoteEntry(server, "httpUrl"),
        ...QWEN_FIELDS,
      })),
    },
    addCommand: ({ command, args }) => [
      ...["qwen", "mcp", "add", "--scope", "user", SERVER_NAME, command],
      ...["--", ...args],
    ],
    unsetFields: QWEN_FIELDS,
    expands: /\$[\w{]/,
  },
  /** @see {@link https://kilo.ai/docs/automate/mcp/using-in-kilo-code} */
  "kilo": {
    title: "Kilo Code",
    userFile: (places) =>
      inFolder(
        places,
        folderOf(places, "XDG_CONFIG_HOME", ".config"),
        "kilo/kilo.json",
      ),
    projectFile: ".kilo/kilo.json",
    format: inMcp("https://app.kilo.ai/config.json", localEntry),
    remote: {
      token: `{env:${TOKEN_VARIABLE}}`,
      format: inMcp("https://app.kilo.ai/config.json", typedRemoteEntry),
    },
    addCommand: ({ command, args }) => [
      ...["kilo", "mcp", "add", SERVER_NAME, "--", command],
      ...args,
    ],
    expands: /\{(?:env|file):/,
  },
  /** @see {@link https://goose-docs.ai/docs/guides/config-files} */
  "goose": {
    title: "goose",
    userFile: (places) =>
      inFolder(
        places,
        configFolder(places),
        places.os === "windows"
          ? "Block/goose/config/config.yaml"
          : "goose/config.yaml",
      ),
    format: asYaml,
    remote: { token: `\${${TOKEN_VARIABLE}}`, format: asRemoteYaml },
  },
  /** @see {@link https://docs.devin.ai/cli/extensibility/mcp/configuration} */
  "windsurf": {
    title: "Windsurf (Devin Desktop)",
    userFile: (places) =>
      inFolder(places, configFolder(places), "devin/mcp_config.json"),
    projectFile: ".devin/mcp_config.json",
    formerFile: (places) =>
      inFolder(places, places.home, ".codeium/windsurf/mcp_config.json"),
    format: inMcpServers(),
    remote: {
      format: inMcpServers((server) => ({
        ...remoteEntry(server),
        transport: "http",
      })),
    },
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
    remote: {
      format: (server) =>
        jsonText({ context_servers: { [SERVER_NAME]: remoteEntry(server) } }),
    },
  },
};

/**
 * Returns the folder that an environment variable names or, if it is not set, a
 * folder in the home folder.
 */
function folderOf(
  places: UserPlaces,
  variable: string,
  name?: string,
): string {
  const { home } = places;
  return places.variable(variable) ||
    (name === undefined ? home : inFolder(places, home, name));
}

/** Returns the folder for application data. */
function appFolder(places: UserPlaces): string {
  return places.os === "darwin"
    ? inFolder(places, places.home, "Library/Application Support")
    : configFolder(places);
}

/** Returns the folder for configuration files. */
function configFolder(places: UserPlaces): string {
  return places.os === "windows"
    ? folderOf(places, "APPDATA", "AppData/Roaming")
    : folderOf(places, "XDG_CONFIG_HOME", ".config");
}

/**
 * Appends a path with `/` as separator to a folder, using the separator of the
 * operating system.
 */
function inFolder({ os }: UserPlaces, folder: string, path: string): string {
  const separator = os === "windows" ? "\\" : "/";
  return [folder, ...path.split("/")].join(separator);
}

/** Creates a formatter for clients that list servers under the key "mcpServers". */
function inMcpServers<Server extends object = Launch>(
  entryOf: (server: Server) => object = (server) => server,
): (server: Server) => string {
  return (server) =>
    jsonText({ mcpServers: { [SERVER_NAME]: entryOf(server) } });
}

/** Creates a formatter for clients that list servers under the key "mcp". */
function inMcp<Server>(
  $schema: string,
  entryOf: (server: Server) => object,
): (server: Server) => string {
  return (server) =>
    jsonText({ $schema, mcp: { [SERVER_NAME]: entryOf(server) } });
}

function localEntry({ command, args }: Launch) {
  return { type: "local", command: [command, ...args] };
}

function typedRemoteEntry(server: RemoteServer) {
  return { type: "remote", ...remoteEntry(server) };
}

/** Returns the fields that most clients use for a server at a URL. */
function remoteEntry({ url, token }: RemoteServer, urlKey = "url") {
  const headers = { Authorization: `Bearer ${token}` };
  return { [urlKey]: url, ...(token !== undefined && { headers }) };
}

function stdioEntry(launch: Launch) {
  return { type: "stdio", ...launch };
}

function claudeCodeEntry(launch: Launch) {
  return { ...stdioEntry(launch), ...CLAUDE_CODE_FIELDS };
}

function asVsCodeRemote(server: RemoteServer): string {
  const entry = { type: "http", ...remoteEntry(server) };
  return jsonText({
    servers: { [SERVER_NAME]: entry },
    ...(server.token !== undefined && { inputs: [VSCODE_INPUT] }),
  });
}

/** Serializes a value as single-line JSON, with hidden characters escaped. */
function inlineJson(value: unknown): string {
  return escapeHidden(stringifyJson(value));
}

function asToml({ command, args }: Launch): string {
  const items = args.map((arg) => `  ${doubleQuoted(arg)},\n`).join("");
  return `[mcp_servers.${SERVER_NAME}]
command = ${doubleQuoted(command)}
args = [
${items}]
`;
}

function asRemoteToml({ url, token }: RemoteServer): string {
  const variable = token === undefined
    ? ""
    : `bearer_token_env_var = ${doubleQuoted(token)}\n`;
  return `[mcp_servers.${SERVER_NAME}]\nurl = ${
    doubleQuoted(url)
  }\n${variable}`;
}

function asRemoteYaml({ url, token }: RemoteServer): string {
  const header = token === undefined ? "" : `    env_keys:
      - ${TOKEN_VARIABLE}
    headers:
      Authorization: ${doubleQuoted(`Bearer ${token}`)}
`;
  return `extensions:
  ${SERVER_NAME}:
    enabled: true
    type: streamable_http
    name: ${SERVER_NAME}
    description: Agent Skills
    uri: ${doubleQuoted(url)}
${header}    timeout: 300
`;
}

function asYaml({ command, args }: Launch): string {
  const items = args.map((arg) => `      - ${doubleQuoted(arg)}\n`).join("");
  return `extensions:
  ${SERVER_NAME}:
    enabled: true
    type: stdio
    name: ${SERVER_NAME}
    description: Agent Skills
    cmd: ${doubleQuoted(command)}
    args:
${items}    timeout: 300
`;
}

/**
 * Formats a double-quoted string for TOML or YAML, which escape code points.
 * JSON escapes UTF-16 code units.
 */
function doubleQuoted(text: string): string {
  return escapeHidden(stringifyJson(text), (character) => {
    const digits = character.codePointAt(0)!.toString(16);
    return digits.length > 4
      ? `\\U${digits.padStart(8, "0")}`
      : `\\u${digits.padStart(4, "0")}`;
  });
}

/** The names of the clients that `--print-config` accepts. */
export const CLIENT_NAMES: readonly string[] = Object.keys(MCP_CLIENTS);
