/**
 * Serves skills as prompts, which users load by name.
 *
 * @module
 */

import type {
  ContentBlock,
  GetPromptRequest,
  Prompt,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { SKILL_MD } from "../files/paths.ts";
import { invalidParams } from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import {
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
} from "../protocol/requests.ts";
import { qualifiedName, skillMdUri } from "../skills/names.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";
import { quote, shownName, skillKey } from "../text.ts";
import { profileFor } from "./clients.ts";
import type { SkillToolOptions, Toolset } from "./options.ts";
import { deriveOnce, type ListItem, serveList } from "./paging.ts";
import { formatLoadedSkill, textOf } from "./reading.ts";
import { readForRequest } from "./resources.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  describeSkills,
  findByName,
  findPolicyFault,
  fitList,
  isForUser,
  listKey,
  listUserSkills,
  RankedSearch,
} from "./skill_list.ts";

/** The prompt that takes a skill's name as its argument. */
const SKILL_PROMPT = "skill";

/** The arguments of a skill's own prompt in the toolset `skill`. */
const ARGUMENTS = [{
  name: "arguments",
  description: "What to use the skill for",
  required: false,
}];

/** Sets the request handlers of the prompts, and notifies clients of changes. */
export function registerPrompts(
  server: RequestHandlers,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  const search = new RankedSearch(isForUser);
  const itemsOf = deriveOnce((skill: Skill) =>
    createPrompts(skill, options.toolset)
  );
  serveList(server, registry, {
    name: "prompts",
    schema: ListPromptsRequestSchema,
    itemsOf: (catalog) => [
      createSkillPrompt(catalog),
      ...listUserSkills(catalog).flatMap(itemsOf),
    ],
  });
  server.setRequestHandler(
    GetPromptRequestSchema,
    async ({ params }, { client }) => {
      const skill = await requirePrompt(params, { registry, search });
      const { description } = skill;
      const reading = registry.readFile(skill, SKILL_MD);
      const text = textOf(await readForRequest(skillMdUri(skill), reading));
      // Skilljack's prompts embed the skill as a resource. Some clients drop such prompts.
      const isEmbedded = options.toolset === "skilljack" &&
        client !== undefined && !profileFor(client).dropsEmbeddedResources;
      const input = params.name === SKILL_PROMPT
        ? undefined
        : params.arguments?.arguments ?? "";
      const content: ContentBlock = isEmbedded ? embedSkill(skill, text) : {
        type: "text",
        text: formatLoadedSkill(skill, text, { ...options, input }),
      };
      content.annotations = { audience: ["assistant"], priority: 1.0 };
      return { description, messages: [{ role: "user", content }] };
    },
  );
}

function embedSkill(skill: Skill, text: string): ContentBlock {
  const resource = { uri: skillMdUri(skill), mimeType: "text/markdown", text };
  return { type: "resource", resource };
}

/** Whether there is a prompt with a name. */
export function hasPrompt(name: string, { skills }: SkillCatalog): boolean {
  if (name === SKILL_PROMPT) return true;
  const skill = skills.get(skillKey(name));
  return skill !== undefined && promptName(skill) === name && isForUser(skill);
}

/** Creates the prompt that takes a name. Its description lists the skills. */
function createSkillPrompt(catalog: SkillCatalog): ListItem<Prompt> {
  const skills = describeSkills(listUserSkills(catalog), catalog);
  const fault = findPolicyFault(catalog);
  const start = "Load a skill by name.\n\nAvailable skills:";
  const value = {
    name: SKILL_PROMPT,
    title: "Load Skill",
    description: fault === undefined
      ? start + fitList(skills, DEFAULT_DESCRIPTION_LIMIT - start.length)
      : `${start}\n${fault}`,
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
function createPrompts(skill: Skill, toolset: Toolset): ListItem<Prompt>[] {
  const name = promptName(skill);
  if (name === SKILL_PROMPT) return [];
  const { description } = skill;
  const value = {
    ...{ name, title: name, description },
    ...(toolset === "skill" && { arguments: ARGUMENTS }),
  };
  return [{ key: listKey(skill, name), value }];
}

function promptName(skill: Skill): string {
  return shownName(qualifiedName(skill));
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
  { registry, search }: { registry: SkillSource; search: RankedSearch },
): Promise<Skill> {
  const isGeneral = prompt === SKILL_PROMPT;
  const name = isGeneral ? input?.name ?? "" : prompt;
  if (isGeneral && name === "") {
    throw invalidParams('The prompt "skill" requires the argument "name"');
  }
  const skill = findByName(name, registry);
  if (skill !== undefined && isForUser(skill)) return skill;
  const { catalog } = registry;
  const found = await search.find(name, catalog);
  const near = [...new Set([...found, ...listUserSkills(catalog)])]
    .slice(0, MAX_NEAR_NAMES).map((skill) => quote(promptName(skill)));
  const hint = near.length === 0
    ? ""
    : `: available names include ${near.join(", ")}`;
  const kind = isGeneral ? "skill" : "prompt";
  throw invalidParams(`Unknown ${kind} ${quote(name)}${hint}`);
}
