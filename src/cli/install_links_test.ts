import assert from "node:assert/strict";
import { resolve } from "jsr:@std/path@^1";
import { type ClientConfig, createClientConfig } from "./client_config.ts";
import { CLIENT_NAMES, type ClientName, MCP_CLIENTS } from "./clients.ts";
import { INSTALL_LINKS } from "./install_links.ts";
import type { Launch } from "./launch.ts";
import { runningProgram, SPECIFIER } from "./program.ts";
import { Session } from "../../tests/testing/client.ts";
import { assertMisuse, settingsFor } from "../../tests/testing/command_line.ts";
import { IMPORTS, MOD, README } from "../../tests/testing/environment.ts";
import { Place } from "../../tests/testing/folders.ts";
import { runServer } from "../../tests/testing/server.ts";

const LINKED_CLIENTS = Object.keys(INSTALL_LINKS) as ClientName[];

/** Creates the links for a client, of a user whose home folder is `/home/me`. */
function linksFor(client: ClientName, ...args: string[]): ClientConfig {
  const settings = settingsFor("--print-config", client, "--link", ...args);
  return createClientConfig(client, {
    ...settings,
    home: resolve("/home/me"),
  }, { ...runningProgram(), mainModule: SPECIFIER });
}

/** Returns the two links. */
function linesOf({ text }: ClientConfig): [string, string] {
  const lines = text.split("\n");
  assert.deepEqual([lines.length, lines[2]], [3, ""]);
  return [lines[0]!, lines[1]!];
}

/** Decodes a link as its client does. Returns the entry and the server's name. */
// deno-lint-ignore no-explicit-any -- each client has its own format
function decode(link: string): any {
  const url = new URL(link);
  const { protocol, hostname, searchParams } = url;
  if (hostname === "insiders.vscode.dev") {
    return decode(searchParams.get("url")!);
  }
  if (protocol === "vscode:") {
    assert.equal(url.pathname, "mcp/install");
    return JSON.parse(decodeURIComponent(url.search.slice(1)));
  }
  const name = searchParams.get("name");
  const config = searchParams.get("config");
  if (config?.startsWith("{")) return { name, ...JSON.parse(config) };
  if (config !== null) return { name, ...JSON.parse(atob(config)) };
  return {
    name,
    ...Object.fromEntries(searchParams),
    args: searchParams.getAll("arg"),
    command: searchParams.get("cmd"),
  };
}

/** The folders that a client's link lets Deno read. */
const LIMITS: { readonly [Name in ClientName]?: string } = {
  vscode: "${userHome}",
  cursor: "${userHome}",
};

/** The command in a client's link, without the server's own arguments. */
function expectedLaunch(client: ClientName): Launch {
  const home = LIMITS[client];
  const folders = [
    ".agent/skills",
    `${home}/.agent/skills`,
    ".claude/skills",
    `${home}/.claude/skills`,
  ];
  return {
    command: "npx",
    args: [
      ...["-y", "deno", "run"],
      home === undefined ? "--allow-read" : `--allow-read=${folders.join(",")}`,
      ...["--allow-env", SPECIFIER],
    ],
  };
}

for (const client of LINKED_CLIENTS) {
  Deno.test(`--link prints links that install the server in ${client} on any machine with Node`, () => {
    const expected = expectedLaunch(client);
    const tools = client === "lm-studio" ? ["--tools=skilljack"] : [];
    for (const link of linesOf(linksFor(client))) {
      const { name, command, args } = decode(link);
      assert.deepEqual({ name, command, args }, {
        name: "skills",
        command: expected.command,
        args: [...expected.args, ...tools],
      });
    }
  });

  Deno.test(`--link with folders prints links for ${client} that contain no home folder`, () => {
    const args = [
      "--skill-dir",
      resolve("/home/me/it's (技)"),
      "--refresh",
      "5",
    ];
    const config = linksFor(client, ...args);
    assert.doesNotMatch(config.notes.join("\n"), /^Others need/m);
    for (const link of linesOf(config)) {
      // These have a meaning in Markdown.
      assert.doesNotMatch(link, /['()]/);
      const { args } = decode(link);
      assert.deepEqual(args.slice(-2), [
        "--skill-dir=~/it's (技)",
        "--refresh=5",
      ]);
      assert.doesNotMatch(args.join(" "), /home[\\/]me/);
    }
    const { notes } = linksFor(client, "--skill-dir", resolve("/srv/a"));
    assert.ok(
      notes.some((note) => note.startsWith("Others need the same folders: ")),
    );
  });

  Deno.test(`--link --url prints links that connect ${client} to the URL`, () => {
    const url = "https://skills.example.com/mcp";
    const references: { readonly [Name in ClientName]?: string } = {
      "vscode": "${input:skill-server-token}",
      "cursor": "${env:SKILL_SERVER_TOKEN}",
      "kiro": "${SKILL_SERVER_TOKEN}",
      "goose": "${SKILL_SERVER_TOKEN}",
    };
    const token = `Bearer ${references[client] ?? "<token>"}`;
    const config = linksFor(client, "--url", url);
    if (client === "goose" || client === "vscode") {
      const { title } = MCP_CLIENTS[client];
      assert.ok(config.notes.includes(`${title} asks for the token.`));
    }
    for (const link of linesOf(config)) {
      const entry = decode(link);
      assert.equal(entry.url, url);
      if (client === "goose") {
        assert.equal(entry.header, `Authorization=${token}`);
        assert.equal(entry.type, "streamable_http");
        assert.match(entry.env, /^SKILL_SERVER_TOKEN=/);
        continue;
      }
      assert.deepEqual(entry.headers, { Authorization: token });
      if (client === "vscode") assert.equal(entry.inputs.length, 1);
    }
    // A server on this machine needs no token.
    const local = linksFor(client, "--url", "http://localhost:8000/mcp");
    for (const link of linesOf(local)) {
      assert.doesNotMatch(JSON.stringify(decode(link)), /token/i);
    }
  });

  Deno.test(`the README contains the link that --link prints for ${client}`, () => {
    const [, web] = linesOf(linksFor(client));
    assert.ok(README.includes(`](${web})`), web);
  });
}

Deno.test("each install link in the README starts the same server, without a path of any machine", () => {
  const hosts = LINKED_CLIENTS.map((client) =>
    new URL(linesOf(linksFor(client))[1]).hostname
  );
  const links = [...README.matchAll(/\]\((https:[^)]*)\)/g)]
    .map(([, link]) => link!)
    .filter((link) =>
      hosts.includes(new URL(link).hostname) && new URL(link).search !== ""
    );
  assert.equal(links.length, LINKED_CLIENTS.length);
  for (const link of links) {
    const { name, command, args } = decode(link);
    assert.deepEqual([name, command, args.slice(0, 3)], [
      "skills",
      "npx",
      ["-y", "deno", "run"],
    ]);
    assert.ok(args.includes(SPECIFIER));
    assert.doesNotMatch(args.join(" "), /\/home|\/Users|[A-Z]:\\|~/);
  }
});

Deno.test("the command in an install link starts a server that finds the skills", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill("project/.claude/skills", "pdf");
  for (const client of ["vscode", "goose"] as const) {
    const { args } = decode(linesOf(linksFor(client))[0]);
    // The rest of the command is what npx runs.
    const words = args.slice(2).flatMap((arg: string) =>
      arg === SPECIFIER
        ? [...IMPORTS, MOD]
        : arg.replaceAll("${userHome}", place.home)
    );
    const launch = { command: Deno.execPath(), args: words };
    await using session = await Session.open(place, { launch });
    assert.deepEqual(await session.names(), ["git", "pdf"]);
  }
});

Deno.test("--print-config vscode --link prints the links, and what they contain on stderr", async () => {
  using place = new Place();
  const args = ["--print-config", "vscode", "--link"];
  const { code, stdout, stderr } = await runServer(place, { args });
  assert.equal(code, 0);
  assert.match(stdout, /^vscode:mcp\/install\?\S+\nhttps:\/\/insiders\S+\n$/);
  assert.match(stderr, /Whoever opens the link needs Node/);
  assert.match(stderr, /insiders\.vscode\.dev,\s+which\s+can\s+read the entry/);
  const [app] = stdout.split("\n");
  assert.ok(decode(app!).args.includes(SPECIFIER));
});

Deno.test("--link names the clients that install servers from links", () => {
  for (const client of CLIENT_NAMES) {
    if (LINKED_CLIENTS.includes(client)) continue;
    assertMisuse(
      () => linksFor(client),
      /^Cannot create a link for .*: only vscode, cursor, goose, lm-studio, and kiro install servers from links$/,
    );
  }
});
