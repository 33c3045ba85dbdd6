import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { EMPTY_CATALOG } from "../skills/catalog.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { nextId } from "../../tests/testing/client.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { Wire } from "../../tests/testing/server.ts";
import { CLIENT_PROFILES, DEFAULT_PROFILE, profileFor } from "./clients.ts";
import { DEFAULT_DESCRIPTION_LIMIT } from "./skill_list.ts";
import { createEntries } from "./tools.ts";

/** The clients with profiles, and an unknown one. */
const CLIENTS = [
  ...Object.values(CLIENT_PROFILES).map(({ clientName }) => clientName),
  "some-client",
];

const ERAS = ["legacy", "modern"] as const;

type Era = typeof ERAS[number];

/** The part of an entry in `tools/list` that these tests check. */
interface ToolEntry {
  readonly description: string;
  readonly inputSchema: { properties: { name: { description: string } } };
  readonly _meta?: Record<string, unknown>;
}

/** One of several clients that share a server process. */
class TestClient {
  readonly #wire: Wire;
  readonly #era: Era;
  readonly #name: string;

  constructor(wire: Wire, era: Era, name: string) {
    this.#wire = wire;
    this.#era = era;
    this.#name = name;
  }

  /** Sends a request as the client would. */
  async ask(
    method: string,
    params: Record<string, unknown> = {},
    // deno-lint-ignore no-explicit-any -- each test knows the type of its result
  ): Promise<any> {
    const clientInfo = { name: this.#name, version: "1.0.0" };
    if (this.#era === "legacy") {
      await this.#wire.ask(nextId(), "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo,
      });
      const { result } = await this.#wire.ask(nextId(), method, params);
      return result;
    }
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": clientInfo,
    };
    const { result } = await this.#wire.ask(nextId(), method, {
      ...params,
      _meta,
    });
    return result;
  }

  /** Returns the tool `skill` as the client sees it. */
  async tool(): Promise<ToolEntry> {
    const { tools } = await this.ask("tools/list");
    return tools[0];
  }
}

/**
 * Creates skills with names and descriptions of various lengths. Each name
 * contains a unique number.
 */
function makeSkills(place: Place, count: number): void {
  const name = fc.stringMatching(/^[a-z]{0,8}(-[a-z0-9]{1,12}){0,4}$/);
  const description = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1_500 }),
    fc.lorem({ maxCount: 150 }),
    fc.constantFrom("Short", "<b>R&D</b>", "A: b # c"),
  ).filter((text) => text.trim() !== "");
  const samples = fc.sample(fc.tuple(name, description), {
    numRuns: count,
    seed: count,
  });
  for (const [index, [rest, text]] of samples.entries()) {
    place.skill(
      "home/.claude/skills",
      `folder-${index}`,
      skillMd(`n${index}x${rest}`, JSON.stringify(text.toWellFormed())),
    );
  }
}

/** Returns the numbers of the skills that a text lists, and how many more skills it mentions. */
function listed(text: string): { numbers: string[]; more: number } {
  const lines = text.matchAll(/^(?:- |<name>)n(\d+)x/gm);
  const [, more = "0"] = /^\(and (\d+) more: pass a name/m.exec(text) ?? [];
  return {
    numbers: [...lines].map(([, number]) => number!),
    more: Number(more),
  };
}

/** Checks the tool `skill` as a client shows it: each skill is listed once, within a limit. */
function checkList(
  { description, inputSchema, _meta }: ToolEntry,
  { name, count, limit }: { name: string; count: number; limit: number },
): void {
  const { cutsDescriptionsAt = Infinity, toolMeta } = profileFor(name);
  const parameter = inputSchema.properties.name.description;
  const own = "Name of the skill to load (case-insensitive)".length;
  // A summary and the purpose of the tool precede the list.
  const shown = Math.min(limit + 400, cutsDescriptionsAt);
  assert.ok(description.length <= shown, `${description.length}`);
  assert.ok(parameter.length <= own + limit + 10, `${parameter.length}`);
  const { numbers, more } = listed(`${description}\n${parameter}`);
  assert.equal(new Set(numbers).size, numbers.length);
  assert.equal(numbers.length + more, count);
  if (count <= 1_000 && limit >= 30_000) assert.equal(more, 0);
  assert.deepEqual(_meta, toolMeta);
}

for (const count of [10, 3_000]) {
  Deno.test(
    `each client gets each of ${count} skills exactly once, within the limits of what its model sees`,
    {
      ignore: count > 100 && lacks("speed"),
    },
    async () => {
      using place = new Place();
      makeSkills(place, count);
      await using wire = new Wire(place, { args: ["--no-watch"] });
      for (const name of CLIENTS) {
        const tools: ToolEntry[] = [];
        for (const era of ERAS) {
          const tool = await new TestClient(wire, era, name).tool();
          checkList(tool, { name, count, limit: DEFAULT_DESCRIPTION_LIMIT });
          tools.push(tool);
        }
        assert.equal(tools[0]!.description, tools[1]!.description);
      }
    },
  );
}

Deno.test("the first line of the instructions summarizes the skills in at most 250 characters", async () => {
  using place = new Place();
  await using wire = new Wire(place, { args: ["--refresh", "0"] });
  const client = new TestClient(wire, "modern", "codex-mcp-client");
  const firstLine = async () => {
    const { instructions } = await client.ask("server/discover");
    return instructions.split("\n")[0];
  };
  // The tools are listed when the first scan has ended.
  await client.ask("tools/list");
  assert.equal(
    await firstLine(),
    "Proven instructions for tasks (skills). There are none yet.",
  );
  place.skill("home/.claude/skills", "pdf");
  place.skill("home/.claude/skills", "git");
  // An unknown name makes the server scan again.
  await client.ask("tools/call", { name: "skill", arguments: { name: "?" } });
  assert.equal(
    await firstLine(),
    "Proven instructions for tasks (skills): git, pdf.",
  );
  for (let i = 0; i < 300; i++) {
    place.skill("home/.claude/skills", `aws-service-${i}`);
  }
  await client.ask("tools/call", { name: "skill", arguments: { name: "?" } });
  const line = await firstLine();
  assert.match(
    line,
    /: 302 in total, such as aws-service-0, aws-service-1, .*\.\.\.$/,
  );
  assert.ok(line.length > 200 && line.length <= 250, line);
});

Deno.test("profileFor() recognizes a client by its name, with or without the server's name appended", () => {
  const { "gemini-cli": gemini, "claude-code": claude } = CLIENT_PROFILES;
  assert.equal(profileFor("gemini-cli-mcp-client-skills"), gemini);
  assert.equal(profileFor("claude-code"), claude);
  for (const name of ["", "claude-codex", "CLAUDE-CODE", "__proto__"]) {
    assert.equal(profileFor(name), DEFAULT_PROFILE);
  }
  assert.equal(profileFor(undefined), DEFAULT_PROFILE);
});

/** Creates a catalog of skills with names of 20 characters. */
function numberedCatalog(count: number): SkillCatalog {
  const skills = Array.from({ length: count }, (_, index): [string, Skill] => {
    const name = `n${index}x`.padEnd(20, "y");
    const description = "Use this for tasks of this kind. ".repeat(10);
    return [name, { name, description, scope: "global" } as Skill];
  });
  return { ...EMPTY_CATALOG, skills: new Map(skills) };
}

Deno.test("the limit applies to the whole list, in every client and with every number of skills", () => {
  for (const name of CLIENTS) {
    for (const count of [1, 40, 80, 160, 640, 1_250, 2_000]) {
      for (const limit of [undefined, 300, 2_048, 10_000, 100_000]) {
        const [tool] = createEntries(
          profileFor(name),
          numberedCatalog(count),
          { toolset: "skill", descriptionLimit: limit },
        );
        const entry = tool as unknown as ToolEntry;
        checkList(entry, {
          name,
          count,
          limit: limit ?? DEFAULT_DESCRIPTION_LIMIT,
        });
        const isWhole = limit === undefined && count <= 1_250;
        if (isWhole) {
          assert.doesNotMatch(JSON.stringify(entry), /and \d+ more: /);
        }
      }
    }
    const catalog = numberedCatalog(2_000);
    const profile = profileFor(name);
    const [whole] = createEntries(profile, catalog, {
      toolset: "skill",
      descriptionLimit: 0,
    });
    assert.ok(JSON.stringify(whole).length > 700_000);
    // A tool without a parameter has the list in its description.
    const [tool] = createEntries(profile, catalog, { toolset: "reference" });
    const { cutsDescriptionsAt = Infinity } = profile;
    const most = Math.min(DEFAULT_DESCRIPTION_LIMIT + 400, cutsDescriptionsAt);
    assert.ok(tool!.description!.length <= most);
  }
});
