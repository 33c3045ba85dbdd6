/**
 * Serves skills as prompts, which users load by name, and completes the names of
 * skills and the paths of their files.
 *
 * @module
 */

import type {
  ContentBlock,
  Prompt,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import type { RequestDispatcher } from "../protocol/dispatcher.ts";
import { invalidParams } from "../protocol/json_rpc.ts";
import type { Params } from "../protocol/requests.ts";
import { SKILL_MD, skillMdUri } from "../skills/names.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";
import { nearestWords, quote } from "../text.ts";
import { profileFor } from "./clients.ts";
import { deriveOnce, type ListItem, serveList } from "./paging.ts";
import {
  formatLoadedSkill,
  type SkillToolOptions,
  textOf,
  type Toolset,
} from "./reading.ts";
import { readForRequest } from "./resources.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  describeSkill,
  fitList,
  isForUser,
  listKey,
  listSkills,
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
  server: RequestDispatcher,
  registry: SkillSource,
  options: SkillToolOptions,
): void {
  const itemsOf = deriveOnce((skill: Skill) =>
    createPrompts(skill, options.toolset)
  );
  serveList(server, registry, {
    name: "prompts",
    itemsOf: (catalog) => [
      createSkillPrompt(catalog),
      ...[...catalog.served.values()].filter(isForUser).flatMap(itemsOf),
    ],
  });
  server.setRequestHandler("prompts/get", async (params, { client }) => {
    const skill = requirePrompt(params, registry);
    const uri = skillMdUri(skill);
    const reading = readForRequest(uri, registry.readFile(skill, SKILL_MD));
    const text = textOf(await reading);
    // Skilljack's prompts embed the skill as a resource. Some clients drop such prompts.
    const isEmbedded = options.toolset === "skilljack" &&
      client !== undefined && !profileFor(client).dropsEmbeddedResources;
    const input = params.name === SKILL_PROMPT
      ? undefined
      : params.arguments?.arguments ?? "";
    const resource = { uri, mimeType: "text/markdown", text };
    const loaded = formatLoadedSkill(skill, text, { ...options, input });
    const content: ContentBlock = isEmbedded
      ? { type: "resource", resource }
      : { type: "text", text: loaded };
    content.annotations = { audience: ["assistant"], priority: 1.0 };
    const messages = [{ role: "user", content }];
    return { description: skill.description, messages };
  });
  server.setRequestHandler(
    "completion/complete",
    (params) => complete(params, registry),
  );
}

/** Creates the prompt that takes a name. Its description lists the skills. */
function createSkillPrompt(catalog: SkillCatalog): ListItem<Prompt> {
  const skills = listSkills(catalog.skills, isForUser).map(describeSkill);
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
function createPrompts(skill: Skill, toolset: Toolset): ListItem<Prompt>[] {
  const { name } = describeSkill(skill);
  if (name === SKILL_PROMPT) return [];
  const { description } = skill;
  const value = {
    ...{ name, title: name, description },
    ...(toolset === "skill" && { arguments: ARGUMENTS }),
  };
  return [{ key: listKey(skill, name), value }];
}

/** The maximum number of names that the error for an unknown name lists. */
const MAX_NEAR_NAMES = 5;

/**
 * Finds the skill that a prompt loads.
 *
 * @throws {Error} If there is no skill with this name that the user can load. The
 *   message lists similar names.
 */
function requirePrompt(
  { name: prompt, arguments: input }: Params<"prompts/get">,
  registry: SkillSource,
): Skill {
  const name = prompt === SKILL_PROMPT ? input?.name ?? "" : prompt;
  const skill = registry.find(name);
  if (skill !== undefined && isForUser(skill)) return skill;
  const names = listSkills(registry.catalog.skills, isForUser)
    .map((it) => describeSkill(it).name);
  const near = nearestWords(name, names).slice(0, MAX_NEAR_NAMES).map(quote);
  const hint = near.length === 0
    ? "prompts/list lists the names"
    : `similar names are ${near.join(", ")}`;
  throw invalidParams(`Unknown skill ${quote(name)}: ${hint}`);
}

/** The maximum number of values that a completion lists. */
const MAX_COMPLETIONS = 100;

/** Completes the name of a skill, or the path of one of its files. */
async function complete(
  { ref, argument, context }: Params<"completion/complete">,
  registry: SkillSource,
) {
  const { served, skills } = registry.catalog;
  const skill = registry.find(context?.arguments?.name ?? "");
  const named = ref.type === "ref/prompt"
    ? listSkills(served, isForUser)
    : listSkills(skills, () => true);
  const values = argument.name === "name"
    ? named.map((it) => describeSkill(it).name)
    : argument.name === "path" && skill !== undefined
    ? (await registry.listFiles(skill)).files.map(({ path }) => path)
    : [];
  const start = argument.value.toLowerCase();
  const matches = values.filter((value) =>
    value.toLowerCase().startsWith(start)
  );
  return {
    completion: {
      values: matches.slice(0, MAX_COMPLETIONS),
      total: matches.length,
      hasMore: matches.length > MAX_COMPLETIONS,
    },
  };
}
