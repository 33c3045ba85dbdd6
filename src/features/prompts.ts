/** Serves skills as prompts, which users load by name. */

import type {
  ContentBlock,
  Prompt,
  PromptArgument,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { lookUp } from "../skills/lookup.ts";
import { SKILL_MD, skillMdUri, toPromptName } from "../skills/names.ts";
import type { SkillSource } from "../skills/source.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { nearestWords, quote } from "../text.ts";
import { listEntries, type SkillEntry } from "../views/entries.ts";
import { findNoSkillsReason, PLAIN_NAME } from "../views/instructions.ts";
import { fitList, MAX_LIST_LENGTH } from "../views/lists.ts";
import {
  decodeText,
  formatLoadedSkill,
  type LoadedSkill,
  logLoad,
} from "../views/loading.ts";
import type { ListView, RequestContext } from "../views/options.ts";
import {
  type Handlers,
  InvalidParamsError,
  orderForPages,
  pageOf,
  type Params,
  unknownName,
} from "./requests.ts";
import { readForRequest } from "./resources.ts";

/** The prompt that takes a skill's name as its argument. */
export const SKILL_PROMPT = "skill";

export const PROMPT_HANDLERS: Handlers = {
  "prompts/list": (params, { registry: { catalog }, options, profile }) => {
    const prompts = listPrompts({ catalog, options, profile });
    return pageOf("prompts", prompts, params?.cursor);
  },
  "prompts/get": async (params, context) => {
    const { registry, options, profile } = context;
    const skill = requirePrompt(params, registry);
    const reading = registry.readFile(skill, SKILL_MD, { viewer: "user" });
    const text = decodeText(await readForRequest(skillMdUri(skill), reading));
    logLoad(skill, "as a prompt", context);
    const takesInput = params.name !== SKILL_PROMPT &&
      ownArguments(options, profile).length > 0;
    const input = takesInput ? params.arguments?.arguments : undefined;
    const content = createPromptContent({ skill, text }, context, input);
    const messages = [{ role: "user", content }];
    return { description: skill.description, messages };
  },
};

/** Lists the prompt that takes a name, and one for each skill. */
export function listPrompts(
  { catalog, options, profile }: ListView,
): Prompt[] {
  const entries = orderForPages(listEntries("user", catalog));
  const args = ownArguments(options, profile);
  const own = entries.filter((it) => hasOwnPrompt(it, catalog))
    .map(({ name, description }) => ({
      name: toPromptName(name),
      title: name,
      description,
      ...args.length > 0 && { arguments: args },
    }));
  return [createSkillPrompt(entries), ...own];
}

/** Lists the arguments of a skill's own prompt, which only the toolset `skill` has. */
function ownArguments(
  { toolset }: ListView["options"],
  { promptArgument }: ListView["profile"],
): PromptArgument[] {
  if (toolset !== "skill" || promptArgument === "none") return [];
  return [{
    name: "arguments",
    description: "What to use the skill for",
    required: promptArgument === "required",
  }];
}

export function isPrompt(name: string, registry: SkillSource): boolean {
  return name === SKILL_PROMPT ||
    registry.find(name, { viewer: "user" }) !== undefined;
}

/** Whether the name of a skill's prompt loads it. The prompt `skill` loads all skills. */
function hasOwnPrompt(
  { skill, name }: SkillEntry,
  catalog: SkillCatalog,
): boolean {
  const promptName = toPromptName(name);
  if (promptName === SKILL_PROMPT) return false;
  return promptName === name ||
    lookUp(promptName, "user", catalog).skill === skill;
}

function createPromptContent(
  loaded: LoadedSkill,
  context: RequestContext,
  input: string | undefined,
): ContentBlock {
  const annotations = { audience: ["assistant" as const], priority: 1.0 };
  const { clientName, options, profile } = context;
  // Skilljack's prompts embed the skill as a resource. Some clients drop such prompts,
  // and one without a name may be one of them.
  const isKnown = clientName !== undefined || options.profile !== undefined;
  if (
    options.toolset === "skilljack" && isKnown &&
    !profile.dropsEmbeddedResources
  ) {
    const uri = skillMdUri(loaded.skill);
    const resource = { uri, mimeType: "text/markdown", text: loaded.text };
    return { type: "resource", resource, annotations };
  }
  const text = formatLoadedSkill(loaded, context, input);
  return { type: "text", text, annotations };
}

function createSkillPrompt(entries: readonly SkillEntry[]): Prompt {
  const skills = entries.filter(({ skill }) => skill.prefix === undefined);
  const start = "Load a skill by name.\n\nAvailable skills:";
  const limit = MAX_LIST_LENGTH - start.length;
  return {
    name: SKILL_PROMPT,
    title: "Load Skill",
    description: start + fitList(skills, limit),
    arguments: [{
      name: "name",
      description: "Name of the skill (case-insensitive)",
      required: true,
    }],
  };
}

const MAX_NEAR_NAMES = 5;

/** @throws {InvalidParamsError} If the user can load no such skill. It offers similar names. */
function requirePrompt(
  { name: prompt, arguments: input }: Params<"prompts/get">,
  registry: SkillSource,
): Skill {
  const name = prompt === SKILL_PROMPT ? input?.name : prompt;
  if (!name) {
    throw new InvalidParamsError(
      'Missing argument "name": pass the name of a skill, such as "pdf"; prompts/list returns all names',
    );
  }
  const { catalog } = registry;
  const entries = listEntries("user", catalog);
  const skill = registry.find(name, { viewer: "user" });
  if (skill !== undefined) return skill;
  const names = entries
    .filter((it) => it.skill.scope === "global" || PLAIN_NAME.test(it.name))
    .map((it) => it.name);
  const near = nearestWords(name, names).slice(0, MAX_NEAR_NAMES).map(quote);
  if (near.length > 0) {
    throw unknownName("skill", name, `did you mean ${near.join(" or ")}?`);
  }
  const advice = entries.length > 0
    ? "choose another name, or ask the model to load the skill: the answer says why it is missing"
    : findNoSkillsReason(catalog) ??
      "there are no skills; put some into a folder that this server searches, or choose other folders in its settings";
  throw unknownName("skill", name, advice);
}
