/** Completes the names of skills, and the paths of their files. */

import type { SkillSource } from "../skills/source.ts";
import { quote } from "../text.ts";
import { globalFirst, listEntries, maySee } from "./entries.ts";
import { isPrompt } from "./prompts.ts";
import { type Handlers, invalidParams, type Params } from "./requests.ts";
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

/** @throws {ProtocolError} If there is no such prompt, resource, or template. */
async function listValues(
  { ref, argument, context }: Params<"completion/complete">,
  registry: SkillSource,
): Promise<string[]> {
  const isPromptRef = ref.type === "ref/prompt";
  if (!isPromptRef && !TEMPLATES.some((it) => it.uriTemplate === ref.uri)) {
    requireResource(ref.uri, registry);
    return [];
  }
  if (isPromptRef && !isPrompt(ref.name, registry.catalog)) {
    throw invalidParams(
      `Unknown prompt ${
        quote(ref.name)
      }: pass a name that prompts/list returns`,
    );
  }
  if (!isPromptRef && argument.name === "path") {
    // The argument that the user has already entered.
    return await listPaths(context?.arguments?.name, registry);
  }
  if (argument.name !== "name") return [];
  const viewer = isPromptRef ? "user" : "host";
  const entries = listEntries(viewer, registry.catalog);
  const isCut = entries.length > MAX_COMPLETIONS;
  const ordered = isCut ? globalFirst(entries) : entries;
  return ordered.map(({ name }) => name);
}

async function listPaths(
  name: string | undefined,
  registry: SkillSource,
): Promise<string[]> {
  const skill = registry.find(name ?? "");
  if (skill === undefined || !maySee("host", skill)) return [];
  const { files } = await registry.listFiles(skill);
  return files.map(({ path }) => path);
}
