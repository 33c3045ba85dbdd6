/** Serves skills as prompts, which users load by name. */

import type {
  ContentBlock,
  Prompt,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { type Handlers, invalidParams, type Params } from "./requests.ts";
import { SKILL_MD, skillMdUri } from "../skills/names.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";
import { nearestWords, quote } from "../text.ts";
import { deriveOnce } from "./derive_once.ts";
import { decodeText, formatLoadedSkill, logLoad } from "./loading.ts";
import type { ToolOptions, Toolset } from "./options.ts";
import { createListHandler, type ListItem, renderList } from "./paging.ts";
import { profileFor } from "./clients.ts";
import { readForRequest } from "./resources.ts";
import type { ResultReader } from "./results.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  fitList,
  isForUser,
  listByName,
  listedDescription,
  type ListedSkill,
  PLAIN_NAME,
  sortKeyOf,
} from "./skill_list.ts";

/** The prompt that takes a skill's name as its argument. */
export const SKILL_PROMPT = "skill";

/** The arguments of a skill's own prompt in the toolset `skill`. */
const PROMPT_ARGUMENTS = [{
  name: "arguments",
  description: "What to use the skill for",
  required: false,
}];

export function promptHandlers(
  registry: SkillSource,
  options: ToolOptions,
): Handlers {
  return {
    "prompts/list": createListHandler(registry, {
      name: "prompts",
      itemsOf: (catalog) => listPrompts(catalog, options),
    }),
    "prompts/get": async (params, requester) => {
      const skill = requirePrompt(params, registry);
      const reading = registry.readFile(skill, SKILL_MD);
      const text = decodeText(await readForRequest(skillMdUri(skill), reading));
      logLoad(skill, "as a prompt", { ...requester, options });
      const isOwnPrompt = params.name !== SKILL_PROMPT;
      const input = isOwnPrompt && options.toolset === "skill"
        ? params.arguments?.arguments
        : undefined;
      const loaded = { skill, text, input };
      const reader = { client: requester.client, options };
      const content = createPromptContent(loaded, reader);
      const messages = [{ role: "user", content }];
      return { description: skill.description, messages };
    },
  };
}

export function renderPrompts(
  catalog: SkillCatalog,
  options: ToolOptions,
): string {
  return renderList(listPrompts(catalog, options));
}

function listPrompts(
  catalog: SkillCatalog,
  { toolset }: ToolOptions,
): ListItem<Prompt>[] {
  return [
    createSkillPrompt(catalog),
    ...listForUser(catalog).flatMap((listed) => createPrompts(listed, toolset)),
  ];
}

interface LoadedPrompt {
  readonly skill: Skill;
  readonly text: string;
  readonly input: string | undefined;
}

function createPromptContent(
  { skill, text, input }: LoadedPrompt,
  { client, options }: ResultReader,
): ContentBlock {
  const annotations = { audience: ["assistant" as const], priority: 1.0 };
  // Skilljack's prompts embed the skill as a resource. Some clients drop such prompts.
  const isEmbedded = options.toolset === "skilljack" &&
    (client ?? options.profile) !== undefined &&
    !profileFor(client, options).dropsEmbeddedResources;
  if (isEmbedded) {
    const uri = skillMdUri(skill);
    const resource = { uri, mimeType: "text/markdown", text };
    return { type: "resource", resource, annotations };
  }
  const loaded = formatLoadedSkill(skill, text, { client, options, input });
  return { type: "text", text: loaded, annotations };
}

/** Lists the skills that the user can load, by all their names. */
export const listForUser = deriveOnce((catalog: SkillCatalog) =>
  listByName(catalog.served.values().filter(isForUser))
);

function createSkillPrompt(catalog: SkillCatalog): ListItem<Prompt> {
  const skills = listForUser(catalog)
    .filter(({ skill }) => skill.prefix === undefined);
  const start = "Load a skill by name.\n\nAvailable skills:";
  const limit = DEFAULT_DESCRIPTION_LIMIT - start.length;
  const value = {
    name: SKILL_PROMPT,
    title: "Load Skill",
    description: start + fitList(skills, limit),
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
function createPrompts(
  { skill, name }: ListedSkill,
  toolset: Toolset,
): ListItem<Prompt>[] {
  if (name === SKILL_PROMPT) return [];
  const value: Prompt = {
    name,
    title: name,
    description: listedDescription(skill),
  };
  if (toolset === "skill") value.arguments = PROMPT_ARGUMENTS;
  return [{ key: sortKeyOf(skill, name), value }];
}

const MAX_NEAR_NAMES = 5;

/** @throws {Error} If the user can load no such skill. The message lists similar names. */
function requirePrompt(
  { name: prompt, arguments: input }: Params<"prompts/get">,
  registry: SkillSource,
): Skill {
  const name = prompt === SKILL_PROMPT ? input?.name : prompt;
  if (!name) {
    throw invalidParams(
      'Missing argument "name": pass the name of a skill, which prompts/list lists',
    );
  }
  const skill = registry.find(name);
  if (skill !== undefined && isForUser(skill)) return skill;
  const listed = listForUser(registry.catalog);
  const names = listed
    .filter((it) => it.skill.scope === "global" || PLAIN_NAME.test(it.name))
    .map((it) => it.name);
  const near = nearestWords(name, names).slice(0, MAX_NEAR_NAMES).map(quote);
  const known = listed.length === 0
    ? "there are no skills; put some into the folders of this server, or choose other folders in its settings"
    : "prompts/list lists the names; to learn why it is not there, load it with the tool";
  const hint = near.length === 0 ? known : `did you mean ${near.join(" or ")}?`;
  throw invalidParams(`Unknown skill ${quote(name)}: ${hint}`);
}
