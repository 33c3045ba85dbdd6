import assert from "node:assert/strict";
import { CLIENT_NAMES } from "../mcp/clients.ts";
import { join } from "../fs/paths.ts";
import { OPTIONS, UsageError, VARIABLES } from "./command_line.ts";
import { formatHelp, listOptionHelp } from "../cli/help.ts";
import { settingsFor } from "../../tests/testing/command_line.ts";
import { REPOSITORY } from "../../tests/testing/environment.ts";
import { Place } from "../../tests/testing/folders.ts";
import { runServer } from "../../tests/testing/server.ts";

Deno.test("formatHelp() shows every option, every client, and the default folders in their order", () => {
  const text = formatHelp();
  for (const name of Object.keys(OPTIONS)) {
    assert.match(text, new RegExp(`^  --${name}\\b`, "m"));
  }
  for (const name of CLIENT_NAMES) assert.ok(text.includes(` ${name}`), name);
  assert.ok(text.includes(`it searches
./.agent/skills, ~/.agent/skills, ./.claude/skills, ~/.claude/skills.
`));
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

/** Command lines, and what their messages say. */
const MISUSES: [args: string, message: string][] = [
  ["--\u001b[31m", 'Unknown option "--\\u001b[31m"'],
  ["--lst", 'Unknown option "--lst": did you mean --list?'],
  ["--print=cursor", 'Unknown option "--print": did you mean --print-config?'],
  ["-list", 'Unknown option "-l": did you mean --list?'],
  ["--skill-dir", "--skill-dir requires a value: expected a folder"],
  ["--trust-links --list", "--trust-links requires a value: expected a folder"],
  [
    "--print-config",
    "--print-config requires a value: expected one of claude-code, …",
  ],
  ["list", 'Cannot find the folder "list": did you mean --list?'],
  ["check .", 'Cannot find the folder "check": did you mean --check?'],
  ["--refresh=\u00a0", 'Invalid --refresh "\u00a0": expected a number …'],
  [
    "--refresh=soon",
    'Invalid --refresh "soon": expected a number of seconds …',
  ],
  ["--refresh=-1", 'Invalid --refresh "-1": expected a number of seconds …'],
  ["--policy=", 'Invalid --policy "": expected the path of a file'],
  ["--tools=", 'Invalid --tools "": expected one of skill, skilljack, …'],
  ["--tools skiljack", 'Invalid --tools "skiljack": did you mean skilljack?'],
  ["--list \u00a0", 'Invalid DIR "": expected a folder'],
  ["--ignore long", "--ignore requires --check"],
  ["--json", "--json requires --list or --check"],
  ["--as codex", "--as requires --list"],
  [
    "--check --ignore x",
    'Invalid --ignore "x": expected the name of a rule, …',
  ],
  ["--list=foo", "--list takes no value: remove it"],
  [
    "--print-config claude",
    'Invalid --print-config "claude": did you mean claude-code or claude-desktop?',
  ],
  [
    "--print-config constructor",
    'Invalid --print-config "constructor": expected one of claude-code, …',
  ],
  [
    "--profile cursor",
    'Invalid --profile "cursor": expected one of default, …',
  ],
];

Deno.test("the messages about invalid command lines say what to do", () => {
  for (const [args, message] of MISUSES) {
    const [start, end] = message.split("…");
    assert.throws(
      () => settingsFor(...args.split(" ")),
      (error: UsageError) => {
        assert.ok(error instanceof UsageError, args);
        const length = end === undefined ? Infinity : start!.length;
        assert.equal(error.message.slice(0, length), start);
        return true;
      },
    );
  }
});

Deno.test("an invalid command line prints only a message to stderr, and exits with 2", async () => {
  using place = new Place();
  assert.deepEqual(await runServer(place, { args: ["--wrong"] }), {
    code: 2,
    stdout: "",
    stderr:
      'skill-server: Unknown option "--wrong" (add --help to see the options)\n',
  });
});
