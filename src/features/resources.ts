/** Serves skills as MCP resources, to which clients can subscribe. */

import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { type FoundResource, lookUpUri } from "../skills/lookup.ts";
import { SKILL_MD, skillFileUri, skillMdUri } from "../skills/names.ts";
import type { SkillSource } from "../skills/source.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { listEntries } from "../views/entries.ts";
import { logLoad } from "../views/loading.ts";
import { resourceContents } from "../views/media_types.ts";
import type { RequestContext } from "../views/options.ts";
import { readAsMeant, readTogether } from "../views/reading.ts";
import {
  type Handlers,
  InvalidParamsError,
  orderForPages,
  pageOf,
  unknownUri,
} from "./requests.ts";

export const TEMPLATES: readonly ResourceTemplateType[] = [
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

export const RESOURCE_HANDLERS: Handlers = {
  "resources/list": (params, { registry: { catalog } }) =>
    pageOf("resources", listResources(catalog), params?.cursor),
  "resources/templates/list": (params) =>
    pageOf("resourceTemplates", TEMPLATES, params?.cursor),
  "resources/read": async ({ uri }, context) => ({
    contents: await readForRequest(uri, readResource(uri, context)),
  }),
};

/** Lists two resources for each skill: its `SKILL.md`, and all its files. */
export function listResources(catalog: SkillCatalog): Resource[] {
  const entries = listEntries("host", catalog);
  return orderForPages(entries, 2).flatMap(({ skill, name, description }) => [
    {
      uri: skillMdUri(skill),
      name,
      description,
      mimeType: "text/markdown",
      _meta: { "io.github.skill-server/scope": skill.scope },
    },
    {
      uri: skillFileUri(skill, ""),
      name: `${name}/`,
      description: "All files of the skill",
    },
  ]);
}

async function readResource(
  uri: string,
  context: RequestContext,
): Promise<ReadResourceResult["contents"]> {
  const { registry } = context;
  const { skill, path = SKILL_MD } = requireResource(uri, registry);
  const read = (path: string) => registry.readFile(skill, path);
  if (path !== "") {
    const file = await readAsMeant(path, read);
    if (file.path === SKILL_MD) logLoad(skill, "as a resource", context);
    return [resourceContents(uri, file)];
  }
  const { files } = await registry.listFiles(skill);
  const contents = await readTogether(
    files,
    async ({ path }) =>
      resourceContents(skillFileUri(skill, path), await read(path)),
  );
  logLoad(skill, "as a resource", context);
  return contents;
}

export function requireResource(
  uri: string,
  { catalog }: SkillSource,
): FoundResource {
  const found = lookUpUri(uri, catalog);
  if (found !== undefined) return found;
  const advice =
    "pass a URI that resources/list returns, or that of a file in a skill, such as skill://pdf/SKILL.md";
  throw unknownUri("resource", uri, advice);
}

/** @throws {InvalidParamsError} If the reading fails. It has the URI. */
export function readForRequest<T>(
  uri: string,
  reading: Promise<T>,
): Promise<T> {
  return reading.catch(({ message }: Error) => {
    throw new InvalidParamsError(message, uri);
  });
}
