import assert from "node:assert/strict";
import type { Tool } from "npm:@modelcontextprotocol/server@^2.4.0";
import { type SkillCatalog, SkillRegistry } from "../../mod.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { HttpServer } from "../../tests/testing/http.ts";
import { root, scansOf } from "../../tests/testing/registry.ts";
import { type ServerOptions, Wire } from "../../tests/testing/server.ts";
import {
  CLIENT_PROFILES,
  type ClientProfile,
  DEFAULT_PROFILE,
  profileOfClient,
  profileOfOption,
} from "./profiles.ts";
import { listToolEntries } from "./tools.ts";
import { createInstructions } from "./instructions.ts";

Deno.test("createInstructions() summarizes the skills in a first line of at most 250 characters", async () => {
  using place = new Place();
  const folder = place.folder("skills");
  using registry = new SkillRegistry([root(folder)]);
  const firstLine = () =>
    createInstructions("reference", registry.catalog).split("\n")[0]!;
  const start = "Instructions for tasks (skills)";
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
  await wire.initialize(name);
  const { result: { tools: [tool] } } = await wire.ask(1, "tools/list");
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

/** Returns the texts of the tool `skill` that list the skills of a catalog. */
function listFor(
  profile: ClientProfile,
  catalog: SkillCatalog,
): string {
  const options = { toolset: "skill" } as const;
  const [tool] = listToolEntries({ profile, catalog, options });
  const name = tool!.inputSchema.properties!.name as { description: string };
  return `${tool!.description}\n${name.description}`;
}

Deno.test("skills that a client lists itself are described, too, if its own list has no room for all of them", async () => {
  using place = new Place();
  const own = place.folder("skills");
  // Of 20,000 characters, each takes 200.
  const add = (index: number) => {
    const name = `skill-${index}`.padEnd(20, "x");
    place.skill("skills", name, skillMd(name, "d".repeat(180)));
  };
  for (let index = 0; index < 100; index++) add(index);
  place.skill("skills", "quiet", skillMd("quiet", "Never shown"));
  // What a policy makes name-only stays so.
  const rules = [{ skill: "quiet", state: "name-only" as const }];
  const options = { nameOnlyFolders: [own], policy: { rules } };
  const scan = scansOf([root(own)], options);
  const countDescribed = async (profile: string) => {
    const text = listFor(profileOfOption(profile), await scan());
    assert.doesNotMatch(text, /Never shown/);
    return text.match(/d{20}/g)?.length ?? 0;
  };
  assert.equal(await countDescribed("claude-code"), 0);
  assert.equal(await countDescribed("default"), 0);
  add(100);
  assert.ok(await countDescribed("claude-code") >= 101);
  assert.equal(await countDescribed("default"), 0);
  assert.equal(await countDescribed("opencode"), 0);
});
