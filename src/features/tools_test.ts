import assert from "node:assert/strict";
import { EMPTY_CATALOG } from "../skills/catalog.ts";
import type { Skill, SkillCatalog, SkillState } from "../skills/types.ts";
import {
  PROFILE_NAMES,
  profileFor,
  profileOfOption,
} from "../views/clients.ts";
import { MAX_LIST_LENGTH } from "../views/lists.ts";
import { listMcpTools } from "./tools.ts";

/** The clients with profiles, and an unknown one. */
const CLIENTS = [
  ...PROFILE_NAMES.map((name) => profileOfOption(name).clientName),
  "some-client",
];

/**
 * Creates a catalog with names of 20 characters, each of which contains a unique
 * number, and descriptions of various lengths.
 */
function createCatalog(
  count: number,
  state: SkillState = "on",
): SkillCatalog {
  const skills = Array.from({ length: count }, (_, index): [string, Skill] => {
    const name = `n${index}x`.padEnd(20, "y");
    const description = "Use <b> & this. ".repeat(index % 60 + 1);
    const frontmatter = { name, description };
    const skill = {
      ...frontmatter,
      frontmatter,
      scope: "global",
      state,
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

Deno.test("each client gets each skill once, within the limits of what its model sees", () => {
  for (const name of CLIENTS) {
    const profile = profileFor({}, name);
    const { cutsDescriptionsAt = Infinity, toolMeta } = profile;
    // A summary and the purpose of the tool precede the list.
    const limit = Math.min(MAX_LIST_LENGTH + 400, cutsDescriptionsAt);
    for (const toolset of ["skill", "reference"] as const) {
      for (const count of [1, 40, 160, 1_250, 1_500]) {
        const catalog = createCatalog(count);
        const options = { toolset };
        const [tool] = listMcpTools({ profile, catalog, options });
        const { description, inputSchema, _meta } = tool!;
        const field = inputSchema.properties!.name;
        // The list of skills is in the description of a tool without this parameter.
        const { description: parameter = "" } = (field ?? {}) as {
          description?: string;
        };
        assert.ok(description!.length <= limit, name);
        assert.ok(parameter.length <= MAX_LIST_LENGTH + 100, name);
        const { numbers, more } = listed(`${description}\n${parameter}`);
        assert.equal(new Set(numbers).size, numbers.length);
        assert.equal(numbers.length + more, count);
        if (count <= 1_250 && toolset === "skill") assert.equal(more, 0);
        assert.deepEqual(_meta, toolMeta);
      }
    }
  }
});

Deno.test("a tool has the words of its contract if the client shows them whole", () => {
  const cases = [
    ["some-client", 40, "on", true],
    ["some-client", 160, "on", false],
    ["some-client", 1, "name-only", false],
    ["codex-mcp-client", 40, "on", true],
    ["qwen-cli-mcp-client-skills", 40, "on", true],
    ["claude-code", 1, "on", true],
    ["claude-code", 40, "on", false],
  ] as const;
  for (const [client, count, state, isContract] of cases) {
    const profile = profileFor({}, client);
    const catalog = createCatalog(count, state);
    const options = { toolset: "skill" } as const;
    const [tool] = listMcpTools({ profile, catalog, options });
    const start = isContract ? /^Execute a skill within/ : /^Load instructions/;
    assert.match(tool!.description!, start, `${client}, ${count}, ${state}`);
  }
});
