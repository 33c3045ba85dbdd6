/**
 * The MCP clients that are known: what each shows its model, where it keeps its
 * configuration, and which skills it lists itself. Nothing else depends on the name of
 * a client.
 *
 * `measured` is the version and the date of a measurement: a model endpoint recorded what
 * the client sent. With that version, a skill in each of 61 folders showed on 2026-11-22
 * which of them the client reads (`ownSkills`), and on 2026-11-27 for how many
 * descriptions its list has room (`ownList`). A line beside a value names another source,
 * if it has one. The page linked above a client documents its file and the fields of an
 * entry, as read on 2026-11-22. CONTRIBUTING.md says when to check them.
 */

import type { Toolset } from "./options.ts";

/** What the server must know of a client to reach its model. */
export interface ClientProfile {
  /** Its `clientInfo.name`, to which it may append a hyphen and the server's name. */
  readonly clientName?: string;
  /** The versions that were measured, and when: what is listed, and the size of results. */
  readonly measured?: { readonly lists: string; readonly results?: string };
  /** Whether the model sees the tools only after a search for them. */
  readonly searchesTools?: boolean;
  /**
   * How many characters of a tool's description it keeps, if it cuts them. The list of
   * skills then goes into the description of a parameter, which it keeps whole.
   */
  readonly cutsDescriptionsAt?: number;
  /** How many characters of the server's instructions its model sees. */
  readonly keepsInstructionsTo: number;
  /** The length of a result that its model sees whole. Infinity if that is unknown. */
  readonly keepsResultsTo: number;
  /** Whether that is in bytes of UTF-8, and not in characters. */
  readonly countsBytes?: boolean;
  /** The size of the largest result that it accepts, in bytes of JSON. */
  readonly maxResultSize?: number;
  /** The `_meta` that each tool needs. */
  readonly toolMeta?: Readonly<Record<string, unknown>>;
  /** Whether it drops prompts that contain an embedded resource. */
  readonly dropsEmbeddedResources?: boolean;
  /** The argument of a prompt that brings every word to its model. Default: an optional one. */
  readonly promptArgument?: "none" | "required";
}

/** In paths, `~` is the home directory, and `{data}` the directory for application data. */
export interface Client {
  readonly title: string;
  /** Clients without one get the default one, like unknown clients. */
  readonly profile?: ClientProfile;
  /** The user's configuration file, which applies to all projects. */
  readonly file: string;
  /** The same on Windows, if it is elsewhere there. */
  readonly windowsFile?: string;
  /** Whether `CLAUDE_CONFIG_DIR` moves this file and the client's skills. */
  readonly obeysClaudeConfigDir?: boolean;
  readonly projectFile?: string;
  /** The format of these files. Default: "json". */
  readonly format?: "json" | "toml" | "yaml";
  /** The section of the file that contains the servers. Default: "mcpServers". */
  readonly section?: string;
  /** The fields of an entry besides the command. */
  readonly fields?: object;
  /** The field of an entry for the program. Default: "command". */
  readonly programField?: string;
  /** Whether the field `command` of an entry is a list that ends with the arguments. */
  readonly listsCommand?: boolean;
  /**
   * Its own command that adds an entry: `{entry}` stands for the entry as JSON,
   * `{named}` for the same with its name, and `{program}` and `{args}` for its words.
   */
  readonly command?: string;
  /** The toolset for a client whose model cannot open files. */
  readonly toolset?: Toolset;
  /**
   * The directories whose skills it lists itself: in the project if they begin with
   * `./`, in the home directory if they begin with `~/`, or else in both.
   */
  readonly ownSkills?: readonly string[];
  /** How much of them its list has room for, with many skills. */
  readonly ownList?: "every description" | "some descriptions" | "only names";
}

/** The profile of clients that have none of their own. */
export const DEFAULT_PROFILE: ClientProfile = {
  keepsInstructionsTo: 0,
  keepsResultsTo: Infinity,
};

/** What OpenCode and Kilo Code, which was made from it, have in common. */
const OPENCODE = {
  section: "mcp",
  fields: { type: "local" },
  listsCommand: true,
  ownList: "every description",
} as const;

const TABLE = {
  /** @see {@link https://code.claude.com/docs/en/mcp} */
  "claude-code": {
    title: "Claude Code",
    profile: {
      clientName: "claude-code",
      measured: {
        lists: "2.1.330, 2026-11-22",
        results: "2.1.332, 2026-11-28",
      },
      // 2.1.330 keeps 4,096, but 2.1.197, which runs on Node 20, cut at 2,048 on
      // 2026-11-22. That one also needs `alwaysLoad` in the entry.
      cutsDescriptionsAt: 2_048,
      keepsInstructionsTo: 4_096,
      // 50,000 without the second field of `_meta`.
      keepsResultsTo: 500_000,
      toolMeta: {
        "anthropic/alwaysLoad": true,
        "anthropic/maxResultSizeChars": 500_000,
      },
      // It appends all words to a prompt without arguments, but passes only one to each.
      promptArgument: "none",
    },
    file: "~/.claude.json",
    obeysClaudeConfigDir: true,
    projectFile: ".mcp.json",
    fields: { type: "stdio", alwaysLoad: true },
    command: "claude mcp add-json --scope user skills '{entry}'",
    ownSkills: [".claude/skills"],
    ownList: "some descriptions",
  },
  /** @see {@link https://modelcontextprotocol.io/docs/develop/connect-local-servers} */
  "claude-desktop": {
    title: "Claude Desktop",
    profile: {
      ...DEFAULT_PROFILE,
      clientName: "claude-ai",
      // As public reports said on 2026-11-28. Not measured.
      maxResultSize: 1_000_000,
    },
    file: "{data}/Claude/claude_desktop_config.json",
    toolset: "skilljack",
  },
  /** @see {@link https://developers.openai.com/codex/mcp} */
  "codex": {
    title: "Codex",
    profile: {
      clientName: "codex-mcp-client",
      measured: { lists: "0.169, 2026-11-22", results: "0.171, 2026-11-28" },
      // Before the search, it shows the first line of the instructions.
      searchesTools: true,
      keepsInstructionsTo: 250,
      keepsResultsTo: 40_000,
    },
    file: "~/.codex/config.toml",
    projectFile: ".codex/config.toml",
    format: "toml",
    section: "mcp_servers",
    command: "codex mcp add skills -- {program} {args}",
    // Its list takes 2 % of the context, or 8,000 characters:
    // https://developers.openai.com/codex/skills, read on 2026-11-28. According to notes
    // on a release, not tried, it also reads /etc/codex/skills and, in a project, the
    // folders above, up to the repository.
    ownSkills: [".agents/skills", ".codex/skills"],
    ownList: "some descriptions",
  },
  /** @see {@link https://cursor.com/docs/mcp} */
  "cursor": {
    title: "Cursor",
    file: "~/.cursor/mcp.json",
    projectFile: ".cursor/mcp.json",
    fields: { type: "stdio" },
    // https://cursor.com/docs/context/skills, read on 2026-11-22. Not measured.
    ownSkills: [".claude/skills", ".agents/skills", ".cursor/skills"],
    ownList: "every description",
  },
  /** @see {@link https://code.visualstudio.com/docs/agents/reference/mcp-configuration} */
  "vscode": {
    title: "VS Code",
    file: "{data}/Code/User/mcp.json",
    projectFile: ".vscode/mcp.json",
    section: "servers",
    fields: { type: "stdio" },
    command: "code --add-mcp '{named}'",
    // https://code.visualstudio.com/docs/agent-customization/agent-skills, read on
    // 2026-11-22. Not measured.
    ownSkills: [
      ".claude/skills",
      ".agents/skills",
      "./.github/skills",
      "~/.copilot/skills",
    ],
    ownList: "every description",
  },
  /** @see {@link https://opencode.ai/docs/mcp-servers} */
  "opencode": {
    title: "OpenCode",
    profile: {
      clientName: "opencode",
      measured: { lists: "1.18, 2026-11-22", results: "1.18.33, 2026-11-28" },
      keepsInstructionsTo: Infinity,
      keepsResultsTo: 51_200,
      countsBytes: true,
      dropsEmbeddedResources: true,
    },
    ...OPENCODE,
    file: "~/.config/opencode/opencode.json",
    projectFile: "opencode.json",
    command: "opencode mcp add skills -- {program} {args}",
    ownSkills: [
      ".claude/skills",
      ".agents/skills",
      ".opencode/skills",
      "~/.config/opencode/skills",
    ],
  },
  /** @see {@link https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md} */
  "gemini-cli": {
    title: "Gemini CLI",
    profile: {
      clientName: "gemini-cli-mcp-client",
      measured: { lists: "0.61, 2026-11-22", results: "0.61, 2026-11-28" },
      keepsInstructionsTo: Infinity,
      keepsResultsTo: 40_000,
      dropsEmbeddedResources: true,
      // It passes no word to an optional one, and requires none for a required one.
      promptArgument: "required",
    },
    file: "~/.gemini/settings.json",
    projectFile: ".gemini/settings.json",
    command: "gemini mcp add --scope user skills {program} -- {args}",
    ownSkills: [".agents/skills", ".gemini/skills"],
    ownList: "every description",
  },
  /** @see {@link https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers} */
  "copilot": {
    title: "Copilot CLI",
    profile: {
      clientName: "copilot-cli",
      measured: {
        lists: "1.0.102, 2026-11-22",
        results: "1.0.102, 2026-11-28",
      },
      keepsInstructionsTo: 0,
      keepsResultsTo: 20_000,
    },
    file: "~/.copilot/mcp-config.json",
    projectFile: ".github/mcp.json",
    fields: { type: "local", tools: ["*"] },
    command: "copilot mcp add skills -- {program} {args}",
    ownSkills: [
      "./.claude/skills",
      ".agents/skills",
      "./.github/skills",
      "~/.copilot/skills",
    ],
    ownList: "some descriptions",
  },
  /** @see {@link https://docs.cline.bot/mcp/configuring-mcp-servers} */
  "cline": {
    title: "Cline",
    profile: {
      clientName: "@cline/core",
      measured: { lists: "3.0, 2026-11-22", results: "3.0.65, 2026-11-28" },
      keepsInstructionsTo: 0,
      keepsResultsTo: 8_000,
    },
    file: "~/.cline/data/settings/cline_mcp_settings.json",
    // The time limit for replies. By default, the server has 3 seconds to start.
    fields: { timeout: 60 },
    ownSkills: [".agents/skills", ".cline/skills", "./.clinerules/skills"],
    ownList: "only names",
  },
  /** @see {@link https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/} */
  "qwen-code": {
    title: "Qwen Code",
    profile: {
      clientName: "qwen-cli-mcp-client",
      measured: { lists: "0.24.4, 2026-11-22", results: "0.24.4, 2026-11-28" },
      keepsInstructionsTo: Infinity,
      keepsResultsTo: 25_000,
      dropsEmbeddedResources: true,
    },
    file: "~/.qwen/settings.json",
    projectFile: ".qwen/settings.json",
    // Without it, the model sees the tools only after a search.
    fields: { alwaysLoadTools: true },
    ownSkills: [".agents/skills", ".qwen/skills"],
    ownList: "every description",
  },
  /** @see {@link https://kilo.ai/docs/automate/mcp/using-in-kilo-code} */
  "kilo": {
    title: "Kilo Code",
    profile: {
      clientName: "kilo",
      measured: { lists: "7.7, 2026-11-22" },
      keepsInstructionsTo: Infinity,
      keepsResultsTo: Infinity,
      dropsEmbeddedResources: true,
    },
    ...OPENCODE,
    file: "~/.config/kilo/kilo.json",
    projectFile: ".kilo/kilo.json",
    command: "kilo mcp add skills -- {program} {args}",
    ownSkills: [
      ".claude/skills",
      ".agents/skills",
      ".kilo/skills",
      ".kilocode/skills",
      "~/.config/kilo/skills",
    ],
  },
  /** @see {@link https://github.com/aaif-goose/goose/blob/1c220d758a599f4ca3c46924d1012e95dcb519e9/documentation/docs/guides/config-files.md} (2026-11-28) */
  "goose": {
    title: "Goose",
    file: "~/.config/goose/config.yaml",
    windowsFile: "%APPDATA%/Block/goose/config/config.yaml",
    format: "yaml",
    section: "extensions",
    fields: { type: "stdio", name: "skills", enabled: true, timeout: 300 },
    programField: "cmd",
    // https://github.com/aaif-goose/goose/blob/main/documentation/docs/guides/context-engineering/using-skills.md,
    // read on 2026-11-28. Not measured.
    ownSkills: [
      ".claude/skills",
      ".agents/skills",
      ".goose/skills",
      "~/.config/goose/skills",
    ],
    ownList: "every description",
  },
} as const satisfies Readonly<Record<string, Client>>;

export type ClientName = keyof typeof TABLE;

export const CLIENTS: Readonly<Record<ClientName, Client>> = TABLE;

export const CLIENT_NAMES = Object.keys(TABLE) as ClientName[];

/** The name that `--as` and `--profile` accept for clients without a profile. */
export const OTHER_CLIENTS = "default";

const PROFILES = new Map<string, ClientProfile>([
  [OTHER_CLIENTS, DEFAULT_PROFILE],
]);
for (const name of CLIENT_NAMES) {
  const { profile } = CLIENTS[name];
  if (profile !== undefined) PROFILES.set(name, profile);
}

export const PROFILE_NAMES: readonly string[] = [...PROFILES.keys()];

/** Returns the profile with a name that an option accepts, or else the default. */
export function profileOfOption(name: string): ClientProfile {
  return PROFILES.get(name) ?? DEFAULT_PROFILE;
}

/** Returns the profile that the options choose, or else that of the client's name. */
export function profileFor(
  { profile }: { readonly profile?: string | undefined },
  name = "",
): ClientProfile {
  if (profile !== undefined) return profileOfOption(profile);
  const isMeant = ({ clientName }: ClientProfile) =>
    clientName !== undefined && `${name}-`.startsWith(`${clientName}-`);
  return PROFILES.values().find(isMeant) ?? DEFAULT_PROFILE;
}
