import assert from "node:assert/strict";
import { read } from "../../tests/testing/docs.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { runServer } from "../../tests/testing/server.ts";
import { join } from "../fs/paths.ts";
import {
  CLIENT_NAMES,
  type ClientName,
  CLIENTS,
  DEFAULT_PROFILE,
  profileFor,
} from "./clients.ts";

const withShAndLinks = needs("sh", "links");

const PAGE = "docs/clients.md";

Deno.test("profileFor() returns the profile that --profile names, or else the client's", () => {
  const gemini = CLIENTS["gemini-cli"].profile;
  const claude = CLIENTS["claude-code"].profile;
  const cases = [
    ["gemini-cli-mcp-client-skills", undefined, gemini],
    ["claude-code", undefined, claude],
    ["claude-codex", undefined, DEFAULT_PROFILE],
    ["CLAUDE-CODE", undefined, DEFAULT_PROFILE],
    [undefined, undefined, DEFAULT_PROFILE],
    ["claude-code", "default", DEFAULT_PROFILE],
    ["some-client", "claude-code", claude],
    // Older clients over HTTP do not say who they are.
    [undefined, "claude-code", claude],
  ] as const;
  for (const [client, profile, expected] of cases) {
    assert.equal(profileFor({ profile }, client), expected, client);
  }
});

/** Returns the rows of the table below a heading, without its head. */
function tableIn(heading: string): string[][] {
  const [, text = ""] = read(PAGE).split(`\n## ${heading}\n`);
  const [, , ...rows] = text.split("\n## ")[0]!.split("\n")
    .filter((line) => line.startsWith("|"));
  return rows.map((row) =>
    row.split("|").slice(1, -1).map((cell) => cell.trim())
  );
}

/** Says how much of a text a client keeps. */
function kept(length: number, unit = "characters"): string {
  if (length === 0) return "not shown";
  return length === Infinity
    ? "whole"
    : `first ${length.toLocaleString("en")} ${unit}`;
}

/** The row of a client in each table of the page, unless it has none. */
const TABLES: Record<string, (client: ClientName) => unknown[] | undefined> = {
  "What models see": (name) => {
    const { title, profile, fields = {} } = CLIENTS[name];
    if (profile?.measured === undefined) return undefined;
    const { measured, searchesTools } = profile;
    const key = Object.keys(fields).find((it) => it.startsWith("alwaysLoad"));
    const entry = key === undefined ? "immediately" : `with \`${key}\``;
    const { lists, results } = measured;
    const versions = [lists, results].flatMap((it) => it?.split(",")[0] ?? []);
    return [
      title,
      searchesTools ? "after a search" : entry,
      kept(profile.keepsInstructionsTo),
      results === undefined ? "not measured" : kept(
        profile.keepsResultsTo,
        profile.countsBytes ? "bytes" : undefined,
      ),
      [...new Set(versions)].join(", "),
    ];
  },
  "Clients that read skills": (name) => {
    const { title, ownSkills, ownList } = CLIENTS[name];
    const dirs = ownSkills?.map((dir) => `\`${dir}\``).join(", ");
    return dirs === undefined ? undefined : [title, dirs, ownList];
  },
  "Configuration files": (name) => {
    const { title, file, projectFile } = CLIENTS[name];
    const inProject = projectFile === undefined ? "" : `\`${projectFile}\``;
    return [title, `\`${name}\``, `\`${file}\``, inProject];
  },
};

Deno.test("the tables of docs/clients.md say what the server knows of each client", () => {
  for (const [heading, rowOf] of Object.entries(TABLES)) {
    const rows = CLIENT_NAMES.map(rowOf).filter((row) => row !== undefined);
    assert.deepEqual(tableIn(heading), rows);
  }
});

Deno.test("docs/clients.md says which clients drop prompts with an embedded resource", () => {
  const [drops = ""] = /^- .*\s.*drop prompts that/m.exec(read(PAGE)) ?? [];
  for (const name of CLIENT_NAMES) {
    const { title, profile } = CLIENTS[name];
    const isNamed = drops.includes(title);
    assert.equal(isNamed, profile?.dropsEmbeddedResources === true, title);
  }
});

withShAndLinks.test("each link in docs/clients.md shows the skills of one client to the other", async () => {
  const commands = read("docs/clients.md").matchAll(
    /^ *(mkdir -p .* && ln -s (\S+) \S+)$/gm,
  );
  const links = [...commands];
  assert.equal(links.length, 2);
  for (const [, command, source] of links) {
    using place = new Place();
    place.skill(source!.replace("~", "home"), "git");
    const { success } = await new Deno.Command("sh", {
      args: ["-c", command!],
      env: { HOME: place.home },
    }).output();
    assert.ok(success, command);
    for (const dir of [".claude/skills", ".agents/skills"]) {
      const path = join(place.home, dir);
      const { stdout } = await runServer(place, { args: ["--list", path] });
      assert.match(stdout, /^ {2}git +1 file/m);
    }
  }
});
