/** The output of `--help`. */

import config from "../../deno.json" with { type: "json" };
import { CLIENT_NAMES } from "../mcp/clients.ts";
import { type Option, OPTIONS } from "../program/command_line.ts";
import {
  commandWords,
  type Program,
  quoteWord,
  runningProgram,
} from "../program/running_program.ts";
import { DEFAULT_DIRS } from "../skills/roots.ts";

export function listOptionHelp(): [usage: string, help: string][] {
  return Object.entries<Option>(OPTIONS).map(
    ([name, { value, short, help }]) => {
      const valueText = value === undefined ? "" : ` ${value}`;
      const shortText = short === undefined ? "" : `, -${short}`;
      return [`--${name}${valueText}${shortText}`, help];
    },
  );
}

/** Returns the help text, whose examples start the program in any directory. */
export function formatHelp(program: Program = runningProgram()): string {
  const command = commandWords(program).map(quoteWord).join(" ");
  const options = listOptionHelp()
    .map(([usage, help]) => `  ${usage}\n      ${help}`);
  const dirs = DEFAULT_DIRS
    .map((dir) => `./${dir}/skills, ~/${dir}/skills`).join(", ");
  return `skill-server ${config.version} finds Agent Skills and serves them to an MCP client over
stdin and stdout.

Usage:
  skill-server [options] [DIR...]

Without DIR, it searches
${dirs}.
With DIR, it searches DIR, DIR/.claude/skills, and DIR/skills.
Separate several with spaces or commas.

Examples:
  ${command} --list
  ${command} --print-config claude-code

Options:
${options.join("\n")}

Clients:
  ${CLIENT_NAMES.join(", ")}

Environment:
  SKILLS_DIR
      used if no DIR is given, or in addition to DIR with --tools skilljack;
      separate several with commas
  MAX_FILE_SIZE_MB
      used if --max-file-size is not given

Documentation: https://jsr.io/${config.name}
`;
}
