import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import config from "../../deno.json" with { type: "json" };
import { createClientConfig } from "./client_config.ts";
import {
  assertMisuse,
  Place,
  printedLaunch,
  README,
  runServer,
  serverArgs,
  Session,
  settingsFor,
  skillMd,
} from "../../tests/testing.ts";
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
  assert.deepEqual(session.stderr.takeAll(), []);
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
  assert.deepEqual(session.stderr.takeAll(), []);
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

Deno.test("--help and --version print to stdout", async () => {
  using place = new Place();
  const help = await runServer(place, { args: ["--help"] });
  assert.deepEqual([help.code, help.stderr], [0, ""]);
  for (
    const option of [
      "--skill-dir",
      "--agents",
      "--trust-links",
      "--max-file-size",
      "--description-limit",
      "--refresh",
      "--no-watch",
      "--list",
      "--check",
      "--json",
      "--help",
      "--version",
      "SKILLS_DIR",
      "MAX_FILE_SIZE_MB",
    ]
  ) assert.ok(help.stdout.includes(`  ${option} `), option);
  const version = await runServer(place, { args: ["--version"] });
  assert.deepEqual(version, {
    code: 0,
    stdout: `${config.version}\n`,
    stderr: "",
  });
});

const misuses: [string[], RegExp][] = [
  [["--wrong"], /Unknown option '--wrong'/],
  [["--\u001b[31m"], /Unknown option '--\[31m'/],
  [["--skill-dir"], /--skill-dir/],
  [
    ["--refresh", "soon"],
    /Invalid --refresh "soon": expected a number of seconds/,
  ],
  [["--refresh", "-1"], /--refresh/],
  [["--refresh=-1"], /Invalid --refresh "-1"/],
  [["--refresh", "1e9"], /from 0 to 2000000/],
  [["--max-file-size", ""], /Invalid --max-file-size/],
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
    ["--print-config", "eclipse"],
    /Invalid --print-config "eclipse": expected one of claude-code, .*, zed/,
  ],
  [["--print-config", "constructor"], /Invalid --print-config "constructor"/],
  [["--print-config"], /--print-config/],
  [["--no-watch=yes"], /--no-watch/],
];

for (const [args, message] of misuses) {
  Deno.test(`the command line ${JSON.stringify(args)} is invalid, and the message says why`, () => {
    const start = () => {
      const settings = settingsFor(...args);
      const client = settings.values["print-config"];
      if (client !== undefined) createClientConfig(client, settings);
    };
    assertMisuse(start, message);
  });
}

Deno.test("an invalid command line prints only a message and the usage to stderr, and exits with 2", async () => {
  using place = new Place();
  // The program finds these faults at different times.
  const faults: [string[], string][] = [
    [["--wrong"], "Unknown option '--wrong'"],
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
    assert.deepEqual(await runServer(place, { args }), {
      code: 2,
      stdout: "",
      stderr: `skill-server: ${message}

Usage: skill-server [options] [DIR...]
Run with --help to see the options.
`,
    });
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

Deno.test("the README describes every option in --help", async () => {
  using place = new Place();
  const { stdout } = await runServer(place, { args: ["--help"] });
  const options = [...stdout.matchAll(/^ {2}(--[\w-]+(?: [A-Z]+)?)/gm)]
    .map(([, option]) => option!);
  assert.ok(options.length > 14);
  for (const option of options) {
    assert.ok(README.includes(`| \`${option}\` `), option);
  }
});
