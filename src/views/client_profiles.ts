/**
 * Client profiles: how much of a tool's description each MCP client shows the
 * model, and where the list of skills belongs. Nothing else depends on the name
 * of a client.
 *
 * The figures were measured in November 2026 with the clients from npm and a
 * model endpoint that recorded each request:
 *
 * 1. Claude Code 2.1 shows a tool only after a search unless
 *    `_meta["anthropic/alwaysLoad"]` is set. It truncates a tool's description
 *    to 4,096 characters (2,048 in the version for Node 20), counts "…" as
 *    three, and never truncates the descriptions of parameters.
 * 2. Codex 0.169 shows tools only after a search. Before the search, it shows
 *    the first line of the instructions, up to 250 characters. It truncates
 *    results to 10,000 tokens.
 * 3. Qwen Code 0.24 shows only the first line of a tool's description before a
 *    search, unless its configuration says otherwise.
 * 4. OpenCode, Kilo, Gemini CLI, and Qwen Code drop prompts that contain an
 *    embedded resource.
 * 5. Copilot CLI, Cline, and nine clients and frameworks without a profile do not
 *    show the instructions.
 *
 * @module
 */

import type { ClientInfo } from "../protocol/eras.ts";

/** What a client shows the model. */
export interface ClientProfile {
  /** The client's `clientInfo.name`, without a suffix that starts with a hyphen. */
  readonly clientName: string;
  /** Whether to describe a tool in the wording of its contract or briefly. */
  readonly style: "contract" | "brief";
  /** How much of a tool's description the client shows, in characters. */
  readonly descriptionLimit: number;
  /** How much text may be added to the description of a tool's parameter, in characters. */
  readonly parameterLimit: number;
  /**
   * The limit for the whole list if every name fits into it but not into the
   * other limits, in characters.
   */
  readonly namesLimit: number;
  /** How much of the server's instructions the client initially shows. */
  readonly instructions: "whole" | "first line" | "none";
  /** Whether the client shows tools only after a search for them. */
  readonly searchesTools: boolean;
  /** The end of a truncated text. */
  readonly ellipsis: string;
  /** The `_meta` that makes the client show a tool immediately, if it needs one. */
  readonly toolMeta?: Readonly<Record<string, unknown>>;
  /** Whether the client drops prompts that contain an embedded resource. */
  readonly dropsEmbeddedResources: boolean;
}

/** The default limit for the list of skills, in characters. */
export const DEFAULT_DESCRIPTION_LIMIT = 30_000;

/**
 * The limit for a list whose names alone exceed the default limit, in
 * characters. Codex truncated a list of 41,000.
 */
export const NAMES_LIMIT = 36_000;

/** The minimum limit for a list in the description of a parameter, in characters. */
const MIN_PARAMETER_LIMIT = 300;

/** The profile of unknown clients: the contract's exact wording if it fits. */
export const DEFAULT_PROFILE: ClientProfile = {
  clientName: "",
  style: "contract",
  descriptionLimit: DEFAULT_DESCRIPTION_LIMIT,
  parameterLimit: 0,
  namesLimit: DEFAULT_DESCRIPTION_LIMIT,
  instructions: "none",
  searchesTools: false,
  ellipsis: "…",
  dropsEmbeddedResources: false,
};

const DROPS_RESOURCES = { dropsEmbeddedResources: true };

/** The profiles by the client names that `--print-config` and `--as` accept. */
export const CLIENT_PROFILES: Readonly<Record<string, ClientProfile>> = {
  "claude-code": briefProfile("claude-code", {
    descriptionLimit: 2_048,
    parameterLimit: DEFAULT_DESCRIPTION_LIMIT - 2_048,
    ellipsis: "...",
    toolMeta: { "anthropic/alwaysLoad": true },
  }),
  "codex": briefProfile("codex-mcp-client", {
    instructions: "first line",
    searchesTools: true,
  }),
  "opencode": briefProfile("opencode", DROPS_RESOURCES),
  "kilo": briefProfile("kilo", DROPS_RESOURCES),
  "gemini-cli": briefProfile("gemini-cli-mcp-client", DROPS_RESOURCES),
  "qwen-code": briefProfile("qwen-cli-mcp-client", DROPS_RESOURCES),
  "copilot": briefProfile("copilot-cli", { instructions: "none" }),
  "cline": briefProfile("@cline/core", { instructions: "none" }),
};

/** The name that `--as` accepts for clients without a profile. */
export const OTHER_CLIENTS = "default";

/** Returns the profile with a name that `--as` accepts, or else the default. */
export function findProfile(name: string): ClientProfile {
  return CLIENT_PROFILES[name] ?? DEFAULT_PROFILE;
}

function briefProfile(
  clientName: string,
  properties: Partial<ClientProfile>,
): ClientProfile {
  return {
    ...DEFAULT_PROFILE,
    clientName,
    style: "brief",
    namesLimit: NAMES_LIMIT,
    instructions: "whole",
    ...properties,
  };
}

/**
 * Returns the profile of a client. Some clients append a hyphen and the
 * server's name to their own.
 */
export function profileFor(client: ClientInfo | undefined): ClientProfile {
  const name = client?.name ?? "";
  const isMatch = ({ clientName }: ClientProfile) =>
    name === clientName || name.startsWith(`${clientName}-`);
  return Object.values(CLIENT_PROFILES).find(isMatch) ?? DEFAULT_PROFILE;
}

/** Returns a profile with another limit for the list of skills, in characters; 0 for none. */
export function withDescriptionLimit(
  profile: ClientProfile,
  limit: number,
): ClientProfile {
  const namesLimit = limit === 0 ? Infinity : limit;
  if (profile.parameterLimit === 0) {
    return { ...profile, descriptionLimit: namesLimit, namesLimit };
  }
  const descriptionLimit = Math.min(namesLimit, profile.descriptionLimit);
  const rest = namesLimit - descriptionLimit;
  const parameterLimit = rest >= MIN_PARAMETER_LIMIT ? rest : 0;
  return { ...profile, descriptionLimit, parameterLimit, namesLimit };
}
