/** What decides how a request is answered: the options of the tools, and the context. */

import type { SkillSource } from "../skills/source.ts";
import type { SkillCatalog } from "../skills/types.ts";
import type { ClientProfile } from "./clients.ts";

/** A set of tools, named after the server that introduced them. */
export type Toolset = "skill" | "skilljack" | "reference" | "agentskills";

/** Options of {@linkcode createSkillService} and {@linkcode registerSkillTools}. */
export interface SkillToolOptions {
  /** The toolset to register. Default: `"skill"`. */
  readonly toolset?: Toolset | undefined;
  /**
   * The name of the profile that every client gets: that of a client as `--profile`
   * names it, or `default`. Default: the profile of the client, or, on a server of the
   * SDK, that of clients without one.
   */
  readonly profile?: string | undefined;
  /**
   * Whether to provide the tool that runs shell commands, if the toolset
   * contains it and Deno has permission to run the shell. Default: `true`.
   */
  readonly allowShell?: boolean | undefined;
  /**
   * Whether the tools of clients cannot open the files of this machine or container.
   * The results then name the directories and files of skills by their URIs. Default:
   * `false`.
   */
  readonly isRemote?: boolean | undefined;
  /** Whether to install missing Python packages before a command runs. Default: `false`. */
  readonly autoInstallDeps?: boolean | undefined;
  /**
   * Whether to log a line to stderr for each skill that is loaded. On a server of the
   * SDK, it does not name the client. Default: `false`.
   */
  readonly logLoads?: boolean | undefined;
}

export const DEFAULT_TOOLSET: Toolset = "skill";

/** The same options, with the default toolset filled in. */
export interface ToolOptions extends SkillToolOptions {
  readonly toolset: Toolset;
}

/** For each toolset, which tools list skills, load one, and read its other files. */
export const TOOL_NAMES = {
  skill: { list: "skill", load: "skill", read: undefined },
  skilljack: { list: "skill", load: "skill", read: "skill-resource" },
  reference: { list: "list_skills", load: "read_skill", read: undefined },
  agentskills: {
    list: "load_skill_metadata_op",
    load: "load_skill_op",
    read: "read_reference_file_op",
  },
} as const satisfies Record<
  Toolset,
  { list: string; load: string; read: string | undefined }
>;

/** What decides how a client sees a list. */
export interface ListView {
  readonly catalog: SkillCatalog;
  readonly options: ToolOptions;
  readonly profile: ClientProfile;
}

/** The context of a request, which every handler gets besides its params. */
export interface RequestContext {
  readonly registry: SkillSource;
  readonly options: ToolOptions;
  /** Aborted when the client cancels the request, or when the time for it is up. */
  readonly signal: AbortSignal;
  /** What the client calls itself, if it says so. */
  readonly clientName: string | undefined;
  /** The profile that the options choose, or else that of the client. */
  readonly profile: ClientProfile;
  /** Over HTTP: the client's network address and the name of its token, for the log. */
  readonly sender?: string | undefined;
}
