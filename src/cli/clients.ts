/**
 * The MCP clients that `--print-config` knows: where each one keeps its
 * configuration, what an entry looks like, and which command or link adds it.
 * The formats are as the vendors document them in November 2026.
 *
 * @module
 */

import type { Launch } from "./launch.ts";

/** The server's name in a client's configuration, and in the commands below. */
export const SERVER_NAME = "skills";

/** The environment variable that contains the token of a server at a URL. */
export const TOKEN_VARIABLE = "SKILL_SERVER_TOKEN";

export interface RemoteServer {
  readonly url: string;
  /** The token or the configuration's reference to it, if the server needs one. */
  readonly token: string | undefined;
}

/** What a client connects to: a command that starts the server, or its URL. */
export type Server = Launch | RemoteServer;

/** Whether a URL leads to this machine. */
export function isLocal(url: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
}

/**
 * An MCP client.
 *
 * In its paths, `~` is the home folder, `{VARIABLE:default}` is the value of an
 * environment variable or, if it is not set, a default, and the separator is `/`.
 *
 * In its commands, the words are separated by spaces. Some stand for parts of the
 * configuration: `{command}` and `{args}`, `{url}` and `{token}` (an option, if
 * there is a token), `{entry}` as JSON, or `{namedEntry}`, which also contains the
 * name and what belongs to the top level.
 */
export interface McpClient {
  readonly title: string;
  /** The user's configuration file, which applies to all projects. */
  readonly userFile: string;
  /** The same file on Windows and on macOS, if it is elsewhere. */
  readonly windowsFile?: string;
  readonly macFile?: string;
  /** The configuration file of a project. */
  readonly projectFile?: string;
  /** The user's configuration file in older versions of the client. */
  readonly formerFile?: string;
  /** The format of these files. Default: JSON. */
  readonly format?: "toml" | "yaml";
  /** The name of the section that contains the servers. Default: "mcpServers". */
  readonly section?: string;
  /** Fields at the top level of the file. */
  readonly topLevel?: object;
  /** Returns the entry in that section. Default: the command and its arguments. */
  readonly entry?: (launch: Launch) => object;
  /** Returns the entry for a server at a URL. Default: the URL and the headers. */
  readonly urlEntry?: (server: RemoteServer) => object;
  /** Fields of both entries. */
  readonly fields?: object;
  /** The client's own command that adds the entry. */
  readonly addCommand?: string;
  /** The client's own command that adds the entry for a server at a URL. */
  readonly addUrlCommand?: string;
  /** The field of the entry that these commands cannot set. */
  readonly unsetField?: string;
  /** The words for the token in these commands. Default: the option `--header`. */
  readonly tokenOption?: readonly string[];
  /** The reference that stands for the token in the configuration, if the client supports one. */
  readonly token?: string;
  /**
   * The note that says where the client gets the token. By default, it names
   * the environment variable.
   */
  readonly tokenSource?: string;
  /** Fields at the top level of the file if there is a token. */
  readonly tokenTopLevel?: object;
  /** What else the user should know about a server at a URL. */
  readonly urlNote?: string;
  /** Matches the text that the client would expand in arguments. */
  readonly expands?: RegExp;
  /**
   * The folders whose skills the client lists itself, whole. Those of a project
   * are relative.
   */
  readonly ownSkills?: readonly string[];
  /** A sentence about when that list is not whole, and how to change that. */
  readonly ownSkillsLimit?: string;
  /** The toolset for a client whose model cannot open files. */
  readonly toolset?: string;
}

/** The folders for configuration files, and for application data on Windows and macOS. */
const CONFIG = "{XDG_CONFIG_HOME:~/.config}";
const APP_DATA = "{APPDATA:~/AppData/Roaming}";
const MAC_DATA = "~/Library/Application Support";

const ADD_TO_CLAUDE_CODE = "claude mcp add-json --scope user skills {entry}";

const ADD_TO_VS_CODE = "code --add-mcp {namedEntry}";

/** Makes VS Code ask for the token and store it encrypted. */
const VSCODE_INPUT = {
  type: "promptString",
  id: "skill-server-token",
  description: "Token of the skill server",
  password: true,
};

/** The skill folders that agents share. */
const AGENTS_SKILLS = [".agents/skills", "~/.agents/skills"];

/** The fields of an entry of goose, which come first. */
const GOOSE_FIELDS = {
  enabled: true,
  name: SERVER_NAME,
  description: "Agent Skills",
  timeout: 300,
};

const CLIENTS = {
  /** @see {@link https://code.claude.com/docs/en/mcp} */
  "claude-code": {
    title: "Claude Code",
    userFile: "{CLAUDE_CONFIG_DIR:~}/.claude.json",
    projectFile: ".mcp.json",
    entry: stdioEntry,
    // The model sees the tools immediately instead of after a search.
    fields: { alwaysLoad: true },
    token: `\${${TOKEN_VARIABLE}}`,
    urlEntry: httpEntry,
    addUrlCommand: ADD_TO_CLAUDE_CODE,
    addCommand: ADD_TO_CLAUDE_CODE,
    ownSkills: [".claude/skills", "{CLAUDE_CONFIG_DIR:~/.claude}/skills"],
    ownSkillsLimit:
      'It lists descriptions only up to one percent of the model\'s context window: if you have more than 60 skills or use a small model, add "skillListingBudgetFraction": 0.1 to the settings.json of Claude Code.',
    expands: /\$\{/,
  },
  /** @see {@link https://modelcontextprotocol.io/docs/develop/connect-local-servers} */
  "claude-desktop": {
    title: "Claude Desktop",
    userFile: `${CONFIG}/Claude/claude_desktop_config.json`,
    windowsFile: `${APP_DATA}/Claude/claude_desktop_config.json`,
    macFile: `${MAC_DATA}/Claude/claude_desktop_config.json`,
    toolset: "skilljack",
    urlNote:
      "Claude Desktop itself connects to URLs only with OAuth. So the entry starts mcp-remote, which connects to this one and needs Node (https://nodejs.org).",
    urlEntry: ({ url, token }) => ({
      command: "npx",
      args: [
        ...["-y", "mcp-remote", url],
        ...token === undefined ? [] : ["--header", "Authorization:${AUTH}"],
        ...url.startsWith("http:") && !isLocal(url) ? ["--allow-http"] : [],
      ],
      // On Windows, an argument with a space would become two.
      ...token !== undefined && { env: { AUTH: `Bearer ${token}` } },
    }),
  },
  /** @see {@link https://developers.openai.com/codex/mcp} */
  "codex": {
    title: "Codex",
    userFile: "{CODEX_HOME:~/.codex}/config.toml",
    projectFile: ".codex/config.toml",
    format: "toml",
    section: "mcp_servers",
    token: TOKEN_VARIABLE,
    urlEntry: ({ url, token }) => ({
      url,
      ...token !== undefined && { bearer_token_env_var: token },
    }),
    tokenOption: ["--bearer-token-env-var", "{token}"],
    addUrlCommand: "codex mcp add skills --url {url} {token}",
    addCommand: "codex mcp add skills -- {command} {args}",
  },
  /** @see {@link https://cursor.com/docs/mcp} */
  "cursor": {
    title: "Cursor",
    userFile: "~/.cursor/mcp.json",
    projectFile: ".cursor/mcp.json",
    entry: stdioEntry,
    token: `\${env:${TOKEN_VARIABLE}}`,
    expands: /\$\{/,
  },
  /** @see {@link https://code.visualstudio.com/docs/agents/reference/mcp-configuration} */
  "vscode": {
    title: "VS Code",
    userFile: `${CONFIG}/Code/User/mcp.json`,
    windowsFile: `${APP_DATA}/Code/User/mcp.json`,
    macFile: `${MAC_DATA}/Code/User/mcp.json`,
    projectFile: ".vscode/mcp.json",
    section: "servers",
    entry: stdioEntry,
    token: `\${input:${VSCODE_INPUT.id}}`,
    tokenSource: "VS Code asks for the token.",
    urlEntry: httpEntry,
    tokenTopLevel: { inputs: [VSCODE_INPUT] },
    addUrlCommand: ADD_TO_VS_CODE,
    addCommand: ADD_TO_VS_CODE,
    expands: /\$\{|^~/,
  },
  /** @see {@link https://opencode.ai/docs/mcp-servers} */
  "opencode": {
    title: "OpenCode",
    projectFile: "opencode.json",
    ...openCodeClient("opencode", {
      $schema: "https://opencode.ai/config.json",
      projectSkills: [".opencode/skill", ".opencode/skills"],
    }),
  },
  /** @see {@link https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md} */
  "gemini-cli": {
    title: "Gemini CLI",
    ...geminiClient("gemini", "{GEMINI_CLI_HOME:~}/.gemini"),
  },
  /** @see {@link https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers} */
  "copilot": {
    title: "Copilot CLI",
    userFile: "{COPILOT_HOME:~/.copilot}/mcp-config.json",
    projectFile: ".github/mcp.json",
    entry: (launch) => ({ type: "local", ...launch }),
    fields: { tools: ["*"] },
    token: `\${${TOKEN_VARIABLE}}`,
    urlEntry: httpEntry,
    addUrlCommand: "copilot mcp add --transport http {token} skills {url}",
    addCommand: "copilot mcp add skills -- {command} {args}",
    expands: /\$[\w{]/,
  },
  /** @see {@link https://docs.cline.bot/mcp/configuring-mcp-servers} */
  "cline": {
    title: "Cline",
    userFile:
      "{CLINE_MCP_SETTINGS_PATH:{CLINE_DATA_DIR:~/.cline/data}/settings/cline_mcp_settings.json}",
    // The time limit for replies. By default, the server has 3 seconds to start.
    entry: (launch) => ({ ...launch, timeout: 60 }),
    urlEntry: (server) => ({ type: "streamableHttp", ...urlEntry(server) }),
    addUrlCommand:
      "cline mcp install --yes --transport streamableHttp {token} skills {url}",
    addCommand: "cline mcp install --yes skills -- {command} {args}",
    unsetField: "timeout",
  },
  /** @see {@link https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/} */
  "qwen-code": {
    title: "Qwen Code",
    ...geminiClient("qwen", "{QWEN_HOME:~/.qwen}"),
    // The model sees the tools immediately instead of after a search.
    fields: { alwaysLoadTools: true },
    unsetField: "alwaysLoadTools",
  },
  /** @see {@link https://kilo.ai/docs/automate/mcp/using-in-kilo-code} */
  "kilo": {
    title: "Kilo Code",
    projectFile: ".kilo/kilo.json",
    ...openCodeClient("kilo", {
      $schema: "https://app.kilo.ai/config.json",
      projectSkills: [".kilo/skills", ".kilocode/skills"],
    }),
  },
  /** @see {@link https://goose-docs.ai/docs/guides/config-files} */
  "goose": {
    title: "goose",
    userFile: `${CONFIG}/goose/config.yaml`,
    windowsFile: `${APP_DATA}/Block/goose/config/config.yaml`,
    format: "yaml",
    section: "extensions",
    entry: ({ command, args }) => ({
      ...GOOSE_FIELDS,
      type: "stdio",
      cmd: command,
      args,
    }),
    token: `\${${TOKEN_VARIABLE}}`,
    urlEntry: ({ url, token }) => ({
      ...GOOSE_FIELDS,
      type: "streamable_http",
      uri: url,
      ...token !== undefined && { env_keys: [TOKEN_VARIABLE] },
      ...headersFor(token),
    }),
  },
  /** @see {@link https://docs.devin.ai/cli/extensibility/mcp/configuration} */
  "windsurf": {
    title: "Windsurf (Devin Desktop)",
    userFile: `${CONFIG}/devin/mcp_config.json`,
    windowsFile: `${APP_DATA}/devin/mcp_config.json`,
    projectFile: ".devin/mcp_config.json",
    formerFile: "~/.codeium/windsurf/mcp_config.json",
    urlEntry: (server) => ({ ...urlEntry(server), transport: "http" }),
    expands: /\$\{/,
  },
  /** @see {@link https://zed.dev/docs/ai/mcp} */
  "zed": {
    title: "Zed",
    userFile: `${CONFIG}/zed/settings.json`,
    windowsFile: `${APP_DATA}/Zed/settings.json`,
    projectFile: ".zed/settings.json",
    section: "context_servers",
  },
  /** @see {@link https://lmstudio.ai/docs/app/mcp} */
  "lm-studio": {
    title: "LM Studio",
    userFile: "~/.lmstudio/mcp.json",
    toolset: "skilljack",
  },
  /** @see {@link https://kiro.dev/docs/mcp/configuration} */
  "kiro": {
    title: "Kiro",
    userFile: "~/.kiro/settings/mcp.json",
    projectFile: ".kiro/settings/mcp.json",
    token: `\${${TOKEN_VARIABLE}}`,
    expands: /\$\{/,
  },
} satisfies Record<string, McpClient>;

/** A client of `--print-config`. */
export type ClientName = keyof typeof CLIENTS;

/** The clients by the names that `--print-config` accepts. */
export const MCP_CLIENTS: Readonly<Record<ClientName, McpClient>> = CLIENTS;

export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

/** Returns what OpenCode and its forks have in common. */
function openCodeClient(
  program: string,
  { $schema, projectSkills }: { $schema: string; projectSkills: string[] },
) {
  const folder = `${CONFIG}/${program}`;
  return {
    userFile: `${folder}/${program}.json`,
    section: "mcp",
    topLevel: { $schema },
    entry: ({ command, args }: Launch) => ({
      type: "local",
      command: [command, ...args],
    }),
    token: `{env:${TOKEN_VARIABLE}}`,
    urlEntry: (server: RemoteServer) => ({
      type: "remote",
      ...urlEntry(server),
    }),
    tokenOption: ["--header", "Authorization=Bearer {token}"],
    addUrlCommand: `${program} mcp add skills --url {url} {token}`,
    addCommand: `${program} mcp add skills -- {command} {args}`,
    ownSkills: [
      ...[".claude/skills", "~/.claude/skills"],
      ...AGENTS_SKILLS,
      ...projectSkills,
      ...[`${folder}/skill`, `${folder}/skills`],
    ],
    expands: /\{(?:env|file):/,
  };
}

/** Returns what Gemini CLI and its forks have in common. */
function geminiClient(program: string, folder: string) {
  const add = `${program} mcp add --scope user`;
  return {
    userFile: `${folder}/settings.json`,
    projectFile: `.${program}/settings.json`,
    token: `$${TOKEN_VARIABLE}`,
    urlEntry: ({ url, token }: RemoteServer) => ({
      httpUrl: url,
      ...headersFor(token),
    }),
    addUrlCommand: `${add} --transport http skills {url} {token}`,
    addCommand: `${add} skills {command} -- {args}`,
    ownSkills: [...AGENTS_SKILLS, `.${program}/skills`, `${folder}/skills`],
    expands: /\$[\w{]/,
  };
}

function stdioEntry(launch: Launch) {
  return { type: "stdio", ...launch };
}

/** Returns the fields that most clients use for a server at a URL. */
export function urlEntry({ url, token }: RemoteServer) {
  return { url, ...headersFor(token) };
}

function httpEntry(server: RemoteServer) {
  return { type: "http", ...urlEntry(server) };
}

function headersFor(token: string | undefined) {
  return token !== undefined &&
    { headers: { Authorization: `Bearer ${token}` } };
}
