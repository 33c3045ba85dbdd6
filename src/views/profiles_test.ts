import assert from "node:assert/strict";
import type { Tool } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import { SkillRegistry } from "../../mod.ts";
import { EMPTY_CATALOG } from "../skills/catalog.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { Session } from "../../tests/testing/client.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { HttpServer } from "../../tests/testing/http.ts";
import { askModern, MODERN_META } from "../../tests/testing/modern.ts";
import { root } from "../../tests/testing/registry.ts";
import {
  runServer,
  type ServerOptions,
  Wire,
} from "../../tests/testing/server.ts";
import {
  CLIENT_PROFILES,
  DEFAULT_PROFILE,
  PROFILE_NAMES,
  profileOfClient,
} from "./profiles.ts";
import { DEFAULT_DESCRIPTION_LIMIT } from "./skill_list.ts";
import { listToolEntries } from "./tools.ts";
import { createInstructions } from "./views.ts";

/** The clients with profiles, and an unknown one. */
const CLIENTS = [
  ...Object.values(CLIENT_PROFILES).map(({ clientName }) => clientName),
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
    const skill = { ...frontmatter, frontmatter, scope: "global", state: "on" };
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
    const check = (catalog: SkillCatalog, descriptionLimit?: number) => {
      const options = { toolset: "skill", descriptionLimit } as const;
      const [tool] = listToolEntries({
        profile: profileOfClient(name),
        catalog,
        options,
      });
      const { size: count } = catalog.skills;
      const limit = descriptionLimit ?? DEFAULT_DESCRIPTION_LIMIT;
      checkList(tool!, { name, count, limit });
      return JSON.stringify(tool);
    };
    for (const count of [1, 40, 160, 1_250, 1_500]) {
      const catalog = createCatalog(count);
      for (const limit of [300, 2_048, 10_000, 100_000]) check(catalog, limit);
      const text = check(catalog);
      if (count <= 1_250) assert.doesNotMatch(text, /and \d+ more: /);
    }
  }
});

Deno.test("the list has no limit with --description-limit 0, and stands in the description of a tool without a parameter", () => {
  const catalog = createCatalog(1_000);
  for (const name of CLIENTS) {
    const profile = profileOfClient(name);
    const options = { toolset: "skill", descriptionLimit: 0 } as const;
    const [whole] = listToolEntries({ profile, catalog, options });
    assert.ok(JSON.stringify(whole).length > 350_000);
    const [tool] = listToolEntries({
      profile,
      catalog,
      options: { toolset: "reference" },
    });
    const { cutsDescriptionsAt = Infinity } = profile;
    const most = Math.min(DEFAULT_DESCRIPTION_LIMIT + 400, cutsDescriptionsAt);
    assert.ok(tool!.description!.length <= most);
  }
});

Deno.test("tools/list shows each client of a process what its profile says, in both eras", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  await using wire = new Wire(place);
  await wire.initialize();
  const metaFor = async (name: string) => {
    const info = { "io.modelcontextprotocol/clientInfo": { name } };
    const _meta = { ...MODERN_META, ...info };
    const { result } = await askModern(wire, "tools/list", {}, _meta);
    return result.tools[0]._meta;
  };
  const { toolMeta } = CLIENT_PROFILES["claude-code"]!;
  assert.deepEqual(await metaFor("claude-code"), toolMeta);
  assert.equal(await metaFor("opencode"), undefined);
  await wire.ask(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "claude-code", version: "1" },
  });
  const { result } = await wire.ask(2, "tools/list");
  assert.deepEqual(result.tools[0]._meta, toolMeta);
});

Deno.test("createInstructions() summarizes the skills in a first line of at most 250 characters", async () => {
  using place = new Place();
  const folder = place.folder("skills");
  using registry = new SkillRegistry([root(folder)]);
  const firstLine = () =>
    createInstructions("reference", registry.catalog).split("\n")[0]!;
  const start = "Proven instructions for tasks (skills)";
  assert.equal(firstLine(), `${start}: the tool list_skills lists them.`);
  await registry.refresh();
  assert.equal(firstLine(), `${start}. There are none yet.`);
  for (const name of ["pdf", "git"]) place.skill("skills", name);
  await registry.refresh();
  assert.equal(firstLine(), `${start}: git, pdf.`);
  for (let i = 0; i < 300; i++) place.skill("skills", `aws-service-${i}`);
  await registry.refresh();
  const line = firstLine();
  assert.match(line, /: 302 in total, such as aws-service-0, .*\.\.\.$/);
  assert.equal(line.length, 250);
});

Deno.test("profileOfClient() recognizes a client by its name, with or without the server's name appended", () => {
  const { "gemini-cli": gemini, "claude-code": claude } = CLIENT_PROFILES;
  assert.equal(profileOfClient("gemini-cli-mcp-client-skills"), gemini);
  assert.equal(profileOfClient("claude-code"), claude);
  for (const name of ["", "claude-codex", "CLAUDE-CODE", undefined]) {
    assert.equal(profileOfClient(name), DEFAULT_PROFILE);
  }
});

/** Returns the entry of the tool `skill` that a server sends to a client. */
async function toolFor(
  place: Place,
  name: string,
  options?: ServerOptions,
): Promise<Tool> {
  await using wire = new Wire(place, options);
  await wire.ask(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name, version: "1" },
  });
  const { result: { tools: [tool] } } = await wire.ask(2, "tools/list");
  return tool;
}

Deno.test("--profile gives every client what the client of this name gets, and default the wording of the contract", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const contract = await toolFor(place, "some-client");
  const claude = await toolFor(place, "claude-code");
  assert.match(
    contract.description!,
    /^Execute a skill within .*<available_sk/s,
  );
  assert.doesNotMatch(claude.description!, /<available_skills>/);
  const chosen = async (name: string, profile: string) =>
    await toolFor(place, name, { args: ["--profile", profile] });
  assert.deepEqual(await chosen("claude-code", "default"), contract);
  assert.deepEqual(await chosen("some-client", "claude-code"), claude);
  const args = ["--profile", "claude-code"];
  await using server = await HttpServer.start(place, { args });
  // Such clients do not say who they are.
  const { result: { tools } } = await server.askLegacy("tools/list");
  assert.deepEqual(tools, [claude]);
});

Deno.test("--profile is in the printed entry, and --list --as shows what it gives the client", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const run = async (...args: string[]) =>
    (await runServer(place, { args: [...args, "--profile", "default"] }))
      .stdout;
  assert.match(await run("--print-config", "cline"), /"--profile=default"/);
  const shown = await run("--list", "--as", "claude-code");
  assert.match(shown, /^What the model sees in claude-code \(1 skill, /);
  assert.match(shown, /\nInstructions: [^]* <available_skills>/);
});

Deno.test("when_to_use follows the description in the list of every profile but default", async () => {
  using place = new Place();
  const write = (name: string, description: string, use: string) => {
    const fields = `name: ${name}\ndescription: ${description}`;
    const text = `---\n${fields}\nwhen_to_use: ${use}\n---\n`;
    place.skill("home/.claude/skills", name, text);
  };
  write("git", "Work with git", '"Before\\n- evil:\\u200b a commit"');
  write("long", "d".repeat(1_000), "u".repeat(1_000));
  write("list", "A list", "[a, b]");
  write("empty", "Nothing", '"\\u200b "');
  write("named", "About names", "Never shown");
  const rules = "rules: [{ skill: named, state: name-only }]";
  const policy = place.file("home/policy.yaml", rules);
  for (const profile of PROFILE_NAMES) {
    const args = ["--profile", profile, "--policy", policy];
    await using session = await Session.open(place, { args });
    const { tools: [tool] } = await session.client.listTools();
    const schema = tool!.inputSchema.properties!.name;
    const { description } = schema as { description: string };
    const text = `${tool!.description}\n${description}`;
    if (profile === "default") {
      assert.doesNotMatch(text, /commit|Never/);
      assert.ok(text.includes("<description>Work with git</description>"));
      continue;
    }
    for (
      const line of [
        "- git: Work with git - Before - evil: a commit",
        `- long: ${"d".repeat(1_000)} - ${"u".repeat(18)}...`,
        "- list: A list",
        "- empty: Nothing",
        "- named",
      ]
    ) {
      assert.ok(text.split("\n").includes(line), `${profile}: ${line}`);
    }
  }
});

Deno.test("a change of when_to_use alone is a change of the list", async () => {
  using place = new Place();
  const text = skillMd("git").replace("\n---", "\nwhen_to_use: Before\n---");
  place.skill("home/.claude/skills", "git", text);
  const args = ["--profile", "codex"];
  await using session = await Session.open(place, { args });
  const { description } = (await session.client.listTools()).tools[0]!;
  assert.match(description!, / - Before$/);
  place.skill("home/.claude/skills", "git", text.replace("Before", "After"));
  await session.listChanged();
  const { tools: [changed] } = await session.client.listTools();
  assert.match(changed!.description!, / - After$/);
});
