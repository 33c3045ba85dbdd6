/**
 * What the program tells people who start it in a terminal: the help text, the
 * usage, and what a server without a client waits for.
 *
 * @module
 */

import { CLIENT_NAMES } from "./clients.ts";
import { MIN_DESCRIPTION_LIMIT } from "./command_line.ts";
import {
  commandFor,
  DOCUMENTATION_URL,
  type Program,
  runningProgram,
  VERSION,
} from "./program.ts";
import { DEFAULT_SHELL_TIMEOUT } from "../shell.ts";
import { DEFAULT_REFRESH_SECONDS } from "../skills/roots.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  NAMES_LIMIT,
  OTHER_CLIENTS,
} from "../views/client_profiles.ts";
import { COLUMNS, count, oneLine, wrapText } from "../text.ts";
import { TOOLSET_NAMES } from "../views/toolsets.ts";

const OPTIONS_HELP = `Folders:
  DIR                  search DIR, DIR/.claude/skills, and DIR/skills instead of
                       ./.agent/skills, ~/.agent/skills, ./.claude/skills, and
                       ~/.claude/skills; separate several with spaces or commas
  --skill-dir DIR      also search DIR and its subfolders; repeatable
  --agents             also search ./.agents/skills and ~/.agents/skills
  --trust-links DIR    allow links into DIR; repeatable

What clients get:
  --tools SET          toolset: ${TOOLSET_NAMES.join(", ")}
                       (default: skill)
  --policy FILE        file with rules for which skills to serve, and how
                       prominently
  --name-only DIR      list the skills in DIR without their descriptions,
                       because the client lists them itself; repeatable
  --max-file-size MB   size limit for files (default: 1)
  --description-limit CHARS
                       length limit for the list of skills that the model
                       sees, at least ${MIN_DESCRIPTION_LIMIT}; 0 for none (default: what the
                       client shows, at most ${DEFAULT_DESCRIPTION_LIMIT}, or ${NAMES_LIMIT} if the
                       names need it)
  --refresh SECONDS    interval between scans, 0 for none (default: ${DEFAULT_REFRESH_SECONDS})
  --no-watch           rely on --refresh instead of watching folders
  --shell-timeout SECONDS
                       time limit for shell commands (default: ${DEFAULT_SHELL_TIMEOUT})
  --auto-install-deps  before a shell command that contains "py", install the
                       packages that Python files import (requires pipreqs)

Look at skills instead of serving them:
  --list               list the skills and where they come from
  --check              check every skill, or only those whose folders are given
                       as DIR, and print what to fix; exit with 1 if there
                       are errors or no skills
  --json               print the output of --list or --check as JSON
  --as CLIENT          with --list: print what the model sees in an MCP client,
                       or, with the name ${OTHER_CLIENTS}, in one not listed below

Configure a client:
  --print-config CLIENT
                       print the configuration for an MCP client, see below
  --link               with --print-config: print links that install it
  --url URL            with --print-config: connect to the server at URL

  --help, -h           show this help
  --version, -V        show the version

Environment:
  SKILLS_DIR           used if no DIR is given, or in addition to DIR with
                       --tools skilljack; separate several with commas
  MAX_FILE_SIZE_MB     used if --max-file-size is not given
`;

export function helpText(program: Program = runningProgram()): string {
  return `skill-server ${VERSION} finds Agent Skills and serves them to an MCP client over
stdin and stdout.

${usage(program)}
Examples:
  List your skills:
    ${commandFor(program, "--list")}
  Print the configuration for Claude Code:
    ${commandFor(program, "--print-config", "claude-code")}

${OPTIONS_HELP}
Clients:
${wrapText(CLIENT_NAMES.join(", "), { start: "  " })}

Documentation: ${DOCUMENTATION_URL}
`;
}

/** Returns what an invalid command line prints. */
export function usageText(message: string): string {
  return `${wrapText(`skill-server: ${oneLine(message)}`)}

${usage(runningProgram())}
Add --help to see the options.
`;
}

function usage(program: Program): string {
  const line = `  ${commandFor(program)} [options] [DIR...]`;
  const lines = line.length > COLUMNS
    ? line.replace(" [options]", "\n    [options]")
    : line;
  return `Usage:\n${lines}\n`;
}

/** Returns what a server in a terminal prints instead of waiting silently. */
export function welcomeText(skills: number): string {
  const program = runningProgram();
  const found = count(skills, "skill");
  return `
This is an MCP server with ${found}. It waits for a client on stdin, so it is
usually started by one. Press Ctrl+C to exit.

To list the skills, run:
  ${commandFor(program, "--list")}

To print the configuration for a client, such as claude-code, run:
  ${commandFor(program, "--print-config", "claude-code")}

To see all options, run:
  ${commandFor(program, "--help")}

`;
}
