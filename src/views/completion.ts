/**
 * Completes the names of skills and the paths of their files.
 *
 * @module
 */

import { SKILL_MD } from "../files/paths.ts";
import { invalidParams } from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import { CompleteRequestSchema } from "../protocol/requests.ts";
import { qualifiedName } from "../skills/names.ts";
import type { Skill, SkillSource } from "../skills/types.ts";
import { isScope, uriPrefix } from "../skills/uri.ts";
import { quote, shownName, skillKey } from "../text.ts";
import { byListRank, isForUser } from "./order.ts";
import { hasPrompt } from "./prompts.ts";
import { RESOURCE_TEMPLATES } from "./resources.ts";

/** The maximum number of values. */
const MAX_COMPLETIONS = 100;

/** Sets the request handler for completions. */
export function registerCompletion(
  server: RequestHandlers,
  registry: SkillSource,
): void {
  server.setRequestHandler(CompleteRequestSchema, async ({ params }) => {
    const { ref, argument, context } = params;
    const start = argument.value;
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
      ? await listPaths({ name: context?.arguments?.name, start }, registry)
      : [];
    const key = start.toLowerCase();
    const matches = values.filter((value) =>
      value.toLowerCase().startsWith(key)
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
 * the prefixes of shadowed skills.
 */
function listAuthorities({ catalog }: SkillSource): string[] {
  const skills = [...catalog.served.values()].sort(byListRank);
  return [...new Set(skills.map((skill) => uriPrefix(skill) ?? skill.name))];
}

/**
 * Lists the paths that can follow `skill://<name>/`. If the name is a prefix,
 * these are the paths in the skills with that prefix: all files of a
 * skill if `start` begins with the skill's name and a slash, or else only its
 * `SKILL.md`.
 */
async function listPaths(
  { name = "", start }: { name: string | undefined; start: string },
  registry: SkillSource,
): Promise<string[]> {
  const { skills, served } = registry.catalog;
  const list = async (skill: Skill) =>
    (await registry.listFiles(skill)).map(({ path }) => path);
  const key = skillKey(name);
  const plain = isScope(name) ? undefined : skills.get(key);
  if (plain !== undefined) return await list(plain);
  const values: string[] = [];
  for (const skill of served.values()) {
    if (key === "" || skillKey(uriPrefix(skill) ?? "") !== key) continue;
    const folder = `${skill.name}/`;
    const isInside = start.toLowerCase().startsWith(folder.toLowerCase());
    const paths = isInside ? await list(skill) : [SKILL_MD];
    for (const path of paths) values.push(folder + path);
  }
  return values;
}
