import assert from "node:assert/strict";
import type { Tool } from "npm:@modelcontextprotocol/server@^2.4.0";
import { EMPTY_CATALOG } from "../skills/catalog.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { PROFILE_NAMES, profileOfClient, profileOfOption } from "./clients.ts";
import { MAX_LIST_LENGTH } from "./lists.ts";
import { listToolEntries } from "./tools.ts";

/** The clients with profiles, and an unknown one. */
const CLIENTS = [
  ...PROFILE_NAMES.map((name) => profileOfOption(name).clientName),
  "some-client",
];

/**
 * Creates a catalog with names of 20 characters, each of which contains a unique
 * number, and descriptions of various lengths.
 */
function createCatalog(count: number): SkillCatalog {
  const skills = Array.from({ length: count }, (_, index): [string, Skill] => {
    const name = `n${index}x`.padEnd(20, "y");
    const description = "Use <b> & this. ".repeat(index % 60 + 1);
    const frontmatter = { name, description };
    const skill = {
      ...frontmatter,
      frontmatter,
      scope: "global",
      state: "on",
      hiddenFrom: "nobody",
    };
    return [name, skill as Skill];
  });
  return { ...EMPTY_CATALOG, skills: new Map(skills) };
}

/** Returns the numbers of the skills that a text lists, and how many more skills it mentions. */
function listed(text: string): { numbers: string[]; more: number } {
  const lines = text.matchAll(/^(?:- |<name>)n(\d+)x/gm);
  const [, more = "0"] = /^\(and (\d+) more: pass a name/m.exec(text) ?? [];
  const numbers = [...lines].map(([, number]) => number!);
  return { numbers, more: Number(more) };
}

/** Checks the tool `skill` as a client shows it: each skill is listed once, within a limit. */
function checkList(
  { description, inputSchema, _meta }: Tool,
  { name, count, limit }: { name: string; count: number; limit: number },
): void {
  const { cutsDescriptionsAt = Infinity, toolMeta } = profileOfClient(name);
  const { description: parameter } = inputSchema.properties!.name as {
    description: string;
  };
  // A summary and the purpose of the tool or the parameter precede the list.
  const shown = Math.min(limit + 400, cutsDescriptionsAt);
  assert.ok(description!.length <= shown, `${description!.length}`);
  assert.ok(parameter.length <= limit + 100, `${parameter.length}`);
  const { numbers, more } = listed(`${description}\n${parameter}`);
  assert.equal(new Set(numbers).size, numbers.length);
  assert.equal(numbers.length + more, count);
  if (count <= 1_000 && limit >= 30_000) assert.equal(more, 0);
  assert.deepEqual(_meta, toolMeta);
}

Deno.test("each client gets each skill exactly once, within the limits of what its model sees", () => {
  for (const name of CLIENTS) {
    for (const count of [1, 40, 160, 1_250, 1_500]) {
      const [tool] = listToolEntries({
        profile: profileOfClient(name),
        catalog: createCatalog(count),
        options: { toolset: "skill" },
      });
      checkList(tool!, { name, count, limit: MAX_LIST_LENGTH });
      const text = JSON.stringify(tool);
      if (count <= 1_250) assert.doesNotMatch(text, /and \d+ more: /);
    }
  }
});

Deno.test("the list is in the description of a tool without a parameter", () => {
  const catalog = createCatalog(1_000);
  for (const name of CLIENTS) {
    const profile = profileOfClient(name);
    const [tool] = listToolEntries({
      profile,
      catalog,
      options: { toolset: "reference" },
    });
    const { cutsDescriptionsAt = Infinity } = profile;
    const most = Math.min(MAX_LIST_LENGTH + 400, cutsDescriptionsAt);
    assert.ok(tool!.description!.length <= most);
  }
});
