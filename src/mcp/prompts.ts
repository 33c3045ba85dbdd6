/** Serves skills as prompts, which users load by name. */

import type {
  ContentBlock,
  Prompt,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { type Handlers, invalidParams, type Params } from "./requests.ts";
import { SKILL_MD, skillMdUri } from "../skills/names.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";
import { nearestWords, quote } from "../text.ts";
import { listEntries, maySee, type SkillEntry } from "./entries.ts";
import { decodeText, formatLoadedSkill, logLoad } from "./loading.ts";
import type { ToolOptions } from "./options.ts";
import { createListHandler, orderForPages } from "./paging.ts";
import { profileFor } from "./clients.ts";
import { readForRequest } from "./resources.ts";
import type { ResultReader } from "./results.ts";
import { DEFAULT_DESCRIPTION_LIMIT, fitList, PLAIN_NAME } from "./lists.ts";

/** The prompt that takes a skill's name as its argument. */
const SKILL_PROMPT = "skill";

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
    "prompts/list": createListHandler(
      registry,
      "prompts",
      (catalog) => listPrompts(catalog, options),
    ),
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

/** Lists the prompt that takes a name, and one for each skill. */
export function listPrompts(
  catalog: SkillCatalog,
  { toolset }: ToolOptions,
): Prompt[] {
  const entries = orderForPages(listEntries("user", catalog));
  const own = Array.from(byPromptName(entries), ([name, entry]) => ({
    name,
    title: entry.name,
    description: entry.description,
    ...toolset === "skill" && { arguments: PROMPT_ARGUMENTS },
  }));
  return [createSkillPrompt(entries), ...own];
}

/** Whether there is a prompt with a name. */
export function isPrompt(name: string, catalog: SkillCatalog): boolean {
  return name === SKILL_PROMPT ||
    byPromptName(listEntries("user", catalog)).has(name);
}

/**
 * Gives each entry the name of its prompt: Claude Code cannot invoke one whose name has
 * white space. The prompt `skill` reaches a skill whose prompt another one has already.
 */
function byPromptName(
  entries: readonly SkillEntry[],
): Map<string, SkillEntry> {
  const named = new Map<string, SkillEntry>();
  for (const entry of entries) {
    const name = entry.name.replace(/\s/g, "-");
    const isTaken = name === SKILL_PROMPT || named.has(name);
    // An exact name wins, wherever it is in the list.
    if (!isTaken || name === entry.name) named.set(name, entry);
  }
  named.delete(SKILL_PROMPT);
  return named;
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

function createSkillPrompt(entries: readonly SkillEntry[]): Prompt {
  const skills = entries.filter(({ skill }) => skill.prefix === undefined);
  const start = "Load a skill by name.\n\nAvailable skills:";
  const limit = DEFAULT_DESCRIPTION_LIMIT - start.length;
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

/** @throws {ProtocolError} If the user can load no such skill. The message has similar names. */
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
  const entries = listEntries("user", registry.catalog);
  const skill = byPromptName(entries).get(name)?.skill ?? registry.find(name);
  if (skill !== undefined && maySee("user", skill)) return skill;
  const names = entries
    .filter((it) => it.skill.scope === "global" || PLAIN_NAME.test(it.name))
    .map((it) => it.name);
  const near = nearestWords(name, names).slice(0, MAX_NEAR_NAMES).map(quote);
  const known = entries.length === 0
    ? "there are no skills; put some into the folders of this server, or choose other folders in its settings"
    : "prompts/list lists the names; to learn why it is not there, load it with the tool";
  const hint = near.length === 0 ? known : `did you mean ${near.join(" or ")}?`;
  throw invalidParams(`Unknown skill ${quote(name)}: ${hint}`);
}
