import assert from "node:assert/strict";
import { configMessage } from "./client_config.ts";
import { type ClientName, MCP_CLIENTS, type McpClient } from "./clients.ts";
import { parseCommandLine } from "./command_line.ts";
import {
  assertMisuse,
  configFor,
  parseConfig,
  SECTIONS,
} from "../../tests/testing/command_line.ts";
import { Place } from "../../tests/testing/folders.ts";
import { runServer } from "../../tests/testing/server.ts";

const CLIENTS: readonly [string, McpClient][] = Object.entries(MCP_CLIENTS);

/** The field of the URL and the value of the token in a remote server's configuration, by client. */
const REMOTE_FIELDS: Readonly<Record<string, [string, string]>> = {
  "claude-code": ["url", "${SKILL_SERVER_TOKEN}"],
  "cursor": ["url", "${env:SKILL_SERVER_TOKEN}"],
  "vscode": ["url", "${input:skill-server-token}"],
  "opencode": ["url", "{env:SKILL_SERVER_TOKEN}"],
  "gemini-cli": ["httpUrl", "$SKILL_SERVER_TOKEN"],
  "copilot": ["url", "${SKILL_SERVER_TOKEN}"],
  "cline": ["url", "<token>"],
  "qwen-code": ["httpUrl", "$SKILL_SERVER_TOKEN"],
  "kilo": ["url", "{env:SKILL_SERVER_TOKEN}"],
  "goose": ["uri", "${SKILL_SERVER_TOKEN}"],
  "windsurf": ["url", "<token>"],
  "zed": ["url", "<token>"],
  "lm-studio": ["url", "<token>"],
  "kiro": ["url", "${SKILL_SERVER_TOKEN}"],
};

/** Asserts that a configuration connects to a URL and sends a token. */
function assertConnects(name: string, text: string): void {
  if (name === "codex") {
    assert.ok(text.endsWith(
      `url = "${REMOTE_URL}"\nbearer_token_env_var = "SKILL_SERVER_TOKEN"\n`,
    ));
    return;
  }
  const entry = parseConfig(text)[SECTIONS[name] ?? "mcpServers"]!.skills!;
  if (name === "claude-desktop") {
    assert.deepEqual(entry, {
      command: "npx",
      args: [
        "-y",
        "mcp-remote",
        REMOTE_URL,
        "--header",
        "Authorization:${AUTH}",
      ],
      env: { AUTH: "Bearer <token>" },
    });
    return;
  }
  const { fields }: McpClient = MCP_CLIENTS[name as ClientName];
  assert.deepEqual({ ...entry, ...fields }, entry);
  const [urlField, token] = REMOTE_FIELDS[name]!;
  assert.equal(entry[urlField], REMOTE_URL);
  assert.deepEqual(entry.headers, { Authorization: `Bearer ${token}` });
  if (name === "vscode") assert.match(text, /"id": "skill-server-token"/);
}

const REMOTE_URL = "https://skills.example.com/mcp";

for (const [name, { title, token, urlNote }] of CLIENTS) {
  Deno.test(`createClientConfig() configures a connection of ${name} to a URL`, () => {
    const create = (url: string) => configFor(name, "--url", url);
    const { text, notes, title: place } = create(REMOTE_URL);
    assertConnects(name, text);
    if (urlNote !== undefined) assert.ok(notes.includes(urlNote));
    assert.match(place, /^Add this to the configuration of /);
    assert.match(
      notes.join("\n"),
      token === undefined
        ? /^Replace <token> with the token of the server/m
        : new RegExp(`^${title} (?:reads|asks for) the token`),
    );
    // A server on this machine needs no token.
    const local = create("http://localhost:8000/mcp");
    assert.ok(local.text.includes('"http://localhost:8000/mcp"'));
    assert.doesNotMatch(local.text + configMessage(local), /token/i);
  });
}

Deno.test("--print-config claude-code --url prints the configuration, and where the token comes from", async () => {
  using place = new Place();
  const args = ["--print-config", "claude-code", "--url", REMOTE_URL];
  const { code, stdout, stderr } = await runServer(place, { args });
  assert.equal(code, 0);
  assertConnects("claude-code", stdout);
  const paragraphs = stderr.trim().split("\n\n");
  assert.match(paragraphs[0]!, /^Claude Code reads the token /);
  assert.match(paragraphs[1]!, /^Run this command /);
  assert.match(paragraphs[2]!, /^(?:cmd \/c ')?claude mcp add-json /);
  assert.match(paragraphs[3]!, /^Or add this /);
  for (const index of [0, 1, 3]) {
    for (const line of paragraphs[index]!.split("\n")) {
      assert.ok(line.length <= 80, line);
    }
  }
  // This client has no command.
  assert.match(
    configMessage(configFor("cursor", "--url", REMOTE_URL)),
    /\n\nAdd this to the configuration\sof\sCursor [^]*:\n\n$/,
  );
});

Deno.test("--url requires a URL and --print-config", () => {
  for (const url of ["skills.example.com/mcp", "ftp://example.com"]) {
    assertMisuse(() => configFor("cursor", "--url", url), /^Invalid --url "/);
  }
  assertMisuse(
    () => parseCommandLine(["--url", REMOTE_URL]),
    "--url requires --print-config",
  );
});

Deno.test("--url is completed if it has no path, and remarked on if it does not end in /mcp", () => {
  const urlOf = (url: string) => {
    const { text, notes } = configFor("cursor", "--url", url);
    const entry = parseConfig(text).mcpServers!.skills!;
    return [entry.url, notes.filter((note) => note.includes("/mcp"))];
  };
  const host = "http://localhost:8000";
  const remark = `Clients connect to /mcp, so the URL is ${host}/mcp.`;
  assert.deepEqual(urlOf(host), [`${host}/mcp`, [remark]]);
  assert.deepEqual(urlOf(`${host}/`), [`${host}/mcp`, [remark]]);
  assert.deepEqual(urlOf(`${host}/mcp`), [`${host}/mcp`, []]);
  assert.deepEqual(urlOf(`${host}/team/mcp?a=1`), [
    `${host}/team/mcp?a=1`,
    [],
  ]);
  assert.deepEqual(urlOf(`${host}/skills`), [`${host}/skills`, [
    `The server expects clients at /mcp. Check that ${host}/skills leads there.`,
  ]]);
});

Deno.test("--url warns about text that a client would change", () => {
  const url = "https://example.com/$HOME/mcp";
  const { notes } = configFor("gemini-cli", "--url", url);
  assert.ok(
    notes.some((note) =>
      note.startsWith(`Cannot configure Gemini CLI with "${url}"`)
    ),
  );
});
