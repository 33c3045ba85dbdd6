/**
 * What MCP clients show the model of a server: how much of a tool's
 * description, and where a list of skills arrives. Data alone, and the only
 * place that knows a client by its name.
 *
 * The figures were measured in November 2026 with the clients from npm and a
 * model endpoint that recorded each request:
 *
 * 1. Claude Code 2.1 defers tools behind a search unless
 *    `_meta["anthropic/alwaysLoad"]` is set. It cuts a tool's description at
 *    4,096 characters (2,048 in the version for Node 20), counting "…" as three,
 *    and never cuts the descriptions of parameters.
 * 2. Codex 0.169 shows the first line of the instructions, up to 250 characters,
 *    before it searches. It cuts results at 10,000 tokens.
 * 3. Qwen Code 0.24 shows the first line of the description before it searches,
 *    unless its configuration says otherwise.
 * 4. OpenCode, Kilo, Gemini CLI and Qwen Code drop prompts that hold an embedded
 *    resource.
 * 5. Copilot CLI and Cline do not show the instructions.
 *
 * @module
 */

import type { ClientInfo } from "./mcp_server.ts";

/** What a client shows the model. */
export interface ClientProfile {
  /** What the client calls itself in `clientInfo.name`, up to a hyphen. */
  readonly clientName: string;
  /** Whether a tool is described in the words of its contract, or in as few as it takes. */
  readonly style: "contract" | "brief";
  /** How many characters of a tool's description arrive. */
  readonly descriptionLimit: number;
  /** How many more arrive in the description of a tool's parameter. */
  readonly parameterLimit: number;
  /** How many characters the list may take in all if that makes room for every name. */
  readonly namesLimit: number;
  /** How much of the server's instructions the model sees at first. */
  readonly instructions: "whole" | "first line" | "none";
  /** Whether the model sees the tools only when it has searched for them. */
  readonly searchesTools: boolean;
  /** What ends a text that is cut. */
  readonly ellipsis: string;
  /** The `_meta` of a tool that the client is to show at once, if that takes any. */
  readonly toolMeta?: Readonly<Record<string, unknown>>;
  /** Whether the client drops prompts that hold an embedded resource. */
  readonly dropsEmbeddedResources: boolean;
}

/** How many characters the list of skills takes at most unless the user says otherwise. */
export const DEFAULT_DESCRIPTION_LIMIT = 30_000;

/**
 * How many characters it takes at most so that every name has room, where names
 * alone need more than that. Codex cuts a list of 41,000.
 */
const NAMES_LIMIT = 36_000;

/** Less room than this in the description of a parameter is not used. */
const MIN_PARAMETER_LIMIT = 300;

/** The profile of clients that are not known: the contract to the letter, while it has room. */
export const DEFAULT_PROFILE: ClientProfile = {
  clientName: "",
  style: "contract",
  descriptionLimit: DEFAULT_DESCRIPTION_LIMIT,
  parameterLimit: 0,
  namesLimit: DEFAULT_DESCRIPTION_LIMIT,
  instructions: "whole",
  searchesTools: false,
  ellipsis: "…",
  dropsEmbeddedResources: false,
};

/** The profiles by the names that `--print-config` and `--as` take. */
export const CLIENT_PROFILES: Readonly<Record<string, ClientProfile>> = {
  "claude-code": {
    ...brief("claude-code"),
    descriptionLimit: 2_048,
    parameterLimit: DEFAULT_DESCRIPTION_LIMIT - 2_048,
    ellipsis: "...",
    toolMeta: { "anthropic/alwaysLoad": true },
  },
  "codex": {
    ...brief("codex-mcp-client"),
    instructions: "first line",
    searchesTools: true,
  },
  "opencode": { ...brief("opencode"), dropsEmbeddedResources: true },
  "kilo": { ...brief("kilo"), dropsEmbeddedResources: true },
  "gemini-cli": {
    ...brief("gemini-cli-mcp-client"),
    dropsEmbeddedResources: true,
  },
  "qwen-code": {
    ...brief("qwen-cli-mcp-client"),
    dropsEmbeddedResources: true,
  },
  "copilot": { ...brief("copilot-cli"), instructions: "none" },
  "cline": { ...brief("@cline/core"), instructions: "none" },
};

/** The name that `--as` takes for clients that are not known. */
const DEFAULT_NAME = "default";

/** The names of all profiles. */
export const PROFILE_NAMES: readonly string[] = [
  DEFAULT_NAME,
  ...Object.keys(CLIENT_PROFILES),
];

/** Returns the profile with a name of {@linkcode PROFILE_NAMES}, if there is one. */
export function findProfile(name: string): ClientProfile | undefined {
  if (name === DEFAULT_NAME) return DEFAULT_PROFILE;
  return Object.hasOwn(CLIENT_PROFILES, name)
    ? CLIENT_PROFILES[name]
    : undefined;
}

function brief(clientName: string): ClientProfile {
  return {
    ...DEFAULT_PROFILE,
    clientName,
    style: "brief",
    namesLimit: NAMES_LIMIT,
  };
}

/** Returns the profile of a client. Some add the server's name to theirs, after a hyphen. */
export function profileOf(client: ClientInfo | undefined): ClientProfile {
  const name = client?.name ?? "";
  const isOf = ({ clientName }: ClientProfile) =>
    name === clientName || name.startsWith(`${clientName}-`);
  return Object.values(CLIENT_PROFILES).find(isOf) ?? DEFAULT_PROFILE;
}

/** Returns a profile for tools that have no parameter where more of the list could go. */
export function withoutParameter(profile: ClientProfile): ClientProfile {
  const { descriptionLimit, parameterLimit } = profile;
  return parameterLimit === 0
    ? profile
    : { ...profile, parameterLimit: 0, namesLimit: descriptionLimit };
}

/**
 * Returns a profile whose list of skills takes at most a number of characters.
 *
 * @param profile The profile.
 * @param limit The number; 0 for no limit.
 */
export function withDescriptionLimit(
  profile: ClientProfile,
  limit: number,
): ClientProfile {
  const room = limit === 0 ? Infinity : limit;
  const isDivided = room - profile.descriptionLimit >= MIN_PARAMETER_LIMIT &&
    profile.parameterLimit > 0;
  const descriptionLimit = profile.parameterLimit > 0
    ? Math.min(room, profile.descriptionLimit)
    : room;
  const parameterLimit = isDivided ? room - descriptionLimit : 0;
  return { ...profile, descriptionLimit, parameterLimit, namesLimit: room };
}
