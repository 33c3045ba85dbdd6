// What is printed for each client, and what the documentation says about it.
import assert from "node:assert/strict";
import { join } from "../../fs/paths.ts";
import { MCP_CLIENTS, type McpClient } from "./clients.ts";
import { CLIENT_PROFILES, profileOfOption } from "../../mcp/profiles.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  MAX_SUMMARY_LENGTH,
} from "../../mcp/lists.ts";
import { CLIENT_NAMES, type ClientName } from "../../program/command_line.ts";
import type { Program } from "../../program/running_program.ts";
import { createLaunch } from "./launch.ts";
import {
  configFor,
  NPX_PROGRAM,
  PROGRAM,
  settingsFor,
} from "../../../tests/testing/command_line.ts";
import { REPOSITORY } from "../../../tests/testing/environment.ts";
import { lacks } from "../../../tests/testing/needs.ts";
import { read } from "../../../tests/testing/pages.ts";

const CLIENTS_PAGE = read("docs/clients.md");
const PROTOCOL_PAGE = read("docs/protocol.md");

/** Returns what a command prints, after the command. */
function print(args: readonly string[], program: Program = PROGRAM): string {
  const [client, ...rest] = args;
  const config = configFor(client!, { args: rest, program, home: "/home/me" });
  const command = `## skill-server --print-config ${args.join(" ")}`;
  return `${command}\n${config.message}${config.text}`;
}

/** Returns which lines another program prints than the usual one, after the command. */
function printDifference(client: string, program: Program): string {
  const [command = "", ...usual] = print([client]).split("\n");
  const [, ...lines] = print([client], program).split("\n");
  const missing = usual.filter((line) => !lines.includes(line));
  const added = lines.filter((line) => !usual.includes(line));
  return [
    command,
    ...missing.map((line) => `- ${line}`),
    ...added.map((line) => `+ ${line}`),
    "",
  ].join("\n");
}

/** Returns what is printed for each client, and what differs on other systems. */
function printAll(): string {
  const url = ["--url", "https://skills.example.com/mcp"];
  const windows: Program = {
    ...PROGRAM,
    executable: String.raw`C:\Users\Jörg Müller\.deno\bin\deno.exe`,
    os: "windows",
  };
  return [
    ...CLIENT_NAMES.flatMap((name) =>
      MCP_CLIENTS[name].urlEntry === undefined
        ? [print([name])]
        : [print([name]), print([name, ...url])]
    ),
    "# With a Deno that npx downloaded, these lines differ\n",
    printDifference("cursor", NPX_PROGRAM),
    "# On Windows, these lines differ\n",
    ...["claude-code", "codex", "cursor", "vscode"]
      .map((name) => printDifference(name, windows)),
    "# On macOS, these lines differ\n",
    printDifference("vscode", { ...PROGRAM, os: "darwin" }),
  ].join("\n");
}

Deno.test(
  "--print-config prints what tests/golden/clients.txt shows (to update it, set UPDATE=1)",
  { ignore: lacks("sh") },
  () => {
    const file = join(REPOSITORY, "tests", "golden", "clients.txt");
    if (Deno.env.has("UPDATE")) Deno.writeTextFileSync(file, printAll());
    assert.equal(printAll(), read("tests/golden/clients.txt"));
  },
);

Deno.test(
  "docs/clients.md shows the entry for Claude Code",
  { ignore: lacks("sh") },
  () => {
    const { text } = configFor("claude-code");
    assert.ok(CLIENTS_PAGE.includes(`\`\`\`json\n${text}\`\`\`\n`));
  },
);

Deno.test("docs/clients.md names the configuration files of each client", () => {
  for (const name of CLIENT_NAMES) {
    const { title, file, projectFile = "" } = MCP_CLIENTS[name];
    const [, table] = CLIENTS_PAGE.split("## Configuration files");
    const row = table!.split("\n")
      .find((line) => line.startsWith(`| ${title} `)) ?? title;
    for (const text of [name, file, projectFile]) {
      assert.ok(text === "" || row.includes(`\`${text}\``), `${row}: ${text}`);
    }
  }
});

/** Finds the row of a client, with any version, in the section of a page. */
function rowOf(title: string, page: string, section: string): string {
  const [, text = ""] = page.split(`\n## ${section}\n`);
  const [rest] = text.split("\n## ");
  return rest!.split("\n").find((line) =>
    line.startsWith("| ") &&
    line.split("|")[1]!.split(",").some((cell) =>
      cell.replace(/[¹²³⁴]|(?<= )[\d.]+/g, "").trim() === title
    )
  ) ?? "";
}

Deno.test("docs/clients.md says which skills each client lists itself, and who replaces what", () => {
  const isNamed = ({ title }: McpClient, text: string | undefined) =>
    text?.replaceAll(/\s+/g, " ").includes(title) === true;
  const [nameOnly] = /adds\s+`--name-only`\s+for[^]*?:/.exec(CLIENTS_PAGE) ??
    [];
  const [agents] = /adds\s+`--agents`\s+for[^;]*/.exec(CLIENTS_PAGE) ?? [];
  const [variables] = /An entry is refused[^]*?\n\n/.exec(CLIENTS_PAGE) ?? [];
  for (const [name, client] of Object.entries(MCP_CLIENTS)) {
    const { title, ownSkills = [], shows } = client;
    const readsAgents = shows !== undefined ||
      ownSkills.includes(".agents/skills") || title === "Cline";
    const { ownListSize } = profileOfOption(name);
    const describesAgents = shows !== undefined ||
      (ownSkills.includes(".agents/skills") && ownListSize === undefined);
    const row = rowOf(
      title,
      CLIENTS_PAGE,
      "Skills that clients read themselves",
    );
    const folders = row.split("|")[2] ?? "";
    const privateFolders = row.split("|")[3]?.replaceAll("(s)", "s") ?? "";
    assert.equal(folders.includes("`.agents/skills`"), readsAgents, title);
    for (const folder of ownSkills) {
      const cell = /^(?:\.\/)?\.(?:claude|agents)\//.test(folder)
        ? folders
        : privateFolders;
      assert.ok(cell.includes(`${folder}\``), `${title}: ${folder}`);
    }
    assert.equal(isNamed(client, agents), !describesAgents, title);
    assert.equal(isNamed(client, nameOnly), ownSkills.length > 0, title);
    const replaces = client.variables !== undefined;
    assert.equal(isNamed(client, variables), replaces, title);
  }
});

Deno.test("docs/clients.md says how much clients show, as the limits of the lists do", () => {
  const section = "Before the model calls a tool";
  const shown = (length: number) => `${length.toLocaleString("en")} characters`;
  const instructions = rowOf("Codex", CLIENTS_PAGE, section);
  assert.ok(instructions.includes(`first ${shown(MAX_SUMMARY_LENGTH)}`));
  assert.ok(
    CLIENTS_PAGE.includes(`within ${shown(DEFAULT_DESCRIPTION_LIMIT)}`),
  );
  const { cutsDescriptionsAt } = CLIENT_PROFILES["claude-code"]!;
  const cut = /and cuts at ([\d,]+)\)/.exec(CLIENTS_PAGE)?.[1];
  assert.equal(cut, cutsDescriptionsAt!.toLocaleString("en"));
});

/** Says that a client shows the first characters of a text. */
function firstOf(length: number): string {
  return `first ${length.toLocaleString("en")} characters`;
}

/** The comment that says what was measured. */
const MEASUREMENTS = read("src/mcp/profiles.ts").split("*/")[0]!;

/** How the page says what a client shows of the instructions. */
const INSTRUCTIONS = {
  "whole": /whole|first 4,096/,
  "first line": /first 250/,
  "none": /not shown/,
};

Deno.test("docs/clients.md and docs/protocol.md say of each client that has a profile what is in it", () => {
  const [drops = ""] = /^- .*\s.*drop prompts that/m.exec(PROTOCOL_PAGE) ?? [];
  for (const [name, profile] of Object.entries(CLIENT_PROFILES)) {
    const { title } = MCP_CLIENTS[name as ClientName];
    const { clientName, searchesTools = false } = profile;
    const row = rowOf(title, PROTOCOL_PAGE, "Known clients");
    assert.ok(row.includes(`\`${clientName}`), `${title}: ${clientName}`);
    const cells = rowOf(title, CLIENTS_PAGE, "Before the model calls a tool")
      .split("|").map((cell) => cell.trim());
    assert.equal(cells[2] === "after a search", searchesTools, title);
    assert.match(cells[5] ?? "", INSTRUCTIONS[profile.instructions], title);
    const { cutsDescriptionsAt: cut } = profile;
    const [tool = "", parameter = ""] = [cells[3], cells[4]];
    const isSaid = cut !== undefined && (tool.includes(firstOf(cut)) ||
      CLIENTS_PAGE.includes(`cuts at ${cut.toLocaleString("en")})`));
    assert.equal(/^first \d/.test(tool), isSaid, `${title}: ${tool}`);
    if (cut !== undefined) assert.equal(parameter, "whole", title);
    assert.ok(MEASUREMENTS.includes(title.replace(" Code", "")), title);
    const dropsResources = profile.dropsEmbeddedResources === true;
    assert.equal(drops.includes(title), dropsResources, title);
  }
});

/** Decodes a link as its client does. Returns the entry. */
function decode(link: string): Record<string, unknown> {
  const { searchParams } = new URL(link);
  const url = searchParams.get("url");
  if (url === null) return JSON.parse(atob(searchParams.get("config")!));
  const { name, ...entry } = JSON.parse(
    decodeURIComponent(url.replace("vscode:mcp/install?", "")),
  );
  assert.equal(name, "skills");
  return entry;
}

/** The links that install the server, by client. */
const LINKS = {
  "vscode": /https:\/\/insiders\.vscode\.dev\/redirect\?[^\s)]+/g,
  "cursor": /https:\/\/cursor\.com\/en\/install-mcp\?[^\s)]+/g,
};

for (const [name, pattern] of Object.entries(LINKS)) {
  Deno.test(
    `the link in docs/clients.md adds to ${name} what --print-config prints`,
    { ignore: lacks("sh") },
    () => {
      const settings = { ...settingsFor(), home: "${userHome}" };
      const program = { ...PROGRAM, executable: "deno" };
      const launch = createLaunch(program, settings);
      const entry = MCP_CLIENTS[name as ClientName].entry!(launch);
      const links = [...CLIENTS_PAGE.matchAll(pattern)].map(([link]) => link);
      assert.equal(links.length, 1);
      assert.deepEqual(decode(links[0]!), entry);
    },
  );
}
