import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import config from "../../deno.json" with { type: "json" };
import { createClientConfig } from "./client_config.ts";
import { CLIENT_NAMES, type ClientName } from "./clients.ts";
import { OPTIONS } from "./command_line.ts";
import { helpText } from "./help.ts";
import {
  commandFor,
  hasUnknownImportMap,
  type Program,
  runningProgram,
  SPECIFIER,
} from "./program.ts";
import { Session } from "../../tests/testing/client.ts";
import {
  assertMisuse,
  printedLaunch,
  serverArgs,
  settingsFor,
} from "../../tests/testing/command_line.ts";
import { isWindows, REPOSITORY } from "../../tests/testing/environment.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { runServer, serverCommand } from "../../tests/testing/server.ts";
import type { Skill } from "../skills/types.ts";

Deno.test("server searches the given folders instead of the default folders", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "own");
  place.skill("a", "direct");
  place.skill("a/.claude/skills", "claude");
  place.skill("a/skills", "below");
  place.skill("b", "second");
  place.skill("c,d", "comma");
  const [a, b] = [join(place.path, "a"), join(place.path, "b")];
  const all = ["below", "claude", "direct", "second"];
  for (
    const options of [
      { args: [a, b] },
      { args: [`${a}, ${b}`] },
      { env: { SKILLS_DIR: `${a},${b},` } },
      { args: ["../a", b], env: { SKILLS_DIR: "/elsewhere" } },
    ]
  ) {
    await using session = await Session.open(place, options);
    assert.deepEqual(await session.names(), all);
  }
  const args = [join(place.path, "c,d")];
  await using session = await Session.open(place, { args });
  assert.deepEqual(await session.names(), ["comma"]);
});

Deno.test("server also searches the folders of --skill-dir and --agents", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "own");
  place.skill("home/.agents/skills", "installed");
  place.skill("project/.agents/skills", "project");
  place.skill("home/repos/x/skills", "deep");
  const args = ["--agents", "--skill-dir", "~/repos"];
  await using session = await Session.open(place, { args });
  const all = ["deep", "installed", "own", "project"];
  assert.deepEqual(await session.names(), all);
});

Deno.test("server reports a given folder that does not exist", async () => {
  using place = new Place();
  await using session = await Session.open(place, { args: ["nowhere"] });
  const line = await session.stderr.take(() => true, "a line on stderr");
  const folder = join(place.project, "nowhere");
  assert.ok(
    line.startsWith(`skill-server: Cannot find the folder "${folder}"`),
  );
  assert.deepEqual(await session.end(), []);
});

Deno.test("server does not call a default folder misspelled if it is given and does not exist", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const env = { SKILLS_DIR: "~/.claude/skills,~/.agent/skills,~/typo" };
  await using session = await Session.open(place, { env });
  assert.deepEqual(await session.names(), ["git"]);
  const folder = join(place.home, "typo");
  assert.deepEqual(await session.end(), [
    `skill-server: Cannot find the folder "${folder}": check its spelling; it will be searched as soon as it exists`,
  ]);
});

Deno.test("server reads the size limit from --max-file-size, then from MAX_FILE_SIZE_MB", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "big", skillMd("big") + "x".repeat(2e6));
  const sizes = [
    { env: { MAX_FILE_SIZE_MB: "3" } },
    { args: ["--max-file-size", "2.5"], env: { MAX_FILE_SIZE_MB: "1" } },
  ];
  for (const options of sizes) {
    await using session = await Session.open(place, options);
    assert.deepEqual(await session.names(), ["big"]);
  }
  await using session = await Session.open(place);
  assert.deepEqual(await session.names(), []);
});

Deno.test("server ignores an invalid MAX_FILE_SIZE_MB and reports it", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  for (const value of ["big", "0", "-1", "1e-9"]) {
    const env = { MAX_FILE_SIZE_MB: value };
    await using session = await Session.open(place, { env });
    assert.deepEqual(await session.names(), ["git"]);
    await session.stderr.take(
      (line) => line.includes(`MAX_FILE_SIZE_MB="${value}"`),
      "the line about the variable",
    );
    const args = ["--print-config", "cursor"];
    const { stdout } = await runServer(place, { args, env });
    assert.ok(!stdout.includes("--max-file-size"));
  }
  await using session = await Session.open(place, {
    args: ["--max-file-size", "2"],
    env: { MAX_FILE_SIZE_MB: "big" },
  });
  assert.deepEqual(await session.names(), ["git"]);
  assert.deepEqual(await session.end(), []);
});

Deno.test("--tools skilljack searches SKILLS_DIR after the given folders", async () => {
  using place = new Place();
  place.skill("a", "first", skillMd("first", "From a"));
  place.skill("b", "first", skillMd("first", "From b"));
  place.skill("b", "second");
  const args = ["--tools", "skilljack", join(place.path, "a")];
  const env = { SKILLS_DIR: join(place.path, "b") };
  const list = async (...options: string[]) => {
    const { stdout } = await runServer(place, {
      args: [...args, "--list", "--json", ...options],
      env,
    });
    return JSON.parse(stdout).skills.map(({ description }: Skill) =>
      description
    );
  };
  assert.deepEqual(await list(), ["From a", "About second"]);
  assert.deepEqual(await list("--tools", "skill"), ["From a"]);
  const launch = await printedLaunch(place, { args, env });
  assert.deepEqual(serverArgs(launch).slice(1), [
    join(place.path, "a"),
    join(place.path, "b"),
  ]);
});

Deno.test("server ignores the argument mcp if there is no such folder", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  await using session = await Session.open(place, { args: ["mcp"] });
  assert.deepEqual(await session.names(), ["git"]);
  await session.stderr.take(
    (line) => line.includes('the argument "mcp"'),
    "the line about the argument",
  );
  place.skill("project/mcp", "own");
  await using other = await Session.open(place, { args: ["mcp"] });
  assert.deepEqual(await other.names(), ["own"]);
});

Deno.test("--help and --version print to stdout, also as -h and -V", async () => {
  using place = new Place();
  const help = await runServer(place, { args: ["--help"] });
  assert.deepEqual([help.code, help.stderr], [0, ""]);
  for (
    const option of [...Object.keys(OPTIONS).map((name) => `--${name}`), "DIR"]
  ) assert.match(help.stdout, new RegExp(`^  ${option}\\b`, "m"));
  for (const name of ["SKILLS_DIR", "MAX_FILE_SIZE_MB", ...CLIENT_NAMES]) {
    assert.ok(help.stdout.includes(` ${name}`), name);
  }
  assert.deepEqual(await runServer(place, { args: ["-h"] }), help);
  const version = { code: 0, stdout: `${config.version}\n`, stderr: "" };
  for (const option of ["--version", "-V"]) {
    assert.deepEqual(await runServer(place, { args: [option] }), version);
  }
});

Deno.test("--help fits in a terminal of 80 columns, and names the documentation", () => {
  const program = {
    ...runningProgram(),
    executable: "/usr/bin/skill-server",
    mainModule: undefined,
    variable: () => "/usr/bin",
  };
  const text = helpText(program);
  const long = text.split("\n").filter((line) => line.length > 80);
  assert.deepEqual(long, []);
  assert.match(text, /^Usage:\n {2}skill-server \[options\] \[DIR\.\.\.\]$/m);
  assert.match(text, /^ {4}skill-server --print-config claude-code$/m);
  assert.match(
    text,
    /^Documentation: https:\/\/jsr\.io\/@skill-server\/skill-server$/m,
  );
});

Deno.test(
  "the commands in the help text run as printed",
  { ignore: lacks("sh") || hasUnknownImportMap },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "git");
    const { stdout } = await runServer(place, { args: ["--help"] });
    const [, command] = /List your skills:\n {4}(.*)\n/.exec(stdout)!;
    const [, options] = serverCommand(place);
    const list = await new Deno.Command("sh", {
      ...options,
      args: ["-c", command!],
    })
      .output();
    assert.match(new TextDecoder().decode(list.stdout), /git/);
  },
);

Deno.test("commandFor() names the command as its reader runs it", () => {
  const program: Program = {
    executable: "/usr/bin/deno",
    mainModule: SPECIFIER,
    importMap: undefined,
    os: "linux",
    variable: () => undefined,
    folder: "/code",
  };
  const flags = "run --allow-read --allow-env";
  const cases: [Partial<Program>, string][] = [
    [{}, `deno ${flags} ${SPECIFIER}`],
    [
      { executable: "/home/me/.npm/_npx/0123/node_modules/deno/deno" },
      `npx -y deno ${flags} ${SPECIFIER}`,
    ],
    [
      { mainModule: "https://example.com/mod.ts", folder: Deno.cwd() },
      `deno ${flags} https://example.com/mod.ts`,
    ],
    [
      { mainModule: undefined, executable: "/opt/it's/skill-server" },
      String.raw`'/opt/it'\''s/skill-server'`,
    ],
  ];
  if (!isWindows) {
    cases.push(
      [
        { mainModule: "/code/mod.ts", importMap: "/code/npm/map.json" },
        `deno ${flags} --import-map=npm/map.json mod.ts`,
      ],
      [
        { mainModule: "/code/mod.ts", variable: () => "/code" },
        "deno task start",
      ],
      [
        { mainModule: "/else/mod.ts", variable: () => "/code" },
        `deno ${flags} /else/mod.ts`,
      ],
    );
  }
  for (const [change, command] of cases) {
    assert.equal(
      commandFor({ ...program, ...change }, "--list"),
      `${command} --list`,
    );
  }
});

/** Runs the program in a terminal until it prints a text, and returns what it printed. */
async function runInTerminal(place: Place, end: string): Promise<string> {
  const [command, options] = serverCommand(place);
  const words = [command, ...options.args!].map((word) => `'${word}'`);
  const process = new Deno.Command("script", {
    ...options,
    args: ["-qec", words.join(" "), "/dev/null"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = process.stdin.getWriter();
  let output = "";
  let isEnding = false;
  for await (
    const text of process.stdout.pipeThrough(new TextDecoderStream())
  ) {
    output += text;
    if (isEnding || !output.includes(end)) continue;
    isEnding = true;
    // Ctrl+C ends the program.
    await input.write(new Uint8Array([3]));
  }
  await input.close().catch(() => {});
  await process.status;
  return output;
}

Deno.test(
  "a server in a terminal says how many skills it serves and how to configure a client",
  {
    ignore: lacks("terminal"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "git");
    place.skill("project/.claude/skills", "pdf");
    const output = await runInTerminal(place, "To see all options");
    assert.match(output, /This is an MCP server with 2 skills\./);
    assert.match(output, / --print-config claude-code\r?\n/);
    assert.match(output, / --list\r?\n/);
  },
);

Deno.test("options without an effect are reported", async () => {
  using place = new Place();
  const cases: [string[], string][] = [
    [
      ["--list", "--shell-timeout", "5"],
      "Ignoring --shell-timeout: it has an effect only with --tools agentskills",
    ],
    [
      ["--list", "--auto-install-deps"],
      "Ignoring --auto-install-deps: it has an effect only with --tools agentskills",
    ],
    [
      ["--list", "--no-watch"],
      "Ignoring --no-watch: it has no effect with --list",
    ],
    [
      ["--list", "--refresh", "3"],
      "Ignoring --refresh: it has no effect with --list",
    ],
    [
      ["--print-config", "cursor", "--url", "https://example.com/mcp"]
        .concat("--tools", "skilljack", "team"),
      "Ignoring --tools, DIR: with --url, set this where that server runs",
    ],
    [
      ["--list", "--trust-links", "nope"],
      `Cannot find the folder "${
        join(place.project, "nope")
      }" of --trust-links: check its spelling; until it exists, no link can point into it`,
    ],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await runServer(place, { args });
    assert.equal(code, 0);
    assert.equal(stderr.split("\n")[0], `skill-server: ${message}`);
  }
  const args = ["--list", "--shell-timeout", "5", "--tools", "agentskills"];
  assert.equal((await runServer(place, { args })).stderr, "");
});

const misuses: [string[], string | RegExp][] = [
  [["--wrong"], 'Unknown option "--wrong"'],
  [
    ["--allow-read=a"],
    'Unknown option "--allow-read": write options of Deno before the module',
  ],
  [["--\u001b[31m"], 'Unknown option "--\\u001b[31m"'],
  [["--lst"], 'Unknown option "--lst": did you mean --list?'],
  [
    ["--skilldir", "a"],
    'Unknown option "--skilldir": did you mean --skill-dir?',
  ],
  [
    ["--print=cursor"],
    'Unknown option "--print": did you mean --print-config?',
  ],
  [["-list"], 'Unknown option "-list": did you mean --list?'],
  [["-x"], 'Unknown option "-x"'],
  [["--skill-dir"], "--skill-dir requires a folder"],
  [["--skill-dir", ""], "--skill-dir requires a folder"],
  [["--trust-links", "--list"], "--trust-links requires a folder"],
  [["--policy="], "--policy requires the path of a file"],
  [["--refresh"], "--refresh requires a number of seconds"],
  [["--url", "--print-config", "cursor"], /^--url requires a URL such as http/],
  [
    ["--tools"],
    "--tools requires one of skill, skilljack, reference, agentskills",
  ],
  [["--list", "--as"], /^--as requires one of default, claude-code, .*, kiro$/],
  [
    ["--refresh", "soon"],
    /Invalid --refresh "soon": expected a number of seconds/,
  ],
  [
    ["--refresh", "-1", "--list"],
    'Invalid --refresh "-1": expected a number of seconds from 0 to 2000000',
  ],
  [["--refresh=-1"], /Invalid --refresh "-1"/],
  [["--refresh", "1e9"], /from 0 to 2000000/],
  [["--max-file-size", ""], "--max-file-size requires a number of megabytes"],
  [["--max-file-size", "-1"], /Invalid --max-file-size "-1": expected/],
  [["--description-limit", "-5"], /Invalid --description-limit "-5": expected/],
  [["--max-file-size", "1e-9"], /Invalid --max-file-size/],
  [["--list", " "], /DIR must not be empty/],
  [["--max-file-size", "0"], /Invalid --max-file-size "0": .* greater than 0/],
  [
    ["--tools", "all"],
    /Invalid --tools "all": expected one of skill, skilljack, reference, agentskills/,
  ],
  [
    ["--description-limit", "50"],
    /Invalid --description-limit "50": expected .* at least 300/,
  ],
  [
    ["--shell-timeout", "0"],
    /Invalid --shell-timeout "0": expected a number of seconds from 0.1/,
  ],
  [["--json"], /--json requires --list or --check/],
  [
    ["--tools", "skiljack"],
    'Invalid --tools "skiljack": did you mean skilljack?',
  ],
  [
    ["--print-config", "claude"],
    'Invalid --print-config "claude": did you mean claude-code or claude-desktop?',
  ],
  [["--print-config", "VSCode"], /: did you mean vscode\?$/],
  [
    ["--print-config", "eclipse"],
    /Invalid --print-config "eclipse": expected one of claude-code, .*, kiro/,
  ],
  [["--print-config", "constructor"], /Invalid --print-config "constructor"/],
  [
    ["--print-config"],
    /^--print-config requires one of claude-code, .*, kiro$/,
  ],
  [
    ["--print-config", "cursor", "--list"],
    "Cannot combine --print-config with --list: use one of them",
  ],
  [["--link"], "--link requires --print-config"],
  [
    ["--no-watch=yes"],
    'Cannot use --no-watch with the value "yes": it takes none',
  ],
  ...["list", "check", "help", "version", "print-config"].map((
    word,
  ): [string[], string] => [
    [word],
    `Cannot find the folder "${word}": did you mean --${word}? (write ./${word} for a folder that you will create)`,
  ]),
];

for (const [args, message] of misuses) {
  Deno.test(`the command line ${JSON.stringify(args)} is invalid, and the message says what to do`, () => {
    const start = () => {
      const settings = settingsFor(...args);
      const client = settings.values["print-config"];
      if (client !== undefined) {
        createClientConfig(client as ClientName, settings);
      }
    };
    assertMisuse(start, message);
  });
}

Deno.test("an invalid command line prints only a message and the usage to stderr, and exits with 2", async () => {
  using place = new Place();
  // The program finds these faults at different times.
  const faults: [string[], string][] = [
    [["--wrong"], 'Unknown option "--wrong"'],
    [
      ["--tools", "all"],
      'Invalid --tools "all": expected one of skill, skilljack, reference, agentskills',
    ],
    [
      ["--print-config", "cursor", "--url", "ftp://example.com"],
      'Invalid --url "ftp://example.com": expected a URL such as https://skills.example.com/mcp',
    ],
  ];
  for (const [args, message] of faults) {
    const { code, stdout, stderr } = await runServer(place, { args });
    assert.deepEqual([code, stdout], [2, ""]);
    const [line, usage, hint, ...rest] = stderr.trimEnd().split("\n\n");
    assert.equal(line!.replaceAll("\n", " "), `skill-server: ${message}`);
    for (const part of line!.split("\n")) assert.ok(part.length <= 80, part);
    assert.match(usage!, /^Usage:\n {2}.*\s+\[options\] \[DIR\.\.\.\]$/);
    assert.equal(hint, "Add --help to see the options.");
    assert.deepEqual(rest, []);
  }
});

Deno.test("the command line accepts the leading -- that some task runners add", async () => {
  using place = new Place();
  const version = await runServer(place, { args: ["--", "--version"] });
  assert.deepEqual([version.code, version.stdout], [0, `${config.version}\n`]);
  place.skill("project/--odd", "git");
  const list = await runServer(place, {
    args: ["--list", "--json", "--", "--odd"],
  });
  assert.equal(JSON.parse(list.stdout).skills[0].name, "git");
});

Deno.test("docs/options.md describes every option", () => {
  const page = Deno.readTextFileSync(join(REPOSITORY, "docs", "options.md"));
  for (const name of Object.keys(OPTIONS)) {
    assert.match(page, new RegExp(`^\\| \`--${name}\\b`, "m"));
  }
});
