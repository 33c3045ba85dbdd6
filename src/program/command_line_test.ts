import assert from "node:assert/strict";
import { CLIENT_NAMES } from "../mcp/clients.ts";
import { join } from "../fs/paths.ts";
import {
  type Option,
  OPTIONS,
  parseCommandLine,
  VARIABLES,
} from "./command_line.ts";
import { formatHelp, listOptionHelp } from "../cli/help.ts";
import { Session } from "../../tests/testing/client.ts";
import { assertMisuse, settingsFor } from "../../tests/testing/command_line.ts";
import { REPOSITORY } from "../../tests/testing/environment.ts";
import { Place } from "../../tests/testing/folders.ts";
import { runServer } from "../../tests/testing/server.ts";

Deno.test("server reports a given folder that does not exist, unless it is a default folder", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const env = { SKILLS_DIR: "~/.claude/skills,~/.agent/skills,typo" };
  await using session = await Session.open(place, { env });
  assert.deepEqual(await session.names(), ["git"]);
  const dir = join(place.project, "typo");
  const line = await session.stderr.take(() => true, "the missing folder");
  assert.equal(
    line,
    `skill-server: Skipped "${dir}": there is no such folder; check its spelling, or create it; --list shows the skills that are found`,
  );
  assert.deepEqual(await session.end(), []);
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
  const variables = Object.entries(VARIABLES).map(([name, help]) =>
    `- \`${name}\`: ${help}\n`
  );
  return `# Options

\`--help\` shows the same.

${items.join("")}
Environment variables:

${variables.join("")}
An entry of \`--print-config\` sets \`CLAUDE_CONFIG_DIR\` if you do. To set \`MAX_FILE_SIZE_MB\`, add it to the entry's environment.
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
  [["--ignore", "long"], "--ignore requires --check"],
  [["--check", "--ignore", "brokn-link"], /did you mean broken-link\?$/],
  [
    ["--check", "--ignore", "x"],
    'Invalid --ignore "x": expected the name of a rule, as --check prints it in brackets',
  ],
  [["--list=foo"], "--list takes no value: remove it"],
  [["--json"], "--json requires --list or --check"],
  [["--as", "codex"], "--as requires --list"],
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
