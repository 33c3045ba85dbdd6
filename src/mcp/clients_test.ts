import assert from "node:assert/strict";
import type { Tool } from "npm:@modelcontextprotocol/server@^2.4.0";
import { SkillRegistry } from "../../mod.ts";
import { Place } from "../../tests/testing/folders.ts";
import { HttpServer } from "../../tests/testing/http.ts";
import { read } from "../../tests/testing/pages.ts";
import { root } from "../../tests/testing/registry.ts";
import { type ServerOptions, Wire } from "../../tests/testing/server.ts";
import {
  CLIENT_NAMES,
  CLIENTS,
  DEFAULT_PROFILE,
  profileOfClient,
} from "./clients.ts";
import { createInstructions } from "./instructions.ts";

const PAGE = "docs/clients.md";

Deno.test("createInstructions() summarizes the skills in a first line of at most 250 characters", async () => {
  using place = new Place();
  const dir = place.dir("skills");
  using registry = new SkillRegistry([root(dir)]);
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
  const gemini = CLIENTS["gemini-cli"].profile;
  const claude = CLIENTS["claude-code"].profile;
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

/** Returns the rows of the table below a heading of a page, without its head. */
function tableIn(page: string, heading: string): string[][] {
  const [, text = ""] = read(page).split(`\n## ${heading}\n`);
  const [, , ...rows] = text.split("\n## ")[0]!.split("\n")
    .filter((line) => line.startsWith("|"));
  return rows.map((row) =>
    row.split("|").slice(1, -1).map((cell) => cell.trim())
  );
}

/** Says how much of a text a client keeps. */
function kept(length: number): string {
  if (length === 0) return "not shown";
  return length === Infinity
    ? "whole"
    : `first ${length.toLocaleString("en")} characters`;
}

Deno.test("docs/clients.md says what each client shows its model, and what was measured when", () => {
  const rows = CLIENT_NAMES.flatMap((name) => {
    const { title, profile, fields = {} } = CLIENTS[name];
    if (profile?.measured === undefined) return [];
    const { measured, searchesTools, cutsDescriptionsAt = Infinity } = profile;
    const key = Object.keys(fields).find((it) => it.startsWith("alwaysLoad"));
    const entry = key === undefined ? "immediately" : `with \`${key}\``;
    const { lists, results } = measured;
    return [[
      title,
      `\`${profile.clientName}\``,
      searchesTools ? "after a search" : entry,
      kept(cutsDescriptionsAt),
      kept(profile.keepsInstructionsTo),
      lists,
      results === undefined ? "not measured" : kept(profile.keepsResultsTo),
      results ?? "",
    ]];
  });
  assert.deepEqual(tableIn(PAGE, "What their models see"), rows);
});

Deno.test("docs/clients.md says which skills each client lists itself", () => {
  const rows = CLIENT_NAMES.flatMap((name) => {
    const { title, ownSkills, ownList } = CLIENTS[name];
    const dirs = ownSkills?.map((dir) => `\`${dir}\``).join(", ");
    return dirs === undefined ? [] : [[title, dirs, ownList]];
  });
  assert.deepEqual(tableIn(PAGE, "Clients that list skills"), rows);
});

Deno.test("docs/clients.md names the configuration files of each client", () => {
  const rows = CLIENT_NAMES.map((name) => {
    const { title, file, projectFile } = CLIENTS[name];
    const inProject = projectFile === undefined ? "" : `\`${projectFile}\``;
    return [title, `\`${name}\``, `\`${file}\``, inProject];
  });
  assert.deepEqual(tableIn(PAGE, "Configuration files"), rows);
});

Deno.test("docs/clients.md says which clients drop prompts with an embedded resource", () => {
  const [drops = ""] = /^- .*\s.*drop prompts that/m.exec(read(PAGE)) ?? [];
  for (const name of CLIENT_NAMES) {
    const { title, profile } = CLIENTS[name];
    const isNamed = drops.includes(title);
    assert.equal(isNamed, profile?.dropsEmbeddedResources === true, title);
  }
});
