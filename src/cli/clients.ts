/**
 * The MCP clients that `--print-config` knows, one literal each: where it keeps
 * its configuration, which skills it lists itself, what its entries look like,
 * and its own command that adds one. All are as the vendors document them in
 * November 2026. `tests/golden/clients.txt` shows what is printed.
 *
 * @module
 */

import type { Launch } from "./program.ts";

/** The environment variable that contains the token of a server at a URL. */
export const TOKEN_VARIABLE = "SKILL_SERVER_TOKEN";

/** A server at a URL, in the fields that most clients have for it. */
export interface RemoteServer {
  readonly url: string;
  /** Only if the server needs a token. */
  readonly headers?: { readonly Authorization: string };
}

/** What a client connects to: a command that starts the server, or its URL. */
export type Server = Launch | RemoteServer;

/**
 * An MCP client. In its paths, `~` is the home folder, `{data}` the folder for
 * application data, and the separator is `/`.
 */
export interface McpClient {
  /** The name that its users know. */
  readonly title: string;
  /** The user's configuration file, which applies to all projects. */
  readonly file: string;
  /** The configuration file of a project. */
  readonly projectFile?: string;
  /** The format of these files. Default: JSON. */
  readonly format?: "toml";
  /** The section of the file that contains the servers. Default: "mcpServers". */
  readonly section?: string;
  /**
   * The folders whose skills the client lists itself, whole, both in the project
   * and in the home folder. Without those that only this client uses.
   */
  readonly ownSkills?: readonly string[];
  /** The toolset for a client whose model cannot open files. */
  readonly toolset?: string;
  /** The entry that starts the server. Default: the command and its arguments. */
  readonly entry?: (launch: Launch) => object;
  /** The client's own command that adds the entry that starts the server. */
  readonly add?: (launch: Launch) => string[];
  /** The client's own command that adds any entry, which follows it as JSON. */
  readonly addJson?: string;
  /** The reference that stands for the token in an entry, if the client supports one. */
  readonly token?: string;
  /** What the client asks its user for, at the top level of the file, if there is a token. */
  readonly inputs?: readonly object[];
  /** The entry for a server at a URL. Default: the URL and the headers. */
  readonly urlEntry?: (server: RemoteServer) => object;
  /** What the user should know about this entry. */
  readonly urlNote?: string;
}

/** Creates the command of a client that takes the command of the server after two dashes. */
function addWith(client: string): McpClient["add"] {
  return (
    { command, args },
  ) => [client, "mcp", "add", "skills", "--", command, ...args];
}

const CLIENTS = {
  /** @see {@link https://code.claude.com/docs/en/mcp} */
  "claude-code": {
    title: "Claude Code",
    file: "~/.claude.json",
    projectFile: ".mcp.json",
    ownSkills: [".claude/skills"],
    // The model sees the tools immediately instead of after a search.
    entry: (launch) => ({ type: "stdio", ...launch, alwaysLoad: true }),
    addJson: "claude mcp add-json --scope user skills",
    token: `\${${TOKEN_VARIABLE}}`,
    urlEntry: (server) => ({ type: "http", ...server, alwaysLoad: true }),
  },
  /** @see {@link https://modelcontextprotocol.io/docs/develop/connect-local-servers} */
  "claude-desktop": {
    title: "Claude Desktop",
    file: "{data}/Claude/claude_desktop_config.json",
    toolset: "skilljack",
    urlNote:
      "Claude Desktop itself connects to URLs only with OAuth. So the entry starts mcp-remote, which connects to this one and needs Node (https://nodejs.org).",
    urlEntry: ({ url, headers }) => ({
      command: "npx",
      args: [
        ...["--prefix", "~/", "-y", "mcp-remote", url],
        ...headers ? ["--header", "Authorization:${AUTH}"] : [],
        ...isPlainRemote(url) ? ["--allow-http"] : [],
      ],
      // On Windows, an argument with a space would become two.
      ...headers && { env: { AUTH: headers.Authorization } },
    }),
  },
  /** @see {@link https://developers.openai.com/codex/mcp} */
  "codex": {
    title: "Codex",
    file: "~/.codex/config.toml",
    projectFile: ".codex/config.toml",
    format: "toml",
    section: "mcp_servers",
    add: addWith("codex"),
    token: TOKEN_VARIABLE,
    urlEntry: ({ url, headers }) => ({
      url,
      ...headers && { bearer_token_env_var: TOKEN_VARIABLE },
    }),
  },
  /** @see {@link https://cursor.com/docs/mcp} */
  "cursor": {
    title: "Cursor",
    file: "~/.cursor/mcp.json",
    projectFile: ".cursor/mcp.json",
    entry: (launch) => ({ type: "stdio", ...launch }),
    token: `\${env:${TOKEN_VARIABLE}}`,
  },
  /** @see {@link https://code.visualstudio.com/docs/agents/reference/mcp-configuration} */
  "vscode": {
    title: "VS Code",
    file: "{data}/Code/User/mcp.json",
    projectFile: ".vscode/mcp.json",
    section: "servers",
    entry: (launch) => ({ type: "stdio", ...launch }),
    token: "${input:skill-server-token}",
    inputs: [{
      type: "promptString",
      id: "skill-server-token",
      description: "Token of the skill server",
      password: true,
    }],
    urlEntry: (server) => ({ type: "http", ...server }),
  },
  /** @see {@link https://opencode.ai/docs/mcp-servers} */
  "opencode": {
    title: "OpenCode",
    file: "~/.config/opencode/opencode.json",
    projectFile: "opencode.json",
    section: "mcp",
    ownSkills: [".claude/skills", ".agents/skills"],
    entry: ({ command, args }) => ({
      type: "local",
      command: [command, ...args],
    }),
    add: addWith("opencode"),
    token: `{env:${TOKEN_VARIABLE}}`,
    urlEntry: (server) => ({ type: "remote", ...server }),
  },
  /** @see {@link https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md} */
  "gemini-cli": {
    title: "Gemini CLI",
    file: "~/.gemini/settings.json",
    projectFile: ".gemini/settings.json",
    ownSkills: [".agents/skills"],
    add: ({ command, args }) => [
      ...["gemini", "mcp", "add", "--scope", "user", "skills", command, "--"],
      ...args,
    ],
    token: `$${TOKEN_VARIABLE}`,
    urlEntry: ({ url, headers }) => ({
      httpUrl: url,
      ...headers && { headers },
    }),
  },
  /** @see {@link https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers} */
  "copilot": {
    title: "Copilot CLI",
    file: "~/.copilot/mcp-config.json",
    projectFile: ".github/mcp.json",
    entry: (launch) => ({ type: "local", ...launch, tools: ["*"] }),
    add: addWith("copilot"),
    token: `\${${TOKEN_VARIABLE}}`,
    urlEntry: (server) => ({ type: "http", ...server, tools: ["*"] }),
  },
  /** @see {@link https://docs.cline.bot/mcp/configuring-mcp-servers} */
  "cline": {
    title: "Cline",
    file: "~/.cline/data/settings/cline_mcp_settings.json",
    // The time limit for replies. By default, the server has 3 seconds to start.
    entry: (launch) => ({ ...launch, timeout: 60 }),
    urlEntry: (server) => ({
      type: "streamableHttp",
      ...server,
      timeout: 60,
    }),
  },
  /** @see {@link https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/} */
  "qwen-code": {
    title: "Qwen Code",
    file: "~/.qwen/settings.json",
    projectFile: ".qwen/settings.json",
    ownSkills: [".agents/skills"],
    // The model sees the tools immediately instead of after a search.
    entry: (launch) => ({ ...launch, alwaysLoadTools: true }),
    token: `$${TOKEN_VARIABLE}`,
    urlEntry: ({ url, headers }) => ({
      httpUrl: url,
      ...headers && { headers },
      alwaysLoadTools: true,
    }),
  },
  /** @see {@link https://kilo.ai/docs/automate/mcp/using-in-kilo-code} */
  "kilo": {
    title: "Kilo Code",
    file: "~/.config/kilo/kilo.json",
    projectFile: ".kilo/kilo.json",
    section: "mcp",
    ownSkills: [".claude/skills", ".agents/skills"],
    entry: ({ command, args }) => ({
      type: "local",
      command: [command, ...args],
    }),
    add: addWith("kilo"),
    token: `{env:${TOKEN_VARIABLE}}`,
    urlEntry: (server) => ({ type: "remote", ...server }),
  },
} satisfies Record<string, McpClient>;

/** A client of `--print-config`. */
export type ClientName = keyof typeof CLIENTS;

/** The clients by the names that `--print-config` accepts. */
export const MCP_CLIENTS: Readonly<Record<ClientName, McpClient>> = CLIENTS;

export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

/** Whether a URL leads to another machine without encryption. */
export function isPlainRemote(url: string): boolean {
  return url.startsWith("http:") && !isLocal(url);
}

/** Whether a URL leads to this machine. */
export function isLocal(url: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
}
