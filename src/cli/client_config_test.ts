import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import type { ClientConfig } from "./client_config.ts";
import { formatConfig, userFileOf } from "./client_files.ts";
import { type ClientName, MCP_CLIENTS, type McpClient } from "./clients.ts";
import type { Launch } from "./launch.ts";
import { isInNpxCache } from "./program.ts";
import { Session } from "../../tests/testing/client.ts";
import {
  configFor,
  paragraphsOf,
  parseConfig,
  parseLaunch,
  printedLaunch,
  SECTIONS,
  serverArgs,
} from "../../tests/testing/command_line.ts";
import {
  environment,
  FLAGS,
  IMPORTS,
  isWindows,
  MOD,
  README,
  REPOSITORY,
} from "../../tests/testing/environment.ts";
import { Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { runServer, serverCommand } from "../../tests/testing/server.ts";

/** Returns what `--print-config` prints, with the paths replaced by those in the README's example. */
async function readmeConfig(place: Place, client: string): Promise<string> {
  const { code, stdout } = await runServer(place, {
    args: ["--print-config", client],
  });
  assert.equal(code, 0);
  const written = (text: string) => JSON.stringify(text).slice(1, -1);
  return stdout
    .replace(/^.*--import-map=.*\n/m, "")
    .replaceAll(written(Deno.execPath()), "/home/me/.deno/bin/deno")
    .replaceAll(written(MOD), "jsr:@skill-server/skill-server")
    .replaceAll(written(place.home), "/home/me");
}

const CLIENTS: readonly [string, McpClient][] = Object.entries(MCP_CLIENTS);

const CLIENTS_PAGE = Deno.readTextFileSync(
  join(REPOSITORY, "docs", "clients.md"),
);

/** Clients whose configurations differ in format. The program prints them, and the servers are started. */
const PRINTED_CLIENTS = ["claude-code", "codex"];

for (const name of PRINTED_CLIENTS) {
  Deno.test(`--print-config ${name} prints what the documentation shows`, {
    // It shows the paths of Linux, and a Deno that is installed.
    ignore: lacks("sh") || isInNpxCache(Deno.execPath()),
  }, async () => {
    using place = new Place();
    const config = await readmeConfig(place, name);
    const language = config.startsWith("{") ? "json" : "toml";
    const block = `\`\`\`${language}\n${config}\`\`\`\n`;
    assert.ok((README + CLIENTS_PAGE).includes(block), config);
  });
}

for (const [name, client] of CLIENTS) {
  Deno.test(`docs/clients.md names the configuration files of ${name} on each operating system`, () => {
    const file = (os: typeof Deno.build.os) =>
      userFileOf(client, {
        os,
        home: "~",
        variable: (name) =>
          os === "windows" && name === "APPDATA" ? "%APPDATA%" : undefined,
      }).replace(/^~\\/, "%USERPROFILE%\\");
    const files = {
      Linux: file("linux"),
      macOS: file("darwin"),
      Windows: file("windows"),
    };
    assert.equal(files.macOS, client.macFile ?? files.Linux);
    const [, table] = CLIENTS_PAGE.split("## Configuration files");
    const rows = table!.split("\n").filter((line) =>
      line.startsWith(`| ${client.title} `)
    );
    assert.equal(rows.length, 1);
    for (const path of [...Object.values(files), client.projectFile]) {
      if (path) {
        assert.ok(rows[0]!.includes(`\`${path}\``), `${rows[0]} ${path}`);
      }
    }
    assert.ok(rows[0]!.includes(`\`${name}\``));
  });
}

/** The fields of a configuration besides the command and its arguments, by client. */
const ENTRIES: Readonly<Record<string, Record<string, unknown>>> = {
  "claude-code": { type: "stdio", alwaysLoad: true },
  "claude-desktop": {},
  "cursor": { type: "stdio" },
  "vscode": { type: "stdio" },
  "opencode": { type: "local" },
  "gemini-cli": {},
  "copilot": { type: "local", tools: ["*"] },
  "cline": { timeout: 60 },
  "qwen-code": { alwaysLoadTools: true },
  "kilo": { type: "local" },
  "goose": {
    enabled: true,
    type: "stdio",
    name: "skills",
    description: "Agent Skills",
    timeout: 300,
  },
  "windsurf": {},
  "zed": {},
  "lm-studio": {},
  "kiro": {},
};

/** A command that every format and every shell must escape. */
const ODD_LAUNCH: Launch = {
  command: 'C:\\Program Files\\it\'s "deno"',
  args: [
    "run",
    "",
    "a b",
    "--x=1",
    `$HOME \`ls\` 'a' \u007f\u{e0001} \\"`,
    "5",
    "é",
  ],
};

for (const [name, client] of CLIENTS) {
  if (name === "codex") continue;
  Deno.test(`--print-config ${name} writes what the client parses`, () => {
    const text = formatConfig(client, ODD_LAUNCH);
    assert.equal(text.startsWith("{"), client.format === undefined);
    const config = parseConfig(text);
    assert.deepEqual({ ...config, ...client.topLevel }, config);
    const entry = config[SECTIONS[name] ?? "mcpServers"]!.skills!;
    for (const key of ["command", "cmd", "args"]) delete entry[key];
    assert.deepEqual(entry, ENTRIES[name]);
    assert.deepEqual(parseLaunch(text), ODD_LAUNCH);
    // An executable needs no arguments.
    const plain = { command: "/bin/skill-server", args: [] };
    assert.deepEqual(parseLaunch(formatConfig(client, plain)), plain);
  });
}

Deno.test("--print-config reports on stderr where the configuration belongs", async () => {
  using place = new Place();
  const { stderr } = await runServer(place, {
    args: ["--print-config", "codex"],
    env: { CODEX_HOME: join(place.path, "codex") },
  });
  const file = join(place.path, "codex", "config.toml");
  const [title, command, place_, ...rest] = paragraphsOf(stderr);
  assert.match(title!, /^Run this command in /);
  assert.match(command!, /^(?:cmd \/c ')?codex mcp add skills -- /);
  assert.equal(
    place_,
    `Or add this to the configuration of Codex in "${file}", or for a single project in ".codex/config.toml":`,
  );
  assert.deepEqual(rest, []);
});

Deno.test("--print-config keeps the other options and the environment's settings, with absolute paths", async () => {
  using place = new Place();
  const launch = await printedLaunch(place, {
    args: [
      ...["--agents", "--refresh", "5", "--no-watch", "--tools", "reference"],
      ...["--skill-dir", "more", "--skill-dir", "~/own", "--trust-links", ".."],
    ],
    env: { SKILLS_DIR: "a,b", MAX_FILE_SIZE_MB: "2" },
  });
  assert.deepEqual(serverArgs(launch), [
    "--tools=reference",
    `--skill-dir=${join(place.project, "more")}`,
    `--skill-dir=${join(place.home, "own")}`,
    "--agents",
    `--trust-links=${place.path}`,
    "--max-file-size=2",
    "--refresh=5",
    "--no-watch",
    join(place.project, "a"),
    join(place.project, "b"),
  ]);
});

Deno.test("--print-config grants permission to run the shell if Deno has that permission and a tool needs it", async () => {
  using place = new Place();
  const shell = isWindows ? "cmd" : "sh";
  const allowed = [...FLAGS.slice(0, 3), "--allow-run", ...IMPORTS];
  const runs = async (flags: string[], ...args: string[]) => {
    const launch = await printedLaunch(place, { flags, args });
    return launch.args.includes(`--allow-run=${shell}`);
  };
  assert.deepEqual([
    await runs(allowed, "--tools", "agentskills"),
    await runs(allowed),
    await runs(FLAGS, "--tools", "agentskills"),
  ], [true, false, false]);
});

Deno.test("--print-config keeps the user's description limit", async () => {
  using place = new Place();
  const args = ["--description-limit", "500"];
  const launch = await printedLaunch(place, { args }, "claude-code");
  const [first, second, ...rest] = serverArgs(launch);
  assert.match(`${first} ${second}`, /^--name-only=\S+ --name-only=/);
  assert.deepEqual(rest, ["--description-limit=500"]);
});

Deno.test("--print-config grants read permission only for the folders that are searched", async () => {
  using place = new Place();
  const allowed = async (...args: string[]) => {
    const { args: [, flag] } = await printedLaunch(place, { args });
    return flag!.replace("--allow-read=", "").split(",");
  };
  const usual = [
    join(".agent", "skills"),
    join(place.home, ".agent", "skills"),
    join(".claude", "skills"),
    join(place.home, ".claude", "skills"),
  ];
  assert.deepEqual(await allowed(), usual);
  const project = join(place.project, "team");
  assert.deepEqual(await allowed("team"), [project]);
  assert.deepEqual(
    await allowed(
      "team",
      "--skill-dir",
      "team/more",
      "--trust-links",
      place.folder("store"),
    ),
    [project, join(place.path, "store")],
  );
  assert.deepEqual(await allowed("--skill-dir", "team"), [...usual, project]);
  assert.deepEqual(await allowed("--trust-links", place.path), [
    usual[0],
    usual[2],
    place.path,
  ]);
});

Deno.test("--print-config grants read permission for the project's folders even if it runs in the home folder", async () => {
  using place = new Place();
  const [command, options] = serverCommand(place, {
    args: ["--print-config", "cursor", "--agents"],
  });
  const cwd = place.home;
  const { stdout } = await new Deno.Command(command, { ...options, cwd })
    .output();
  const text = new TextDecoder().decode(stdout);
  const { args } = JSON.parse(text).mcpServers.skills;
  const folders = [".agent", ".claude", ".agents"].flatMap((name) => [
    join(name, "skills"),
    join(place.home, name, "skills"),
  ]);
  assert.equal(args[1], `--allow-read=${folders.join(",")}`);
});

Deno.test("--print-config warns that Deno cannot limit read permission to a folder with a comma in its path", async () => {
  using place = new Place();
  const args = ["--print-config", "cursor", "--skill-dir", place.folder("a,b")];
  const { stdout, stderr } = await runServer(place, { args });
  assert.equal(JSON.parse(stdout).mcpServers.skills.args[1], "--allow-read");
  assert.match(stderr, /Cannot limit Deno to folders with a comma/);
});

Deno.test("--print-config warns about text that a client would change", async () => {
  using place = new Place();
  const { stderr } = await runServer(place, {
    args: ["--print-config", "gemini-cli", "--skill-dir", "/a/$HOME/b"],
  });
  assert.match(
    stderr,
    /Cannot configure Gemini CLI with "[^"]*\$HOME[^"]*"/,
  );
});

for (const client of Object.keys(MCP_CLIENTS)) {
  Deno.test(`createClientConfig() configures ${client} with the same command as Claude Code`, () => {
    const folder = resolve("/it's more");
    const args = ["--refresh", "5", "--skill-dir", folder];
    const launch = parseLaunch(configFor(client, ...args).text);
    const { toolset }: McpClient = MCP_CLIENTS[client as ClientName];
    // There is no description limit, because the server knows how much each client shows.
    assert.deepEqual(
      serverArgs(launch, import.meta.filename!)
        .filter((arg) => !arg.startsWith("--name-only=")),
      [
        ...toolset ? [`--tools=${toolset}`] : [],
        `--skill-dir=${folder}`,
        "--refresh=5",
      ],
    );
    const plain = ({ command, args }: Launch) => ({
      command,
      args: args.filter((arg) => !/^--(?:name-only|tools)=/.test(arg)),
    });
    const { text } = configFor("cursor", ...args);
    assert.deepEqual(plain(launch), parseLaunch(text));
  });
}

for (const client of PRINTED_CLIENTS) {
  Deno.test(
    `the command that --print-config ${client} prints starts a server that has the same skills and logs nothing`,
    { ignore: lacks("links") },
    async () => {
      using place = new Place();
      place.skill("project/.claude/skills", "git");
      place.skill("home/.agents/skills", "pdf");
      place.link("../../.agents/skills/pdf", "home/.claude/skills/pdf");
      place.skill("project/it's more", "new");
      const args = ["--refresh", "5", "--skill-dir", "it's more"];
      const launch = await printedLaunch(place, { args }, client);
      const folders = [
        join(".claude", "skills"),
        join(place.home, ".claude", "skills"),
      ];
      assert.deepEqual(serverArgs(launch), [
        `--skill-dir=${join(place.project, "it's more")}`,
        ...client === "claude-code"
          ? folders.map((folder) => `--name-only=${folder}`)
          : [],
        "--refresh=5",
      ]);
      await using session = await Session.open(place, { launch });
      // Skills in the state name-only come after the others.
      const names = client === "claude-code"
        ? ["new", "git", "pdf"]
        : ["git", "new", "pdf"];
      assert.deepEqual(await session.names(), names);
      assert.deepEqual(session.stderr.values, []);
    },
  );
}

Deno.test("the command that --print-config prints starts a server that finds new skills", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "git");
  const launch = await printedLaunch(place);
  await using session = await Session.open(place, { launch });
  assert.deepEqual(await session.names(), ["git"]);
  place.skill("project/.claude/skills", "new");
  await session.listChanged();
  assert.deepEqual(await session.names(), ["git", "new"]);
});

Deno.test(
  "MCP Inspector lists the tools of the server that --print-config describes",
  {
    ignore: lacks("npx"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "git");
    const launch = await printedLaunch(place);
    // New versions of Inspector do not pass on the variable for Deno's cache.
    const skills = { ...launch, env: { DENO_DIR: environment.DENO_DIR } };
    const config = place.file(
      "mcp.json",
      JSON.stringify({ mcpServers: { skills } }),
    );
    const [, options] = serverCommand(place);
    const inspector = await new Deno.Command("npx", {
      ...options,
      args: [
        ...["-y", "@modelcontextprotocol/inspector", "--cli"],
        ...["--config", config, "--server", "skills", "--method", "tools/list"],
      ],
      // npx uses the usual package cache.
      env: { ...options.env, npm_config_cache: npmCache() },
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(inspector.stdout);
    const { tools } = JSON.parse(text.slice(text.indexOf("{")));
    assert.equal(tools.length, 1);
    assert.match(tools[0].description, /<name>git<\/name>/);
  },
);

function npmCache(): string {
  const args = ["config", "get", "cache"];
  const { stdout } = new Deno.Command("npm", { args }).outputSync();
  return new TextDecoder().decode(stdout).trim();
}

/** The folders in the `--name-only` options of a printed configuration. */
function nameOnly(config: ClientConfig): string[] {
  return parseLaunch(config.text).args
    .flatMap((arg) => /^--name-only=(.*)$/.exec(arg)?.slice(1) ?? []);
}

/** Returns a folder in the project, and the same in the home folder. */
function bothPlaces(...names: string[]): string[] {
  return names.flatMap((name) => [
    join(name, "skills"),
    resolve("/home/me", name, "skills"),
  ]);
}

/** The default folders that each client lists itself, whole, without and with `--agents`. */
const OWN_SKILLS: Readonly<Record<string, [string[], string[]]>> = {
  "claude-code": [bothPlaces(".claude"), bothPlaces(".claude")],
  "opencode": [bothPlaces(".claude"), bothPlaces(".claude", ".agents")],
  "kilo": [bothPlaces(".claude"), bothPlaces(".claude", ".agents")],
  "gemini-cli": [[], bothPlaces(".agents")],
  "qwen-code": [[], bothPlaces(".agents")],
};

for (const [client, { title }] of CLIENTS) {
  Deno.test(`createClientConfig() lists by name only what ${client} lists itself`, () => {
    const [usual, agents] = OWN_SKILLS[client] ?? [[], []];
    const config = configFor(client);
    assert.deepEqual(nameOnly(config), usual);
    assert.deepEqual(nameOnly(configFor(client, "--agents")), agents);
    const notes = config.notes.filter((note) => note.includes("--name-only"));
    assert.equal(notes.length, usual.length > 0 ? 1 : 0);
    for (const note of notes) {
      assert.ok(note.startsWith(`${title} itself lists the skills in `), note);
    }
    assert.equal(
      config.notes.some((note) => note.includes("skillListingBudgetFraction")),
      client === "claude-code",
    );
    // Folders that the client does not list itself are served with descriptions.
    assert.deepEqual(nameOnly(configFor(client, resolve("/srv/team"))), []);
  });
}

Deno.test("createClientConfig() lists by name what a given folder contains and the client lists itself", () => {
  const home = resolve("/home/me");
  const own = join(home, ".claude", "skills");
  for (
    const args of [[join(home, ".claude")], [
      resolve("/x"),
      "--skill-dir",
      home,
    ]]
  ) {
    assert.deepEqual(nameOnly(configFor("claude-code", ...args)), [own]);
  }
});

Deno.test("createClientConfig() keeps the user's own --name-only, each folder once", () => {
  const folder = resolve("/home/me/.claude/skills");
  const config = configFor("claude-code", "--name-only", folder);
  assert.deepEqual(nameOnly(config), bothPlaces(".claude"));
  const other = resolve("/srv/team");
  assert.deepEqual(nameOnly(configFor("cursor", "--name-only", other)), [
    other,
  ]);
});

Deno.test(
  "--print-config lists by name only what a served folder links to and the client lists itself",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.agents/skills", "pdf");
    place.link("../../.agents/skills/pdf", "home/.claude/skills/pdf");
    const launch = await printedLaunch(place, {}, "gemini-cli");
    assert.deepEqual(serverArgs(launch), [
      `--name-only=${join(place.home, ".agents", "skills")}`,
    ]);
  },
);

Deno.test("--print-config claude-desktop selects the toolset that reads files, and says so", async () => {
  using place = new Place();
  const { stdout, stderr } = await runServer(place, {
    args: ["--print-config", "claude-desktop"],
  });
  assert.deepEqual(serverArgs(parseLaunch(stdout)), ["--tools=skilljack"]);
  assert.match(stderr, /Claude Desktop cannot open files/);
  const chosen = configFor("claude-desktop", "--tools", "reference");
  assert.ok(chosen.text.includes("--tools=reference"));
  assert.doesNotMatch(chosen.notes.join("\n"), /cannot open files/);
});

Deno.test("--print-config escapes Windows paths for JSON and TOML", () => {
  const launch: Launch = {
    command: "C:\\Program Files\\deno.exe",
    args: ["--skill-dir", 'D:\\my "own"\u007f\u{e0041}'],
  };
  const { cursor, codex } = MCP_CLIENTS;
  const { command, args } =
    JSON.parse(formatConfig(cursor, launch)).mcpServers.skills;
  assert.deepEqual({ command, args }, launch);
  assert.equal(
    formatConfig(codex, launch),
    `[mcp_servers.skills]
command = "C:\\\\Program Files\\\\deno.exe"
args = [
  "--skill-dir",
  "D:\\\\my \\"own\\"\\u007f\\U000e0041",
]
`,
  );
});
