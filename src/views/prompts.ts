/**
 * Serves skills as prompts, which users load by name.
 *
 * @module
 */

import type {
  GetPromptResult,
  Prompt,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
} from "../protocol/requests.ts";
import { DEFAULT_PROFILE, profileFor } from "./client_profiles.ts";
import {
  CatalogView,
  type ListItem,
  loadPage,
  notifyWhenChanged,
  perSkill,
  sortList,
} from "./list_views.ts";
import { invalidParams } from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import { readForRequest } from "./resources.ts";
import {
  type DirectoryOptions,
  divideList,
  formatLoadedSkill,
  formatSkillLine,
  isForUser,
  listKey,
  listUserSkills,
} from "./skill_lists.ts";
import { type SearchableSkills, SkillSearch } from "../skills/search.ts";
import { SKILL_MD } from "../files/paths.ts";
import { quote, skillKey } from "../text.ts";
import type { SkillToolOptions } from "./toolsets.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";
import { skillMdUri } from "../skills/uri.ts";

/** The prompt that takes a skill's name as its argument. */
const SKILL_PROMPT = "skill";

export function registerPrompts(
  server: RequestHandlers,
  registry: SkillSource,
  { toolset, isRemote }: SkillToolOptions,
): void {
  const search = new SkillSearch(isForUser);
  const itemsOf = perSkill(createPrompts);
  const list = new CatalogView((catalog) => {
    const skills = listUserSkills(catalog);
    return sortList([createSkillPrompt(skills), ...skills.flatMap(itemsOf)]);
  });
  server.setRequestHandler(ListPromptsRequestSchema, async ({ params }) => {
    const { entries, nextCursor } = await loadPage(list.of(registry.catalog), {
      cursor: params?.cursor,
      load: (prompt) => prompt,
    });
    return { prompts: entries, nextCursor };
  });
  server.setRequestHandler(GetPromptRequestSchema, ({ params }, { client }) => {
    const { name, arguments: input } = params;
    // Skilljack's prompts embed the skill as a resource. Some clients drop such prompts.
    const asResource = toolset === "skilljack" && client !== undefined &&
      !profileFor(client).dropsEmbeddedResources;
    const options = { registry, search, asResource, isRemote };
    if (name !== SKILL_PROMPT) {
      return loadPrompt(name, { kind: "prompt", ...options });
    }
    if (input?.name) {
      return loadPrompt(input.name, { kind: "skill", ...options });
    }
    throw invalidParams('The prompt "skill" requires the argument "name"');
  });
  notifyWhenChanged(
    registry,
    (catalog) => list.of(catalog).map(({ value }) => value),
    () => server.notify("notifications/prompts/list_changed"),
  );
}

/** Creates the description of the prompt that takes a name. It lists the skills. */
function describeSkillPrompt(skills: readonly Skill[]): string {
  const usage = "Load a skill by name.";
  let whole = `${usage}\n\nAvailable skills:\n`;
  for (const skill of skills) {
    whole += `${formatSkillLine(skill)}\n`;
    if (whole.length > DEFAULT_PROFILE.descriptionLimit) {
      return divideList(usage, skills, DEFAULT_PROFILE).description;
    }
  }
  return whole;
}

export function hasPrompt(name: string, { skills }: SkillCatalog): boolean {
  if (name === SKILL_PROMPT) return true;
  const skill = skills.get(skillKey(name));
  return skill !== undefined && skill.name === name && isForUser(skill);
}

/** Creates the prompt that takes a name. */
function createSkillPrompt(skills: readonly Skill[]): ListItem<Prompt> {
  const value = {
    name: SKILL_PROMPT,
    title: "Load Skill",
    description: describeSkillPrompt(skills),
    arguments: [{
      name: "name",
      description: "Name of the skill (case-insensitive)",
      required: true,
    }],
  };
  // This key puts the prompt on the first page. Many clients read no other.
  return { key: " ", value };
}

/** Creates the prompt of a skill, unless it has the name of the prompt that takes a name. */
function createPrompts(skill: Skill): ListItem<Prompt>[] {
  const { name, description } = skill;
  if (name === SKILL_PROMPT) return [];
  const value = { name, title: name, description };
  return [{ key: listKey(skill, name), value }];
}

interface PromptOptions extends SearchableSkills, DirectoryOptions {
  /** What the name in the request refers to. */
  readonly kind: "prompt" | "skill";
  /** Whether the prompt contains the skill as an embedded resource instead of as text. */
  readonly asResource: boolean;
}

/**
 * Creates the messages of a prompt.
 *
 * @throws {Error} If there is no skill with this name that the user can load.
 *   The message says whether the client asked for a prompt or a skill.
 */
async function loadPrompt(
  name: string,
  { kind, registry, search, asResource, isRemote }: PromptOptions,
): Promise<GetPromptResult> {
  const skill = registry.find(name);
  if (skill === undefined || !isForUser(skill)) {
    throw await createUnknownNameError(name, { kind, registry, search });
  }
  const uri = skillMdUri(skill);
  const file = await readForRequest(
    uri,
    () => registry.readFile(skill, SKILL_MD),
  );
  const text = file.text ?? new TextDecoder().decode(file.bytes);
  const content = asResource
    ? {
      type: "resource" as const,
      resource: { uri, mimeType: "text/markdown", text },
    }
    : {
      type: "text" as const,
      text: formatLoadedSkill(skill, text, { isRemote }),
    };
  const annotations = { audience: ["assistant" as const], priority: 1.0 };
  return {
    description: skill.description,
    messages: [{ role: "user", content: { ...content, annotations } }],
  };
}

/** The maximum number of names that the error for an unknown name lists. */
const MAX_NEAR_NAMES = 5;

/**
 * Creates the error for an unknown name. Its message lists available names, the
 * most similar first.
 */
async function createUnknownNameError(
  name: string,
  { kind, registry, search }: SearchableSkills & { kind: string },
): Promise<Error> {
  const { catalog } = registry;
  const found = await search.find(name, catalog);
  const near = [...new Set([...found, ...listUserSkills(catalog)])]
    .slice(0, MAX_NEAR_NAMES).map(({ name }) => quote(name)).join(", ");
  return invalidParams(
    `Unknown ${kind} ${quote(name)}${
      near && `: available names include ${near}`
    }`,
  );
}
