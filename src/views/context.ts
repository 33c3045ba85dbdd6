/** The context of a request, which decides what the client sees. */

import type { SkillSource } from "../skills/source.ts";
import type { SkillCatalog } from "../skills/types.ts";
import type { ClientProfile } from "./clients.ts";
import type { ToolOptions } from "./options.ts";

/** What decides how a client sees a list. */
export interface ListView {
  readonly catalog: SkillCatalog;
  readonly options: ToolOptions;
  /** The profile that the options choose, or else that of the client. */
  readonly profile: ClientProfile;
}

/** The context of a request, which every handler gets besides its params. */
export interface RequestContext {
  readonly registry: SkillSource;
  readonly options: ToolOptions;
  /** Aborted when the client cancels the request, or when the time for it is up. */
  readonly signal: AbortSignal;
  /** The name of the client, if it gave one. */
  readonly client: string | undefined;
  /** The profile that the options choose, or else that of the client. */
  readonly profile: ClientProfile;
  /** Over HTTP: the client's network address and the name of its token, for the log. */
  readonly sender?: string | undefined;
}
