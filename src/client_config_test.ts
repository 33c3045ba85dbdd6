// deno-lint-ignore-file no-import-prefix -- the tests write out their specifiers, as the sources do

import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import {
  createLaunch,
  isInNpxCache,
  type Launch,
  type LaunchOptions,
  MCP_CLIENTS,
} from "./client_config.ts";
import {
  FLAGS,
  IMPORTS,
  isWindows,
  MOD,
  parseConfig,
  parseLaunch,
  Place,
  printedLaunch,
  README,
  runServer,
  serverArgs,
  serverCommand,
  Session,
  withoutHints,
} from "./testing.ts";

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

for (const name of ["claude-code", "codex"]) {
  Deno.test(`--print-config ${name} prints what the README shows`, {
    ignore: isWindows,
  }, async () => {
    using place = new Place();
    const config = await readmeConfig(place, name);
    const language = config.startsWith("{") ? "json" : "toml";
    assert.ok(README.includes(`\`\`\`${language}\n${config}\`\`\`\n`), config);
  });
}

for (const [name, client] of Object.entries(MCP_CLIENTS)) {
  Deno.test(`the README names the configuration files of ${name} on each operating system`, () => {
    const file = (os: typeof Deno.build.os) =>
      client.userFile({
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
    const rows = README.split("\n").filter((line) =>
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
};

/** The name of the section that contains the servers, by client. The default is "mcpServers". */
const SECTIONS: Readonly<Record<string, string>> = {
  "vscode": "servers",
  "opencode": "mcp",
  "kilo": "mcp",
  "goose": "extensions",
  "zed": "context_servers",
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

for (const [name, { format }] of Object.entries(MCP_CLIENTS)) {
  if (name === "codex") continue;
  Deno.test(`--print-config ${name} writes what the client parses`, () => {
    const config = parseConfig(format(ODD_LAUNCH));
    const entry = config[SECTIONS[name] ?? "mcpServers"]!.skills!;
    for (const key of ["command", "cmd", "args"]) delete entry[key];
    assert.deepEqual(entry, ENTRIES[name]);
    assert.deepEqual(parseLaunch(format(ODD_LAUNCH)), ODD_LAUNCH);
  });
}

Deno.test("--print-config reports on stderr where the configuration belongs", async () => {
  using place = new Place();
  const { stderr } = await runServer(place, {
    args: ["--print-config", "codex"],
    env: { CODEX_HOME: join(place.path, "codex") },
  });
  const file = join(place.path, "codex", "config.toml");
  assert.deepEqual(withoutHints(stderr).slice(0, -2), [
    `skill-server: Add this to the configuration of Codex in "${file}"; for a single project, ".codex/config.toml"`,
  ]);
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
  const runs = async (...args: string[]) => {
    const flags = [...FLAGS.slice(0, 3), "--allow-run", ...IMPORTS];
    const launch = await printedLaunch(place, { flags, args });
    return launch.args.includes(`--allow-run=${shell}`);
  };
  assert.deepEqual(
    [await runs("--tools", "agentskills"), await runs()],
    [true, false],
  );
});

Deno.test("--print-config keeps the user's description limit", async () => {
  using place = new Place();
  const args = ["--description-limit", "500"];
  const launch = await printedLaunch(place, { args }, "claude-code");
  assert.deepEqual(serverArgs(launch), ["--description-limit=500"]);
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
      "/store",
    ),
    [project, resolve("/store")],
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
  assert.match(stderr, /Cannot restrict Deno to folders with a comma/);
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
  Deno.test(`the command that --print-config ${client} prints starts a server that has the same skills and logs nothing`, async () => {
    using place = new Place();
    place.skill("project/.claude/skills", "git");
    place.skill("home/.agents/skills", "pdf");
    place.link("../../.agents/skills/pdf", "home/.claude/skills/pdf");
    place.skill("project/it's more", "new");
    const args = ["--refresh", "5", "--skill-dir", "it's more"];
    const launch = await printedLaunch(place, { args }, client);
    // There is no description limit, because the server knows how much each client shows.
    assert.deepEqual(serverArgs(launch), [
      `--skill-dir=${join(place.project, "it's more")}`,
      "--refresh=5",
    ]);
    await using session = await Session.open(place, { launch });
    assert.deepEqual(await session.names(), ["git", "new", "pdf"]);
    assert.deepEqual(session.stderr.values, []);
  });
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

/** Creates a stand-in for a program. It prints its arguments as JSON. */
function createStandIn(place: Place, name: string): void {
  const script = place.file(
    "print_args.js",
    "console.log(JSON.stringify(Deno.args));",
  );
  const program = place.file(
    `bin/${name}`,
    `#!/bin/sh\nexec '${Deno.execPath()}' run --no-config '${script}' "$@"\n`,
  );
  Deno.chmodSync(program, 0o755);
}

/** Runs a command in a POSIX shell and returns the arguments that the program received. */
async function argumentsOf(place: Place, command: string): Promise<string[]> {
  const path = `${join(place.path, "bin")}:${Deno.env.get("PATH")}`;
  const { success, stdout } = await new Deno.Command("sh", {
    args: ["-c", command],
    env: { PATH: path },
  }).output();
  assert.ok(success);
  return JSON.parse(new TextDecoder().decode(stdout));
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

for (const [client, { addCommand }] of Object.entries(MCP_CLIENTS)) {
  Deno.test(
    `--print-config ${client} prints an equivalent command if the client has one`,
    {
      ignore: isWindows,
    },
    async () => {
      using place = new Place();
      assert.equal(addCommand !== undefined, client in COMMANDS);
      const folder = place.folder(`it's "a" $HOME & \`b\` \\ é`);
      const args = ["--print-config", client, "--skill-dir", folder];
      const { stdout, stderr } = await runServer(place, { args });
      if (addCommand === undefined) {
        assert.doesNotMatch(stderr, /Or run/);
        return;
      }
      const [program, ...words] = COMMANDS[client]!(parseLaunch(stdout));
      createStandIn(place, program);
      const command = stderr.trimEnd().split("\n").at(-1)!;
      assert.deepEqual(await argumentsOf(place, command), words);
    },
  );
}

Deno.test("--print-config reports what the client's command omits", async () => {
  using place = new Place();
  const introduction = async (client: string) => {
    const { stderr } = await runServer(place, {
      args: ["--print-config", client],
    });
    return stderr.split("\n").find((line) => line.includes("Or run"));
  };
  assert.match(
    (await introduction("qwen-code"))!,
    /, then add "alwaysLoadTools": true to the entry in that file:$/,
  );
  assert.match((await introduction("codex"))!, /^[^,]*:$/);
});

const hasNpx = !isWindows && isProgram("npx");

function isProgram(name: string): boolean {
  try {
    return new Deno.Command(name, { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}

Deno.test(
  "MCP Inspector lists the tools of the server that --print-config describes",
  {
    ignore: !hasNpx,
  },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "git");
    const skills = await printedLaunch(place, {}, "claude-desktop");
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

const LAUNCH: LaunchOptions = {
  executable: "/bin/deno",
  mainModule: "jsr:@skill-server/skill-server",
  importMap: undefined,
  folders: ["/a/skills", "/b/skills"],
  allowRun: undefined,
  args: ["--agents"],
};

/** Patterns for the parts of a remote server's configuration that differ by client. */
const REMOTE_CONFIGS: Record<string, RegExp> = {
  "claude-code": /"url": "URL".*"Bearer \$\{SKILL_SERVER_TOKEN\}"/s,
  "codex": /url = "URL"\nbearer_token_env_var = "SKILL_SERVER_TOKEN"\n$/,
  "cursor": /"url": "URL".*"Bearer \$\{env:SKILL_SERVER_TOKEN\}"/s,
  "vscode": /"url": "URL".*"Bearer \$\{input:skill-server-token\}".*inputs/s,
  "opencode": /"url": "URL".*"Bearer \{env:SKILL_SERVER_TOKEN\}"/s,
  "gemini-cli": /"httpUrl": "URL".*"Bearer \$SKILL_SERVER_TOKEN"/s,
  "copilot": /"url": "URL".*"Bearer \$\{SKILL_SERVER_TOKEN\}"/s,
  "cline": /"url": "URL".*"Bearer <token>"/s,
  "qwen-code": /"httpUrl": "URL".*"Bearer \$SKILL_SERVER_TOKEN"/s,
  "kilo": /"url": "URL".*"Bearer \{env:SKILL_SERVER_TOKEN\}"/s,
  "goose": /uri: "URL".*"Bearer \$\{SKILL_SERVER_TOKEN\}"/s,
  "windsurf": /"url": "URL".*"Bearer <token>"/s,
  "zed": /"url": "URL".*"Bearer <token>"/s,
};

for (const [name, { title, remote }] of Object.entries(MCP_CLIENTS)) {
  Deno.test(`--print-config ${name} --url configures a connection to a URL`, async () => {
    using place = new Place();
    const url = "https://skills.example.com/mcp";
    const print = (url: string) =>
      runServer(place, { args: ["--print-config", name, "--url", url] });
    const { code, stdout, stderr } = await print(url);
    if (remote === undefined) {
      assert.equal(code, 2);
      assert.match(stderr, /^skill-server: Cannot configure .* with a URL: /);
      return;
    }
    assert.equal(code, 0);
    assert.match(stdout.replaceAll(url, "URL"), REMOTE_CONFIGS[name]!);
    assert.match(
      stderr,
      remote.token === undefined
        ? /Replace <token> with the token of the server/
        : new RegExp(`\\n.*${title} (?:reads|asks for) the token`),
    );
    // A server on this machine needs no token.
    const local = await print("http://localhost:8000/mcp");
    assert.ok(local.stdout.includes('"http://localhost:8000/mcp"'));
    assert.doesNotMatch(local.stdout + local.stderr, /token/i);
  });
}

Deno.test("--url requires a URL and --print-config", async () => {
  using place = new Place();
  for (const url of ["skills.example.com/mcp", "ftp://example.com", ""]) {
    const args = ["--print-config", "cursor", "--url", url];
    const { code, stderr } = await runServer(place, { args });
    assert.equal(code, 2);
    assert.match(stderr, /^skill-server: Invalid --url "/);
  }
  const { code, stderr } = await runServer(place, {
    args: ["--url", "https://skills.example.com/mcp"],
  });
  assert.equal(code, 2);
  assert.match(stderr, /^skill-server: --url requires --print-config\n/);
});

Deno.test("createLaunch() starts a module from a registry, a URL, or a file", () => {
  const mainOf = (mainModule: string) =>
    createLaunch({ ...LAUNCH, mainModule }).args.at(-2);
  const url = "https://example.com/mod.ts";
  assert.deepEqual(createLaunch(LAUNCH), {
    command: "/bin/deno",
    args: [
      "run",
      "--allow-read=/a/skills,/b/skills",
      "--allow-env",
      "jsr:@skill-server/skill-server",
      "--agents",
    ],
  });
  assert.equal(mainOf(url), url);
  assert.equal(mainOf(new URL(import.meta.url).href), import.meta.filename);
});

Deno.test("createLaunch() starts an executable with only the server's arguments", () => {
  const launch = createLaunch({ ...LAUNCH, mainModule: undefined });
  assert.deepEqual(launch, { command: "/bin/deno", args: ["--agents"] });
});

Deno.test("isInNpxCache() recognizes a program that npx can delete", () => {
  const path = "/home/me/.npm/_npx/0123/node_modules/deno/deno";
  assert.deepEqual([path, LAUNCH.executable].map(isInNpxCache), [true, false]);
});

Deno.test("createLaunch() includes the import map and the permission to run programs", () => {
  const { args } = createLaunch({
    ...LAUNCH,
    importMap: "/map.json",
    allowRun: "--allow-run=sh",
  });
  assert.deepEqual(args.slice(2, 5), [
    "--allow-env",
    "--allow-run=sh",
    "--import-map=/map.json",
  ]);
});

Deno.test("createLaunch() grants read permission for everything if a permission flag cannot express a folder", () => {
  const flag = (...folders: string[]) =>
    createLaunch({ ...LAUNCH, folders }).args[1];
  assert.equal(flag("/a", "/b,c"), "--allow-read");
  assert.equal(flag(), "--allow-read");
  assert.equal(flag("/a", "/a/b", "/a", "/ab"), "--allow-read=/a,/ab");
});

Deno.test("--print-config escapes Windows paths for JSON and TOML", () => {
  const launch: Launch = {
    command: "C:\\Program Files\\deno.exe",
    args: ["--skill-dir", 'D:\\my "own"\u007f\u{e0041}'],
  };
  const { cursor, codex } = MCP_CLIENTS;
  const { command, args } =
    JSON.parse(cursor!.format(launch)).mcpServers.skills;
  assert.deepEqual({ command, args }, launch);
  assert.equal(
    codex!.format(launch),
    `[mcp_servers.skills]
command = "C:\\\\Program Files\\\\deno.exe"
args = [
  "--skill-dir",
  "D:\\\\my \\"own\\"\\u007f\\U000e0041",
]
`,
  );
});
