/** Completes the names of skills, and the paths of their files. */

import type { SkillSource } from "../skills/source.ts";
import type { SkillCatalog, Viewer } from "../skills/types.ts";
import { globalFirst, listEntries } from "../views/entries.ts";
import { isPrompt, SKILL_PROMPT } from "./prompts.ts";
import { type Handlers, type Params, unknownName } from "./requests.ts";
import { requireResource, TEMPLATES } from "./resources.ts";

const MAX_COMPLETIONS = 100;

export const COMPLETION_HANDLERS: Handlers = {
  "completion/complete": async (params, { registry }) => {
    const values = await listValues(params, registry);
    const start = params.argument.value.toLowerCase();
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
  },
};

/** @throws {InvalidParamsError} If there is no such prompt, resource, or template. */
async function listValues(
  { ref, argument, context }: Params<"completion/complete">,
  registry: SkillSource,
): Promise<string[]> {
  const { catalog } = registry;
  if (ref.type === "ref/prompt") {
    if (!isPrompt(ref.name, registry)) {
      const advice = "pass a name that prompts/list returns";
      throw unknownName("prompt", ref.name, advice);
    }
    const isName = ref.name === SKILL_PROMPT && argument.name === "name";
    return isName ? listNames("user", catalog) : [];
  }
  if (!TEMPLATES.some(({ uriTemplate }) => uriTemplate === ref.uri)) {
    // The URI of a resource has no arguments.
    requireResource(ref.uri, registry);
    return [];
  }
  if (argument.name === "path") {
    // The argument that the user has already entered.
    return await listPaths(context?.arguments?.name, registry);
  }
  return argument.name === "name" ? listNames("host", catalog) : [];
}

function listNames(viewer: Viewer, catalog: SkillCatalog): string[] {
  const entries = listEntries(viewer, catalog);
  const isCut = entries.length > MAX_COMPLETIONS;
  const ordered = isCut ? globalFirst(entries) : entries;
  return ordered.map(({ name }) => name);
}

async function listPaths(
  name: string | undefined,
  registry: SkillSource,
): Promise<string[]> {
  const skill = registry.find(name ?? "", { viewer: "host" });
  if (skill === undefined) return [];
  const { files } = await registry.listFiles(skill);
  return files.map(({ path }) => path);
}
