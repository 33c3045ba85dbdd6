/**
 * Serves skills as MCP resources.
 *
 * @module
 */

import type {
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { resourceContents } from "../files/media_types.ts";
import { SKILL_MD } from "../files/paths.ts";
import { invalidParams } from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import {
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
} from "../protocol/requests.ts";
import {
  findResource,
  qualifiedName,
  skillFileUri,
  skillMdUri,
} from "../skills/names.ts";
import type { Skill, SkillSource } from "../skills/types.ts";
import { quote, shownName } from "../text.ts";
import {
  deriveOnce,
  type ListItem,
  readTogether,
  refuseCursor,
  serveList,
} from "./paging.ts";
import { listKey } from "./skill_list.ts";

/**
 * Returns what is read for a request.
 *
 * @throws {Error} The JSON-RPC error "invalid params" with the URI if it cannot
 *   be read.
 */
export function readForRequest<T>(
  uri: string,
  reading: Promise<T>,
): Promise<T> {
  return reading.catch(({ message }: Error) => {
    throw invalidParams(message, { uri });
  });
}

/** Sets the request handlers of the resources, and notifies clients of changes. */
export function registerResources(
  server: RequestHandlers,
  registry: SkillSource,
): void {
  const itemsOf = deriveOnce(createResources);
  serveList(server, registry, {
    name: "resources",
    schema: ListResourcesRequestSchema,
    itemsOf: ({ served }) => [...served.values()].flatMap(itemsOf),
  });
  server.setRequestHandler(
    ListResourceTemplatesRequestSchema,
    ({ params }) => {
      refuseCursor(params?.cursor);
      return { resourceTemplates: RESOURCE_TEMPLATES };
    },
  );
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
    const reading = readResource(params.uri, registry);
    return { contents: await readForRequest(params.uri, reading) };
  });
}

/** The templates of the URIs of resources. */
export const RESOURCE_TEMPLATES: ResourceTemplate[] = [
  {
    name: "skill",
    uriTemplate: "skill://{name}",
    description: "The SKILL.md of a skill",
    mimeType: "text/markdown",
  },
  {
    name: "skill-files",
    uriTemplate: "skill://{name}/",
    description: "All files of a skill except its SKILL.md",
  },
  {
    name: "skill-file",
    uriTemplate: "skill://{name}/{+path}",
    description: "A file of a skill",
  },
];

/** Creates the resources of a skill: its `SKILL.md` and the collection of its other files. */
function createResources(skill: Skill): ListItem<Resource>[] {
  const name = shownName(qualifiedName(skill));
  // Sizes are omitted, so that a change to a body does not change the list.
  const resources = [
    {
      uri: skillMdUri(skill),
      name,
      description: skill.description,
      mimeType: "text/markdown",
      _meta: { "io.github.skill-server/scope": skill.scope },
    },
    {
      uri: skillFileUri(skill, ""),
      name: `${name}/`,
      description: "All files of the skill except its SKILL.md",
    },
  ];
  return resources.map((value) => ({ key: listKey(skill, value.uri), value }));
}

/** Reads the file or the files that a URI refers to. */
async function readResource(
  uri: string,
  registry: SkillSource,
): Promise<ReadResourceResult["contents"]> {
  const { skill, path = SKILL_MD } = requireResource(uri, registry);
  if (path !== "") {
    return [resourceContents(uri, await registry.readFile(skill, path))];
  }
  const files = await registry.listFiles(skill);
  const others = files.filter(({ path }) => path !== SKILL_MD);
  return await readTogether(others, async (file) =>
    resourceContents(
      skillFileUri(skill, file.path),
      await registry.readFile(skill, file.path),
    ));
}

/**
 * Finds the skill and the path that a URI refers to.
 *
 * @throws {Error} The JSON-RPC error "invalid params" if there is no such
 *   skill.
 */
export function requireResource(
  uri: string,
  registry: SkillSource,
): { skill: Skill; path: string | undefined } {
  const found = findResource(uri, registry.catalog);
  if (found !== undefined) return found;
  throw invalidParams(
    `Unknown resource ${quote(uri)}: resources/list lists the skills`,
    { uri },
  );
}
