/**
 * Serves skills as prompts, which users load by name.
 *
 * @module
 */

import type {
  ContentBlock,
  GetPromptRequest,
  GetPromptResult,
  Prompt,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
} from "../protocol/requests.ts";
import { DEFAULT_PROFILE, profileFor } from "./client_profiles.ts";
import {
  deriveOnce,
  type ListItem,
  loadPage,
  notifyWhenChanged,
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
  const itemsOf = deriveOnce(createPrompts);
  const list = deriveOnce((catalog: SkillCatalog) => {
    const skills = listUserSkills(catalog);
    return sortList([createSkillPrompt(skills), ...skills.flatMap(itemsOf)]);
  });
  server.setRequestHandler(ListPromptsRequestSchema, async ({ params }) => {
    const { entries, nextCursor } = await loadPage(list(registry.catalog), {
      cursor: params?.cursor,
      load: (prompt) => prompt,
    });
    return { prompts: entries, nextCursor };
  });
  server.setRequestHandler(
    GetPromptRequestSchema,
    async ({ params }, { client }) => {
      const skill = await requirePrompt(params, { registry, search });
      // Skilljack's prompts embed the skill as a resource. Some clients drop such prompts.
      const asResource = toolset === "skilljack" && client !== undefined &&
        !profileFor(client).dropsEmbeddedResources;
      return await loadPrompt(skill, registry, { asResource, isRemote });
    },
  );
  notifyWhenChanged(
    registry,
    (catalog) => list(catalog).map(({ value }) => value),
    () => server.notifyListChanged("prompts"),
  );
}

async function loadPrompt(
  skill: Skill,
  registry: SkillSource,
  { asResource, isRemote }: DirectoryOptions & { asResource: boolean },
): Promise<GetPromptResult> {
  const uri = skillMdUri(skill);
  const reading = registry.readFile(skill, SKILL_MD);
  const { text: whole, bytes } = await readForRequest(uri, reading);
  const text = whole ?? new TextDecoder().decode(bytes);
  const mimeType = "text/markdown";
  const content: ContentBlock = asResource
    ? { type: "resource", resource: { uri, mimeType, text } }
    : { type: "text", text: formatLoadedSkill(skill, text, { isRemote }) };
  content.annotations = { audience: ["assistant"], priority: 1.0 };
  const { description } = skill;
  return { description, messages: [{ role: "user", content }] };
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

/** The maximum number of names that the error for an unknown name lists. */
const MAX_NEAR_NAMES = 5;

/**
 * Finds the skill that a prompt loads.
 *
 * @throws {Error} If there is no skill with this name that the user can load. The
 *   message lists available names, the most similar first.
 */
async function requirePrompt(
  { name: prompt, arguments: input }: GetPromptRequest["params"],
  { registry, search }: SearchableSkills,
): Promise<Skill> {
  const isGeneral = prompt === SKILL_PROMPT;
  const name = isGeneral ? input?.name ?? "" : prompt;
  if (isGeneral && name === "") {
    throw invalidParams('The prompt "skill" requires the argument "name"');
  }
  const skill = registry.find(name);
  if (skill !== undefined && isForUser(skill)) return skill;
  const { catalog } = registry;
  const found = await search.find(name, catalog);
  const near = [...new Set([...found, ...listUserSkills(catalog)])]
    .slice(0, MAX_NEAR_NAMES).map(({ name }) => quote(name)).join(", ");
  throw invalidParams(
    `Unknown ${isGeneral ? "skill" : "prompt"} ${quote(name)}${
      near && `: available names include ${near}`
    }`,
  );
}
