import assert from "node:assert/strict";
import { join } from "../files/paths.ts";
import {
  CLIENT_NAMES,
  type Option,
  OPTIONS,
  parseCommandLine,
} from "./command_line.ts";
import { formatHelp, listOptionHelp } from "../cli/help.ts";
import { Session } from "../../tests/testing/client.ts";
import { assertMisuse, settingsFor } from "../../tests/testing/command_line.ts";
import { REPOSITORY } from "../../tests/testing/environment.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { runServer } from "../../tests/testing/server.ts";
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
      { args: ["../b", "--skill-dir", "../a"] },
    ]
  ) {
    await using session = await Session.open(place, options);
    assert.deepEqual(await session.names(), all);
  }
  place.skill("home/.agents/skills", "installed");
  const args = [join(place.path, "c,d"), "--agents"];
  await using session = await Session.open(place, { args });
  assert.deepEqual(await session.names(), ["comma", "installed"]);
});

Deno.test("server reports a given folder that does not exist, unless it is a default folder", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const env = { SKILLS_DIR: "~/.claude/skills,~/.agent/skills,typo" };
  await using session = await Session.open(place, { env });
  assert.deepEqual(await session.names(), ["git"]);
  const folder = join(place.project, "typo");
  const line = await session.stderr.take(() => true, "the missing folder");
  assert.equal(
    line,
    `skill-server: Skipped "${folder}": there is no such folder; check its spelling, or create it; --list shows the skills that are found`,
  );
  assert.deepEqual(await session.end(), []);
});

Deno.test("server reads the size limit from --max-file-size, then from MAX_FILE_SIZE_MB", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "big", skillMd("big") + "x".repeat(2e6));
  const args = ["--max-file-size", "2.5"];
  const cases = [
    { expected: ["big"], env: { MAX_FILE_SIZE_MB: "3" } },
    { expected: ["big"], args, env: { MAX_FILE_SIZE_MB: "1" } },
    { expected: ["big"], args, env: { MAX_FILE_SIZE_MB: "big" } },
    { expected: [] },
  ];
  for (const { expected, ...options } of cases) {
    await using session = await Session.open(place, options);
    assert.deepEqual(await session.names(), expected);
  }
  // The value that is ignored is in no entry.
  const { stdout, stderr } = await runServer(place, {
    args: ["--print-config", "cursor"],
    env: { MAX_FILE_SIZE_MB: "1e-9" },
  });
  assert.match(stderr, /Ignoring MAX_FILE_SIZE_MB="1e-9": expected a number/);
  assert.ok(!stdout.includes("--max-file-size"));
});

Deno.test("--tools skilljack searches SKILLS_DIR after the given folders", async () => {
  using place = new Place();
  place.skill("a", "first", skillMd("first", "From a"));
  place.skill("b", "first", skillMd("first", "From b"));
  place.skill("b", "second");
  const list = async (tools: string) => {
    const args = ["--tools", tools, join(place.path, "a"), "--list", "--json"];
    const env = { SKILLS_DIR: join(place.path, "b") };
    const { stdout } = await runServer(place, { args, env });
    return JSON.parse(stdout).skills.map((skill: Skill) => skill.description);
  };
  const both = ["From a", "About second", "From b"];
  assert.deepEqual(await list("skilljack"), both);
  assert.deepEqual(await list("skill"), ["From a"]);
});

Deno.test("formatHelp() shows every option and client", () => {
  const text = formatHelp();
  for (const name of Object.keys(OPTIONS)) {
    assert.match(text, new RegExp(`^  --${name}\\b`, "m"));
  }
  for (const name of CLIENT_NAMES) assert.ok(text.includes(` ${name}`), name);
});

/** Returns the page that describes the options, as it is before `deno fmt` breaks its lines. */
function optionsPage(): string {
  const items = listOptionHelp().map(([usage, help]) =>
    `- ${usage.split(", ").map((text) => `\`${text}\``).join(", ")}: ${help}\n`
  );
  return `# Options

\`--help\` shows the same.

${items.join("")}
The environment variables \`SKILLS_DIR\` and \`MAX_FILE_SIZE_MB\` apply if \`DIR\` and
\`--max-file-size\` are not given. With \`--tools skilljack\`, the server searches
\`SKILLS_DIR\` after \`DIR\`.
`;
}

Deno.test("docs/options.md shows each option (to update it, set UPDATE=1, and run deno fmt)", () => {
  const file = join(REPOSITORY, "docs", "options.md");
  if (Deno.env.has("UPDATE")) Deno.writeTextFileSync(file, optionsPage());
  const text = Deno.readTextFileSync(file);
  const joined = (page: string) => page.replaceAll(/\s+/g, " ");
  assert.equal(joined(text), joined(optionsPage()));
});

const misuses: [string[], string | RegExp][] = [
  [["--\u001b[31m"], 'Unknown option "--\\u001b[31m"'],
  [["--lst"], 'Unknown option "--lst": did you mean --list?'],
  [["--print=cursor"], /"--print": did you mean --print-config\?$/],
  [["-list"], 'Unknown option "-l": did you mean --list?'],
  [["--skill-dir"], "--skill-dir requires a value: expected a folder"],
  [
    ["--print-config"],
    /^--print-config requires a value: expected one of claude-code, .*, [\w-]+$/,
  ],
  [["list"], 'Cannot find the folder "list": did you mean --list?'],
  [["check", "."], 'Cannot find the folder "check": did you mean --check?'],
  [["--list", "help"], /folder "help": did you mean --help\?$/],
  [
    ["--trust-links", "--list"],
    /^--trust-links requires a value: expected a folder$/,
  ],
  [["--refresh="], /^Invalid --refresh "": expected a number of seconds/],
  [["--policy="], 'Invalid --policy "": expected the path of a file'],
  [["--tools="], /"": expected one of skill, skilljack, reference, /],
  [
    ["--refresh=-1"],
    /^Invalid --refresh "-1": expected a number of seconds/,
  ],
  [["--list", " "], /^Invalid DIR "": expected a folder/],
  [["--max-file-size", "0"], /Invalid --max-file-size "0": .* greater than 0/],
  [["--description-limit", "50"], /^Invalid .* "50": expected .* at least 300/],
  [["--shell-timeout", "0"], /^Invalid .* "0": expected .* seconds from 0.1/],
  [["--list=foo"], "--list takes no value: remove it"],
  [["--json"], "--json requires --list or --check"],
  [["--as", "codex"], "--as requires --list"],
  [["--url", "https://a/mcp"], "--url requires --print-config"],
  [["--url", "ftp://a"], /^Invalid --url "ftp:\/\/a": expected the URL of a/],
  [["--tools", "skiljack"], /"skiljack": did you mean skilljack\?$/],
  [
    ["--print-config", "claude"],
    /did you mean claude-code or claude-desktop\?$/,
  ],
  [
    ["--print-config", "constructor"],
    /^Invalid .* expected one of claude-code, /,
  ],
  [["--profile", "codx"], 'Invalid --profile "codx": did you mean codex?'],
  [["--profile", "cursor"], /"cursor": expected one of default, claude-code, /],
  [["--no-watch=yes"], "--no-watch takes no value: remove it"],
];

Deno.test("parseCommandLine() refuses a value of the wrong kind for each option that has a kind", () => {
  const kinds = Object.entries<Option>(OPTIONS)
    .filter(([, { isValid, choices }]) => isValid ?? choices);
  assert.ok(kinds.length > 5);
  for (const [name] of kinds) {
    for (const value of [" ", "x y"]) {
      const args = [`--${name}=${value}`];
      assertMisuse(() => parseCommandLine(args), /^Invalid --/);
    }
  }
});

Deno.test("the messages about invalid command lines say what to do", () => {
  for (const [args, message] of misuses) {
    assertMisuse(() => settingsFor(...args), message);
  }
});

Deno.test("an invalid command line prints only a message to stderr, and exits with 2", async () => {
  using place = new Place();
  const args = ["--wrong"];
  const { code, stdout, stderr } = await runServer(place, { args });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.equal(
    stderr,
    'skill-server: Unknown option "--wrong" (add --help to see the options)\n',
  );
});
