/**
 * The help text.
 *
 * @module
 */

import { MIN_DESCRIPTION_LIMIT } from "./settings.ts";
import { DEFAULT_SHELL_TIMEOUT } from "../shell.ts";
import { DEFAULT_REFRESH_SECONDS } from "../skills/roots.ts";
import {
  DEFAULT_DESCRIPTION_LIMIT,
  NAMES_LIMIT,
  PROFILE_NAMES,
} from "../views/client_profiles.ts";
import { TOOLSET_NAMES } from "../views/toolsets.ts";

/** The line of the help text that shows how to run the program. */
export const USAGE_LINE = "Usage: skill-server [options] [DIR...]";

const HELP =
  `Finds Agent Skills and serves them to an MCP client over stdin and stdout.

${USAGE_LINE}

Arguments:
  DIR                  search DIR, DIR/.claude/skills, and DIR/skills instead of
                       ./.agent/skills, ~/.agent/skills, ./.claude/skills, and
                       ~/.claude/skills; separate several with spaces or commas

Options:
  --skill-dir DIR      also search DIR and its subfolders; repeatable
  --agents             also search ./.agents/skills and ~/.agents/skills
  --tools SET          toolset: ${TOOLSET_NAMES.join(", ")}
                       (default: skill)
  --policy FILE        file with rules for which skills to serve, and how
                       prominently
  --trust-links DIR    allow links into DIR; repeatable
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
  --list               list the skills and where they come from, then exit
  --check              like --list, and check every skill; exit with 1 if there
                       are errors
  --json               print the output of --list or --check as JSON
  --as CLIENT          with --list: print what the model sees in an MCP client,
                       see below
  --print-config CLIENT
                       print the configuration for an MCP client, see below
  --url URL            with --print-config: connect to the server at URL
  --help               show this help
  --version            show the version

Environment:
  SKILLS_DIR           used if no DIR is given, or in addition to DIR with
                       --tools skilljack; separate several with commas
  MAX_FILE_SIZE_MB     used if --max-file-size is not given
`;

/** The number of client names in a line of the help text. */
const CLIENTS_PER_LINE = 5;

/** Returns the help text, with the names of the MCP clients that `--print-config` accepts. */
export function helpText(clients: readonly string[]): string {
  return `${HELP}
MCP clients of --print-config:
${inLines(clients)}

MCP clients of --as:
${inLines(PROFILE_NAMES)}
`;
}

/** Formats names as lines of a few names each. */
function inLines(names: readonly string[]): string {
  const lines = [];
  for (let i = 0; i < names.length; i += CLIENTS_PER_LINE) {
    lines.push(`  ${names.slice(i, i + CLIENTS_PER_LINE).join(", ")}`);
  }
  return lines.join(",\n");
}
