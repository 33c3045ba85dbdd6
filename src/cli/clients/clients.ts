/**
 * The MCP clients that `--print-config` knows, one literal each: where it keeps
 * its configuration, which skills it lists itself, what its entries look like, and
 * its own command that adds one. All are as the vendors document them in November
 * 2026. `tests/golden/clients.txt` shows what is printed.
 */

import type { ClientName } from "../../program/command_line.ts";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * An MCP client. In its paths, `~` is the home folder, `{data}` the folder for
 * application data, and the separator is `/`.
 */
export interface McpClient {
  readonly title: string;
  /** The user's configuration file, which applies to all projects. */
  readonly file: string;
  /** Its folder in the home folder, which a variable moves together with this file. */
  readonly ownFolder?: { readonly name: string; readonly variable: string };
  readonly projectFile?: string;
  /** The format of these files. Default: "json". */
  readonly format?: "json" | "toml";
  /** The section of the file that contains the servers. Default: "mcpServers". */
  readonly section?: string;
  /**
   * The folders whose skills the client describes itself, both in the project and in
   * the home folder, or only in the project if they begin with `./`.
   */
  readonly ownSkills?: readonly string[];
  /** How to turn off the client's own list, if that ends. */
  readonly listSwitch?: string;
  /**
   * The skills in `.agents/skills` and `.claude/skills` that it shows itself, if that was
   * not measured, and the options that make the server list only their names.
   */
  readonly shows?: { readonly skills: string; readonly options: string };
  /** The beginning of variables, which the client replaces without a way to escape them. */
  readonly variables?: RegExp;
  /** The toolset for a client whose model cannot open files. */
  readonly toolset?: string;
  /** Creates the entry that starts the server. Default: the command and its arguments. */
  readonly entry?: (launch: Launch) => object;
  /** Creates the entry for a server over HTTP, if the file can have one. */
  readonly urlEntry?: (url: string) => object;
  /** How an entry sends the token, by a variable where the client has them. */
  readonly tokenFields?: object;
  /** Tells the user where to put the token. Default: into the environment variable. */
  readonly tokenAdvice?: string;
  /** The field `inputs` of the file, which asks for the token. */
  readonly tokenInputs?: readonly object[];
  /** The client's own command that adds an entry, from the entry or the words in it. */
  readonly command?: (
    added: { readonly entry: object; readonly words: readonly string[] },
  ) => string;
  /** The same for a URL, which is quoted where shells need that. */
  readonly urlCommand?: (
    added: { entry: object; url: string; needsToken: boolean },
  ) => string;
}

/** The beginning of variables such as `${HOME}`, `${env:HOME}`, and `${userHome}`. */
const IN_BRACES = /\$\{/;

/** The beginning of variables with and without braces. */
const WITH_DOLLAR = /\$[\w{]/;

/** The beginning of variables and files for OpenCode and Kilo Code, in the whole file. */
const ENV_OR_FILE = /\{(?:env|file):/;

/** The documentation of these clients says so. It was not measured. */
const SAID_TO_SHOW = {
  skills:
    "the skills in .agents/skills and .claude/skills, as its documentation says",
  options: "--name-only ~/.claude/skills --name-only .claude/skills",
};

function bearer(token: string): object {
  return { headers: { Authorization: `Bearer ${token}` } };
}

function addJson({ entry }: { entry: object }): string {
  return `claude mcp add-json --scope user skills '${JSON.stringify(entry)}'`;
}

/** What OpenCode and Kilo Code, which was made from it, have in common. */
const OPENCODE: Omit<McpClient, "title" | "file"> = {
  section: "mcp",
  variables: ENV_OR_FILE,
  entry: ({ command, args }) => ({
    type: "local",
    command: [command, ...args],
  }),
  urlEntry: (url) => ({ type: "remote", url }),
  tokenFields: bearer("{env:SKILL_SERVER_TOKEN}"),
};

export const MCP_CLIENTS: Readonly<Record<ClientName, McpClient>> = {
  /** @see {@link https://code.claude.com/docs/en/mcp} */
  "claude-code": {
    title: "Claude Code",
    file: "~/.claude.json",
    ownFolder: { name: ".claude", variable: "CLAUDE_CONFIG_DIR" },
    projectFile: ".mcp.json",
    ownSkills: [".claude/skills"],
    listSwitch: "start claude with --disable-slash-commands",
    variables: IN_BRACES,
    // The model sees the tools immediately instead of after a search.
    entry: (launch) => ({ type: "stdio", ...launch, alwaysLoad: true }),
    urlEntry: (url) => ({ type: "http", url, alwaysLoad: true }),
    tokenFields: bearer("${SKILL_SERVER_TOKEN}"),
    command: addJson,
    urlCommand: addJson,
  },
  /** @see {@link https://modelcontextprotocol.io/docs/develop/connect-local-servers} */
  "claude-desktop": {
    title: "Claude Desktop",
    file: "{data}/Claude/claude_desktop_config.json",
    toolset: "skilljack",
  },
  /** @see {@link https://developers.openai.com/codex/mcp} */
  "codex": {
    title: "Codex",
    file: "~/.codex/config.toml",
    ownFolder: { name: ".codex", variable: "CODEX_HOME" },
    projectFile: ".codex/config.toml",
    format: "toml",
    section: "mcp_servers",
    ownSkills: [".agents/skills", ".codex/skills", ".codex/skills/.system"],
    listSwitch: "set include_instructions = false in the section [skills]",
    urlEntry: (url) => ({ url }),
    tokenFields: { bearer_token_env_var: "SKILL_SERVER_TOKEN" },
    command: ({ words }) => `codex mcp add skills -- ${words.join(" ")}`,
    urlCommand: ({ url, needsToken }) =>
      `codex mcp add skills --url ${url}` +
      (needsToken ? " --bearer-token-env-var SKILL_SERVER_TOKEN" : ""),
  },
  /** @see {@link https://cursor.com/docs/mcp} */
  "cursor": {
    title: "Cursor",
    file: "~/.cursor/mcp.json",
    projectFile: ".cursor/mcp.json",
    shows: SAID_TO_SHOW,
    variables: IN_BRACES,
    entry: (launch) => ({ type: "stdio", ...launch }),
    urlEntry: (url) => ({ url }),
    tokenFields: bearer("${env:SKILL_SERVER_TOKEN}"),
  },
  /** @see {@link https://code.visualstudio.com/docs/agents/reference/mcp-configuration} */
  "vscode": {
    title: "VS Code",
    file: "{data}/Code/User/mcp.json",
    projectFile: ".vscode/mcp.json",
    section: "servers",
    shows: SAID_TO_SHOW,
    variables: IN_BRACES,
    entry: (launch) => ({ type: "stdio", ...launch }),
    urlEntry: (url) => ({ type: "http", url }),
    tokenFields: bearer("${input:skill-server-token}"),
    tokenAdvice: "VS Code asks for the token once, and keeps it",
    tokenInputs: [{
      type: "promptString",
      id: "skill-server-token",
      description: "The token of the server for skills",
      password: true,
    }],
    command: ({ entry }) =>
      `code --add-mcp '${JSON.stringify({ name: "skills", ...entry })}'`,
  },
  /** @see {@link https://opencode.ai/docs/mcp-servers} */
  "opencode": {
    title: "OpenCode",
    file: "~/.config/opencode/opencode.json",
    projectFile: "opencode.json",
    ...OPENCODE,
    ownSkills: [
      ".claude/skills",
      ".agents/skills",
      ".opencode/skills",
      ".config/opencode/skills",
    ],
    command: ({ words }) => `opencode mcp add skills -- ${words.join(" ")}`,
  },
  /** @see {@link https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md} */
  "gemini-cli": {
    title: "Gemini CLI",
    file: "~/.gemini/settings.json",
    projectFile: ".gemini/settings.json",
    ownSkills: [".agents/skills", ".gemini/skills"],
    variables: WITH_DOLLAR,
    urlEntry: (url) => ({ httpUrl: url }),
    tokenFields: bearer("$SKILL_SERVER_TOKEN"),
    command: ({ words: [program, ...args] }) =>
      `gemini mcp add --scope user skills ${program} -- ${args.join(" ")}`,
  },
  /** @see {@link https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers} */
  "copilot": {
    title: "Copilot CLI",
    file: "~/.copilot/mcp-config.json",
    projectFile: ".github/mcp.json",
    ownSkills: [".agents/skills", "./.claude/skills"],
    variables: WITH_DOLLAR,
    entry: (launch) => ({ type: "local", ...launch, tools: ["*"] }),
    urlEntry: (url) => ({ type: "http", url, tools: ["*"] }),
    tokenFields: bearer("${SKILL_SERVER_TOKEN}"),
    command: ({ words }) => `copilot mcp add skills -- ${words.join(" ")}`,
  },
  /** @see {@link https://docs.cline.bot/mcp/configuring-mcp-servers} */
  "cline": {
    title: "Cline",
    file: "~/.cline/data/settings/cline_mcp_settings.json",
    // The time limit for replies. By default, the server has 3 seconds to start.
    entry: (launch) => ({ ...launch, timeout: 60 }),
    urlEntry: (url) => ({ type: "streamableHttp", url, timeout: 60 }),
    tokenFields: bearer("<token>"),
    tokenAdvice: "Cline has no variables: write the token in place of <token>",
  },
  /** @see {@link https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/} */
  "qwen-code": {
    title: "Qwen Code",
    file: "~/.qwen/settings.json",
    projectFile: ".qwen/settings.json",
    ownSkills: [".agents/skills", ".qwen/skills"],
    variables: WITH_DOLLAR,
    // The model sees the tools immediately instead of after a search.
    entry: (launch) => ({ ...launch, alwaysLoadTools: true }),
    urlEntry: (url) => ({ httpUrl: url, alwaysLoadTools: true }),
    tokenFields: bearer("$SKILL_SERVER_TOKEN"),
  },
  /** @see {@link https://kilo.ai/docs/automate/mcp/using-in-kilo-code} */
  "kilo": {
    title: "Kilo Code",
    file: "~/.config/kilo/kilo.json",
    projectFile: ".kilo/kilo.json",
    ...OPENCODE,
    ownSkills: [
      ".claude/skills",
      ".agents/skills",
      ".kilo/skills",
      ".kilocode/skills",
      ".config/kilo/skills",
    ],
    command: ({ words }) => `kilo mcp add skills -- ${words.join(" ")}`,
  },
};
