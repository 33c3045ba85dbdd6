/**
 * Completes the names of skills and the paths of their files.
 *
 * @module
 */

import { SKILL_MD } from "../files/paths.ts";
import { invalidParams } from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import { CompleteRequestSchema } from "../protocol/requests.ts";
import { isScope, qualifiedName, uriPrefix } from "../skills/names.ts";
import type { SkillSource } from "../skills/types.ts";
import { quote, shownName, skillKey } from "../text.ts";
import { hasPrompt } from "./prompts.ts";
import { RESOURCE_TEMPLATES } from "./resources.ts";
import { byListRank, isForUser } from "./skill_list.ts";

/** The maximum number of values. */
const MAX_COMPLETIONS = 100;

/** Sets the request handler for completions. */
export function registerCompletion(
  server: RequestHandlers,
  registry: SkillSource,
): void {
  server.setRequestHandler(CompleteRequestSchema, async ({ params }) => {
    const { ref, argument, context } = params;
    const isPrompt = ref.type === "ref/prompt";
    const isKnown = isPrompt
      ? hasPrompt(ref.name, registry.catalog)
      : RESOURCE_TEMPLATES.some(({ uriTemplate }) => uriTemplate === ref.uri);
    if (!isKnown) {
      throw invalidParams(
        `Unknown reference ${quote(isPrompt ? ref.name : ref.uri)}`,
      );
    }
    const values = argument.name === "name"
      ? isPrompt ? listNames(registry) : listAuthorities(registry)
      : argument.name === "path"
      ? await listPaths(context?.arguments?.name ?? "", registry)
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
  });
}

/** Lists the names by which users can load skills, plain or qualified. */
function listNames({ catalog }: SkillSource): string[] {
  return [...catalog.served.values()].filter(isForUser).sort(byListRank)
    .map((skill) => shownName(qualifiedName(skill)));
}

/**
 * Lists the values for `<name>` in `skill://<name>`: the names of skills and
 * the prefixes of shadowed skills. Names that would not be shown whole are left out.
 */
function listAuthorities({ catalog }: SkillSource): string[] {
  const skills = [...catalog.served.values()].sort(byListRank);
  return [...new Set(skills.map((skill) => uriPrefix(skill) ?? skill.name))]
    .filter((name) => shownName(name) === name);
}

/**
 * Lists the paths that can follow `skill://<name>/`. If the name is a prefix,
 * these are the paths of the `SKILL.md` files of the skills with that prefix.
 */
async function listPaths(
  name: string,
  registry: SkillSource,
): Promise<string[]> {
  const { skills, served } = registry.catalog;
  const key = skillKey(name);
  const plain = isScope(name) ? undefined : skills.get(key);
  if (plain !== undefined) {
    return (await registry.listFiles(plain)).map(({ path }) => path);
  }
  return [...served.values()].filter((skill) => uriPrefix(skill) === key)
    .map(({ name }) => `${name}/${SKILL_MD}`);
}
