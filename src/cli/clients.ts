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

/** Whether a URL leads to this machine. */
export function isLocal(url: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
}

/** How a client is configured for a server at a URL. */
interface RemoteFormat {
  /** The reference that stands for the token in the configuration, if the client supports one. */
  readonly token?: string;
  /**
   * The note that says where the client gets the token. By default, it names
   * the environment variable.
   */
  readonly tokenSource?: string;
  /** What else the user should know. */
  readonly note?: string;
  /** Returns the entry in the client's file, without {@linkcode McpClient.fields}. */
  readonly entry: (server: RemoteServer) => object;
  /** Fields at the top level of the file if there is a token. */
  readonly topLevel?: object;
  /** See {@linkcode McpClient.addCommand}. */
  readonly addCommand?: string;
  /** The words for the token in that command. Default: the option `--header`. */
  readonly tokenOption?: readonly string[];
}

/**
 * A path for each operating system. `~` is the home folder, and
 * `{VARIABLE:default}` is the value of an environment variable or, if it is not
 * set, a default. The separator is `/`.
 */
export type PathTemplate = string | {
  readonly windows: string;
  readonly darwin?: string;
  readonly other: string;
};

export interface McpClient {
  readonly title: string;
  /** The user's configuration file, which applies to all projects. */
  readonly userFile: PathTemplate;
  /** The configuration file of a project, with `/` as separator. */
  readonly projectFile?: string;
  /** The user's configuration file in older versions of the client. */
  readonly formerFile?: PathTemplate;
  /** The format of these files. Default: JSON. */
  readonly format?: "toml" | "yaml";
  /** The name of the section that contains the servers. Default: "mcpServers". */
  readonly section?: string;
  /** Fields at the top level of the file. */
  readonly topLevel?: object;
  /** Returns the entry in that section, without the fields. Default: the command and its arguments. */
  readonly entry?: (launch: Launch) => object;
  /** Fields of each entry. */
  readonly fields?: object;
  /** How the client is configured for a server at a URL. */
  readonly remote: RemoteFormat;
  /**
   * The client's own command that adds the configuration: words that are
   * separated by spaces. Some stand for parts of it: `{command}` and `{args}`,
   * `{url}` and `{token}` (an option, if there is a token), `{entry}` as JSON, or
   * `{namedEntry}`, which also contains the name and what belongs to the top level.
   */
  readonly addCommand?: string;
  /** The field of the entry that this command cannot set. */
  readonly unsetField?: string;
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

const ADD_TO_CLAUDE_CODE = "claude mcp add-json --scope user skills {entry}";

const ADD_TO_VS_CODE = "code --add-mcp {namedEntry}";

/** Makes VS Code ask for the token and store it encrypted. */
const VSCODE_INPUT = {
  type: "promptString",
  id: "skill-server-token",
  description: "Token of the skill server",
  password: true,
};

/** The skill folders of Claude Code, which other clients read too. */
const CLAUDE_SKILLS = [".claude/skills", "~/.claude/skills"];

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
    remote: {
      token: `\${${TOKEN_VARIABLE}}`,
      entry: httpEntry,
      addCommand: ADD_TO_CLAUDE_CODE,
    },
    addCommand: ADD_TO_CLAUDE_CODE,
    ownSkills: [".claude/skills", "{CLAUDE_CONFIG_DIR:~/.claude}/skills"],
    ownSkillsLimit:
      'It lists descriptions only up to one percent of the model\'s context window: if you have more than 60 skills or use a small model, add "skillListingBudgetFraction": 0.1 to the settings.json of Claude Code.',
    expands: /\$\{/,
  },
  /** @see {@link https://modelcontextprotocol.io/docs/develop/connect-local-servers} */
  "claude-desktop": {
    title: "Claude Desktop",
    userFile: inAppFolder("Claude/claude_desktop_config.json"),
    toolset: "skilljack",
    remote: {
      note:
        "Claude Desktop itself connects to URLs only with OAuth. So the entry starts mcp-remote, which connects to this one and needs Node (https://nodejs.org).",
      entry: ({ url, token }) => ({
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
  },
  /** @see {@link https://developers.openai.com/codex/mcp} */
  "codex": {
    title: "Codex",
    userFile: "{CODEX_HOME:~/.codex}/config.toml",
    projectFile: ".codex/config.toml",
    format: "toml",
    section: "mcp_servers",
    remote: {
      token: TOKEN_VARIABLE,
      entry: ({ url, token }) => ({
        url,
        ...token !== undefined && { bearer_token_env_var: token },
      }),
      tokenOption: ["--bearer-token-env-var", "{token}"],
      addCommand: "codex mcp add skills --url {url} {token}",
    },
    addCommand: "codex mcp add skills -- {command} {args}",
  },
  /** @see {@link https://cursor.com/docs/mcp} */
  "cursor": {
    title: "Cursor",
    userFile: "~/.cursor/mcp.json",
    projectFile: ".cursor/mcp.json",
    entry: stdioEntry,
    remote: { token: `\${env:${TOKEN_VARIABLE}}`, entry: urlEntry },
    expands: /\$\{/,
  },
  /** @see {@link https://code.visualstudio.com/docs/agents/reference/mcp-configuration} */
  "vscode": {
    title: "VS Code",
    userFile: inAppFolder("Code/User/mcp.json"),
    projectFile: ".vscode/mcp.json",
    section: "servers",
    entry: stdioEntry,
    remote: {
      token: `\${input:${VSCODE_INPUT.id}}`,
      tokenSource: "VS Code asks for the token.",
      entry: httpEntry,
      topLevel: { inputs: [VSCODE_INPUT] },
      addCommand: ADD_TO_VS_CODE,
    },
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
    entry: (launch: Launch) => ({ type: "local", ...launch }),
    fields: { tools: ["*"] },
    remote: {
      token: `\${${TOKEN_VARIABLE}}`,
      entry: httpEntry,
      addCommand: "copilot mcp add --transport http {token} skills {url}",
    },
    addCommand: "copilot mcp add skills -- {command} {args}",
    expands: /\$[\w{]/,
  },
  /** @see {@link https://docs.cline.bot/mcp/configuring-mcp-servers} */
  "cline": {
    title: "Cline",
    userFile:
      "{CLINE_MCP_SETTINGS_PATH:{CLINE_DATA_DIR:~/.cline/data}/settings/cline_mcp_settings.json}",
    // The time limit for replies. By default, the server has 3 seconds to start.
    entry: (launch: Launch) => ({ ...launch, timeout: 60 }),
    remote: {
      entry: (server) => ({ type: "streamableHttp", ...urlEntry(server) }),
      addCommand:
        "cline mcp install --yes --transport streamableHttp {token} skills {url}",
    },
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
    userFile: inConfigFolder(
      "goose/config.yaml",
      "Block/goose/config/config.yaml",
    ),
    format: "yaml",
    section: "extensions",
    entry: ({ command, args }) => ({
      ...GOOSE_FIELDS,
      type: "stdio",
      cmd: command,
      args,
    }),
    remote: {
      token: `\${${TOKEN_VARIABLE}}`,
      entry: ({ url, token }) => ({
        ...GOOSE_FIELDS,
        type: "streamable_http",
        uri: url,
        ...token !== undefined && { env_keys: [TOKEN_VARIABLE] },
        ...headersFor(token),
      }),
    },
  },
  /** @see {@link https://docs.devin.ai/cli/extensibility/mcp/configuration} */
  "windsurf": {
    title: "Windsurf (Devin Desktop)",
    userFile: inConfigFolder("devin/mcp_config.json"),
    projectFile: ".devin/mcp_config.json",
    formerFile: "~/.codeium/windsurf/mcp_config.json",
    remote: {
      entry: (server) => ({ ...urlEntry(server), transport: "http" }),
    },
    expands: /\$\{/,
  },
  /** @see {@link https://zed.dev/docs/ai/mcp} */
  "zed": {
    title: "Zed",
    userFile: inConfigFolder("zed/settings.json", "Zed/settings.json"),
    projectFile: ".zed/settings.json",
    section: "context_servers",
    remote: { entry: urlEntry },
  },
  /** @see {@link https://lmstudio.ai/docs/app/mcp} */
  "lm-studio": {
    title: "LM Studio",
    userFile: "~/.lmstudio/mcp.json",
    remote: { entry: urlEntry },
    toolset: "skilljack",
  },
  /** @see {@link https://kiro.dev/docs/mcp/configuration} */
  "kiro": {
    title: "Kiro",
    userFile: "~/.kiro/settings/mcp.json",
    projectFile: ".kiro/settings/mcp.json",
    remote: { token: `\${${TOKEN_VARIABLE}}`, entry: urlEntry },
    expands: /\$\{/,
  },
} satisfies Record<string, McpClient>;

/** A client of `--print-config`. */
export type ClientName = keyof typeof CLIENTS;

/** The clients by the names that `--print-config` accepts. */
export const MCP_CLIENTS: Readonly<Record<ClientName, McpClient>> = CLIENTS;

export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

/** Returns the path of a file in the folder for configuration files. */
function inConfigFolder(file: string, windowsFile = file) {
  return {
    windows: `{APPDATA:~/AppData/Roaming}/${windowsFile}`,
    other: `{XDG_CONFIG_HOME:~/.config}/${file}`,
  };
}

/** Returns the path of a file in the folder for application data. */
function inAppFolder(file: string) {
  return {
    ...inConfigFolder(file),
    darwin: `~/Library/Application Support/${file}`,
  };
}

/** Returns what OpenCode and its forks have in common. */
function openCodeClient(
  program: string,
  { $schema, projectSkills }: { $schema: string; projectSkills: string[] },
) {
  const folder = `{XDG_CONFIG_HOME:~/.config}/${program}`;
  const ownFolders = [`${folder}/skill`, `${folder}/skills`];
  return {
    userFile: `${folder}/${program}.json`,
    section: "mcp",
    topLevel: { $schema },
    entry: ({ command, args }: Launch) => ({
      type: "local",
      command: [command, ...args],
    }),
    remote: {
      token: `{env:${TOKEN_VARIABLE}}`,
      entry: (server: RemoteServer) => ({
        type: "remote",
        ...urlEntry(server),
      }),
      tokenOption: ["--header", "Authorization=Bearer {token}"],
      addCommand: `${program} mcp add skills --url {url} {token}`,
    },
    addCommand: `${program} mcp add skills -- {command} {args}`,
    ownSkills: [
      ...CLAUDE_SKILLS,
      ...AGENTS_SKILLS,
      ...projectSkills,
      ...ownFolders,
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
    remote: {
      token: `$${TOKEN_VARIABLE}`,
      entry: ({ url, token }: RemoteServer) => ({
        httpUrl: url,
        ...headersFor(token),
      }),
      addCommand: `${add} --transport http skills {url} {token}`,
    },
    addCommand: `${add} skills {command} -- {args}`,
    ownSkills: [...AGENTS_SKILLS, `.${program}/skills`, `${folder}/skills`],
    expands: /\$[\w{]/,
  };
}

function stdioEntry(launch: Launch) {
  return { type: "stdio", ...launch };
}

/** Returns the fields that most clients use for a server at a URL. */
function urlEntry({ url, token }: RemoteServer) {
  return { url, ...headersFor(token) };
}

function httpEntry(server: RemoteServer) {
  return { type: "http", ...urlEntry(server) };
}

function headersFor(token: string | undefined) {
  return token !== undefined &&
    { headers: { Authorization: `Bearer ${token}` } };
}
