/** Serves skills as MCP resources, to which clients can subscribe. */

import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { resourceContents } from "../fs/media_types.ts";
import { type Handlers, invalidParams } from "./requests.ts";
import { SKILL_MD, skillFileUri, skillMdUri } from "../skills/names.ts";
import { resolveUri } from "./resolve.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";
import { quote } from "../text.ts";
import { deriveOnce } from "./derive_once.ts";
import {
  logLoad,
  readAsMeant,
  readTogether,
  type Requester,
} from "./loading.ts";
import type { ToolOptions } from "./options.ts";
import { createListHandler, type ListItem, renderList } from "./paging.ts";
import {
  listByName,
  listedDescription,
  type ListedSkill,
  sortKeyOf,
} from "./skill_list.ts";

const RESOURCE_TEMPLATES: readonly ResourceTemplateType[] = [
  {
    name: "skill",
    uriTemplate: "skill://{name}",
    description: "The SKILL.md of a skill",
    mimeType: "text/markdown",
  },
  {
    name: "skill-files",
    uriTemplate: "skill://{name}/",
    description: "All files of a skill",
  },
  {
    name: "skill-file",
    uriTemplate: "skill://{name}/{+path}",
    description: "A file of a skill",
  },
];

export function resourceHandlers(
  registry: SkillSource,
  options: ToolOptions,
): Handlers {
  return {
    "resources/list": createListHandler(registry, {
      name: "resources",
      itemsOf: listResources,
    }),
    "resources/templates/list": () => ({
      resourceTemplates: RESOURCE_TEMPLATES,
    }),
    "resources/read": async ({ uri }, requester) => {
      const reading = readResource(uri, registry, { ...requester, options });
      return { contents: await readForRequest(uri, reading) };
    },
  };
}

export function renderResources(catalog: SkillCatalog): string {
  return renderList(listResources(catalog));
}

function listResources({ served }: SkillCatalog): ListItem<Resource>[] {
  return listByName(served.values()).flatMap(createResources);
}

const createResources = deriveOnce((listed: ListedSkill) => {
  const { skill, name } = listed;
  // Sizes are omitted, so that a change to a body does not change the list.
  const main: Resource = {
    uri: skillMdUri(skill),
    name,
    description: listedDescription(skill),
    mimeType: "text/markdown",
    _meta: { "io.github.skill-server/scope": skill.scope },
  };
  const files: Resource = {
    uri: skillFileUri(skill, ""),
    name: `${name}/`,
    description: "All files of the skill",
  };
  return [
    { key: sortKeyOf(skill, `${name}/${SKILL_MD}`), value: main },
    { key: sortKeyOf(skill, `${name}/`), value: files },
  ];
});

async function readResource(
  uri: string,
  registry: SkillSource,
  reader: Requester & { options: ToolOptions },
): Promise<ReadResourceResult["contents"]> {
  const { catalog } = registry;
  const { skill, path = SKILL_MD } = resolveUri(uri, catalog) ??
    resolveUri(withoutFragment(uri), catalog) ??
    requireResource(uri, registry);
  if (path !== "") {
    const file = await readAsMeant(
      path,
      (meant) => registry.readFile(skill, meant),
    );
    if (file.path === SKILL_MD) logLoad(skill, "as a resource", reader);
    return [resourceContents(uri, file)];
  }
  const { files } = await registry.listFiles(skill);
  return await readTogether(files, async (file) =>
    resourceContents(
      skillFileUri(skill, file.path),
      await registry.readFile(skill, file.path),
    ));
}

/** Returns a URI without what models add to it: a fragment, and a second slash before the path. */
function withoutFragment(uri: string): string {
  return uri.replace(/#.*$/s, "").replace(/^(skill:\/\/[^/]+\/)\//, "$1");
}

/** @throws {Error} The JSON-RPC error "invalid params" if there is no such skill. */
export function requireResource(
  uri: string,
  { catalog }: SkillSource,
): { skill: Skill; path: string | undefined } {
  const found = resolveUri(uri, catalog);
  if (found !== undefined) return found;
  throw invalidParams(
    `Unknown resource ${quote(uri)}: resources/list lists the skills`,
    uri,
  );
}

/** @throws {Error} The JSON-RPC error "invalid params" with the URI if the reading fails. */
export function readForRequest<T>(
  uri: string,
  reading: Promise<T>,
): Promise<T> {
  return reading.catch(({ message }: Error) => {
    throw invalidParams(message, uri);
  });
}
