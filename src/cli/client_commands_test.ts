import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import { type ClientConfig, createClientConfig } from "./client_config.ts";
import { type ClientName, MCP_CLIENTS, type McpClient } from "./clients.ts";
import type { Launch } from "./launch.ts";
import {
  configFor,
  parseConfig,
  parseLaunch,
  settingsFor,
} from "../../tests/testing/command_line.ts";
import { Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { runServer } from "../../tests/testing/server.ts";

const CLIENTS: readonly [string, McpClient][] = Object.entries(MCP_CLIENTS);

/** Clients whose configurations differ in format. The program prints them, and the servers are started. */
const PRINTED_CLIENTS = ["claude-code", "codex"];

/**
 * Runs a command in a POSIX shell, with a stand-in for the program that it starts.
 * Returns the arguments that the program received.
 */
async function argumentsOf(
  command: string,
  { program, place }: { program: string; place: Place },
): Promise<string[]> {
  const script = '#!/bin/sh\nprintf "%s\\0" "$@"\n';
  Deno.chmodSync(place.file(`bin/${program}`, script), 0o755);
  const path = `${join(place.path, "bin")}:${Deno.env.get("PATH")}`;
  const { success, stdout } = await new Deno.Command("sh", {
    args: ["-c", command],
    env: { PATH: path },
  }).output();
  assert.ok(success);
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

/** The words of the command that adds a server, by client. */
const COMMANDS: Readonly<
  Record<string, (launch: Launch) => [string, ...string[]]>
> = {
  "codex": (
    { command, args },
  ) => ["codex", "mcp", "add", "skills", "--", command, ...args],
  "opencode": (
    { command, args },
  ) => ["opencode", "mcp", "add", "skills", "--", command, ...args],
  "kilo": (
    { command, args },
  ) => ["kilo", "mcp", "add", "skills", "--", command, ...args],
  "copilot": (
    { command, args },
  ) => ["copilot", "mcp", "add", "skills", "--", command, ...args],
  "cline": (
    { command, args },
  ) => ["cline", "mcp", "install", "--yes", "skills", "--", command, ...args],
  "gemini-cli": (
    { command, args },
  ) => [
    "gemini",
    "mcp",
    "add",
    "--scope",
    "user",
    "skills",
    command,
    "--",
    ...args,
  ],
  "qwen-code": (
    { command, args },
  ) => [
    "qwen",
    "mcp",
    "add",
    "--scope",
    "user",
    "skills",
    command,
    "--",
    ...args,
  ],
  "claude-code": (launch) => [
    ...["claude", "mcp", "add-json", "--scope", "user", "skills"] as const,
    JSON.stringify({ type: "stdio", ...launch, alwaysLoad: true }),
  ],
  "vscode": (launch) => [
    ...["code", "--add-mcp"] as const,
    JSON.stringify({ name: "skills", type: "stdio", ...launch }),
  ],
};

/** A name that every shell must quote. */
const ODD_NAME = `it's "a" $HOME & \`b\` \\ é`;

for (const [client, { addCommand }] of CLIENTS) {
  Deno.test(
    `createClientConfig() returns an equivalent command for ${client} if the client has one`,
    {
      ignore: lacks("sh"),
    },
    async () => {
      using place = new Place();
      const { text, commandTitle, command } = configFor(
        client,
        "--skill-dir",
        resolve("/", ODD_NAME),
      );
      assert.equal(addCommand !== undefined, client in COMMANDS);
      if (addCommand === undefined) {
        assert.deepEqual([command, commandTitle], [undefined, undefined]);
        return;
      }
      assert.match(commandTitle!, /^Run this command in a terminal/);
      const [program, ...words] = COMMANDS[client]!(parseLaunch(text));
      assert.deepEqual(await argumentsOf(command!, { program, place }), words);
    },
  );
}

for (const client of PRINTED_CLIENTS) {
  Deno.test(
    `--print-config ${client} prints an equivalent command between blank lines`,
    {
      ignore: lacks("sh"),
    },
    async () => {
      using place = new Place();
      const folder = place.folder(ODD_NAME);
      const args = ["--print-config", client, "--skill-dir", folder];
      const { stdout, stderr } = await runServer(place, { args });
      const [program, ...words] = COMMANDS[client]!(parseLaunch(stdout));
      const paragraphs = stderr.trim().split("\n\n");
      const index = paragraphs.findIndex((text) => text.startsWith("Run this"));
      const command = paragraphs[index + 1]!;
      assert.deepEqual(await argumentsOf(command, { program, place }), words);
    },
  );
}

Deno.test("createClientConfig() reports what the client's command omits", () => {
  assert.match(
    configFor("qwen-code").commandTitle!,
    /^Run .* and then add "alwaysLoadTools": true to the entry in ".*settings\.json"$/,
  );
  assert.match(configFor("codex").commandTitle!, /^Run this command in [^,]*$/);
});

Deno.test("createClientConfig() escapes hidden characters in a command that takes JSON", () => {
  const folder = resolve("/a\ufe0fb");
  const commandFor = (client: string) =>
    configFor(client, "--skill-dir", folder).command;
  assert.match(commandFor("claude-code")!, /a\\+ufe0fb/);
  assert.equal(commandFor("codex"), undefined);
});

const REMOTE_URL = "https://skills.example.com/mcp";

/** The words of the command that connects a client to a URL, as its own help documents them. */
const REMOTE_COMMANDS: Readonly<Record<string, string[]>> = {
  "codex": [
    ...["codex", "mcp", "add", "skills", "--url", REMOTE_URL],
    ...["--bearer-token-env-var", "SKILL_SERVER_TOKEN"],
  ],
  "opencode": [
    ...["opencode", "mcp", "add", "skills", "--url", REMOTE_URL],
    ...["--header", "Authorization=Bearer {env:SKILL_SERVER_TOKEN}"],
  ],
  "kilo": [
    ...["kilo", "mcp", "add", "skills", "--url", REMOTE_URL],
    ...["--header", "Authorization=Bearer {env:SKILL_SERVER_TOKEN}"],
  ],
  "gemini-cli": [
    ...["gemini", "mcp", "add", "--scope", "user", "--transport", "http"],
    ...["skills", REMOTE_URL],
    ...["--header", "Authorization: Bearer $SKILL_SERVER_TOKEN"],
  ],
  "qwen-code": [
    ...["qwen", "mcp", "add", "--scope", "user", "--transport", "http"],
    ...["skills", REMOTE_URL],
    ...["--header", "Authorization: Bearer $SKILL_SERVER_TOKEN"],
  ],
  "copilot": [
    ...["copilot", "mcp", "add", "--transport", "http"],
    ...["--header", "Authorization: Bearer ${SKILL_SERVER_TOKEN}"],
    ...["skills", REMOTE_URL],
  ],
  "cline": [
    ...["cline", "mcp", "install", "--yes", "--transport", "streamableHttp"],
    ...["--header", "Authorization: Bearer <token>", "skills", REMOTE_URL],
  ],
};

for (const [client, { addUrlCommand, section = "mcpServers" }] of CLIENTS) {
  if (addUrlCommand === undefined) continue;
  Deno.test(
    `createClientConfig() returns the command that connects ${client} to a URL`,
    {
      ignore: lacks("sh"),
    },
    async () => {
      using place = new Place();
      const { text, command } = configFor(client, "--url", REMOTE_URL);
      const words = REMOTE_COMMANDS[client];
      const program = words?.[0] ?? (client === "vscode" ? "code" : "claude");
      const received = await argumentsOf(command!, { program, place });
      if (words !== undefined) {
        assert.deepEqual(received, words.slice(1));
        return;
      }
      // These two take the entry as JSON.
      const { name, inputs, ...entry } = JSON.parse(received.at(-1)!);
      const config = parseConfig(text);
      assert.deepEqual(entry, config[section]!.skills);
      if (client === "vscode") {
        assert.deepEqual([name, inputs], ["skills", config.inputs]);
      }
    },
  );
}

/** A program on Windows, of a user whose home folder needs quotes everywhere. */
const WINDOWS_HOME = String.raw`C:\Users\Jörg Müller`;

function windowsConfig(
  client: string,
  { shell, args = [] }: { shell: "cmd" | "powershell"; args?: string[] },
): ClientConfig {
  const variables: Record<string, string> = {
    APPDATA: String.raw`${WINDOWS_HOME}\AppData\Roaming`,
    ...(shell === "cmd" && { PROMPT: "$P$G" }),
  };
  const settings = settingsFor("--print-config", client, ...args);
  return createClientConfig(client as ClientName, {
    ...settings,
    home: WINDOWS_HOME,
  }, {
    executable: String.raw`${WINDOWS_HOME}\.deno\bin\deno.exe`,
    mainModule: "jsr:@skill-server/skill-server",
    importMap: undefined,
    os: "windows",
    variable: (name) => variables[name],
    folder: String.raw`C:\code`,
  });
}

for (const [client, { addCommand, expands }] of CLIENTS) {
  Deno.test(`createClientConfig() writes Windows paths for ${client}, also with blanks and umlauts`, () => {
    const config = windowsConfig(client, { shell: "powershell" });
    const { command, args } = parseLaunch(config.text);
    assert.equal(command, String.raw`${WINDOWS_HOME}\.deno\bin\deno.exe`);
    assert.ok(
      args[1]!.startsWith(`--allow-read=`) && args[1]!.includes(WINDOWS_HOME),
    );
    assert.match(config.title, /"C:\\Users\\Jörg Müller\\[^"/]*"/);
    assert.equal(expands?.test(WINDOWS_HOME) ?? false, false);
    assert.equal(config.command !== undefined, addCommand !== undefined);
  });
}

/** Runs a command in the Command Prompt. See {@linkcode argumentsOf}. */
async function argumentsInCmd(
  command: string,
  { program, place }: { program: string; place: Place },
): Promise<string[]> {
  const script = place.file(
    "bin/print.js",
    "console.log(JSON.stringify(Deno.args))",
  );
  // As npm does for the programs that it installs.
  const batch = `@"${Deno.execPath()}" run "${script}" %*\r\n`;
  place.file(`bin/${program}.cmd`, batch);
  const path = `${join(place.path, "bin")};${Deno.env.get("PATH")}`;
  const { success, stdout } = await new Deno.Command("cmd", {
    args: ["/d", "/s", "/c", `"${command}"`],
    windowsRawArguments: true,
    env: { PATH: path },
  }).output();
  assert.ok(success);
  return JSON.parse(new TextDecoder().decode(stdout));
}

for (const [client, wordsOf] of Object.entries(COMMANDS)) {
  Deno.test(`the command for ${client} adds the server in the Command Prompt`, {
    ignore: lacks("cmd"),
  }, async () => {
    using place = new Place();
    const { text, command } = windowsConfig(client, { shell: "cmd" });
    const [program, ...words] = wordsOf(parseLaunch(text));
    const received = await argumentsInCmd(command!, { program, place });
    assert.deepEqual(received, words);
  });
}

Deno.test("createClientConfig() returns commands for the Command Prompt and for PowerShell", () => {
  const inCmd = windowsConfig("codex", { shell: "cmd" });
  assert.equal(inCmd.commandTitle, "Run this command in the Command Prompt");
  assert.match(
    inCmd.command!,
    /^codex mcp add skills -- "C:\\Users\\Jörg Müller\\\.deno\\bin\\deno\.exe" run "--allow-read=[^"]*" --allow-env "?jsr:@skill-server\/skill-server"?$/,
  );
  const inPowerShell = windowsConfig("codex", { shell: "powershell" });
  assert.equal(inPowerShell.commandTitle, "Run this command in PowerShell");
  assert.equal(inPowerShell.command, `cmd /c '${inCmd.command}'`);
  const json = windowsConfig("claude-code", { shell: "cmd" }).command!;
  assert.match(json, /^claude mcp add-json --scope user skills "\{\\"type\\":/);
  // A batch file would expand this.
  const args = ["--url", "https://example.com/mcp?a=%PATH%&b"];
  const odd = windowsConfig("codex", { shell: "cmd", args });
  assert.equal(odd.command, undefined);
});
