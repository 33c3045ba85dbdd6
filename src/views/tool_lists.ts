/**
 * The list of tools that each client gets. The descriptions of the tools list the
 * skills within the limits of the client.
 *
 * @module
 */

import type {
  Tool,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import * as z from "npm:zod@^4/mini";
import {
  type ClientProfile,
  profileFor,
  withDescriptionLimit,
} from "./client_profiles.ts";
import { deriveOnce } from "./list_views.ts";
import type { ClientInfo } from "../protocol/eras.ts";
import {
  type DirectoryOptions,
  type DividedList,
  divideList,
  listToolSkills,
  summarizeSkills,
} from "./skill_lists.ts";
import type { SkillTool, SkillToolOptions } from "./toolsets.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";

/** The line that summarizes the skills is omitted below this description limit, in characters. */
const MIN_SUMMARY_LIMIT = 2_000;

/** The annotations of a tool, unless it says otherwise. */
const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** What determines how a client sees the tools. */
interface ToolView extends DirectoryOptions {
  /** What the client shows the model. */
  readonly profile: ClientProfile;
  /** Whether the client lists the skills itself, so that the tools can omit the list. */
  readonly listsSkills: boolean;
}

/** Creates the entry of a tool in a client's `tools/list`. */
function createToolEntry(
  tool: SkillTool,
  catalog: SkillCatalog,
  view: ToolView,
): Tool {
  const { name, title, annotations, input, output, listParameter } = tool;
  const { description, parameter } = describeTool(tool, catalog, view);
  const inputSchema = toJsonSchema(input);
  if (parameter !== "") {
    const field = inputSchema.properties![listParameter!] as {
      description: string;
    };
    field.description += parameter;
  }
  const { toolMeta } = view.profile;
  return {
    name,
    title,
    description,
    inputSchema,
    ...(output && { outputSchema: toJsonSchema(output) }),
    annotations: { title, ...READ_ONLY, ...annotations },
    ...(toolMeta && !view.listsSkills && { _meta: { ...toolMeta } }),
  };
}

/** The lists of tools of all clients. Each list is kept until the catalog changes. */
export class ToolLists {
  readonly #tools: readonly SkillTool[];
  readonly #options: SkillToolOptions;
  /** The lists that clients requested, by what determines them. */
  readonly #lists = new Map<string, (catalog: SkillCatalog) => Tool[]>();

  constructor(tools: readonly SkillTool[], options: SkillToolOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  listFor(client: ClientInfo | undefined, catalog: SkillCatalog): Tool[] {
    const { clientName } = profileFor(client);
    const key = `${clientName} ${this.#options.listsSkills?.(client)}`;
    const list = this.#lists.get(key) ?? this.#createList(client);
    this.#lists.set(key, list);
    return list(catalog);
  }

  /** Returns the lists of all clients that requested one, or the default list if none has. */
  listAll(catalog: SkillCatalog): Tool[][] {
    const lists = this.#lists.size > 0
      ? [...this.#lists.values()]
      : [this.#createList(undefined)];
    return lists.map((list) => list(catalog));
  }

  #createList(client: ClientInfo | undefined) {
    const { descriptionLimit, listsSkills, isRemote } = this.#options;
    const profile = profileFor(client);
    const view = {
      profile: descriptionLimit === undefined
        ? profile
        : withDescriptionLimit(profile, descriptionLimit),
      listsSkills: listsSkills?.(client) ?? false,
      isRemote,
    };
    return deriveOnce((catalog: SkillCatalog) =>
      this.#tools.map((tool) => createToolEntry(tool, catalog, view))
    );
  }
}

function toJsonSchema(type: z.ZodMiniObject): Tool["inputSchema"] {
  return z.toJSONSchema(type, { io: "input" }) as Tool["inputSchema"];
}

/** Describes a tool in the wording of its contract if that fits, or else in brief. */
function describeTool(
  { describe, usage, listParameter }: SkillTool,
  catalog: SkillCatalog,
  { profile, listsSkills, isRemote }: ToolView,
): DividedList {
  if (describe === undefined || listsSkills) {
    return { description: usage, parameter: "" };
  }
  const { style, descriptionLimit, parameterLimit } = profile;
  const skills = listToolSkills(catalog);
  if (style === "contract" && measure(skills) <= descriptionLimit) {
    const description = describe(catalog, { isRemote });
    if (description.length <= descriptionLimit) {
      return { description, parameter: "" };
    }
  }
  const summary = descriptionLimit < MIN_SUMMARY_LIMIT
    ? ""
    : `${summarizeSkills(catalog, "Load instructions for a task")}\n`;
  const limits = parameterLimit > 0 && listParameter === undefined
    ? withDescriptionLimit(profile, descriptionLimit)
    : profile;
  return divideList(summary + usage, skills, limits);
}

/** Returns the total length of the texts of skills. A complete list is longer. */
function measure(skills: readonly Skill[]): number {
  return skills.reduce(
    (sum, { name, description }) =>
      sum + name.length + description.trim().length,
    0,
  );
}
