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
import {
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
} from "../protocol/requests.ts";
import {
  CatalogView,
  getPage,
  type ListItem,
  notifyWhenChanged,
  refuseCursor,
  SkillItems,
  sortList,
  valuesOf,
} from "./list_views.ts";
import { invalidParams } from "../protocol/errors.ts";
import type { RequestHandlers } from "../protocol/handlers.ts";
import { resourceContents } from "../files/media_types.ts";
import { qualifiedName } from "../skills/names.ts";
import { listKey } from "./skill_lists.ts";
import { skillFileUri, skillMdUri } from "../skills/uri.ts";
import { SKILL_MD } from "../files/paths.ts";
import { quote } from "../text.ts";
import { readTogether } from "./read_together.ts";
import type { Skill, SkillFileContent, SkillSource } from "../skills/types.ts";

/**
 * Reads a file of a skill for a request.
 *
 * @throws {Error} The JSON-RPC error "invalid params" if the file cannot be
 *   read.
 */
export async function readForRequest(
  registry: SkillSource,
  skill: Skill,
  path: string,
): Promise<SkillFileContent> {
  try {
    return await registry.readFile(skill, path);
  } catch (error) {
    const uri = skillFileUri(skill, path);
    throw invalidParams((error as Error).message, { uri });
  }
}

export function registerResources(
  server: RequestHandlers,
  registry: SkillSource,
): void {
  const items = new SkillItems(createResources);
  const list = new CatalogView(({ served }) =>
    sortList(items.of(served.values()))
  );
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
    const page = getPage(list.of(registry.catalog), params?.cursor);
    return { resources: page.items, nextCursor: page.nextCursor };
  });
  server.setRequestHandler(
    ListResourceTemplatesRequestSchema,
    ({ params }) => {
      refuseCursor(params?.cursor);
      return { resourceTemplates: RESOURCE_TEMPLATES };
    },
  );
  server.setRequestHandler(
    ReadResourceRequestSchema,
    async ({ params: { uri } }) => ({
      contents: await readResource(uri, registry),
    }),
  );
  notifyWhenChanged(
    registry,
    (catalog) => valuesOf(list.of(catalog)),
    () => server.notify("notifications/resources/list_changed"),
  );
}

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

/** The key in `_meta` for the scope of a skill. */
const SCOPE_KEY = "skill-server/scope";

/** Creates the resources of a skill: its `SKILL.md` and the collection of its other files. */
function createResources(skill: Skill): ListItem<Resource>[] {
  const name = qualifiedName(skill);
  // Sizes are omitted, so that a change to a body does not change the list.
  const resources = [
    {
      uri: skillMdUri(skill),
      name,
      description: skill.description,
      mimeType: "text/markdown",
      _meta: { [SCOPE_KEY]: skill.scope },
    },
    {
      uri: skillFileUri(skill, ""),
      name: `${name}/`,
      description: `All files of the skill ${name} except its SKILL.md`,
    },
  ];
  return resources.map((value) => ({ key: listKey(skill, value.uri), value }));
}

/** Reads the file or the files that a URI refers to. */
async function readResource(
  uri: string,
  registry: SkillSource,
): Promise<ReadResourceResult["contents"]> {
  const { skill, path } = requireResource(uri, registry);
  if (path !== "") {
    const file = await readForRequest(registry, skill, path ?? SKILL_MD);
    return [resourceContents(uri, file)];
  }
  const files = (await registry.listFiles(skill))
    .filter(({ path }) => path !== SKILL_MD);
  try {
    return await readTogether(files, async (file) =>
      resourceContents(
        skillFileUri(skill, file.path),
        await registry.readFile(skill, file),
      ));
  } catch (error) {
    throw invalidParams((error as Error).message, { uri });
  }
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
  const found = registry.findResource(uri);
  if (found !== undefined) return found;
  throw invalidParams(
    `Unknown resource ${quote(uri)}: resources/list lists the skills`,
    { uri },
  );
}
