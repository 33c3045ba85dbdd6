/** The output of `--help`. */

import config from "../../deno.json" with { type: "json" };
import { type Option, OPTIONS, VARIABLES } from "../program/command_line.ts";
import {
  commandWords,
  type Program,
  quoteWord,
  runningProgram,
} from "../program/running_program.ts";
import { DEFAULT_ROOTS } from "../skills/roots.ts";
import { CLIENT_NAMES } from "../views/clients.ts";

/** Lists the usual options, or those that few people need. */
export function listOptionHelp(
  rare = false,
): [usage: string, help: string][] {
  return Object.entries<Option>(OPTIONS)
    .filter(([, { isRare = false }]) => isRare === rare)
    .map(([name, { value, short, help }]) => {
      const valueText = value === undefined ? "" : ` ${value}`;
      const shortText = short === undefined ? "" : `, -${short}`;
      return [`--${name}${valueText}${shortText}`, help];
    });
}

/** Returns the help text. Its example commands work in any directory. */
export function formatHelp(program: Program = runningProgram()): string {
  const command = commandWords(program).map(quoteWord).join(" ");
  return `skill-server ${config.version} finds Agent Skills and serves them to an MCP client over
stdin and stdout.

Usage:
  skill-server [options] [DIR...]

Without DIR, it searches
${DEFAULT_ROOTS.join(", ")}.
With DIR, it searches DIR, DIR/.claude/skills, and DIR/skills.
Separate several folders with spaces or commas.

Examples:
  ${command} --list
  ${command} --print-config claude-code

Options:
${formatDefinitions(listOptionHelp())}

Options that few people need:
${formatDefinitions(listOptionHelp(true))}

Clients:
  ${CLIENT_NAMES.join(", ")}

Environment variables:
${formatDefinitions(Object.entries(VARIABLES))}

Documentation: https://github.com/skill-server/skill-server
`;
}

function formatDefinitions(items: readonly [string, string][]): string {
  return items.map(([term, text]) => `  ${term}\n      ${text}`).join("\n");
}
