/**
 * The profiles of MCP clients by what they show the model: the exceptions to the one layout
 * of the list of skills, as data. Nothing else depends on the name of a client.
 *
 * The exceptions were measured in November 2026 with the clients from npm and a
 * model endpoint that recorded each request:
 *
 * 1. Claude Code 2.1 shows a tool only after a search unless
 *    `_meta["anthropic/alwaysLoad"]` is set. It truncates a tool's description
 *    to 4,096 characters (2,048 in the version for Node 20), and never truncates the
 *    descriptions of parameters.
 * 2. Codex 0.169 shows tools only after a search. Before the search, it shows
 *    the first line of the instructions, up to 250 characters.
 * 3. OpenCode, Kilo, Gemini CLI, and Qwen Code drop prompts that contain an
 *    embedded resource.
 * 4. Copilot CLI, Cline, and nine clients and frameworks without a profile do not
 *    show the instructions.
 * 5. Qwen Code shows tools only after a search unless `alwaysLoadTools` is set.
 * 6. Claude Code's own list of skills ends at about 24,000 characters, Codex's at about
 *    21,000, and Copilot CLI's at about 15,000, including what they add.
 * 7. Cline 3.0 keeps 8,000 characters of a result, Copilot CLI 1.0 about 20,000, Qwen Code
 *    0.24 about 25,000, Codex 0.171 and Gemini CLI 0.61 about 40,000, and OpenCode 1.18
 *    51,200 bytes.
 */

import type { SkillToolOptions } from "./options.ts";

export interface ClientProfile {
  /** The client's `clientInfo.name`, without a suffix that starts with a hyphen. */
  readonly clientName: string;
  /**
   * The length to which the client truncates a tool's description, in characters. It
   * then shows the descriptions of parameters whole, so that the list belongs there.
   */
  readonly cutsDescriptionsAt?: number;
  /** How much of the server's instructions the client initially shows. */
  readonly instructions: "whole" | "first line" | "none";
  /** Whether the client shows tools only after a search for them. */
  readonly searchesTools?: boolean;
  /** The `_meta` that makes the client show a tool immediately, if it needs one. */
  readonly toolMeta?: Readonly<Record<string, unknown>>;
  /**
   * How many characters of a result the client shows its model whole. It cuts longer ones,
   * mostly in the middle. Infinity if that was not measured.
   */
  readonly keepsResultsTo: number;
  /** The size of the largest result of a tool that it accepts, in bytes of JSON. */
  readonly maxResultSize?: number;
  /** Whether the client drops prompts that contain an embedded resource. */
  readonly dropsEmbeddedResources?: boolean;
  /** Whether lists are in short lines, because the client cuts or hides long texts. */
  readonly isBrief?: boolean;
  /**
   * How many characters of names and descriptions the client's own list of skills shows,
   * if that is limited. The server describes the skills itself if they need more.
   */
  readonly ownListSize?: number;
}

/** The profile of clients that were not measured. */
export const DEFAULT_PROFILE: ClientProfile = {
  clientName: "",
  instructions: "none",
  keepsResultsTo: Infinity,
};

const DROPS_RESOURCES = {
  instructions: "whole",
  dropsEmbeddedResources: true,
  keepsResultsTo: Infinity,
} as const;

/** The profiles by the client names that `--print-config` and `--as` accept. */
export const CLIENT_PROFILES: Readonly<Record<string, ClientProfile>> = {
  "claude-code": {
    clientName: "claude-code",
    instructions: "whole",
    cutsDescriptionsAt: 2_048,
    isBrief: true,
    ownListSize: 20_000,
    // With the second field, it keeps a result whole that it otherwise cuts at 50,000.
    toolMeta: {
      "anthropic/alwaysLoad": true,
      "anthropic/maxResultSizeChars": 500_000,
    },
    keepsResultsTo: 500_000,
  },
  "codex": {
    clientName: "codex-mcp-client",
    instructions: "first line",
    searchesTools: true,
    isBrief: true,
    ownListSize: 17_000,
    keepsResultsTo: 40_000,
  },
  "opencode": {
    ...DROPS_RESOURCES,
    clientName: "opencode",
    keepsResultsTo: 51_200,
  },
  "kilo": { ...DROPS_RESOURCES, clientName: "kilo" },
  "gemini-cli": {
    ...DROPS_RESOURCES,
    clientName: "gemini-cli-mcp-client",
    keepsResultsTo: 40_000,
  },
  "qwen-code": {
    ...DROPS_RESOURCES,
    clientName: "qwen-cli-mcp-client",
    isBrief: true,
    keepsResultsTo: 25_000,
  },
  "copilot": {
    clientName: "copilot-cli",
    instructions: "none",
    ownListSize: 7_000,
    keepsResultsTo: 20_000,
  },
  "cline": {
    clientName: "@cline/core",
    instructions: "none",
    keepsResultsTo: 8_000,
  },
  // Public reports say that it refuses larger results.
  "claude-desktop": {
    ...DEFAULT_PROFILE,
    clientName: "claude-ai",
    maxResultSize: 1_000_000,
  },
};

/** The name that `--as` and `--profile` accept for clients without a profile. */
export const OTHER_CLIENTS = "default";

export const PROFILE_NAMES = [OTHER_CLIENTS, ...Object.keys(CLIENT_PROFILES)];

/** Returns the profile with a name that an option accepts, or else the default. */
export function profileOfOption(name: string): ClientProfile {
  return CLIENT_PROFILES[name] ?? DEFAULT_PROFILE;
}

/** Returns the profile that the options choose, or else that of the client. */
export function profileFor(
  client: string | undefined,
  { profile }: SkillToolOptions,
): ClientProfile {
  return profile === undefined
    ? profileOfClient(client)
    : profileOfOption(profile);
}

/**
 * Returns the profile of the client with a name. Some clients append a hyphen and the
 * server's name to their own.
 */
export function profileOfClient(name = ""): ClientProfile {
  return Object.values(CLIENT_PROFILES).find(({ clientName }) =>
    `${name}-`.startsWith(`${clientName}-`)
  ) ?? DEFAULT_PROFILE;
}
